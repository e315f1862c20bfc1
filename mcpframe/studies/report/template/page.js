"use strict";
// The page: filters, and the view of the study that they leave.
//
// A view holds the indices of the entries left, sorted into columns, with all figures that tables and charts
// show. Every change of a filter makes a new one and draws it.

const DATA = JSON.parse(document.getElementById("data").textContent);
const STATE = { hidden: new Map(), clock: DATA.settings.clock, shift: DATA.settings.shift, common: false, printing: false };

// What one can filter by: title, words, and the number of the word of entry k.
const FILTERS = (() => {
  const parts = ["formulation", "solver", "start"].map((name) => {
    const words = [...new Set(DATA.columns.map((column) => column[name]))];
    const codes = DATA.columns.map((column) => words.indexOf(column[name]));
    return { name, words, code: (k) => codes[DATA.entries.column[k]] };
  });
  const facet = (name) => {
    const found = DATA.facets.find((f) => f.name === name);
    return found ? [{ name, words: found.classes, code: (k) => found.codes[k] }] : [];
  };
  const systems = [...new Set(DATA.entries.system)];
  const system = { name: "system", words: systems.map((s) => DATA.words[s]), code: (k) => systems.indexOf(DATA.entries.system[k]) };
  const outcome = { name: "outcome", words: ["solved", "failed", "unsupported"], code: (k) => ({ 0: 0, 5: 2 })[DATA.entries.outcome[k]] ?? 1 };
  return [system, ...parts, ...facet("hardness"), ...facet("motion"), outcome].filter((f) => f.words.length > 1);
})();

// Keep the problems that every column left was run on.
function runByAll(indices) {
  const columns = new Set(indices.map((k) => DATA.entries.column[k])), met = new Map();
  for (const k of indices) met.set(DATA.entries.case[k], (met.get(DATA.entries.case[k]) ?? 0) + 1);
  return indices.filter((k) => met.get(DATA.entries.case[k]) === columns.size);
}

function left() {
  const active = FILTERS.filter((f) => STATE.hidden.get(f.name)?.size);
  const indices = [];
  for (let k = 0; k < DATA.entries.case.length; k++) {
    if (active.every((f) => !STATE.hidden.get(f.name).has(f.code(k)))) indices.push(k);
  }
  return STATE.common ? runByAll(indices) : indices;
}

function grouped(indices, key) {
  const groups = new Map();
  for (const k of indices) {
    const name = key(k);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(k);
  }
  return groups;
}

function makeView() {
  const E = DATA.entries, indices = left(), { clock, shift, printing } = STATE;
  const byColumn = grouped(indices, (k) => E.column[k]);
  const map = (f) => new Map([...byColumn].map(([c, own]) => [c, f(own, c)]));
  const solved = map((own) => own.filter((k) => E.outcome[k] === Metrics.SOLVED));
  const options = { clock, shift, penalty: DATA.settings.penalty };
  const rates = map((own) => Metrics.rates(E, own, options));
  const profiles = Metrics.profiles(E, indices, clock);
  const area = map((_, c) => Metrics.area(profiles.ratios.get(c), profiles.problems, DATA.settings.far));
  const last = (x) => (Number.isNaN(x) ? Infinity : x);
  const keys = [...byColumn.keys()].sort((a, b) => a - b);
  const order = [...keys].sort((a, b) => rates.get(b).solved - rates.get(a).solved || last(rates.get(a).mean) - last(rates.get(b).mean));
  const times = map((_, c) => solved.get(c).map((k) => Metrics.seconds(E, k, clock)));
  const growth = (c, family) => {
    const own = solved.get(c).filter((k) => E.family[k] === family), seconds = own.map((k) => Metrics.seconds(E, k, clock));
    const of = (key) => {
      const medians = Metrics.mediansBySize(own.map((k) => E[key][k]), seconds);
      return { medians, fit: Metrics.fitExponent(medians) };
    };
    return { n: of("n"), n_contacts: of("n_contacts") };
  };
  const residuals = map((own) => own.filter((k) => E.outcome[k] !== Metrics.UNSUPPORTED).map((k) => E.residual[k]).filter((r) => r !== null));
  return {
    E, indices, byColumn, solved, rates, profiles, area, order, keys, times, growth, residuals, options, clock, shift, printing,
    columns: DATA.columns, unit: DATA.settings.unit, tol: DATA.settings.tol, clockName: DATA.settings.clocks[clock],
    byArea: [...keys].sort((a, b) => area.get(b) - area.get(a)), formulations: Sections.formulationsOf(indices),
  };
}

function update() {
  const view = makeView();
  const problems = view.profiles.problems;
  document.getElementById("shown").textContent =
    `${Words.count(view.indices.length)} of ${Words.count(DATA.entries.case.length)} solves, ${Words.count(problems)} problem${problems === 1 ? "" : "s"}`;
  document.body.classList.toggle("empty", !view.indices.length);
  document.getElementById("verdict").textContent = view.indices.length ? Verdict.text(view) : "The filters exclude every solve.";
  if (view.indices.length) Sections.draw(view);
  listContents();
}

// The sections that have something to show, as links.
function listContents() {
  const shown = [...document.querySelectorAll("main > section")].filter((section) => !section.hidden);
  const links = shown.map((section) => Tables.node("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
  document.getElementById("contents").replaceChildren(...links);
}

function filterBox(filter) {
  const hidden = new Set();
  STATE.hidden.set(filter.name, hidden);
  const title = Tables.node("summary", {});
  const name = () => {
    const on = filter.words.filter((_, i) => !hidden.has(i));
    title.textContent = `${filter.name}: ${on.length === filter.words.length ? "all" : on.length === 1 ? on[0] : on.length ? `${on.length} of ${filter.words.length}` : "none"}`;
    title.classList.toggle("active", hidden.size > 0);
  };
  const boxes = filter.words.map((word, i) => {
    const box = Tables.node("input", { type: "checkbox", checked: true });
    box.onchange = () => { hidden[box.checked ? "delete" : "add"](i); name(); update(); };
    const only = Tables.node("button", { type: "button", className: "only" }, "only");
    only.onclick = (event) => { event.preventDefault(); set((j) => j === i); };
    return Tables.node("label", {}, box, Tables.node("span", {}, word), only);
  });
  const set = (on) => {
    filter.words.forEach((_, i) => { boxes[i].firstChild.checked = on(i); hidden[on(i) ? "delete" : "add"](i); });
    name();
    update();
  };
  const all = Tables.node("button", { type: "button", className: "every" }, "all");
  all.onclick = () => set(() => true);
  name();
  const box = Tables.node("details", { className: "filter" }, title, Tables.node("div", { className: "choices" }, ...boxes, all));
  box.dataset.filter = filter.name;
  box.reset = () => { filter.words.forEach((_, i) => { boxes[i].firstChild.checked = true; }); hidden.clear(); name(); };
  return box;
}

function choice(label, options, chosen, change) {
  const select = Tables.node("select", {}, ...options.map(([value, text]) => Tables.node("option", { value, selected: value === chosen }, text)));
  select.onchange = () => change(select.value);
  return Tables.node("label", { className: "choice" }, label + " ", select);
}

function makeControls() {
  const bar = document.getElementById("controls");
  const boxes = FILTERS.map(filterBox);
  const clock = choice("time", Object.entries(DATA.settings.clocks), STATE.clock, (value) => { STATE.clock = value; update(); });
  clock.lastChild.id = "clock";
  const box = Tables.node("input", { type: "checkbox", id: "common" });
  box.onchange = () => { STATE.common = box.checked; update(); };
  const common = Tables.node("label", { className: "choice", title: "keep the problems that every setting shown was run on" }, box, " run by all");
  const reset = Tables.node("button", { type: "button", id: "reset" }, "reset");
  reset.onclick = () => { boxes.forEach((b) => b.reset()); STATE.common = box.checked = false; update(); };
  bar.append(...boxes, clock, common, reset);
  document.addEventListener("click", (event) => boxes.forEach((b) => { if (!b.contains(event.target)) b.open = false; }));
}

makeControls();
Sections.shiftChoice();
update();
matchMedia("print").addEventListener("change", (event) => { STATE.printing = event.matches; update(); });
let width = innerWidth;
addEventListener("resize", () => {
  clearTimeout(makeView.later);
  makeView.later = setTimeout(() => { if (innerWidth !== width && !STATE.printing) { width = innerWidth; update(); } }, 150);
});
document.body.dataset.ready = "yes";
