"use strict";
// The charts: traces and layouts for plotly, from a view (see page.js).

const Charts = (() => {
  const FONT = 'Helvetica, Arial, "Liberation Sans", sans-serif';
  const CONFIG = {
    responsive: true, displaylogo: false,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  };
  const NARROW = 900, PAPER = 690, MOST_STEPS = 400, FLOOR = 1e-17, FLAGS = 7;

  const axis = (text, more = {}) => ({
    title: { text, standoff: 8 }, showline: true, linecolor: "#555", ticks: "outside", tickcolor: "#555",
    ticklen: 4, gridcolor: "#e4e4e4", zeroline: false, automargin: true, ...more,
  });
  const extreme = (values, pick) => values.reduce((a, b) => pick(a, b));
  const plain = (value) => String(Number(value.toPrecision(3)));

  // A logarithmic axis over given values: ticks at powers of ten, or at 1, 2, 5 where they span few of them.
  function logAxis(text, values, { range, stride, ...more } = {}) {
    const known = values.filter((v) => v > 0 && Number.isFinite(v));
    if (!known.length) return axis(text, { type: "log", ...more });
    const low = Math.log10(extreme(known, Math.min)), high = Math.log10(extreme(known, Math.max));
    const pad = 0.06 * Math.max(high - low, 0.5), ends = range ?? [low - pad, high + pad];
    const span = high - low, ticks = [];
    const digits = span > 0.8 ? [1, 2, 5] : span > 0.35 ? [1, 2, 3, 4, 5, 6, 8] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
    const few = ends[0] > -3.5 && ends[1] < 4.5;
    for (let k = Math.floor(ends[0]); k <= Math.ceil(ends[1]); k++) {
      if (span > 1.7 && k % (stride ?? Math.ceil(span / 8)) === 0) ticks.push([10 ** k, few ? plain(10 ** k) : `10<sup>${k}</sup>`]);
      if (span <= 1.7) for (const digit of digits) ticks.push([digit * 10 ** k, plain(digit * 10 ** k)]);
    }
    return axis(text, { type: "log", range: ends, tickvals: ticks.map((t) => t[0]), ticktext: ticks.map((t) => t[1]), ...more });
  }

  // Draw into an element; legends stand right of the data, or below where there is no room.
  function draw(view, id, traces, layout, height) {
    const place = document.getElementById(id);
    const width = view.printing ? PAPER : place.clientWidth;
    const below = width < NARROW || layout.legendBelow;
    const names = traces.filter((trace) => trace.showlegend !== false).map((trace) => String(trace.name));
    const showlegend = layout.showlegend ?? names.length > 1;
    const item = 48 + 7 * Math.max(...names.map((name) => name.length)), rows = Math.ceil(names.length / Math.max(1, Math.floor(width / item)));
    const room = below && showlegend ? 18 * rows + 8 : 0;
    const tall = Math.max(height, below ? 0 : 19 * names.length + 90) + room;
    const legend = below
      ? { orientation: "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom" }
      : { x: 1.02, xanchor: "left", y: 1 - 24 / tall, yanchor: "top" };  // below the buttons
    const full = {
      font: { family: FONT, size: 12.5, color: "#222" }, paper_bgcolor: "white", plot_bgcolor: "white",
      margin: { l: 60, r: 14, t: 14, b: 52 + room }, hovermode: "closest",
      legend: { itemsizing: "constant", tracegroupgap: 0, bgcolor: "rgba(255,255,255,0)", font: { size: 12 }, ...legend },
      ...layout, showlegend, height: tall, width: view.printing ? width : undefined, autosize: !view.printing,
    };
    place.style.height = `${tall}px`;
    return Plotly.react(place, traces, full, CONFIG);
  }

  function looks(column, more = {}) {
    return {
      name: column.name, legendgroup: column.name, line: { color: column.colour, dash: column.dash, width: 2 },
      marker: { color: column.colour, symbol: column.symbol, size: 8, line: { color: "white", width: 0.5 } }, ...more,
    };
  }

  // ρ as a staircase: its corners, or an even choice of them where there are many.
  function staircase(ratios, problems, far) {
    const stride = Math.max(1, Math.ceil(ratios.length / MOST_STEPS));
    const x = [1], y = [Metrics.share(ratios, problems, 1)];
    for (let i = stride - 1; i < ratios.length; i += stride) {
      if (ratios[i] > 1) { x.push(ratios[i]); y.push((i + 1) / problems); }
    }
    x.push(far);
    y.push(ratios.length / problems);
    return { x, y };
  }

  // A few markers along a curve, evenly spaced in log x, shifted so that curves do not hide each other's.
  function flags(x, y, k, far) {
    const at = { x: [], y: [] };
    for (let i = 0; i < FLAGS; i++) {
      const tau = far ** ((i + 0.15 + 0.08 * (k % 10)) / FLAGS);
      const before = x.findLastIndex((v) => v <= tau);
      if (y[before] > 0) { at.x.push(tau); at.y.push(100 * y[before]); }
    }
    return at;
  }

  // The best few of many: more than these hide each other.
  const BEST = 8;

  function profile(view, everybody) {
    const { ratios, problems } = view.profiles;
    const worst = Math.max(10, ...[...ratios.values()].map((r) => (r.length ? r[r.length - 1] : 1)));
    const far = Math.min(worst * 1.3, 1e5), traces = [];
    view.byArea.slice(0, everybody ? Infinity : BEST).forEach((c, k) => {
      const column = view.columns[c], { x, y } = staircase(ratios.get(c), problems, far);
      traces.push(looks(column, {
        x, y: y.map((v) => 100 * v), mode: "lines", showlegend: false,
        line: { color: column.colour, dash: column.dash, width: 2, shape: "hv" },
        hovertemplate: `${column.name}<br>%{y:.1f} % within %{x:.3g} × the fastest<extra></extra>`,
      }));
      traces.push(looks(column, { x: [null], y: [null], mode: "lines+markers" }));
      traces.push(looks(column, { ...flags(x, y, k, far), mode: "markers", showlegend: false, hoverinfo: "skip" }));
    });
    return draw(view, "profile", traces, {
      xaxis: logAxis("time over that of the fastest, τ", [1, far], { range: [0, Math.log10(far)] }),
      yaxis: axis("problems solved within τ [%]", { range: [0, 102] }),
    }, 440);
  }

  // Means and medians, one line each, fastest on top.
  function means(view) {
    const order = view.order.filter((c) => view.rates.get(c).taken).sort((a, b) => view.rates.get(b).mean - view.rates.get(a).mean);
    const y = order.map((c) => view.columns[c].name), scale = view.unit[1];
    const values = order.map((c) => view.rates.get(c).mean / scale), middles = order.map((c) => view.rates.get(c).median / scale);
    const colour = order.map((c) => view.columns[c].colour), symbol = order.map((c) => view.columns[c].symbol);
    const traces = [
      { x: [null], y: [y[0]], mode: "markers", name: "shifted geometric mean, failures at the penalty", marker: { color: "#777", size: 10 } },
      { x: values, y, mode: "markers", showlegend: false, marker: { color: colour, symbol, size: 10 }, hovertemplate: `%{y}: %{x:.4g} ${view.unit[0]}<extra>mean</extra>` },
      { x: middles, y, mode: "markers", name: "median of the solved", marker: { color: "#222", symbol: "line-ns-open", size: 12, line: { width: 2 } }, hovertemplate: `%{y}: %{x:.4g} ${view.unit[0]}<extra>median</extra>` },
    ];
    return draw(view, "means", traces, {
      xaxis: logAxis(`time of ${view.clockName} [${view.unit[0]}]`, [...values, ...middles]),
      yaxis: axis("", { tickson: "boundaries", type: "category", ticks: "", showgrid: true }), legendBelow: true,
    }, 110 + 22 * order.length);
  }

  function growth(view, family) {
    const traces = [], scale = view.unit[1], sizes = [[], []], times = [];
    for (const c of view.order) {
      ["n", "n_contacts"].forEach((key, panel) => {
        const points = Metrics.inClasses(view.growth(c, family)[key].medians);
        sizes[panel].push(...points.map((p) => p[0]));
        times.push(...points.map((p) => p[1] / scale));
        traces.push(looks(view.columns[c], {
          x: points.map((p) => p[0]), y: points.map((p) => p[1] / scale), mode: "lines+markers", xaxis: panel ? "x2" : "x",
          yaxis: panel ? "y2" : "y", showlegend: !panel, line: { color: view.columns[c].colour, dash: view.columns[c].dash, width: 1.6 },
          hovertemplate: `${view.columns[c].name}<br>${panel ? "n_c" : "n"} = %{x}: %{y:.4g} ${view.unit[0]}<extra></extra>`,
        }));
      });
    }
    return draw(view, "growth", traces, {
      xaxis: logAxis("rows of the problem, n", sizes[0], { domain: [0, 0.48] }),
      yaxis: logAxis(`median time of ${view.clockName} [${view.unit[0]}]`, times),
      xaxis2: logAxis("contacts, n_c", sizes[1], { domain: [0.52, 1], anchor: "y2" }),
      yaxis2: logAxis("", times, { anchor: "x2", matches: "y", showticklabels: false }),
    }, 420);
  }

  function sizes(view) {
    const traces = view.formulations.map(({ name, look, points }) => ({
      x: points.map((p) => p[0]), y: points.map((p) => p[1]), mode: "markers", name,
      marker: { color: look.colour, symbol: look.symbol, size: 8, opacity: 0.75, line: { color: "white", width: 0.5 } },
      hovertemplate: `${name}: %{x} dofs, n = %{y}<extra></extra>`,
    }));
    const all = view.formulations.flatMap((f) => f.points);
    return draw(view, "sizes", traces, {
      xaxis: logAxis("degrees of freedom", all.map((p) => p[0])),
      yaxis: logAxis("rows of the problem, n", all.map((p) => p[1])), showlegend: true,
    }, 380);
  }

  function parts(view, times) {
    const looksOf = [["build", "#56B4E9", "/"], ["solve", "#0072B2", ""], ["recover", "#E69F00", "x"]];
    const y = times.map((t) => t.name).reverse();
    const traces = looksOf.map(([part, color, shape]) => ({
      type: "bar", orientation: "h", name: part, y, x: times.map((t) => t[part] / view.unit[1]).reverse(),
      marker: { color, line: { color: "white", width: 1 }, pattern: { shape, bgcolor: color, fgcolor: "white", size: 7, solidity: 0.2 } },
      hovertemplate: `%{y}: ${part} %{x:.4g} ${view.unit[0]}<extra></extra>`,
    }));
    return draw(view, "parts", traces, {
      barmode: "stack", bargap: 0.35, xaxis: axis(`mean time [${view.unit[0]}]`, { rangemode: "tozero" }),
      yaxis: axis("", { type: "category", ticks: "", showgrid: false }), legend: { traceorder: "normal" },
    }, 120 + 34 * times.length);
  }

  const lifted = (value) => Math.max(value, FLOOR);

  function toleranceLine(view, along) {
    if (!view.tol) return {};
    const [a, b] = along === "x" ? ["x", "y"] : ["y", "x"];
    const line = { type: "line", [`${a}0`]: view.tol, [`${a}1`]: view.tol, [`${b}ref`]: "paper", [`${b}0`]: 0, [`${b}1`]: 1, line: { color: "#222", width: 1, dash: "dash" } };
    const text = along === "x" ? { x: Math.log10(view.tol), xanchor: "right", y: 0, yref: "paper", yanchor: "bottom" } : { y: Math.log10(view.tol), yanchor: "top", x: 0, xref: "paper", xanchor: "left" };
    return { shapes: [line], annotations: [{ ...text, text: "tolerance", showarrow: false, font: { size: 11 } }] };
  }

  function residuals(view) {
    const order = view.order.filter((c) => view.residuals.get(c).length).reverse(), all = [];
    const traces = order.map((c) => {
      const values = view.residuals.get(c).map(lifted), q = (p) => Metrics.quantile(values, p), column = view.columns[c];
      all.push(q(0.05), q(0.95));
      return {
        type: "box", orientation: "h", y: [column.name], q1: [q(0.25)], median: [q(0.5)], q3: [q(0.75)], lowerfence: [q(0.05)],
        upperfence: [q(0.95)], line: { color: column.colour, width: 1.6 }, fillcolor: "rgba(0,0,0,0.04)", showlegend: false, name: column.name, width: 0.6,
      };
    });
    return draw(view, "residuals", traces, {
      xaxis: logAxis("scaled natural residual, r / (1 + ‖q‖∞)", [...all, view.tol ?? all[0]], { stride: 2 }),
      yaxis: axis("", { type: "category", ticks: "", showgrid: false }), margin: { l: 60, r: 14, t: 26, b: 52 }, ...toleranceLine(view, "x"),
    }, 110 + 24 * order.length);
  }

  function accuracy(view) {
    const scale = view.unit[1], across = [], up = [];
    const traces = view.order.filter((c) => view.residuals.get(c).length && view.rates.get(c).solved).map((c) => {
      const errors = view.residuals.get(c).map(lifted), times = view.times.get(c).map((t) => t / scale), column = view.columns[c];
      const spread = (values) => [0.1, 0.5, 0.9].map((p) => Metrics.quantile(values, p));
      const [t0, t, t1] = spread(times), [e0, e, e1] = spread(errors), thin = { color: column.colour, thickness: 1, width: 3, type: "data", symmetric: false };
      across.push(t0, t1);
      up.push(e0, e1);
      return looks(column, {
        x: [t], y: [e], mode: "markers", marker: { color: column.colour, symbol: column.symbol, size: 11, line: { color: "white", width: 0.8 } },
        error_x: { ...thin, array: [t1 - t], arrayminus: [t - t0] }, error_y: { ...thin, array: [e1 - e], arrayminus: [e - e0] },
        hovertemplate: `${column.name}<br>%{x:.4g} ${view.unit[0]}, residual %{y:.1e}<extra></extra>`,
      });
    });
    return draw(view, "accuracy", traces, {
      xaxis: logAxis(`time of ${view.clockName} [${view.unit[0]}], solved problems`, across),
      yaxis: logAxis("scaled natural residual", [...up, view.tol ?? up[0]], { stride: 2 }), ...toleranceLine(view, "y"),
    }, 420);
  }

  function warm(view, lines) {
    const traces = lines.map(({ name, x, y, colour, symbol, dash }) => ({
      x, y: y.map((t) => (t === null ? null : t / view.unit[1])), name, mode: x.length > 120 ? "lines" : "lines+markers",
      line: { color: colour, dash, width: 1.6 }, marker: { color: colour, symbol, size: 5 },
      hovertemplate: `step %{x}: %{y:.4g} ${view.unit[0]}<extra>${name}</extra>`,
    }));
    const values = lines.flatMap((l) => l.y.filter((t) => t !== null).map((t) => t / view.unit[1]));
    return draw(view, "along", traces, {
      xaxis: axis("step along the trajectory"), yaxis: logAxis(`time of ${view.clockName} [${view.unit[0]}]`, values),
    }, 360);
  }

  return { BEST, profile, means, growth, sizes, parts, residuals, accuracy, warm };
})();
