// The charts, a function each.
(function () {
  const { colour, sizesText, number, placing, sizeAxis, logAxis, placeAxis, linearAxis, courseAxes, options, line, pointTitle, peakOf, rateOf } = parts;
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const charts = [];

  function times(series) {
    const best = [], standard = [], ceiling = [], peak = [];
    const place = placing(series);
    const most = peakOf(series);
    series.problems.forEach((problem, i) => {
      const x = place.xs[i];
      if (problem.best) {
        best.push({ x: x, y: problem.best.median_us, problem: i });
        if (problem.best.default_us) standard.push({ x: x, y: problem.best.default_us, problem: i });
      }
      if (series.ceiling && problem.work_bytes) {
        ceiling.push({ x: x, y: problem.work_bytes / series.ceiling.bytes_per_s * 1e6, problem: i });
      }
      if (most && problem.work_operations) peak.push({ x: x, y: problem.work_operations / most * 1e6, problem: i });
    });
    if (best.length === 0) return null;
    const shown = best.concat(standard).map((point) => point.y);
    const y = logAxis("µs per call");
    // The lines of ceiling and peak leave the frame where launch cost decides: the roofline is the higher one of both.
    y.min = Math.min(...shown) / 2;
    const datasets = [line("best", best, "best", { showLine: place.showLine }),
      line("default", standard, "default", { pointStyle: "rect", showLine: place.showLine })];
    if (ceiling.length) {
      ceiling.sort((a, b) => a.x - b.x);
      datasets.push(line("at the " + series.ceiling.kind + " bandwidth ceiling", ceiling, "ceiling",
        { borderDash: [6, 4], pointRadius: 0, borderWidth: 1.5, clip: 0 }));
    }
    if (peak.length) {
      peak.sort((a, b) => a.x - b.x);
      // Of shapes that differ in several sizes no line through them means anything: operations do not follow from bytes.
      datasets.push(line("at the arithmetic peak", peak, "kind2",
        { borderDash: [2, 3], showLine: place.showLine, pointRadius: place.showLine ? 0 : 2, borderWidth: 1.5, clip: 0 }));
    }
    return {
      type: "line", data: { datasets: datasets },
      options: options({ x: placeAxis(place), y: y }, pointTitle(series),
        (item) => item.dataset.label + ": " + number(item.raw.y) + " µs"),
    };
  }

  function share(series) {
    const most = peakOf(series);
    if (!series.ceiling && !most) return null;
    const best = [], standard = [], computing = [];
    const place = placing(series);
    series.problems.forEach((problem, i) => {
      if (!problem.best) return;
      const x = place.xs[i];
      if (most && problem.best.peak_share !== null) computing.push({ x: x, y: problem.best.peak_share * 100, problem: i });
      if (problem.best.ceiling_share === null) return;
      best.push({ x: x, y: problem.best.ceiling_share * 100, problem: i });
      if (problem.best.default_us) {
        standard.push({ x: x, y: problem.best.ceiling_share * 100 * problem.best.median_us / problem.best.default_us, problem: i });
      }
    });
    if (best.length + computing.length === 0) return null;
    const moved = "the " + (series.ceiling || {}).kind + " ceiling", computed = "the arithmetic peak";
    const of = computing.length === 0 ? moved : best.length === 0 ? computed : "ceiling, of peak";
    const y = linearAxis("% of " + of, (value) => value + " %");
    y.min = 0;
    y.suggestedMax = 100;
    const xs = place.xs.filter(Number.isFinite);
    const edge = [Math.min(...xs) / 1.2, Math.max(...xs) * 1.2].map((x) => ({ x: x, y: 100, problem: 0 }));
    const datasets = [line("best", best, "best", { showLine: place.showLine }),
      line("default", standard, "default", { pointStyle: "rect", showLine: place.showLine })];
    if (computing.length) datasets.push(line("best, of the peak", computing, "kind2", { pointStyle: "triangle", showLine: place.showLine }));
    datasets.push(line(computing.length === 0 ? "ceiling" : best.length === 0 ? "peak" : "ceiling and peak", edge, "ceiling",
      { borderDash: [6, 4], pointRadius: 0, pointHitRadius: 0, borderWidth: 1.5 }));
    return {
      type: "line", data: { datasets: datasets },
      options: options({ x: placeAxis(place), y: y }, pointTitle(series),
        (item) => item.dataset.label + ": " + item.raw.y.toFixed(1) + " %"),
    };
  }

  // From muted to strong with growing size: neighbours in size are neighbours in colour.
  function ramp(i, count) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const at = count < 2 ? 1 : i / (count - 1);
    const hue = 195 + 65 * at;
    return dark ? `hsl(${hue} 70% ${45 + 30 * at}%)` : `hsl(${hue} 65% ${68 - 38 * at}%)`;
  }

  function convergence(series) {
    const datasets = [];
    const shown = series.problems.map((problem, i) => {
      const shown = problem.convergence_session;
      return shown === null ? null : { problem: i, points: problem.sessions[shown].convergence };
    }).filter((one) => one !== null);
    if (shown.length === 0) return null;
    let last = 1;
    shown.forEach((one) => { last = Math.max(last, one.points[one.points.length - 1][0]); });
    shown.forEach((one, i) => {
      const final = one.points[one.points.length - 1][2];
      const points = one.points.map((point) => ({ x: Math.max(point[0], 1), y: point[2] / final, us: point[2], s: point[1], problem: one.problem }));
      if (points[points.length - 1].x < last) points.push(Object.assign({}, points[points.length - 1], { x: last }));
      const shade = ramp(i, shown.length);
      datasets.push(line(sizesText(series.problems[one.problem].sizes), points, "best",
        { stepped: true, borderColor: shade, backgroundColor: shade, pointRadius: 0, borderWidth: 1.75, pointHitRadius: 6 }));
    });
    return {
      type: "line", data: { datasets: datasets },
      options: options(courseAxes("best so far / last best", datasets, last), (items) => items[0].dataset.label,
        (item) => number(item.raw.us) + " µs after " + item.raw.x + " evaluations, " + number(item.raw.s) + " s (" + item.raw.y.toFixed(3) + ")"),
    };
  }

  function effects(series, figure) {
    const select = document.querySelector('select[data-effects="' + figure.dataset.series + '"]');
    const problem = series.problems[Number(select.value)];
    const labels = [], best = [], rest = [];
    for (const effect of problem.effects) {
      if (effect.values.length < 2) continue;
      for (const value of effect.values) {
        if (value.best_ratio === null) continue;
        labels.push(effect.parameter + " = " + value.value);
        best.push([1, value.best_ratio]);
        rest.push([value.best_ratio, value.median_ratio]);
      }
    }
    if (labels.length === 0) return null;
    figure.querySelector(".canvas").style.height = (labels.length * 1.35 + 6) + "rem";
    const bar = (label, data, name) => ({
      label: label, data: data, backgroundColor: colour(name), barPercentage: 0.75, categoryPercentage: 0.9, minBarLength: 2,
    });
    const x = logAxis("time relative to the best of all");
    x.min = 1;
    const config = {
      type: "bar", data: { labels: labels, datasets: [bar("best reachable", best, "best"), bar("median", rest, "default")] },
      options: options({
        x: x,
        y: { stacked: true, grid: { display: false }, ticks: { color: colour("ink"), autoSkip: false, font: { size: 11 } } },
      }, (items) => items[0].label, (item) => item.dataset.label + ": " + item.raw[1].toFixed(2) + "×"),
    };
    config.options.indexAxis = "y";
    config.options.plugins.legend.labels.boxHeight = 8;
    config.options.interaction = { mode: "index", axis: "y", intersect: false };
    return config;
  }

  function failures(series) {
    const kinds = [...new Set(series.problems.flatMap((problem) => problem.failures.map((one) => one.outcome)))].sort();
    if (kinds.length === 0) return null;
    const datasets = kinds.map((kind, i) => ({
      label: kind.replace(/_/g, " "), backgroundColor: colour("kind" + (i % 6)), maxBarThickness: 42,
      data: series.problems.map((problem) => (problem.failures.find((one) => one.outcome === kind) || { count: 0 }).count),
    }));
    const y = linearAxis("configurations", (value) => Number.isInteger(value) ? value : null);
    y.stacked = true;
    const config = {
      type: "bar", data: { labels: series.problems.map((problem) => sizesText(problem.sizes)), datasets: datasets },
      options: options({
        x: { stacked: true, grid: { display: false }, ticks: { color: colour("muted") } }, y: y,
      }, (items) => items[0].label, (item) => item.dataset.label + ": " + item.raw),
    };
    config.options.plugins.legend.labels.boxHeight = 8;
    return config;
  }

  // Eight hues by three dashes, and points of five kinds: a ladder may have some twenty lines.
  function rungStyle(i) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const shade = `hsl(${(i % 8) * 45 + 5} ${dark ? "65% 65%" : "75% 38%"})`;
    return {
      borderColor: shade, backgroundColor: shade, borderDash: [[], [7, 3], [2, 2]][Math.floor(i / 8) % 3],
      pointStyle: ["circle", "rect", "triangle", "rectRot", "crossRot"][i % 5], borderWidth: 1.75,
    };
  }
  function emphasise(chart, place) {
    chart.data.datasets.forEach((dataset, i) => { dataset.borderWidth = i === place ? 4 : 1.75; });
    chart.update("none");
  }

  // A line a rung over one size; the ceiling and the peers too. A gap is where a rung has no time.
  function curve(series, figure) {
    const select = document.querySelector('select[data-curve="' + figure.dataset.series + '"]');
    const [axis, chosen] = select.value.split(":");
    const places = chosen.split(",").map(Number);
    const problems = places.map((place) => series.problems[place]);
    const rate = rateOf(series, problems);
    const points = (usOf) => problems.map((problem, i) => {
      const us = usOf(problem.ladder);
      const y = us ? rate.of(problem, us) : null;
      return { x: Math.max(problem.sizes[axis], 1), y: y, us: us, problem: places[i] };
    });
    const namesOf = (kind) => [...new Set(problems.flatMap((problem) => problem.ladder[kind].map((one) => one.name)))];
    const usIn = (kind, name) => (ladder) => (ladder[kind].find((one) => one.name === name) || { median_us: null }).median_us;
    const datasets = namesOf("rungs").map((name, i) => line(name, points(usIn("rungs", name)), "best", rungStyle(i)));
    namesOf("peers").forEach((name) => {
      datasets.push(line(name, points(usIn("peers", name)), "ink", { borderDash: [1, 4], borderWidth: 1.75, pointStyle: "star" }));
    });
    const timed = datasets.filter((one) => one.data.some((point) => point.y !== null));
    if (timed.length === 0) return null;
    if (problems.every(rate.most)) {
      const ceiling = points(() => 1).map((point, i) => Object.assign(point, { y: rate.most(problems[i]) / 1e9, us: null }));
      timed.push(line(rate.limit, ceiling, "ceiling", { borderDash: [6, 4], borderWidth: 1.75, pointRadius: 0, pointHitRadius: 0 }));
    }
    const unit = " " + rate.unit;
    const config = {
      type: "line", data: { datasets: timed },
      options: options({ x: sizeAxis(problems.map((problem) => Math.max(problem.sizes[axis], 1)), axis), y: logAxis(rate.unit) }, pointTitle(series),
        (item) => item.dataset.label + ": " + number(item.raw.y) + unit + (item.raw.us ? ", " + number(item.raw.us) + " µs" : "")),
    };
    // There may be twenty lines: pointing at a name makes its line stand out.
    config.options.plugins.legend.onHover = (event, item, legend) => emphasise(legend.chart, item.datasetIndex);
    config.options.plugins.legend.onLeave = (event, item, legend) => emphasise(legend.chart, -1);
    return config;
  }

  // One bar a rung; the ceiling and the peers as lines across all of them.
  function ladder(series, figure) {
    const select = document.querySelector('select[data-ladder="' + figure.dataset.series + '"]');
    if (!select) return null;
    const problem = series.problems[Number(select.value)];
    const rungs = problem.ladder.rungs;
    const rate = rateOf(series, [problem]);
    const timed = rungs.some((rung) => rung.median_us !== null);
    if (!timed) return null;
    const valueOf = (us) => rate.of(problem, us);
    const labels = rungs.map((rung) => rung.name);
    figure.querySelector(".canvas").style.height = (labels.length * 2 + 7) + "rem";
    const across = (label, value, name, extra) => Object.assign(line(label, [{ x: value, y: labels[0] }, { x: value, y: labels[labels.length - 1] }], name,
      { type: "line", pointRadius: 0, pointHitRadius: 0, borderWidth: 2 }), extra);
    const datasets = [{
      label: "fastest configuration", data: rungs.map((rung) => rung.median_us === null ? null : valueOf(rung.median_us)),
      backgroundColor: colour("best"), barPercentage: 0.75, categoryPercentage: 0.9, order: 2,
    }];
    if (rate.most(problem)) datasets.push(across(rate.limit, rate.most(problem) / 1e9, "ceiling", { borderDash: [6, 4], order: 1 }));
    problem.ladder.peers.forEach((peer, i) => {
      datasets.push(across(peer.name, valueOf(peer.median_us), "kind" + (i + 1) % 6, { order: 0 }));
    });
    const x = linearAxis(rate.unit, (value) => number(value));
    x.min = 0;
    const config = {
      type: "bar", data: { labels: labels, datasets: datasets },
      options: options({
        x: x, y: { grid: { display: false }, ticks: { color: colour("ink"), autoSkip: false, font: { size: 11 } } },
      }, (items) => items[0].dataset.type === "line" ? "" : items[0].label, (item) => {
        if (item.dataset.type === "line") return item.dataset.label + ": " + number(item.parsed.x);
        const rung = rungs[item.dataIndex];
        return number(item.parsed.x) + " " + rate.unit + ", " + number(rung.median_us) + " µs" +
          (rung.step ? ", " + rung.step.toFixed(2) + "× the rung above" : "");
      }),
    };
    config.options.indexAxis = "y";
    config.options.plugins.legend.labels.boxHeight = 8;
    config.options.interaction = { mode: "index", axis: "y", intersect: false };
    return config;
  }

  const kinds = Object.assign({ times, share, convergence, effects, failures, ladder, curve }, searchFigures);

  function draw() {
    while (charts.length) charts.pop().destroy();
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    document.querySelectorAll("figure[data-chart]").forEach((figure) => {
      const config = kinds[figure.dataset.chart](report.series[Number(figure.dataset.series)], figure);
      figure.hidden = config === null;
      if (config !== null) charts.push(new Chart(figure.querySelector("canvas"), config));
    });
  }

  document.querySelectorAll("p.pick").forEach((pick) => {
    pick.hidden = false;
    pick.querySelector("select").addEventListener("change", draw);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
