"use strict";
// The charts of how a search went, and what it learnt.
const searchFigures = (function () {
  const { colour, number, linearAxis, courseAxes, options, line } = parts;

  function course(series, figure) {
    const select = document.querySelector('select[data-course="' + figure.dataset.series + '"]');
    if (!select) return null;
    const curve = series.problems[Number(select.value)].course.curve;
    const [last, final] = curve[curve.length - 1];
    const points = (place) => curve.filter((one) => one[place] !== null)
      .map((one) => ({ x: one[0], y: one[place] / final, us: one[place] }));
    const datasets = [
      line("search, best so far", points(1), "best", { stepped: true, pointRadius: 0, pointHitRadius: 6 }),
      line("random search, expected", points(2), "kind2", { borderDash: [6, 4], pointRadius: 0, pointHitRadius: 6 }),
    ];
    return {
      type: "line", data: { datasets: datasets },
      options: options(courseAxes("best so far / best of all", datasets, last), (items) => "after " + items[0].raw.x + " evaluations",
        (item) => item.dataset.label + ": " + number(item.raw.us) + " µs (" + item.raw.y.toFixed(3) + ")"),
    };
  }

  // A bar a parameter, and on it the interval as a thin line.
  function shares(series, figure) {
    const select = document.querySelector('select[data-shares="' + figure.dataset.series + '"]');
    if (!select) return null;
    const parameters = series.problems[Number(select.value)].shares.parameters;
    figure.querySelector(".canvas").style.height = (parameters.length * 1.9 + 6) + "rem";
    const bar = (label, data, name, extra) => Object.assign({
      label: label, data: data, backgroundColor: colour(name), grouped: false, categoryPercentage: 0.9,
    }, extra);
    const x = linearAxis("share of the variance of the times' logarithms", (value) => value.toFixed(1));
    x.min = 0;
    x.suggestedMax = 1;
    const config = {
      type: "bar",
      data: {
        labels: parameters.map((one) => one.parameter),
        datasets: [bar("share", parameters.map((one) => one.share), "best", { barPercentage: 0.75, order: 1 }),
          bar("eight of ten trees", parameters.map((one) => [one.low, one.high]), "ink", { barThickness: 3, minBarLength: 2, order: 0 })],
      },
      options: options({ x: x, y: { grid: { display: false }, ticks: { color: colour("ink"), autoSkip: false, font: { size: 11 } } } },
        (items) => items[0].label,
        (item) => item.dataset.label + ": " + (Array.isArray(item.raw) ? item.raw.map((one) => one.toFixed(2)).join(" to ") : item.raw.toFixed(2))),
    };
    config.options.indexAxis = "y";
    config.options.plugins.legend.labels.boxHeight = 8;
    config.options.interaction = { mode: "index", axis: "y", intersect: false };
    return config;
  }

  return { course, shares };
})();
