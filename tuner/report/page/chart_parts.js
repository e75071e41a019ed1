"use strict";
// Texts of numbers and sizes, axes, lines and options: what every chart of the page is made of.
const parts = (function () {
  const style = () => getComputedStyle(document.documentElement);
  const colour = (name) => style().getPropertyValue("--" + name).trim();

  const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  function countText(n) {
    const exponent = Math.log2(n);
    if (n < 1024 || !Number.isInteger(exponent)) return String(n);
    return "2" + String(exponent).split("").map((digit) => superscripts[Number(digit)]).join("");
  }
  function sizesText(sizes) {
    return Object.entries(sizes).map(([name, n]) => name + " = " + countText(n)).join(", ");
  }
  function number(value) {
    if (value === null || value === undefined) return "not recorded";
    return Number(value.toPrecision(4)).toString();
  }

  // What the problems of a series are placed by: the size that differs between them. Where several do, no line through all of
  // them says anything: points, at the bytes of the problem (NaN: not known, nothing is drawn) or else the product of the sizes. Without
  // any size: its place.
  function placing(series) {
    const sizes = series.problems.map((problem) => problem.sizes);
    const names = Object.keys(sizes[0]);
    const differ = names.filter((name) => sizes.some((one) => one[name] !== sizes[0][name]));
    const placed = (title, xOf, joined) => ({ title: title, xs: series.problems.map(xOf), showLine: joined, bytes: false });
    const shown = series.problems.filter((problem) => problem.best);
    if (names.length === 0) return placed("problem", (problem, i) => i + 1, true);
    const name = names.length === 1 ? names[0] : differ.length === 1 ? differ[0] : null;
    if (name !== null) {
      const others = Object.fromEntries(Object.entries(sizes[0]).filter(([other]) => other !== name));
      const fixed = names.length > 1 ? " at " + sizesText(others) : "";
      return placed(name + fixed, (problem) => Math.max(problem.sizes[name], 1), true);
    }
    if (differ.length > 1 && shown.length > 0 && shown.every((problem) => problem.work_bytes)) {
      return Object.assign(placed("MB of the problem", (problem) => problem.work_bytes / 1e6 || NaN, false), { bytes: true });
    }
    return placed(names.join(" × "), (problem) => Object.values(problem.sizes).reduce((product, n) => product * Math.max(n, 1), 1), differ.length === 0);
  }

  function axisTitle(text) {
    return { display: true, text: text, color: colour("muted") };
  }
  function sizeAxis(all, title) {
    const xs = all.filter(Number.isFinite);
    const low = Math.min(...xs), high = Math.max(...xs);
    return {
      type: "logarithmic", min: low === high ? low / 2 : low / 1.2, max: low === high ? high * 2 : high * 1.2,
      title: axisTitle(title), grid: { color: colour("rule") },
      afterBuildTicks: (axis) => { axis.ticks = [...new Set(xs)].map((value) => ({ value: value })); },
      ticks: { color: colour("muted"), autoSkip: true, maxRotation: 0, callback: (value) => countText(value) },
    };
  }
  // 1, 2 and 5 of each decade: Chart.js writes every step of it.
  function logAxis(text) {
    return {
      type: "logarithmic", title: axisTitle(text), grid: { color: colour("rule") },
      afterBuildTicks: (axis) => {
        const decades = Math.log10(axis.max / axis.min);
        const steps = decades > 4 ? [1] : decades > 2 ? [1, 3] : [1, 2, 5];
        axis.ticks = [];
        for (let power = Math.floor(Math.log10(axis.min)); power <= Math.log10(axis.max); power++) {
          for (const step of steps) {
            const value = step * Math.pow(10, power);
            if (value >= axis.min && value <= axis.max) axis.ticks.push({ value: value });
          }
        }
      },
      ticks: { color: colour("muted"), callback: (value) => number(value) },
    };
  }
  function placeAxis(place) {
    const own = sizeAxis(place.xs, place.title);
    return place.bytes ? Object.assign(logAxis(place.title), { min: own.min, max: own.max }) : own;
  }
  function linearAxis(text, callback) {
    return {
      type: "linear", title: axisTitle(text), grid: { color: colour("rule") },
      ticks: { color: colour("muted"), callback: callback },
    };
  }
  // Of what a search has found so far, as a multiple of its end, over its evaluations.
  function courseAxes(text, datasets, last) {
    const y = linearAxis(text, (value) => value.toFixed(2));
    y.min = 1;
    // One slow first guess would flatten everything that is worth seeing.
    y.max = Math.min(2, Math.max(1.05, ...datasets.flatMap((one) => one.data.map((point) => point.y))));
    const x = logAxis("evaluations");
    x.min = 1;
    x.max = last;
    return { x: x, y: y };
  }

  function options(scales, titleOf, labelOf) {
    return {
      responsive: true, maintainAspectRatio: false, animation: false, scales: scales,
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      plugins: {
        legend: { position: "bottom", align: "start", labels: { color: colour("ink"), boxWidth: 22, boxHeight: 2 } },
        tooltip: { callbacks: { title: titleOf, label: labelOf } },
      },
    };
  }
  function line(label, points, name, extra) {
    return Object.assign({
      label: label, data: points, borderColor: colour(name), backgroundColor: colour(name), borderWidth: 2,
      pointRadius: 3, pointHoverRadius: 5, tension: 0,
    }, extra);
  }
  const pointTitle = (series) => (items) => sizesText(series.problems[items[0].raw.problem].sizes);

  // Operations a second that the device can do; null where the series shows none.
  const peakOf = (series) => series.shows_operations ? series.peak_operations_per_s : null;
  // In what the ladders of these problems are drawn: what they compute where that matters and all tell it, else what they move, else calls.
  // `most` is what the device can do of it; nothing where that is not known.
  function rateOf(series, problems) {
    const by = (name) => (problem, us) => problem[name] / us / 1e3;
    if (series.shows_operations && problems.every((problem) => problem.work_operations)) {
      return { unit: "GFLOP/s", of: by("work_operations"), most: () => peakOf(series), limit: "arithmetic peak" };
    }
    if (problems.every((problem) => problem.work_bytes)) {
      return { unit: "GB/s", of: by("work_bytes"), most: (problem) => problem.ladder.ceiling_bytes_per_s, limit: "measured read ceiling" };
    }
    return { unit: "calls per µs", of: (problem, us) => 1 / us, most: () => null, limit: "" };
  }

  return { colour, sizesText, number, placing, sizeAxis, logAxis, placeAxis, linearAxis, courseAxes, options, line, pointTitle, peakOf, rateOf };
})();
