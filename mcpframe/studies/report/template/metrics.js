"use strict";
// Figures of merit of what the filters leave. Mirrors metrics.py and profiles.py: change both.

const Metrics = (() => {
  const SOLVED = 0, FALSE_CLAIM = 1, CRASHED = 2, TIME_LIMIT = 3, FAILED = 4, UNSUPPORTED = 5;
  const NANO = 1e-9, TICK = 1e-9, FEWEST_SIZES = 3, MOST_SIZES = 24, SIZE_CLASSES = 16;

  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const mean = (values) => sum(values) / values.length;
  const sorted = (values) => Float64Array.from(values).sort();

  // Linear interpolation between order statistics, as numpy does.
  function quantile(values, p) {
    if (!values.length) return NaN;
    const order = sorted(values), place = p * (order.length - 1), low = Math.floor(place);
    const high = Math.min(low + 1, order.length - 1);
    return order[low] + (place - low) * (order[high] - order[low]);
  }
  const median = (values) => quantile(values, 0.5);

  function shiftedGeometricMean(seconds, shift) {
    if (!seconds.length) return NaN;
    return Math.exp(mean(seconds.map((t) => Math.log(t + shift)))) - shift;
  }

  // Seconds of entry k on a clock.
  function seconds(entries, k, clock) {
    const solve = entries.solve[k];
    return NANO * (clock === "solve" ? solve : entries.build[k] + solve + entries.recover[k]);
  }

  function rates(entries, indices, { clock, penalty, shift }) {
    const count = [0, 0, 0, 0, 0, 0];
    const times = [], all = [];
    let right = 0, claims = 0;
    for (const k of indices) {
      const outcome = entries.outcome[k];
      count[outcome] += 1;
      if (outcome === UNSUPPORTED) continue;
      const ok = outcome === SOLVED;
      if (ok) times.push(seconds(entries, k, clock));
      all.push(ok ? seconds(entries, k, clock) : penalty);
      claims += entries.claimed[k];
      right += entries.claimed[k] && entries.right[k];
    }
    const taken = indices.length - count[UNSUPPORTED];
    return {
      total: indices.length, taken, unsupported: count[UNSUPPORTED], solved: count[SOLVED],
      false_claims: count[FALSE_CLAIM], crashed: count[CRASHED], time_limit: count[TIME_LIMIT],
      failed: count[FAILED], right, claims, success: taken ? count[SOLVED] / taken : NaN,
      correctness: claims ? right / claims : NaN, median: median(times),
      mean: shiftedGeometricMean(all, shift),
    };
  }

  // Sorted finite ratios to the fastest, of every column, and how many problems there are [Dolan, Moré].
  function profiles(entries, indices, clock) {
    const best = new Map(), ratios = new Map();
    const time = (k) => Math.max(seconds(entries, k, clock), TICK);
    for (const k of indices) {
      const case_ = entries.case[k], known = best.get(case_) ?? Infinity;
      best.set(case_, entries.outcome[k] === SOLVED ? Math.min(known, time(k)) : known);
      if (!ratios.has(entries.column[k])) ratios.set(entries.column[k], []);
    }
    for (const k of indices) {
      if (entries.outcome[k] === SOLVED) ratios.get(entries.column[k]).push(time(k) / best.get(entries.case[k]));
    }
    for (const [column, values] of ratios) ratios.set(column, sorted(values));
    return { ratios, problems: best.size };
  }

  // Mean of a profile over log ratio from 1 to far.
  function area(ratios, problems, far) {
    return sum(Array.from(ratios, (r) => Math.max(0, 1 - Math.log(r) / Math.log(far)))) / problems;
  }

  // ρ(τ) for sorted ratios.
  function share(ratios, problems, tau) {
    let low = 0, high = ratios.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ratios[middle] <= tau) low = middle + 1; else high = middle;
    }
    return low / problems;
  }

  // Median time at every size, smallest size first: [[size, seconds], ...].
  function mediansBySize(sizes, times) {
    const groups = new Map();
    sizes.forEach((size, i) => {
      if (!groups.has(size)) groups.set(size, []);
      groups.get(size).push(times[i]);
    });
    return [...groups].sort((a, b) => a[0] - b[0]).map(([size, values]) => [size, median(values)]);
  }

  // What a drawing shows: the medians, or where there are many sizes, those of classes of equal ratio.
  function inClasses(medians) {
    const points = medians.filter(([size]) => size > 0);
    if (points.length <= MOST_SIZES) return points;
    const low = Math.log(points[0][0]), high = Math.log(points[points.length - 1][0]), groups = new Map();
    for (const point of points) {
      const place = Math.min(SIZE_CLASSES - 1, Math.floor((SIZE_CLASSES * (Math.log(point[0]) - low)) / (high - low)));
      groups.set(place, [...(groups.get(place) ?? []), point]);
    }
    return [...groups.values()].map((own) => [0, 1].map((i) => median(own.map((p) => p[i]))));
  }

  // Least squares of log time on log size; null with fewer than three sizes.
  function fitExponent(medians) {
    const points = medians.filter(([size, time]) => size > 0 && time > 0);
    if (points.length < FEWEST_SIZES) return null;
    const x = points.map((p) => Math.log(p[0])), y = points.map((p) => Math.log(p[1]));
    const mx = mean(x), my = mean(y);
    const sxx = sum(x.map((v) => (v - mx) ** 2)), syy = sum(y.map((v) => (v - my) ** 2));
    const exponent = sum(x.map((v, i) => (v - mx) * (y[i] - my))) / sxx;
    const left = sum(x.map((v, i) => (y[i] - my - exponent * (v - mx)) ** 2));
    return {
      exponent, lowest: points[0][0], highest: points[points.length - 1][0], count: points.length,
      r2: syy > 0 ? 1 - left / syy : 1,
    };
  }

  return {
    SOLVED, UNSUPPORTED, sum, mean, quantile, median, seconds, rates, profiles, area, share,
    mediansBySize, inClasses, fitExponent,
  };
})();
