"use strict";
// Named motions: their sizes in their own units, and the labels that the model predicts for the samples.
const lieggAnswers = (() => {
  // Linear interpolation between known values; 0 at 0, where nothing has moved.
  function between(xs, ys, x) {
    const k = xs.findIndex((known) => known >= x - 1e-12);
    if (k < 0) return ys[ys.length - 1];
    const x0 = k ? xs[k - 1] : 0, y0 = k ? ys[k - 1] : 0;
    if (ys[k] === null || y0 === null) return null;
    return xs[k] > x0 ? y0 + ((ys[k] - y0) * (x - x0)) / (xs[k] - x0) : ys[k];
  }

  // The size of a motion after a time, in its unit.
  const size = (motion, t) => between(motion.sizes.times, motion.sizes.values, t);
  function sizeText(motion, t) {
    const value = size(motion, t), { unit } = motion.sizes;
    const digits = unit === "°" ? String(Math.round(10 * value) / 10) : value.toFixed(value < 10 ? 2 : 1);
    return unit === "" ? `${digits} of the data's spread` : `${digits}${unit === "°" ? "" : " "}${unit}`;
  }
  const percent = (value) => (value === null ? "not finite" : `${value < 10 ? Number(value.toPrecision(2)) : Math.round(value)} %`);

  // Labels of the samples: under each image, or as a list where all samples share one drawing.
  function labels(box, list, note) {
    const images = [...box.children].filter((child) => child.matches("canvas, .slices"));
    const under = images.map((image) => {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption");
      figure.className = "sample";
      caption.className = "prediction";
      image.replaceWith(figure);
      figure.append(image, caption);
      return caption;
    });
    const places = (count) => {
      if (under.length) return under;
      while (list.children.length < count) {
        const item = document.createElement("li");
        item.className = "prediction";
        list.append(item);
      }
      return [...list.children];
    };
    return (motion, t) => {
      const rows = motion.predictions ?? [];
      let nearest = 0;
      (motion.places ?? []).forEach((place, k, all) => { if (Math.abs(place - t) < Math.abs(all[nearest] - t)) nearest = k; });
      places(rows.length).forEach((item, i) => {
        const row = rows[i] ?? null, changed = row !== null && row[nearest] !== row[0];
        const text = row === null ? "" : changed ? `${row[0]} → ${row[nearest]}` : row[0];
        item.textContent = text && !under.length ? `${i + 1}: ${text}` : text;
        item.classList.toggle("changed", changed);
      });
      const known = rows.some((row) => row !== null);
      if (known) note.textContent = `Labels: ${motion.largest ? "the largest output, counted from 0, which is the prediction if the outputs are classes" : "what the model predicts"}; before → after where it changes. The motion was tried at the sizes with a dot in the curve; shown is the nearest, ${sizeText(motion, motion.places[nearest])}.`;
      else if (motion.predictions) note.textContent = "The predictions for these samples were not stored. The page has labels for the first samples of the data: samples=data[:8].";
      else note.textContent = "";
      if (motion.note) note.textContent += ` ${motion.note}`;
    };
  }

  return { between, size, sizeText, percent, labels };
})();
