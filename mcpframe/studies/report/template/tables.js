"use strict";
// Numbers as people read them (mirrors wording.py), and tables that sort, search and turn pages.

const Words = (() => {
  const NOTHING = "–", THIN = "\u202f";
  const apart = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
  const count = (value) => apart(String(value));

  function number(value) {
    if (!Number.isFinite(value)) return NOTHING;
    const size = Math.abs(value);
    if (size < 1) return size === 0 ? "0" : value.toPrecision(3);
    const whole = String(Math.trunc(size)).length, text = value.toFixed(Math.max(0, 3 - whole));
    const [head, tail] = text.split(".");
    return apart(head) + (tail ? "." + tail : "");
  }

  function percent(share) {
    if (!Number.isFinite(share)) return NOTHING;
    const inner = share > 0 && share < 1 ? Math.min(Math.max(100 * share, 0.1), 99.9) : 100 * share;
    return inner === 0 || inner === 100 ? String(inner) : inner.toFixed(1);
  }

  function time(seconds) {
    if (!Number.isFinite(seconds)) return NOTHING;
    const units = [["s", 1], ["ms", 1e-3], ["µs", 1e-6]], [name, scale] = units.find((unit) => seconds >= unit[1]) ?? units[2];
    return `${number(seconds / scale)} ${name}`;
  }

  function listed(names, most = 4) {
    const told = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names;
    return told.length < 2 ? told.join("") : `${told.slice(0, -1).join(", ")} and ${told[told.length - 1]}`;
  }

  const power = (value) => (value === null || !Number.isFinite(value) ? "not finite" : value.toExponential(1));
  return { NOTHING, count, number, percent, power, time, listed };
})();

const Tables = (() => {
  const kept = new Map();  // by element: sort, page and search survive a change of the filters

  function node(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "style" || name.startsWith("data-") || name.startsWith("aria-") || name === "colspan")
        made.setAttribute(name, value);
      else made[name] = value;
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  // Fill of a cell that holds a share: all, some (towards none), none.
  function fill(share) {
    if (!Number.isFinite(share)) return "";
    if (share >= 1) return "background: var(--all)";
    return `background: color-mix(in srgb, var(--some) ${Math.round(100 * share)}%, var(--none))`;
  }

  const SVG = "http://www.w3.org/2000/svg";
  const CORNERS = { square: [4, 45], diamond: [4, 0], "triangle-up": [3, -90], "triangle-down": [3, 90], hexagon: [6, 0], pentagon: [5, -90] };

  function shape(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // A marker as in the charts, around (13, 6).
  function marker({ symbol, colour }) {
    if (symbol === "circle") return shape("circle", { cx: 13, cy: 6, r: 4, fill: colour });
    const strokes = { cross: "M13 1.5V10.5M8.5 6H17.5", x: "M10 3L16 9M16 3L10 9", star: "M13 1.5V10.5M9 3.7L17 8.3M17 3.7L9 8.3" };
    if (strokes[symbol]) return shape("path", { d: strokes[symbol], stroke: colour, "stroke-width": 2.6 });
    const [n, first] = CORNERS[symbol], corner = (i) => ((first + (360 * i) / n) * Math.PI) / 180;
    const points = Array.from({ length: n }, (_, i) => `${13 + 4.8 * Math.cos(corner(i))},${6 + 4.8 * Math.sin(corner(i))}`);
    return shape("polygon", { points: points.join(" "), fill: colour });
  }

  function swatch(column) {
    const dash = { solid: "", dash: "6 3", dot: "2 3", dashdot: "6 3 2 3", longdash: "10 4" }[column.dash] ?? "10 3 2 3";
    const line = shape("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: column.colour, "stroke-width": 2, "stroke-dasharray": dash });
    const svg = shape("svg", { class: "swatch", viewBox: "0 0 26 12", "aria-hidden": "true" });
    svg.append(line, marker(column));
    return svg;
  }

  function compare(a, b) {
    const blank = (v) => v === null || v === undefined || Number.isNaN(v);
    if (blank(a) || blank(b)) return blank(a) - blank(b);
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  }

  function ordered(rows, columns, sort) {
    if (sort.column === null) return rows;
    const get = columns[sort.column].value;
    return [...rows].sort((a, b) => sort.sign * compare(get(a), get(b)));
  }

  function found(rows, columns, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) return rows;
    return rows.filter((row) => {
      const text = columns.map((column) => column.value(row)).join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
  }

  function cell(column, row) {
    const value = column.value(row), text = column.show ? column.show(row) : String(value ?? "");
    const made = node(column.heading ? "th" : "td", { className: column.className || "" }, text);
    if (column.heading) made.scope = "row";
    if (column.style) made.setAttribute("style", column.style(row));
    if (column.bold && column.bold(row)) made.classList.add("bold");
    if (value === 0) made.classList.add("zero");
    if (typeof value === "number") made.dataset.value = value;
    return made;
  }

  function head(columns, sort, again) {
    const cells = columns.map((column, k) => {
      const mark = sort.column === k ? (sort.sign > 0 ? " ▴" : " ▾") : "";
      const button = node("button", { type: "button", title: column.hint || "sort" }, column.title + mark);
      if (column.unit) button.append(node("span", { className: "unit" }, column.unit));
      button.onclick = () => {
        const first = column.className === "text" || column.heading ? 1 : -1;
        Object.assign(sort, sort.column === k ? { sign: -sort.sign } : { column: k, sign: first });
        again();
      };
      return node("th", { className: column.className || "", scope: "col" }, button);
    });
    return node("thead", {}, node("tr", {}, ...cells));
  }

  // Draw rows; options: pageSize and search for long tables, printed: how many go on paper.
  function draw(place, columns, rows, options = {}) {
    if (!kept.has(place.id)) kept.set(place.id, { sort: { column: null, sign: 1 }, page: 0, words: "" });
    const state = kept.get(place.id);
    const again = () => draw(place, columns, rows, options);
    const chosen = ordered(found(rows, columns, state.words), columns, state.sort);
    const size = options.printing ? options.printed ?? Infinity : options.pageSize ?? Infinity;
    const pages = Math.max(1, Math.ceil(chosen.length / size));
    state.page = options.printing ? 0 : Math.min(state.page, pages - 1);
    const shown = size === Infinity ? chosen : chosen.slice(state.page * size, (state.page + 1) * size);
    const body = node("tbody", {}, ...shown.map((row) => node("tr", {}, ...columns.map((c) => cell(c, row)))));
    const table = node("table", {}, head(columns, state.sort, again), body);
    const parts = [node("div", { className: "scroll" }, table)];
    if (options.pageSize) parts.unshift(tools(state, rows.length, chosen.length, pages, shown.length, again));
    const typing = place.contains(document.activeElement) && document.activeElement.type === "search";
    place.replaceChildren(...parts);
    if (typing) focusSearch(place, state.words);
  }

  function tools(state, all, chosen, pages, shown, again) {
    const search = node("input", { type: "search", value: state.words, placeholder: "search: problem, solver, reason …" });
    search.setAttribute("aria-label", "search the table");
    search.oninput = () => { state.words = search.value; state.page = 0; again(); };
    const turn = (step, text, title) => {
      const button = node("button", { type: "button", title }, text);
      button.disabled = state.page + step < 0 || state.page + step >= pages;
      button.onclick = () => { state.page += step; again(); };
      return button;
    };
    const of = chosen === all ? Words.count(all) : `${Words.count(chosen)} found of ${Words.count(all)}`;
    const where = node("span", { className: "where" }, `page ${state.page + 1} of ${pages} · ${of}`);
    const paper = node("span", { className: "on-paper" }, shown < all ? `the first ${shown} of ${Words.count(all)}; all are in the page` : "");
    return node("div", { className: "tools" }, search, turn(-1, "‹", "previous page"), where, turn(1, "›", "next page"), paper);
  }

  function focusSearch(place, words) {
    const search = place.querySelector("input[type=search]");
    search.focus();
    search.setSelectionRange(words.length, words.length);
  }

  return { node, fill, swatch, draw };
})();
