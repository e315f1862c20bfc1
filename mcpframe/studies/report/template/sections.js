"use strict";
// The sections of the page: each puts the figures of a view into its tables and charts.

const Sections = (() => {
  const $ = (id) => document.getElementById(id);
  const { node, swatch, fill } = Tables;
  const SHIFTS = [[1e-5, "10 µs"], [1e-4, "0.1 ms"], [1e-3, "1 ms"], [1e-2, "10 ms"], [1, "1 s"]];
  const chosen = { facet: 0, setting: null, run: null, pair: null, family: null, everybody: false };

  const caption = (id, text) => { $(id).textContent = text; };
  const whole = (value) => (Number.isInteger(value) ? Words.count(value) : Words.number(value));
  const timed = (view, value) => Words.number(value / view.unit[1]);

  const named = (view) => ({
    title: "setting", heading: true, className: "text",
    value: (c) => view.columns[c].name,
    show: (c) => node("span", { className: "named" }, swatch(view.columns[c]), view.columns[c].name),
  });
  const counted = (view, title, key, hint, bad) => ({
    title, hint, value: (c) => view.rates.get(c)[key], show: (c) => Words.count(view.rates.get(c)[key]),
    style: (c) => (bad && view.rates.get(c)[key] ? `background: var(--${bad})` : ""), bold: (c) => bad && view.rates.get(c)[key] > 0,
  });
  const clocked = (view, title, get, hint) => ({
    title, unit: view.unit[0], hint, value: get, show: (c) => timed(view, get(c)),
  });
  const shared = (view, title, key, hint) => ({
    title, unit: "%", hint, value: (c) => view.rates.get(c)[key], show: (c) => Words.percent(view.rates.get(c)[key]),
    style: (c) => fill(view.rates.get(c)[key]), bold: (c) => view.rates.get(c)[key] < 1,
  });

  function success(view) {
    const any = (key) => view.keys.some((c) => view.rates.get(c)[key] > 0);
    Tables.draw($("success"), [
      named(view),
      shared(view, "success", "success", "share certified of the problems that the solver takes"),
      counted(view, "solved", "solved", "certified in every repeat"),
      counted(view, "of", "taken", "problems that the solver takes"),
      counted(view, "false claims", "false_claims", "claimed solved, but is not", "none"),
      counted(view, "crashed", "crashed", "the solver or its process died", "some"),
      counted(view, "time limit", "time_limit", "stopped by the clock", "some"),
      counted(view, "gave up", "failed", "ended without a solution and said so"),
      ...(any("unsupported") ? [counted(view, "not taken", "unsupported", "problems of a class that the solver does not take")] : []),
      shared(view, "claims right", "correctness", "claims that agree with the certificate"),
      clocked(view, "median", (c) => view.rates.get(c).median, "median time of the solved"),
      clocked(view, "mean", (c) => view.rates.get(c).mean, "shifted geometric mean, failures at the penalty"),
    ], view.order);
    caption("success-caption", `Times are of ${view.clockName}, ${DATA.settings.merged}. The median is over the solved; the mean is a shifted geometric mean, in which a failure counts as ${Words.number(DATA.settings.penalty)} s.` + (view.keys.every((c) => view.rates.get(c).solved === view.rates.get(c).taken) ? " Every solve that its solver takes was certified." : ""));
  }

  function profile(view) {
    $("profile-section").hidden = view.keys.length < 2 || !solvedAny(view);
    if ($("profile-section").hidden) return;
    const words = [`the best ${Charts.BEST}`, `all ${view.keys.length}`], many = view.keys.length > Charts.BEST;
    offer("profile-choice", "show", many ? words : [words[1]], chosen.everybody || !many ? words[1] : words[0], (value) => { chosen.everybody = value === words[1]; profile(view); });
    Charts.profile(view, chosen.everybody);
    const uneven = view.keys.filter((c) => view.rates.get(c).total < view.profiles.problems).length;
    const best = view.columns[view.byArea[0]].name;
    caption("profile-caption", `Share of ${Words.count(view.profiles.problems)} problems solved within τ times the time of the fastest setting (${view.clockName}). A failure is infinitely slow, and so is a problem that a solver does not take. Left edge: how often a setting is fastest; right edge: how much it solves. Highest by area up to τ = ${DATA.settings.far}: ${best}.` + (uneven ? ` ${uneven} setting${uneven > 1 ? "s were" : " was"} not run on all of these problems; “run by all” compares on common ground.` : ""));
  }

  const solvedAny = (view) => view.keys.some((c) => view.rates.get(c).solved);

  function means(view) {
    $("means-section").hidden = !view.keys.some((c) => view.rates.get(c).taken);
    if ($("means-section").hidden) return;
    Charts.means(view);
    const best = Math.min(...view.keys.map((c) => view.rates.get(c).mean).filter((x) => x === x));
    const order = view.order.filter((c) => view.rates.get(c).taken).sort((a, b) => view.rates.get(a).mean - view.rates.get(b).mean);
    Tables.draw($("means-table"), [
      named(view),
      clocked(view, "shifted geometric mean", (c) => view.rates.get(c).mean),
      { title: "over the best", unit: "×", value: (c) => view.rates.get(c).mean / best, show: (c) => Words.number(view.rates.get(c).mean / best) },
      clocked(view, "median", (c) => view.rates.get(c).median),
      clocked(view, "90 %", (c) => Metrics.quantile(view.times.get(c), 0.9), "nine of ten solved problems take no longer"),
      counted(view, "solved", "solved"), counted(view, "of", "taken"),
    ], order);
    caption("means-caption", `exp(mean(log(t + s))) − s with shift s = ${Words.number(view.shift * 1e3)} ms; t is the time of ${view.clockName}, failures count as ${Words.number(DATA.settings.penalty)} s. Means over different problems (see “of”) do not compare.`);
  }

  // Systems of which there are several sizes, those with most sizes first.
  function growing(view) {
    const sizes = (own) => new Set(own.map((k) => view.E.n[k])).size, contacts = (own) => new Set(own.map((k) => view.E.n_contacts[k])).size;
    const solved = view.keys.flatMap((c) => view.solved.get(c)), groups = [...grouped(solved, (k) => view.E.family[k])];
    const name = (family) => DATA.words[family];
    return groups.filter(([, own]) => sizes(own) > 1 || contacts(own) > 1)
      .sort((a, b) => sizes(b[1]) - sizes(a[1]) || (name(a[0]) < name(b[0]) ? -1 : 1)).map(([family]) => family);
  }

  function growth(view) {
    const families = growing(view), names = families.map((family) => DATA.words[family]);
    $("growth-section").hidden = !families.length;
    if (!families.length) return;
    if (!names.includes(chosen.family)) chosen.family = names[0];
    const family = families[names.indexOf(chosen.family)];
    offer("growth-choice", "system", names, chosen.family, (value) => { chosen.family = value; growth(view); });
    caption("growth-caption", `Problems of ${chosen.family}. Least squares of log time on log size over the medians of every size; solved problems only.`);
    Charts.growth(view, family);
    const fits = new Map(view.keys.map((c) => [c, view.growth(c, family)])), fit = (c, key) => fits.get(c)[key].fit;
    const columns = (key, name) => [
      { title: `exponent in ${name}`, value: (c) => fit(c, key)?.exponent ?? NaN, show: (c) => (fit(c, key) ? fit(c, key).exponent.toFixed(2) : Words.NOTHING) },
      { title: `${name} fitted`, value: (c) => fit(c, key)?.lowest ?? NaN, show: (c) => (fit(c, key) ? `${fit(c, key).lowest} to ${fit(c, key).highest}` : Words.NOTHING) },
      { title: "sizes", value: (c) => fit(c, key)?.count ?? NaN, show: (c) => (fit(c, key) ? String(fit(c, key).count) : Words.NOTHING) },
      { title: "R²", value: (c) => fit(c, key)?.r2 ?? NaN, show: (c) => (fit(c, key) ? fit(c, key).r2.toFixed(2) : Words.NOTHING) },
    ];
    Tables.draw($("growth-table"), [named(view), ...columns("n", "n"), ...columns("n_contacts", "n_c")], view.order);
  }

  // Formulations of entries: their sizes, each (dofs, n) once.
  function formulationsOf(indices) {
    const E = DATA.entries, groups = grouped(indices, (k) => DATA.columns[E.column[k]].formulation);
    const all = [...new Set(DATA.columns.map((column) => column.formulation))];
    return all.filter((name) => groups.has(name)).map((name) => {
      const own = groups.get(name), points = new Map(own.map((k) => [`${E.n_dofs[k]},${E.n[k]}`, [E.n_dofs[k], E.n[k]]]));
      const problems = new Map(own.map((k) => [E.case[k], k]));
      return { name, look: lookOf(all.indexOf(name)), points: [...points.values()].filter((p) => p[0] > 0 && p[1] > 0), entries: [...problems.values()] };
    });
  }

  // Looks of the k-th formulation: those of the k-th kind of column.
  const lookOf = (k) => DATA.looks[k % DATA.looks.length];

  // Mean parts of the time per formulation, on problems that all of them solved with one solver and start.
  function partsOf(view, setting) {
    const columns = view.keys.filter((c) => `${view.columns[c].solver} · ${view.columns[c].start}` === setting);
    const sets = columns.map((c) => new Set(view.solved.get(c).map((k) => view.E.case[k])));
    const common = new Set([...(sets[0] ?? [])].filter((problem) => sets.every((set) => set.has(problem))));
    return { problems: common.size, times: columns.map((c) => {
      const own = view.solved.get(c).filter((k) => !common.size || common.has(view.E.case[k]));
      const mean = (part) => (own.length ? 1e-9 * Metrics.mean(own.map((k) => view.E[part][k])) : NaN);
      return { name: view.columns[c].formulation, build: mean("build"), solve: mean("solve"), recover: mean("recover") };
    }) };
  }

  function sizes(view) {
    const points = view.formulations.some((f) => f.points.length);
    $("sizes-section").hidden = !points && view.formulations.length < 2;
    if ($("sizes-section").hidden) return;
    $("sizes").hidden = !points;
    if (points) Charts.sizes(view);
    const settings = [...new Set(view.order.map((c) => `${view.columns[c].solver} · ${view.columns[c].start}`))];
    const width = (s) => view.keys.filter((c) => `${view.columns[c].solver} · ${view.columns[c].start}` === s).length;
    const widest = Math.max(...settings.map(width));
    if (!settings.includes(chosen.setting)) chosen.setting = settings.find((s) => width(s) === widest);
    offer("parts-choice", "solver", settings, chosen.setting, (value) => { chosen.setting = value; sizes(view); });
    const { problems, times } = partsOf(view, chosen.setting);
    Charts.parts(view, times);
    const time = new Map(times.map((t) => [t.name, t])), E = view.E, q = (f, key, p) => Metrics.quantile(f.entries.map((k) => E[key][k]), p);
    const part = (name) => ({ title: name, unit: view.unit[0], value: (f) => time.get(f.name)?.[name] ?? NaN, show: (f) => timed(view, time.get(f.name)?.[name] ?? NaN) });
    const total = (f) => { const t = time.get(f.name); return t ? t.build + t.solve + t.recover : NaN; };
    Tables.draw($("sizes-table"), [
      { title: "formulation", heading: true, className: "text", value: (f) => f.name },
      ...[["n, smallest", 0], ["median", 0.5], ["largest", 1]].map(([title, p]) => ({ title, value: (f) => q(f, "n", p), show: (f) => Words.count(Math.round(q(f, "n", p))) })),
      { title: "filled", unit: "% of M", hint: "median of nnz / n²", value: (f) => fillOf(E, f), show: (f) => Words.percent(fillOf(E, f)) },
      part("build"), part("solve"), part("recover"),
      { title: "total", unit: view.unit[0], value: total, show: (f) => timed(view, total(f)) },
    ], view.formulations);
    caption("sizes-caption", problems ? `Times: means over the ${Words.count(problems)} problems that ${chosen.setting} solves in every formulation shown, ${DATA.settings.merged}.` : `Times: means over what ${chosen.setting} solves in each formulation; no problem is solved in all of them.`);
  }
  const fillOf = (E, f) => Metrics.median(f.entries.filter((k) => E.n[k] > 0).map((k) => E.nnz[k] / E.n[k] ** 2));

  function byLabel(view) {
    const offered = DATA.facets.map((facet) => facet.title);
    $("labels-section").hidden = !offered.length;
    if (!offered.length) return;
    offer("label-choice", "label", offered, offered[chosen.facet], (value) => { chosen.facet = offered.indexOf(value); byLabel(view); });
    const shown = view.printing ? DATA.facets : [DATA.facets[chosen.facet]];
    const places = shown.map((facet) => node("div", { id: `label-${facet.name}`, className: "by-label" }));
    $("by-label").replaceChildren(...shown.flatMap((facet, i) => (view.printing ? [node("h4", {}, facet.title), places[i]] : [places[i]])));
    shown.forEach((facet, i) => labelTable(view, facet, places[i]));
  }

  function labelTable(view, facet, place) {
    const present = new Set(view.indices.map((k) => facet.codes[k])), codes = facet.classes.map((_, i) => i).filter((i) => present.has(i));
    const problems = codes.map((code) => new Set(view.indices.filter((k) => facet.codes[k] === code).map((k) => view.E.case[k])).size);
    const cells = new Map(view.keys.map((c) => {
      const groups = grouped(view.byColumn.get(c), (k) => facet.codes[k]);
      return [c, codes.map((code) => Metrics.rates(view.E, groups.get(code) ?? [], view.options))];
    }));
    Tables.draw(place, [named(view), ...codes.map((code, i) => ({
      title: facet.classes[code], unit: `${Words.count(problems[i])} problems`, value: (c) => cells.get(c)[i].success,
      style: (c) => fill(cells.get(c)[i].success), bold: (c) => cells.get(c)[i].success < 1,
      show: (c) => twoLines(view, cells.get(c)[i]),
    }))], view.order);
  }

  function twoLines(view, rates) {
    if (!rates.taken) return rates.total ? "not taken" : Words.NOTHING;
    const small = Number.isFinite(rates.median) ? `${timed(view, rates.median)} ${view.unit[0]}` : "";
    return node("span", {}, `${Words.percent(rates.success)} %`, node("small", {}, small));
  }

  function warm(view) {
    const pairs = pairsOf(view);
    $("warm-section").hidden = !pairs.length;
    if (!pairs.length) return;
    const time = (k) => Metrics.seconds(view.E, k, view.clock), ok = (k) => view.E.outcome[k] === Metrics.SOLVED;
    const both = (p) => p.pairs.filter(([a, b]) => ok(a) && ok(b));
    const middle = (p, i, get) => Metrics.median(both(p).map((pair) => get(pair[i])));
    const solved = (p, i) => p.pairs.filter((pair) => ok(pair[i])).length;
    const gain = (p) => Metrics.median(both(p).map(([a, b]) => time(a) / Math.max(time(b), 1e-9)));
    const column = (title, get, show, unit) => ({ title, unit, value: get, show: (p) => show(get(p)) });
    Tables.draw($("warm-table"), [
      { title: "setting", heading: true, className: "text", value: (p) => p.name },
      column("pairs", (p) => p.pairs.length, Words.count),
      column("solved cold", (p) => solved(p, 0), Words.count), column("solved warm", (p) => solved(p, 1), Words.count),
      column("median cold", (p) => middle(p, 0, time), (x) => timed(view, x), view.unit[0]), column("median warm", (p) => middle(p, 1, time), (x) => timed(view, x), view.unit[0]),
      column("cold / warm", gain, Words.number, "×"),
      column("iterations cold", (p) => middle(p, 0, (k) => view.E.iterations[k]), whole), column("iterations warm", (p) => middle(p, 1, (k) => view.E.iterations[k]), whole),
    ], pairs);
    along(view, pairs);
  }

  // Settings that were run cold and warm, with the entries of both on the same problem.
  function pairsOf(view) {
    const E = view.E, key = (c) => `${view.columns[c].formulation}\n${view.columns[c].solver}`;
    return view.order.filter((c) => view.columns[c].start === "cold").flatMap((cold) => {
      const warmer = view.keys.find((c) => view.columns[c].start === "warm" && key(c) === key(cold));
      if (warmer === undefined) return [];
      const other = new Map(view.byColumn.get(warmer).map((k) => [E.case[k], k]));
      const pairs = view.byColumn.get(cold).filter((k) => other.has(E.case[k])).map((k) => [k, other.get(E.case[k])]);
      return pairs.length ? [{ name: view.columns[cold].name.replace(/ · cold$/, ""), cold, warm: warmer, pairs }] : [];
    });
  }

  function along(view, pairs) {
    const runs = [...new Set(pairs.flatMap((p) => p.pairs.map(([k]) => DATA.places[view.E.case[k]][0])))].filter((run) => run >= 0).sort((a, b) => a - b);
    $("along-figure").hidden = !runs.length;
    if (!runs.length) return;
    if (!runs.includes(chosen.run)) chosen.run = runs[0];
    if (!pairs.some((p) => p.name === chosen.pair)) chosen.pair = pairs[0].name;
    const choices = $("along-choice");
    choices.replaceChildren();
    offer("along-choice", "trajectory", runs.map((run) => DATA.runs[run]), DATA.runs[chosen.run], (value) => { chosen.run = DATA.runs.indexOf(value); along(view, pairs); }, true);
    offer("along-choice", "setting", pairs.map((p) => p.name), chosen.pair, (value) => { chosen.pair = value; along(view, pairs); }, true);
    const pair = pairs.find((p) => p.name === chosen.pair);
    const own = pair.pairs.filter(([k]) => DATA.places[view.E.case[k]][0] === chosen.run).sort((a, b) => step(view, a) - step(view, b));
    const line = (name, i, colour, symbol, dash) => ({
      name, colour, symbol, dash, x: own.map((p) => step(view, p)),
      y: own.map((p) => (view.E.outcome[p[i]] === Metrics.SOLVED ? Metrics.seconds(view.E, p[i], view.clock) : null)),
    });
    Charts.warm(view, [line("cold", 0, DATA.looks[1].colour, "square", "dash"), line("warm", 1, DATA.looks[0].colour, "circle", "solid")]);
  }
  const step = (view, pair) => DATA.places[view.E.case[pair[0]]][1];

  // A choice of words inside a section.
  function offer(id, label, words, now, change, keep = false) {
    const made = choice(label, words.map((word) => [word, word]), now, change);
    if (keep) $(id).append(made); else $(id).replaceChildren(made);
    $(id).hidden = words.length < 2 && !keep;
  }

  function failures(view) {
    const E = view.E, rows = view.indices.filter((k) => E.outcome[k] !== Metrics.SOLVED && E.outcome[k] !== Metrics.UNSUPPORTED);
    const why = (k) => DATA.failures[k], column = (k) => view.columns[E.column[k]];
    $("failures-section").hidden = !rows.length;
    if (!rows.length) return;
    caption("failures-caption", `${Words.count(rows.length)} of ${Words.count(view.indices.length)} solves ended without a certified answer.`);
    const text = (title, value, more = {}) => ({ title, className: "text", value, ...more });
    Tables.draw($("failures"), [
      text("problem", (k) => DATA.cases[E.case[k]], { heading: true }),
      text("setting", (k) => column(k).name),
      text("outcome", (k) => (E.outcome[k] === 4 ? lower(E.status[k]) : DATA.settings.outcomes[E.outcome[k]]), { style: (k) => (E.outcome[k] === 1 ? "background: var(--none)" : ""), bold: (k) => E.outcome[k] === 1 }),
      text("claim", (k) => lower(E.claim[k]) || "none"),
      { title: "residual", value: (k) => why(k)[1] ?? Infinity, show: (k) => Words.power(why(k)[1]) },
      { title: "n", value: (k) => E.n[k] },
      { title: "repeats", hint: "repeats that failed", value: (k) => why(k)[3], show: (k) => `${why(k)[3]} of ${why(k)[4]}` },
      text("reason", (k) => why(k)[0], { className: "text reason" }),
      text("saved problem", (k) => why(k)[2], { className: "text file", show: (k) => saved(why(k)[2]) }),
    ], rows, { pageSize: 25, printed: 100, printing: view.printing });
  }
  const lower = (word) => DATA.words[word].toLowerCase().replace("_", " ");
  const saved = (path) => (path ? node("a", { href: encodeURI(path) }, path.split("/").pop()) : Words.NOTHING);

  function draw(view) {
    Grid.draw(view, offer, twoLines);
    for (const section of [success, profile, means, growth, sizes, byLabel, warm, failures]) section(view);
    const known = view.keys.filter((c) => view.residuals.get(c).length);
    const charts = { residuals: known.length, accuracy: known.some((c) => view.rates.get(c).solved) };
    for (const [name, any] of Object.entries(charts)) {
      $(`${name}-section`).hidden = !any;
      if (any) Charts[name](view);
    }
  }

  function shiftChoice() {
    $("shift-choice").append(choice("shift", SHIFTS.map(([value, text]) => [String(value), text]), String(STATE.shift), (value) => { STATE.shift = Number(value); update(); }));
  }

  return { draw, formulationsOf, shiftChoice };
})();
