"use strict";
// The charts of how a search went.
const searchFigures = (function () {
  const { number, logAxis, linearAxis, options, line } = parts;

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
    const y = linearAxis("best so far / best of all", (value) => value.toFixed(2));
    y.min = 1;
    // One slow first guess would flatten everything that is worth seeing.
    y.max = Math.min(2, Math.max(1.05, ...datasets.flatMap((one) => one.data.map((point) => point.y))));
    const x = logAxis("evaluations");
    x.min = 1;
    x.max = last;
    return {
      type: "line", data: { datasets: datasets },
      options: options({ x: x, y: y }, (items) => "after " + items[0].raw.x + " evaluations",
        (item) => item.dataset.label + ": " + number(item.raw.us) + " µs (" + item.raw.y.toFixed(3) + ")"),
    };
  }

  return { course };
})();
