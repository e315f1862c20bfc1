"use strict";
// The grid: formulations (or systems, where there is one formulation) against solvers. Mirrors grid.py.

const Grid = (() => {
  const { node, fill } = Tables;
  const chosen = { colour: null };
  const SLOWEST = 100;  // times the best median of the grid, from which on a cell has the last colour

  // Rows and columns by name, with the rates of what meets in every cell; null where there is nothing to compare.
  function of(view) {
    const E = view.E, formulations = view.formulations.map((f) => f.name), starts = new Set(view.keys.map((c) => view.columns[c].start));
    const across = (k) => { const c = view.columns[E.column[k]]; return starts.size > 1 ? `${c.solver} · ${c.start}` : c.solver; };
    const down = formulations.length > 1 ? (k) => view.columns[E.column[k]].formulation : (k) => DATA.words[E.family[k]];
    const places = (name) => [...new Set(view.keys.flatMap((c) => view.byColumn.get(c)).map(name))];
    const rows = formulations.length > 1 ? formulations : places(down).sort(), columns = places(across).sort();
    if (rows.length < 2 || columns.length < 2) return null;
    const cells = new Map(rows.map((row) => [row, new Map()]));
    for (const k of view.indices) {
      const own = cells.get(down(k)), name = across(k);
      if (!own.has(name)) own.set(name, []);
      own.get(name).push(k);
    }
    for (const own of cells.values()) for (const [name, indices] of own) own.set(name, Metrics.rates(E, indices, view.options));
    return { what: formulations.length > 1 ? "formulation" : "system", rows, columns, cells };
  }

  // Fill by time: that of the fastest cell, towards that of one SLOWEST times slower.
  function heat(median, best) {
    if (!Number.isFinite(median)) return "";
    const share = Math.max(0, 1 - Math.log(median / best) / Math.log(SLOWEST));
    return `background: color-mix(in srgb, var(--all) ${Math.round(100 * share)}%, var(--none))`;
  }

  function draw(view, offer, twoLines) {
    const grid = of(view), section = document.getElementById("grid-section");
    section.hidden = grid === null;
    if (grid === null) return;
    const all = grid.rows.flatMap((row) => [...grid.cells.get(row).values()]).filter((r) => r.taken);
    const best = Math.min(...all.map((r) => r.median).filter(Number.isFinite)), colours = ["share solved", "median time"];
    const colour = chosen.colour ?? colours[all.every((r) => r.success === 1) ? 1 : 0];
    const cell = (row, name) => grid.cells.get(row).get(name);
    const style = (r) => (!r || !r.taken ? "" : colour === colours[0] ? fill(r.success) : heat(r.median, best));
    document.getElementById("grid-title").textContent = `${grid.what[0].toUpperCase()}${grid.what.slice(1)} × solver`;
    offer("grid-choice", "colour", colours, colour, (value) => { chosen.colour = value; draw(view, offer, twoLines); });
    Tables.draw(document.getElementById("grid"), [
      { title: grid.what, heading: true, className: "text", value: (row) => row },
      ...grid.columns.map((name) => ({
        title: name, value: (row) => cell(row, name)?.success ?? NaN, style: (row) => style(cell(row, name)),
        bold: (row) => cell(row, name)?.success < 1, show: (row) => (cell(row, name) ? twoLines(view, cell(row, name)) : Words.NOTHING),
      })),
    ], grid.rows);
    document.getElementById("grid-caption").textContent = `Share solved of the problems taken, and the median time of ${view.clockName} of the solved. Colours tell the ${colour}` + (colour === colours[0] ? "." : `, from that of the fastest to ${SLOWEST} times as long.`);
  }

  return { draw, of };
})();
