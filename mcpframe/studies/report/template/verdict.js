"use strict";
// What the entries that the filters leave say, in sentences. Mirrors verdict.py: change both.

const Verdict = (() => {
  const all = (total) => (total === 1 ? "the one problem" : `all ${Words.count(total)} problems`);
  const verb = (subjects, word) => (subjects.length > 1 ? word : `${word}s`);
  const names = (view, columns) => Words.listed(columns.map((c) => view.columns[c].name));

  function success(view) {
    const total = view.profiles.problems, rates = (c) => view.rates.get(c);
    const full = view.order.filter((c) => rates(c).solved === total);
    if (full.length) {
      const who = full.length === view.order.length && full.length > 1 ? "All settings" : names(view, full);
      return `${who} ${verb(full, "solve")} ${all(total)}.`;
    }
    if (view.keys.every((c) => rates(c).total < total)) return whereRun(view, total);
    const best = view.order[0], solved = rates(best).solved;
    return `No setting solves ${all(total)}; most are solved by ${view.columns[best].name}: ${Words.count(solved)} (${Words.percent(solved / total)} %).`;
  }

  function whereRun(view, total) {
    const full = view.order.filter((c) => view.rates.get(c).success === 1), start = `No setting was run on ${all(total)}`;
    if (!full.length) return `${start}, and none solves all that it was run on.`;
    return `${start}; ${names(view, full)} ${verb(full, "solve")} all that ${full.length === 1 ? "it was" : "they were"} run on.`;
  }

  function speed(view) {
    const most = view.rates.get(view.order[0]).solved, mean = (c) => view.rates.get(c).mean;
    const order = view.keys.filter((c) => view.rates.get(c).solved === most).sort((a, b) => mean(a) - mean(b));
    const fastest = `${view.columns[order[0]].name}: ${Words.time(mean(order[0]))}`;
    if (order.length === 1) return `Time of ${view.clockName}, shifted geometric mean, of ${fastest}.`;
    return `The fastest of these is ${fastest} (${view.clockName}, shifted geometric mean), before ${view.columns[order[1]].name} with ${Words.time(mean(order[1]))}.`;
  }

  function onTop(view) {
    if (view.keys.length === 1) return "";
    const top = view.byArea[0], share = Metrics.share(view.profiles.ratios.get(top), view.profiles.problems, 1);
    return `The performance profile puts ${view.columns[top].name} on top (fastest on ${Words.percent(share)} % of the problems).`;
  }

  function claims(view) {
    const lies = (c) => view.rates.get(c).false_claims, made = Metrics.sum(view.keys.map((c) => view.rates.get(c).claims));
    const makers = view.keys.filter(lies).sort((a, b) => lies(b) - lies(a));
    if (!makers.length) return `None of ${Words.count(made)} claims was a false success.`;
    const told = Words.listed(makers.map((c) => `${view.columns[c].name} (${Words.count(lies(c))})`));
    return `${Words.count(Metrics.sum(makers.map(lies)))} of ${Words.count(made)} claims were false successes: ${told}.`;
  }

  const filtered = (view) => (view.indices.length < DATA.entries.case.length ? "Of what the filters leave: " : "");
  const text = (view) => filtered(view) + [success, speed, onTop, claims].map((say) => say(view)).filter(Boolean).join(" ");
  return { text };
})();
