(() => {
  "use strict";
  const source = document.getElementById("data");
  const scene = source ? JSON.parse(source.textContent).group : null;
  const place = document.getElementById("group-samples");
  if (!scene || !place) return;
  const SVG = "http://www.w3.org/2000/svg", SIDE = 120;
  const make = (name, attributes, parent) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (parent) parent.append(node);
    return node;
  };
  const flat = (values) => values.flat(Infinity);
  const every = flat([scene.samples, scene.moved]);
  let low = Infinity, high = -Infinity;
  for (const value of every) { if (value < low) low = value; if (value > high) high = value; }
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;

  const image = (values) => {
    const canvas = document.createElement("canvas");
    canvas.width = values[0].length; canvas.height = values.length;
    const context = canvas.getContext("2d"), pixels = context.createImageData(canvas.width, canvas.height);
    values.forEach((row, i) => row.forEach((value, j) => {
      const grey = Math.round(255 * (value - low) / ((high - low) || 1)), at = 4 * (i * canvas.width + j);
      pixels.data.set([grey, grey, grey, 255], at);
    }));
    context.putImageData(pixels, 0, 0);
    return canvas;
  };
  const points = (values) => {
    const svg = make("svg", { viewBox: `0 0 ${SIDE} ${SIDE}` });
    const scale = (SIDE / 2 - 10) / reach, middle = SIDE / 2;
    make("line", { x1: 0, x2: SIDE, y1: middle, y2: middle, class: "axis" }, svg);
    make("line", { y1: 0, y2: SIDE, x1: middle, x2: middle, class: "axis" }, svg);
    values.forEach((point, i) => {
      const depth = point.length > 2 ? point[2] / reach : 0;
      const x = middle + scale * point[0], y = middle - scale * point[1];
      const dot = make("circle", { cx: x, cy: y, r: 4 + 1.8 * depth, class: "point", opacity: 0.75 + 0.25 * depth }, svg);
      make("title", {}, dot).textContent = `${i + 1}: (${point.join(", ")})`;
      if (values.length <= 30 && values.length > 1) make("text", { x: x + 5, y: y - 4, class: "name" }, svg).textContent = i + 1;
    });
    return svg;
  };
  const bars = (values) => {
    const svg = make("svg", { viewBox: `0 0 ${SIDE} ${SIDE}` }), width = SIDE / values.length, middle = SIDE / 2;
    values.forEach((value, i) => {
      const height = Math.abs(value) / reach * (middle - 6);
      make("rect", { x: i * width + 0.1 * width, width: 0.8 * width, y: value > 0 ? middle - height : middle, height, class: "bar" }, svg);
    });
    make("line", { x1: 0, x2: SIDE, y1: middle, y2: middle, class: "axis" }, svg);
    return svg;
  };
  const draw = { image, points, bars }[scene.kind];
  const show = (which) => {
    place.replaceChildren(...scene.samples.map((sample, i) => {
      const figure = document.createElement("figure"), arrow = document.createElement("span"), caption = document.createElement("figcaption");
      arrow.textContent = "→";
      figure.append(draw(sample), arrow, draw(scene.moved[which][i]), caption);
      if (scene.labels && scene.moved_labels[which]) {
        const before = scene.labels[i], after = scene.moved_labels[which][i];
        caption.textContent = before === after ? `prediction ${before}, unchanged` : `prediction ${before} → ${after}`;
        if (before !== after) caption.className = "changed";
      } else caption.textContent = scene.words[which];
      return figure;
    }));
  };
  const buttons = [...document.querySelectorAll("button.element")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      show(Number(button.dataset.place));
    });
  }
  show(0);
})();
