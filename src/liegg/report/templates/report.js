(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  const data = JSON.parse(byId("data").textContent);
  root.classList.add("scripted");

  // Small dense matrices as arrays of rows.
  const multiply = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));
  const apply = (a, v) => a.map((row) => row.reduce((sum, value, k) => sum + value * v[k], 0));
  const scaled = (a, t) => a.map((row) => row.map((value) => value * t));

  // exp(A) by scaling and squaring: a Taylor series of A/2^s, whose norm is at most 1/2, squared s times.
  function expm(a) {
    const norm = Math.max(...a.map((row) => row.reduce((sum, value) => sum + Math.abs(value), 0)));
    const squarings = norm > 0.5 ? Math.ceil(Math.log2(norm / 0.5)) : 0;
    const small = scaled(a, 2 ** -squarings);
    const unit = a.map((row, i) => row.map((_, j) => (i === j ? 1 : 0)));
    let total = unit;
    for (let k = 14; k >= 1; k--) {
      total = multiply(scaled(small, 1 / k), total).map((row, i) => row.map((value, j) => value + unit[i][j]));
    }
    for (let k = 0; k < squarings; k++) total = multiply(total, total);
    return total;
  }

  // Value of one channel between pixels, with the border rule of the action.
  function reader(stage, values, channel) {
    const { height, width, low, high, border } = stage;
    const start = channel * height * width;
    const at = (row, column) => {
      if (border === "periodic") {
        row = ((row % height) + height) % height;
        column = ((column % width) + width) % width;
      } else if (row < 0 || column < 0 || row >= height || column >= width) {
        return 0;
      }
      return low + ((high - low) * values[start + row * width + column]) / 255;
    };
    return (row, column) => {
      if (border === "replicate") {
        row = Math.min(Math.max(row, 0), height - 1);
        column = Math.min(Math.max(column, 0), width - 1);
      }
      const top = Math.floor(row), left = Math.floor(column), down = row - top, right = column - left;
      let sum = 0;
      if ((1 - down) * (1 - right)) sum += (1 - down) * (1 - right) * at(top, left);
      if ((1 - down) * right) sum += (1 - down) * right * at(top, left + 1);
      if (down * (1 - right)) sum += down * (1 - right) * at(top + 1, left);
      if (down * right) sum += down * right * at(top + 1, left + 1);
      return sum;
    };
  }

  // Move an image: (Tf)(p) = f(exp(-tA) p), origin at the centre, x right, y up, one unit half the shorter side; then its colours.
  function warped(stage, values, motion, t) {
    const { height, width, channels } = stage;
    const back = motion.place && expm(scaled(motion.place, -t));
    const colour = motion.colour && expm(scaled(motion.colour, t));
    const readers = Array.from({ length: channels }, (_, channel) => reader(stage, values, channel));
    const unit = Math.min(height, width) / 2, middle = [(height - 1) / 2, (width - 1) / 2];
    const moved = new Float64Array(channels * height * width);
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        let place = [row, column];
        if (back) {
          const p = [(column - middle[1]) / unit, (middle[0] - row) / unit];
          const [x, y] = apply(back, back.length === 3 ? [...p, 1] : p);
          place = [middle[0] - y * unit, middle[1] + x * unit];
        }
        let seen = readers.map((read) => read(place[0], place[1]));
        if (colour) seen = apply(colour, colour.length > channels ? [...seen, 1] : seen).slice(0, channels);
        seen.forEach((value, channel) => { moved[(channel * height + row) * width + column] = value; });
      }
    }
    return moved;
  }

  function imageStage(stage, box) {
    const decoded = stage.samples.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
    const size = stage.height * stage.width;
    const canvases = decoded.map((_, i) => {
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: stage.width, height: stage.height });
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `sample ${i + 1}, moved`);
      box.append(canvas);
      return canvas;
    });
    return {
      choose() {},
      draw(motion, t) {
        canvases.forEach((canvas, i) => {
          const moved = warped(stage, decoded[i], motion, t);
          const context = canvas.getContext("2d");
          const image = context.createImageData(stage.width, stage.height);
          for (let k = 0; k < size; k++) {
            for (let c = 0; c < 3; c++) {
              const value = moved[(stage.channels === 3 ? c : 0) * size + k];
              image.data[4 * k + c] = (255 * (value - stage.low)) / (stage.high - stage.low); // clamped by the array
            }
            image.data[4 * k + 3] = 255;
          }
          context.putImageData(image, 0, 0);
        });
      },
    };
  }

  // Where the motion puts the places of a grid back: exp(-tA) p, with the translation if there is one.
  const backward = (motion, t) => {
    const back = expm(scaled(motion.place, -t));
    return (p) => apply(back, back.length > p.length ? [...p, 1] : p).slice(0, p.length);
  };

  // Index of a place beyond the border by the rule of the action; -1 where the signal is 0.
  const inside = (k, size, border) => {
    if (border === "periodic") return ((k % size) + size) % size;
    if (border === "replicate") return Math.min(Math.max(k, 0), size - 1);
    return k < 0 || k >= size ? -1 : k;
  };

  // Linear interpolation of values on a grid of any dimension at a place, in indices.
  function interpolated(values, sides, place, border) {
    let sum = 0;
    for (let corner = 0; corner < 1 << sides.length; corner++) {
      let weight = 1, index = 0;
      for (let axis = 0; axis < sides.length && weight; axis++) {
        const low = Math.floor(place[axis]), up = (corner >> axis) & 1, share = place[axis] - low;
        const k = inside(low + up, sides[axis], border);
        weight *= k < 0 ? 0 : up ? share : 1 - share;
        index = index * sides[axis] + Math.max(k, 0);
      }
      if (weight) sum += weight * values[index];
    }
    return sum;
  }

  // Moved signals along a line: one list of values per channel.
  function movedSignal(stage, channels, motion, t) {
    const unit = stage.length / 2, middle = (stage.length - 1) / 2, back = backward(motion, t);
    const places = Array.from({ length: stage.length }, (_, i) => middle + unit * back([(i - middle) / unit])[0]);
    return channels.map((values) => places.map((place) => interpolated(values, [stage.length], [place], stage.border)));
  }

  // One slice of a moved volume through its centre, across one axis: levels from 0 to 255.
  function movedSlice(stage, values, motion, t, axis) {
    const { sides } = stage, unit = Math.min(...sides) / 2, middle = sides.map((side) => (side - 1) / 2);
    const back = backward(motion, t), [rows, columns] = [0, 1, 2].filter((other) => other !== axis);
    const slice = [];
    for (let i = 0; i < sides[rows]; i++) {
      for (let j = 0; j < sides[columns]; j++) {
        const at = [...middle];
        at[rows] = i;
        at[columns] = j;
        const [x, y, z] = back([(at[2] - middle[2]) / unit, (middle[1] - at[1]) / unit, (at[0] - middle[0]) / unit]);
        slice.push(interpolated(values, sides, [middle[0] + z * unit, middle[1] - y * unit, middle[2] + x * unit], stage.border));
      }
    }
    return slice;
  }

  function signalStage(stage, box) {
    const width = 240, height = 110, spread = stage.high - stage.low;
    const line = (values) => values.map((value, i) => `${((width * (i + 0.5)) / stage.length).toFixed(1)},${(6 + (height - 12) * (1 - (value - stage.low) / spread)).toFixed(1)}`).join(" ");
    const drawn = stage.samples.map((channels, i) => {
      const plane = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `sample ${i + 1}, moved` }, box);
      for (const values of channels) svg("polyline", { class: "before", points: line(values) }, plane);
      return channels.map((_, c) => svg("polyline", { class: `now p${c}` }, plane));
    });
    return {
      choose() {},
      draw(motion, t) {
        drawn.forEach((lines, i) => movedSignal(stage, stage.samples[i], motion, t).forEach((values, c) => lines[c].setAttribute("points", line(values))));
      },
    };
  }

  function volumeStage(stage, box) {
    const decoded = stage.samples.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
    const groups = decoded.map(() => Object.assign(document.createElement("div"), { className: "slices" }));
    box.append(...groups); // a group for each sample, so that its label is under all of its slices
    const slices = decoded.flatMap((values, i) => [0, 1, 2].map((axis) => {
      const [rows, columns] = [0, 1, 2].filter((other) => other !== axis);
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: stage.sides[columns], height: stage.sides[rows] });
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `sample ${i + 1}, moved, slice across ${["z", "y", "x"][axis]}`);
      groups[i].append(canvas);
      return { canvas, values, axis };
    }));
    return {
      choose() {},
      draw(motion, t) {
        for (const { canvas, values, axis } of slices) {
          const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
          movedSlice(stage, values, motion, t, axis).forEach((level, k) => image.data.set([level, level, level, 255], 4 * k));
          context.putImageData(image, 0, 0);
        }
      },
    };
  }

  const space = document.querySelector("svg")?.namespaceURI;
  const svg = (name, attributes, parent) => {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (parent) parent.append(element);
    return element;
  };

  function pointStage(stage, box) {
    const few = stage.samples[0].length <= 4;
    const groups = few ? [stage.samples.map((_, i) => i)] : stage.samples.map((_, i) => [i]);
    box.classList.toggle("one", few);
    const side = few ? 400 : 200;
    const moved = (matrix, v) => apply(matrix, stage.homogeneous ? [...v, 1] : v).slice(0, stage.n);
    const chosen = () => ["axis-x", "axis-y"].map((id, k) => (byId(id) ? Number(byId(id).value) : k));
    let planes = [];
    return {
      choose(motion, times) {
        const [across, up] = chosen();
        const pick = (v) => [v[across], stage.n > 1 ? v[up] : 0];
        const all = stage.samples.flat().map(pick);
        const start = Math.max(...all.flat().map(Math.abs), 1e-12);
        const traced = stage.n <= 16 && all.length <= 64;
        const closes = traced && motion.period !== null; // otherwise a short tail shows the direction
        const matrices = traced ? times.map((t) => expm(scaled(motion.place, t))) : [];
        const orbits = stage.samples.map((vectors) => vectors.map((v) => matrices.map((m) => pick(moved(m, v)))));
        const reach = Math.max(start, ...orbits.flat(3).map(Math.abs));
        const scale = (0.46 * side) / Math.min(reach, 3 * start);
        const place = ([x, y]) => [side / 2 + scale * x, side / 2 - scale * y];
        box.replaceChildren();
        planes = groups.map((group) => {
          const plane = svg("svg", { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": `samples ${group.map((i) => i + 1).join(", ")}, moved` }, box);
          svg("line", { class: "grid", x1: 0, x2: side, y1: side / 2, y2: side / 2 }, plane);
          svg("line", { class: "grid", x1: side / 2, x2: side / 2, y1: 0, y2: side }, plane);
          if (few) {
            svg("text", { class: "tick", x: side - 6, y: side / 2 + 16, "text-anchor": "end" }, plane).textContent = stage.names[across];
            if (stage.n > 1) svg("text", { class: "tick", x: side / 2 + 6, y: 14 }, plane).textContent = stage.names[up];
          }
          return group.map((i) => {
            const layer = svg("g", { class: `p p${few ? i : 0}` }, plane);
            return stage.samples[i].map((v, copy) => {
              if (closes) svg("polyline", { class: "orbit", points: orbits[i][copy].map((p) => place(p).map((q) => q.toFixed(1)).join()).join(" ") }, layer);
              const [x, y] = place(pick(v));
              svg("circle", { class: "start", cx: x, cy: y, r: few ? 4 : 2.5 }, layer);
              const ray = few ? svg("line", { class: "ray", x1: side / 2, y1: side / 2 }, layer) : null;
              const dot = svg("circle", { class: "dot", r: few ? 5 : 3 }, layer);
              const text = few && stage.samples[i].length === 1 ? svg("text", {}, layer) : null;
              if (text) text.textContent = i + 1;
              const tail = traced && !closes ? svg("polyline", { class: "tail" }, layer) : null;
              return { v, ray, dot, text, tail, place: (w) => place(pick(w)) };
            });
          });
        });
      },
      draw(motion, t) {
        const matrix = expm(scaled(motion.place, t));
        const before = motion.period === null ? Array.from({ length: 13 }, (_, k) => expm(scaled(motion.place, t - (Math.sign(t) * Math.min(Math.abs(t), 0.04 * motion.longest) * k) / 12))) : [];
        planes.flat(2).forEach((point) => {
          const [x, y] = point.place(moved(matrix, point.v));
          point.dot.setAttribute("cx", x);
          point.dot.setAttribute("cy", y);
          if (point.ray) { point.ray.setAttribute("x2", x); point.ray.setAttribute("y2", y); }
          if (point.tail) point.tail.setAttribute("points", before.map((m) => point.place(moved(m, point.v)).map((q) => q.toFixed(1)).join()).join(" "));
          if (point.text) { point.text.setAttribute("x", x + 7); point.text.setAttribute("y", y - 5); }
        });
      },
    };
  }

  const { between, size, sizeText, percent, labels } = lieggAnswers;
  const short = (value) => (value === null ? "not finite" : value === 0 ? "0" : value < 1e-12 ? "below 1e-12" : value < 1e-3 ? value.toExponential(1) : value.toPrecision(2));

  // A copy of the curve of a motion, with a marker at the current time.
  function curveBeside(box, motion) {
    const index = motion.curve;
    const drawn = index === null ? null : document.querySelector(`[data-curve="${index}"] svg`);
    if (!drawn) {
      box.replaceChildren(byId("no-curve").content.cloneNode(true));
      return () => {};
    }
    const copy = drawn.cloneNode(true);
    const text = document.createElement("p");
    text.className = "readout";
    const legend = document.createElement("p");
    legend.className = "chart-title";
    const { times, sizes, change, control_mean: control, title } = data.curves[index];
    legend.textContent = `${title ?? "output change r(t)"}; dashed: random ${sizes ? "motions" : "directions"}`;
    box.replaceChildren(legend, copy, text);
    const pixels = copy.querySelector(".change").getAttribute("points").split(" ").map((pair) => pair.split(",").map(Number));
    const [x0, x1, longest] = ["x0", "x1", "longest"].map((name) => Number(copy.dataset[name]));
    const line = svg("line", { class: "now-line", y1: 14, y2: 208 }, copy);
    const dot = svg("circle", { class: "now-dot", r: 5.5 }, copy);
    const roots = [change, control].map((values) => values.map((value) => (value === null ? null : Math.sqrt(value))));
    const squared = (root) => (root === null ? null : root * root);
    return (t) => {
      const away = Math.min(sizes ? size(motion, t) : Math.abs(t), longest), x = x0 + ((x1 - x0) * away) / longest;
      const y = x <= pixels[0][0] ? pixels[0][1] : between(pixels.map((p) => p[0]), pixels.map((p) => p[1]), x);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", y);
      if (sizes) text.textContent = `${sizeText(motion, t)}: ${percent(between(sizes, change, away))}; random motions: ${percent(between(sizes, control, away))}`;
      else text.textContent = `r = ${short(squared(between(times, roots[0], away)))}; random directions: ${short(squared(between(times, roots[1], away)))}`;
    };
  }

  function slider() {
    const box = byId("samples"), range = byId("time"), play = byId("play"), select = byId("motion");
    const stages = { image: imageStage, points: pointStage, signal: signalStage, volume: volumeStage };
    const stage = stages[data.stage.kind](data.stage, box);
    const label = labels(box, byId("predictions"), byId("predicted"));
    let motion, mark, frame = 0, heading = 1;
    const PLACES = 200; // steps of the slider on each side: integers, so that its ends are reached
    const now = () => (Number(range.value) * motion.longest) / PLACES;
    const show = () => {
      const t = now() + 0; // no -0
      const degrees = motion.period ? ` · ${Math.round((360 * t) / motion.period)}°` : "";
      byId("now").textContent = motion.sizes ? sizeText(motion, t) : `${t.toFixed(2)}${degrees}`;
      range.setAttribute("aria-valuetext", byId("now").textContent);
      stage.draw(motion, t);
      mark(t);
      label(motion, t);
    };
    const start = () => (motion.both ? -motion.longest : 0);
    const layOut = () => {
      const times = Array.from({ length: 61 }, (_, k) => start() + ((motion.longest - start()) * k) / 60);
      stage.choose(motion, times);
      show();
    };
    const choose = () => {
      motion = data.motions.list[Number(select.value)];
      Object.assign(range, { min: motion.both ? -PLACES : 0, max: PLACES, step: 1, value: 0 });
      byId("time-name").textContent = motion.sizes ? "size" : "t";
      mark = curveBeside(byId("beside"), motion);
      ["axis-x", "axis-y"].forEach((id, k) => { if (byId(id)) byId(id).value = motion.plane[k]; });
      layOut();
    };
    const stop = () => {
      cancelAnimationFrame(frame);
      frame = 0;
      play.setAttribute("aria-pressed", "false");
      play.textContent = "▶ play";
    };
    const run = () => {
      let last = null;
      play.setAttribute("aria-pressed", "true");
      play.textContent = "❚❚ pause";
      const step = (time) => {
        let t = now() + (heading * (last === null ? 0 : time - last) * motion.longest) / 5000;
        last = time;
        if (!motion.both && t > motion.longest) t -= motion.longest;
        else if (t > motion.longest || t < start()) { heading = -heading; t = Math.min(Math.max(t, start()), motion.longest); }
        if (!motion.both) heading = 1;
        range.step = "any";
        range.value = (t * PLACES) / motion.longest;
        show();
        frame = requestAnimationFrame(step);
      };
      frame = requestAnimationFrame(step);
    };
    const toggle = () => (frame ? stop() : run());
    range.addEventListener("input", () => { stop(); range.step = 1; show(); });
    range.addEventListener("keydown", (event) => { if (event.key.startsWith("Arrow")) { stop(); range.step = 1; } });
    play.addEventListener("click", toggle);
    select.addEventListener("change", () => { stop(); choose(); });
    for (const id of ["axis-x", "axis-y"]) byId(id)?.addEventListener("change", layOut);
    byId("stage").addEventListener("keydown", (event) => {
      if (event.key === " " && !["SELECT", "BUTTON"].includes(event.target.tagName)) { event.preventDefault(); toggle(); }
      if (event.target === play && event.key.startsWith("Arrow")) {
        event.preventDefault();
        stop();
        range.step = 1;
        if (["ArrowRight", "ArrowUp"].includes(event.key)) range.stepUp(); else range.stepDown();
        show();
      }
    });
    choose();
  }

  // Charts: hovering, or the arrow keys when the chart has the focus, reads the points.
  for (const chart of document.querySelectorAll("[data-chart]")) {
    const marks = [...chart.querySelectorAll(".mark")], readout = chart.closest(".chart").querySelector(".readout");
    let current = 0; // the readout shows it from the start
    const read = (k) => {
      marks[current]?.classList.remove("on");
      current = Math.min(Math.max(k, 0), marks.length - 1);
      marks[current]?.classList.add("on");
      if (marks[current]) readout.textContent = marks[current].dataset.tip;
    };
    chart.addEventListener("pointermove", (event) => {
      const away = marks.map((mark) => {
        const box = (mark.querySelector("circle, rect, path") ?? mark).getBoundingClientRect();
        return Math.hypot(event.clientX - box.x - box.width / 2, 0.2 * (event.clientY - box.y - box.height / 2)); // mostly along the axis
      });
      if (away.length) read(away.indexOf(Math.min(...away)));
    });
    chart.addEventListener("keydown", (event) => {
      const place = { ArrowRight: current + 1, ArrowUp: current + 1, ArrowLeft: current - 1, ArrowDown: current - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (place !== undefined) { event.preventDefault(); read(place); }
    });
    chart.addEventListener("blur", () => marks[current]?.classList.remove("on"));
  }

  const themes = [["", "◐ auto", "as the system"], ["light", "☀ light", "light"], ["dark", "☾ dark", "dark"]];
  let theme = 0;
  byId("theme").addEventListener("click", (event) => {
    theme = (theme + 1) % themes.length;
    if (themes[theme][0]) root.dataset.theme = themes[theme][0]; else delete root.dataset.theme;
    event.target.textContent = themes[theme][1];
    event.target.setAttribute("aria-label", `Colours: ${themes[theme][2]}`);
  });

  byId("copy")?.addEventListener("click", async (event) => {
    const range = document.createRange();
    range.selectNodeContents(byId("code"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    let done = false;
    try {
      await navigator.clipboard.writeText(byId("code").textContent);
      done = true;
    } catch {
      done = document.execCommand("copy"); // the clipboard may be closed to pages from disk
    }
    event.target.textContent = done ? "copied" : "selected";
    setTimeout(() => { event.target.textContent = "copy"; }, 1500);
  });

  addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });
  if (byId("stage")) slider();
  window.lieggReport = { expm, warped, movedSignal, movedSlice };
})();
