// Draws the pictures of a page. Data are in the element "data": a list of figures, each a list
// of views; a view has axes and series of marks in the units of the data (drawing/picture.py).
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const COLORS = 7;
  const DASHES = ["", "7 4", "2 3", "9 3 2 3", "14 4"];
  const SHAPES = ["", "square", "triangle", "diamond", "cross", "ring"];
  const MARKS = 6; // on a line, of styles whose colour alone does not tell them apart
  const LEADING = 8; // methods that are shown at first, where there are many
  const CROWD = 12; // methods that are many
  const BANDS = 6; // series that may have bands at once: more are mud
  const MANY = 40; // figures; more are drawn when they come near the screen
  const X_NAMES = ["x", "x0", "x1"];
  const Y_NAMES = ["y", "y0", "y1", "low", "high"];

  // -- small things ---------------------------------------------------------------------

  function html(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function svg(name, attributes, parent) {
    const made = document.createElementNS(SVG, name);
    for (const key of Object.keys(attributes || {})) made.setAttribute(key, attributes[key]);
    if (parent) parent.appendChild(made);
    return made;
  }

  function color(number) {
    return number === null ? "var(--faint)" : `var(--c${number % COLORS})`;
  }

  function dashes(number, style) {
    if (style === "dashed") return "5 4";
    return number === null ? "" : DASHES[Math.floor(number / COLORS) % DASHES.length];
  }

  function shown(value) {
    if (value === null || value === undefined) return "—";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    return String(Number(value.toPrecision(4)));
  }

  function button(text, pressed, act) {
    const made = html("button", "", text);
    made.type = "button";
    made.setAttribute("aria-pressed", String(pressed));
    made.addEventListener("click", act);
    return made;
  }

  // -- axes -----------------------------------------------------------------------------

  // Returns every coordinate of marks along an axis.
  function coordinates(series, names) {
    const found = [];
    for (const one of series) {
      for (const mark of one.marks) {
        for (const name of names) {
          for (const value of mark[name] || []) if (value !== null) found.push(value);
        }
      }
    }
    return found;
  }

  // Returns what turns values into pixels between two ends, and the places of its ticks.
  function scaleOf(axis, kind, values, from, to, pad) {
    const isLog = kind === "log";
    const all = values.concat(axis.ends);
    const known = isLog ? all.filter((value) => value > 0) : all;
    const inner = isLog ? Math.log10 : (value) => value;
    let low = Infinity, high = -Infinity;
    for (const value of known) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (!known.length) [low, high] = isLog ? [0.1, 1] : [0, 1];
    const floor = isLog && values.some((value) => value <= 0) ? low / 2 : low;
    let [a, b] = [inner(isLog ? floor : low), inner(high)];
    if (axis.ticks.length) [a, b] = [a - 0.6, b + 0.6];
    else if (a === b) [a, b] = isLog ? [a - 0.5, b + 0.5] : [a - (Math.abs(a) || 1) / 2, b + (Math.abs(b) || 1) / 2];
    else [a, b] = [a - pad * (b - a), b + pad * (b - a)];
    if (axis.turned) [a, b] = [b, a];
    const place = (value) => {
      const inside = isLog ? Math.log10(Math.max(value, floor)) : value;
      return from + ((inside - a) / (b - a)) * (to - from);
    };
    const count = Math.max(2, Math.abs(to - from) / (axis.turned || from > to ? 45 : 80));
    const ends = [Math.min(a, b), Math.max(a, b)];
    return { place, isLog, ticks: isLog ? logTicks(ends, count) : linearTicks(ends, count, axis.whole) };
  }

  function linearTicks([low, high], count, whole) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const nice = power * ([1, 2, 5, 10].find((one) => one * power >= rough) || 10);
    const step = whole ? Math.max(1, nice) : nice;
    const ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
      ticks.push(Number((k * step).toPrecision(12)));
    }
    return ticks;
  }

  function logTicks([low, high], count) {
    const first = Math.ceil(low), last = Math.floor(high);
    if (last - first >= 1) {
      const every = Math.max(1, Math.min(last - first, Math.ceil((high - low) / count)));
      const ticks = [];
      for (let k = first; k <= last; k += every) ticks.push(Number(`1e${k}`));
      return ticks;
    }
    const finer = [];
    for (let k = Math.floor(low); k <= last; k += 1) {
      for (const digit of [1, 2, 5]) {
        const value = Math.log10(digit) + k;
        if (value >= low && value <= high) finer.push(Number(`${digit}e${k}`));
      }
    }
    if (finer.length > 1) return finer;
    return linearTicks([10 ** low, 10 ** high], 3, false).filter((one) => one > 0);
  }

  function tickText(value) {
    const size = Math.abs(value);
    if (value !== 0 && (size >= 1e5 || size < 1e-3)) {
      return value.toExponential().replace("e+", "e").replace(/(\.\d{2})\d+/, "$1");
    }
    return String(Number(value.toPrecision(6)));
  }

  // -- marks ----------------------------------------------------------------------------

  const DRAW = {
    line(mark, one, plot) {
      const points = mark.x.map((x, k) => [x, mark.y[k]]);
      let path = "";
      for (const part of runs(points)) {
        part.forEach(([x, y], k) => {
          if (k === 0) path += `M${plot.x(x)} ${plot.y(y)}`;
          else if (mark.style === "stairs") path += `H${plot.x(x)}V${plot.y(y)}`;
          else path += `L${plot.x(x)} ${plot.y(y)}`;
        });
        if (part.length === 1) path += "h0.01";
      }
      const line = svg("path", { d: path, fill: "none", "stroke-linecap": "round" }, plot.layer);
      line.setAttribute("class", "line");
      line.style.stroke = color(one.color);
      line.style.strokeWidth = "2";
      const dash = dashes(one.color, mark.style);
      if (dash) line.style.strokeDasharray = dash;
      const name = one.color === null || mark.style === "dashed" ? "" : shapeOf(one.color);
      if (!name) return;
      const known = points.filter(([x, y]) => x !== null && y !== null);
      const every = Math.max(1, Math.floor(known.length / MARKS));
      known.forEach(([x, y], k) => {
        if ((k + one.color) % every === 0) plot.layer.append(dot(name, plot.x(x), plot.y(y), 4, one));
      });
    },

    dots(mark, one, plot) {
      mark.x.forEach((x, k) => {
        if (x === null || mark.y[k] === null) return;
        const size = mark.x.length > 60 ? 3 : 4.5;
        const made = dot(mark.shape, plot.x(x), plot.y(mark.y[k]), size, one);
        made.setAttribute("class", "dot");
        plot.layer.appendChild(made);
      });
    },

    strokes(mark, one, plot) {
      let path = "";
      mark.x0.forEach((x0, k) => {
        if ([x0, mark.y0[k], mark.x1[k], mark.y1[k]].includes(null)) return;
        path += `M${plot.x(x0)} ${plot.y(mark.y0[k])}L${plot.x(mark.x1[k])} ${plot.y(mark.y1[k])}`;
      });
      const line = svg("path", { d: path, fill: "none" }, plot.layer);
      line.setAttribute("class", "strokes");
      line.style.stroke = color(one.color);
      line.style.strokeWidth = String(mark.width);
    },

    boxes(mark, one, plot) {
      mark.x0.forEach((x0, k) => {
        if ([x0, mark.y0[k], mark.x1[k], mark.y1[k]].includes(null)) return;
        const [left, right] = [plot.x(x0), plot.x(mark.x1[k])].sort((a, b) => a - b);
        const [top, bottom] = [plot.y(mark.y0[k]), plot.y(mark.y1[k])].sort((a, b) => a - b);
        const box = svg(
          "rect",
          { x: left, y: top, width: Math.max(right - left, 1), height: bottom - top },
          plot.layer
        );
        box.setAttribute("class", "box");
        box.style.fill = color(one.color);
        box.style.opacity = "0.35";
      });
    },

    texts(mark, one, plot) {
      mark.x.forEach((x, k) => {
        const at = { x: plot.x(x), y: plot.y(mark.y[k]), "text-anchor": mark.anchor };
        svg("text", at, plot.layer).textContent = mark.texts[k];
      });
    },
  };

  // Returns the mark on the lines of a series; empty for the first ones, which need none.
  function shapeOf(number) {
    return SHAPES[Math.floor(number / COLORS) % SHAPES.length];
  }

  // Draws the band of a line; bands lie below all lines.
  function drawBand(mark, one, plot) {
    if (!mark.low || !mark.high) return;
    for (const part of runs(mark.x.map((x, k) => [x, mark.low[k], mark.high[k]]))) {
      const there = part.map(([x, low]) => `${plot.x(x)},${plot.y(low)}`);
      const back = part.map(([x, , high]) => `${plot.x(x)},${plot.y(high)}`).reverse();
      const band = svg("polygon", { points: there.concat(back).join(" ") }, plot.layer);
      band.setAttribute("class", "band");
      band.style.fill = color(one.color);
      band.style.opacity = "0.15";
    }
  }

  // Returns what stands for a series in the legend: a line, or its dot.
  function sampleOf(one) {
    const made = svg("svg", { width: 22, height: 12, "aria-hidden": "true" });
    const line = one.marks.find((mark) => mark.kind !== "dots");
    const dots = one.marks.find((mark) => mark.kind === "dots");
    if (dots && !line) {
      made.append(dot(dots.shape, 11, 6, 4, one));
      return made;
    }
    const path = svg("path", { d: "M1 6H21" }, made);
    path.style.stroke = color(one.color);
    path.style.strokeWidth = "3";
    path.style.strokeDasharray = dashes(one.color, line && line.style === "dashed" ? "dashed" : "solid");
    const name = one.color !== null && line && line.kind === "line" ? shapeOf(one.color) : "";
    if (name) made.append(dot(name, 11, 6, 4, one));
    return made;
  }

  function dot(name, x, y, r, one) {
    const made = shape(name, x, y, r);
    const hollow = name === "ring" || name === "cross";
    made.style.fill = hollow ? "none" : color(one.color);
    made.style.stroke = hollow ? color(one.color) : "var(--paper)";
    made.style.strokeWidth = hollow ? "1.8" : "0.7";
    return made;
  }

  // Returns the stretches of rows without a gap.
  function runs(rows) {
    const found = [];
    let open = null;
    for (const row of rows) {
      if (row.includes(null)) open = null;
      else if (open) open.push(row);
      else found.push((open = [row]));
    }
    return found;
  }

  function shape(name, x, y, r) {
    if (name === "cross") {
      return svg("path", { d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}` });
    }
    if (name === "square") return svg("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r });
    if (name === "triangle") {
      return svg("polygon", { points: `${x},${y - 1.3 * r} ${x - 1.2 * r},${y + r} ${x + 1.2 * r},${y + r}` });
    }
    if (name === "diamond") {
      return svg("polygon", { points: `${x},${y - 1.4 * r} ${x + 1.4 * r},${y} ${x},${y + 1.4 * r} ${x - 1.4 * r},${y}` });
    }
    if (name === "star") {
      const corners = [];
      for (let k = 0; k < 10; k += 1) {
        const reach = k % 2 ? r : 2.2 * r;
        const turn = (Math.PI * k) / 5;
        corners.push(`${x + reach * Math.sin(turn)},${y - reach * Math.cos(turn)}`);
      }
      return svg("polygon", { points: corners.join(" ") });
    }
    return svg("circle", { cx: x, cy: y, r });
  }

  // -- one figure -----------------------------------------------------------------------

  function Figure(home, views) {
    const named = views[0].series.filter((one) => one.legend && leading.includes(one.name));
    const late = named.length > CROWD ? leading.slice(LEADING) : [];
    const state = { view: 0, hidden: new Set(late), kinds: new Map() };
    const caption = html("figcaption");
    const controls = html("div", "row");
    const area = html("div", "plot");
    const legend = html("div", "row");
    const note = html("p", "note");
    const tip = html("div", "tip");
    tip.hidden = true;
    home.append(caption, controls, area, legend, note, tip);
    let plot = null;
    let width = 0;

    function view() {
      return views[state.view];
    }

    function kindOf(name) {
      return state.kinds.get(`${state.view} ${name}`) || view()[name].scale;
    }

    function visible() {
      return view().series.filter((one) => !state.hidden.has(one.name));
    }

    function describe() {
      const { title, note: said, series } = view();
      caption.textContent = title;
      const crowded = visible().filter(hasBand).length > BANDS;
      note.textContent = crowded ? `${said} They are drawn where ${BANDS} or fewer are shown.` : said;
      controls.replaceChildren();
      if (views.length > 1) {
        views.forEach((one, k) => {
          controls.append(button(one.view, k === state.view, () => { state.view = k; draw(); }));
        });
      }
      for (const name of ["x", "y"]) {
        if (!view()[name].switchable) continue;
        const isLog = kindOf(name) === "log";
        const made = button(`log ${name}`, isLog, () => {
          state.kinds.set(`${state.view} ${name}`, isLog ? "linear" : "log");
          draw();
        });
        made.classList.add("scale");
        controls.append(made);
      }
      legend.replaceChildren();
      let left = 0;
      for (const one of series) {
        if (!one.legend) continue;
        const on = !state.hidden.has(one.name);
        if (!on && named.length > CROWD && leading.includes(one.name)) {
          left += 1;
          continue; // a wall of buttons tells nobody anything: the line on top has them
        }
        const made = button("", on, () => {
          if (on) state.hidden.add(one.name);
          else state.hidden.delete(one.name);
          draw();
        });
        made.className = "series";
        made.append(sampleOf(one), one.name);
        legend.append(made);
      }
      if (left) legend.append(html("span", "note", `${left} more: choose on top of the page`));
    }

    function draw() {
      const focused = home.contains(document.activeElement) ? document.activeElement.textContent : null;
      describe();
      if (focused) {
        const again = [...home.querySelectorAll("button")].find((one) => one.textContent === focused);
        if (again) again.focus();
      }
      tip.hidden = true;
      width = Math.max(area.clientWidth, 240);
      const { x: xAxis, y: yAxis, rows, map, title } = view();
      const named = yAxis.ticks.map(([, name]) => name);
      const longest = Math.max(0, ...named.map((name) => name.length));
      const left = named.length ? Math.min(0.38 * width, 7 * longest + 14) : 62;
      const margin = { left, right: 16, top: 8, bottom: 44 };
      let height = width < 520 ? 290 : 380;
      if (rows) height = margin.top + margin.bottom + 16 + 30 * rows;
      if (map) height = Math.min(width - left, 460) + margin.bottom;
      const right = map ? Math.min(width - margin.right, left + height - margin.top - margin.bottom) : width - margin.right;
      const series = visible();
      const xs = scaleOf(xAxis, kindOf("x"), coordinates(series, X_NAMES), left, right, rows || map ? 0.03 : 0.01);
      const ys = scaleOf(yAxis, kindOf("y"), coordinates(series, Y_NAMES), height - margin.bottom, margin.top, 0.04);
      const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", tabindex: 0, "aria-label": title });
      const clip = `clip-${home.id}`;
      const hole = svg("clipPath", { id: clip }, svg("defs", {}, root));
      svg("rect", { x: left, y: 0, width: right - left, height: height - margin.bottom + 4 }, hole);
      const frame = svg("g", {}, root);
      const layer = svg("g", { "clip-path": `url(#${clip})` }, root);
      const pointer = svg("line", { y1: margin.top, y2: height - margin.bottom, class: "frame", visibility: "hidden" }, root);
      plot = { x: xs.place, y: ys.place, layer, root, left, right, pointer };
      drawAxis(frame, xAxis, xs, false, { left, right, bottom: height - margin.bottom, height });
      drawAxis(frame, yAxis, ys, true, { left, right, top: margin.top, bottom: height - margin.bottom });
      if (series.filter(hasBand).length <= BANDS) {
        for (const one of series) for (const mark of one.marks) drawBand(mark, one, plot);
      }
      for (const one of series) for (const mark of one.marks) DRAW[mark.kind](mark, one, plot);
      root.addEventListener("pointermove", follow);
      root.addEventListener("pointerdown", follow);
      root.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
      root.addEventListener("keydown", step);
      root.addEventListener("blur", leave);
      area.replaceChildren(root);
      home.dataset.drawn = "yes";
    }

    function drawAxis(frame, axis, scale, isUp, place) {
      if (axis.bare) return;
      const ticks = axis.ticks.length ? axis.ticks : scale.ticks.map((value) => [value, tickText(value)]);
      const room = Math.floor((place.left - 12) / 6.8);
      for (const [value, text] of ticks) {
        const at = scale.place(value);
        const line = isUp
          ? { x1: place.left, x2: place.right, y1: at, y2: at }
          : { x1: at, x2: at, y1: place.bottom, y2: place.bottom + 4 };
        svg("line", { ...line, class: "grid" }, frame);
        const where = isUp
          ? { x: place.left - 6, y: at + 4, "text-anchor": "end" }
          : { x: at, y: place.bottom + 17, "text-anchor": "middle" };
        const made = svg("text", where, frame);
        const cut = isUp && axis.ticks.length && text.length > room;
        const half = Math.max((room - 1) / 2, 1); // names often differ at their ends
        made.textContent = cut ? `${text.slice(0, Math.ceil(half))}…${text.slice(-Math.floor(half))}` : text;
        if (cut) svg("title", {}, made).textContent = text;
      }
      if (isUp) {
        svg("path", { d: `M${place.left} ${place.top}V${place.bottom}H${place.right}`, class: "frame" }, frame);
        if (!axis.ticks.length) {
          const middle = (place.top + place.bottom) / 2;
          svg("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, frame).textContent = axis.label;
        }
      } else {
        const centre = (place.left + place.right) / 2;
        const label = svg("text", { x: centre, y: place.bottom + 36, "text-anchor": "middle" }, frame);
        label.textContent = axis.label;
      }
    }

    // -- values at the pointer ------------------------------------------------------------

    function follow(event) {
      const box = plot.root.getBoundingClientRect();
      const ratio = width / box.width;
      tell((event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio);
    }

    function step(event) {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const places = columns();
      if (!places.length) return;
      event.preventDefault();
      const now = Number(plot.pointer.getAttribute("x1")) || plot.left - 1;
      const isOn = plot.pointer.getAttribute("visibility") === "visible";
      const next = event.key === "ArrowRight"
        ? places.find((one) => one > now + 0.5) || places[places.length - 1]
        : [...places].reverse().find((one) => one < now - 0.5) || places[0];
      tell(isOn ? next : places[0], 0);
    }

    function columns() {
      const lines = visible().flatMap((one) => one.marks.filter((mark) => mark.kind === "line"));
      return [...new Set(lines.flatMap((mark) => mark.x.filter((x) => x !== null).map(plot.x)))].sort((a, b) => a - b);
    }

    function leave() {
      tip.hidden = true;
      if (plot) plot.pointer.setAttribute("visibility", "hidden");
    }

    function nearestDot(px, py) {
      let best = null;
      let least = 16;
      for (const one of visible()) {
        for (const mark of one.marks) {
          if (mark.kind !== "dots") continue;
          mark.x.forEach((x, k) => {
            if (x === null || mark.y[k] === null) return;
            const far = Math.hypot(plot.x(x) - px, plot.y(mark.y[k]) - py);
            if (far < least) {
              least = far;
              best = { one, x, y: mark.y[k], name: mark.names ? mark.names[k] : "" };
            }
          });
        }
      }
      return best;
    }

    function tell(px, py) {
      const dot = nearestDot(px, py);
      tip.replaceChildren();
      if (dot) {
        const named = view().y.ticks.length > 0;
        const figures = named ? shown(dot.x) : `${shown(dot.x)}, ${shown(dot.y)}`;
        say(dot.one, `${dot.one.name}: ${dot.name ? `${dot.name}: ` : ""}${figures}`);
        plot.pointer.setAttribute("visibility", "hidden");
        show(plot.x(dot.x), plot.y(dot.y));
        return;
      }
      const places = columns();
      if (!places.length || px < plot.left - 8 || px > plot.right + 8) {
        leave();
        return;
      }
      const at = places.reduce((a, b) => (Math.abs(b - px) < Math.abs(a - px) ? b : a));
      let where = null;
      for (const one of visible()) {
        for (const mark of one.marks) {
          if (mark.kind !== "line") continue;
          const k = indexAt(mark, at);
          if (k < 0) continue;
          if (where === null || Math.abs(plot.x(mark.x[k]) - at) < 0.5) where = mark.x[k];
          const ends = mark.low && mark.low[k] !== null ? ` [${shown(mark.low[k])}, ${shown(mark.high[k])}]` : "";
          say(one, `${one.name}: ${shown(mark.y[k])}${ends}`);
        }
      }
      if (where === null) {
        leave();
        return;
      }
      tip.prepend(html("div", "", `${view().x.label}: ${shown(where)}`));
      plot.pointer.setAttribute("x1", at);
      plot.pointer.setAttribute("x2", at);
      plot.pointer.setAttribute("visibility", "visible");
      show(at, py);
    }

    // Returns the last point of stairs up to a place, the nearest one of other lines.
    function indexAt(mark, at) {
      let found = -1;
      let least = mark.style === "stairs" ? Infinity : 30;
      mark.x.forEach((x, k) => {
        if (x === null || mark.y[k] === null) return;
        const far = at - plot.x(x);
        const counts = mark.style === "stairs" ? far > -0.5 : true;
        if (counts && Math.abs(far) < least) {
          least = Math.abs(far);
          found = k;
        }
      });
      return found;
    }

    function say(one, text) {
      const row = html("div");
      const spot = html("i");
      spot.style.background = color(one.color);
      row.append(spot, html("span", "", text));
      tip.append(row);
    }

    function show(px, py) {
      tip.hidden = false;
      const ratio = area.clientWidth / width;
      const side = px > (plot.left + plot.right) / 2;
      const x = area.offsetLeft + px * ratio + (side ? -12 : 12);
      tip.style.left = `${Math.max(0, side ? x - tip.offsetWidth : Math.min(x, home.clientWidth - tip.offsetWidth))}px`;
      tip.style.top = `${area.offsetTop + Math.max(0, Math.min(py * ratio, area.clientHeight - tip.offsetHeight))}px`;
    }

    new ResizeObserver(() => {
      if (plot && Math.abs(area.clientWidth - width) > 1 && area.clientWidth >= 240) draw();
    }).observe(area);
    // Shows these of the leading series and no others; pictures of rows keep all of theirs.
    function showOnly(names) {
      if (view().rows) return;
      for (const name of leading) {
        if (names.has(name)) state.hidden.delete(name);
        else state.hidden.add(name);
      }
      if (plot) draw();
    }

    return { draw, isDrawn: () => plot !== null, showOnly };
  }

  function hasBand(one) {
    return one.marks.some((mark) => mark.low && mark.high);
  }

  // -- the page -------------------------------------------------------------------------

  const leading = JSON.parse(document.getElementById("leading").textContent);

  const figures = JSON.parse(document.getElementById("data").textContent).map((views, number) => {
    const home = document.getElementById(`picture${number}`);
    for (const view of views) {
      view.series.forEach((one, k) => {
        if (one.marks === "same") one.marks = views[0].series[k].marks;
      });
    }
    return { home, figure: Figure(home, views) };
  });
  const drawAll = () => figures.forEach(({ figure }) => { if (!figure.isDrawn()) figure.draw(); });
  if (figures.length <= MANY) {
    drawAll();
  } else {
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const found = figures.find(({ home }) => home === entry.target);
        if (entry.isIntersecting && !found.figure.isDrawn()) found.figure.draw();
      }
    }, { rootMargin: "900px" });
    for (const { home } of figures) {
      home.style.minHeight = "380px";
      watcher.observe(home);
    }
    window.addEventListener("beforeprint", drawAll);
  }

  // -- which methods are shown, everywhere -----------------------------------------------

  // Names are lists of what methods are made of: each place in them is a group of buttons.
  function Filter() {
    const bar = html("div", "filter");
    const field = html("input");
    field.type = "search";
    field.placeholder = "words of a name";
    field.setAttribute("aria-label", "show methods whose names have these words");
    const pressed = new Map();
    const count = html("span", "note");

    function matching() {
      const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
      return leading.filter((name) => {
        const parts = name.split(", ");
        const fits = [...pressed].every(([place, chosen]) =>
          !chosen.size || (parts.length > 1 && chosen.has(parts[place])));
        return fits && words.every((word) => name.toLowerCase().includes(word));
      });
    }

    function apply(names) {
      const kept = new Set(names);
      count.textContent = `${kept.size} of ${leading.length} methods`;
      for (const { figure } of figures) figure.showOnly(kept);
      for (const row of document.querySelectorAll("main tbody tr")) {
        const name = row.cells[0].textContent;
        row.hidden = leading.includes(name) && !kept.has(name);
      }
    }

    bar.append(html("strong", "", "Methods"), field);
    bar.append(button(`best ${LEADING}`, true, () => apply(leading.slice(0, LEADING))));
    bar.append(button("all", true, () => {
      field.value = "";
      for (const chosen of pressed.values()) chosen.clear();
      for (const one of bar.querySelectorAll("button.part")) one.setAttribute("aria-pressed", "false");
      apply(leading);
    }));
    bar.append(count);
    field.addEventListener("input", () => apply(matching()));
    const lists = leading.map((name) => name.split(", ")).filter((parts) => parts.length > 1);
    const longest = Math.max(0, ...lists.map((parts) => parts.length));
    for (let place = 0; place < longest; place += 1) {
      const parts = [...new Set(lists.map((list) => list[place]).filter((part) => part))];
      if (parts.length < 2) continue;
      const row = html("div", "row");
      pressed.set(place, new Set());
      for (const part of parts) {
        const made = button(part, false, () => {
          const chosen = pressed.get(place);
          if (chosen.has(part)) chosen.delete(part);
          else chosen.add(part);
          made.setAttribute("aria-pressed", String(chosen.has(part)));
          apply(matching());
        });
        made.classList.add("part");
        row.append(made);
      }
      bar.append(row);
    }
    const answer = document.querySelector(".answer");
    if (answer) answer.after(bar);
    else document.getElementById("main").prepend(bar);
  }

  if (leading.length > 5) Filter();

  // -- tables that can be sorted ---------------------------------------------------------

  // Returns the number that a cell begins with, or what it says.
  function worthOf(row, column) {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
  }

  function compared(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1; // numbers first
  }

  for (const sorted of document.querySelectorAll("table.sortable")) {
    [...sorted.tHead.rows[0].cells].forEach((head, column) => {
      const press = html("button", "", head.textContent);
      press.type = "button";
      head.replaceChildren(press);
      press.addEventListener("click", () => {
        const isUp = head.getAttribute("aria-sort") !== "ascending";
        for (const other of sorted.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
        const body = sorted.tBodies[0];
        const rows = [...body.rows].map((row) => [worthOf(row, column), row]);
        rows.sort(([a], [b]) => (isUp ? compared(a, b) : compared(b, a)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  const KEY = "nnbo-mip-theme";
  const root = document.documentElement;
  let kept = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch (error) {
    kept = null; // a browser may refuse storage to files
  }
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    try {
      localStorage.setItem(KEY, root.dataset.theme);
    } catch (error) {
      return; // then the choice lasts as long as the page
    }
  });
})();
