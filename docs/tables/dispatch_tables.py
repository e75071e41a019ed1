"""Tables of bench/dispatch_random (dispatch_random_<seed>.json, dispatch_random_empty_<seed>.json) and bench/ragged_sizes of bench/results/<device>.

A ratio of dispatch_random is another contender's time over the dispatched one's: above 1 dispatch is faster. Null: there was no such contender.
Percentiles are by nearest rank: a value that was measured.
"""
import math
from collections import Counter

import common
from common import MISSING, Malformed

NO_DISPATCH = "No dispatch at random problems is recorded yet.\n"
NO_RAGGED = "No ragged sizes are recorded yet.\n"
WORST = 10
SLOWER = 0.01  # behind the default by more than this counts
RAGGED_FAR = 1.10
# (prefix of the fields, what it is, whether it has another number of elements): kCases of bench/ragged_sizes.cpp without the whole tiles
RAGGED_CASES = (("one_more", "one element more", True), ("one_less", "one element less", True), ("misaligned", "misaligned input", False))


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[max(-(-percent * len(ordered) // 100), 1) - 1] if ordered else None


def is_ratio(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 and math.isfinite(value)


def least(ratios):
    return f"{min(ratios):.3f}" if ratios else MISSING


def list_of(parts):
    return "".join(f"; {part}" for part in parts)


def of(rows, contender):
    """The contender's times over the dispatched ones', where it took part."""
    return [row[f"{contender}_ratio"] for row in rows if row[f"{contender}_ratio"] is not None]


def behind(ratio):
    """How much slower than the contender dispatch is; negative: faster."""
    return 1 / ratio - 1


def is_complete(row):
    """Every row was compared with the default; with its own best and CUB as asked."""
    return is_ratio(row.get("default_ratio")) and all(
        name in row and (row[name] is None or is_ratio(row[name])) for name in ("best_ratio", "cub_ratio"))


class Run:
    """One result file."""

    def __init__(self, path, result):
        self.seed, self.empty = result.get("seed"), result.get("empty")
        if type(self.seed) is not int or path.stem != f"dispatch_random_{'empty_' if self.empty else ''}{self.seed}":
            raise Malformed(f"failed reading {path}: 'seed' and 'empty' belong to another file name")  # a copy would count twice
        rows = common.rows_of(path, result)
        self.errors = Counter(str(row["error"]) for row in rows if "error" in row)
        measured = [row for row in rows if "error" not in row]
        if not all(isinstance(row.get("problem"), dict) and "family" in row and "template" in row for row in measured):
            raise Malformed(f"failed reading {path}: a row has no 'problem', 'family' or 'template'")
        self.rows = [row for row in measured if is_complete(row)]
        self.incomplete = len(measured) - len(self.rows)
        self.head = (f"- seed {self.seed}, {'without any database' if self.empty else 'with databases'}: {common.provenance(result)}, "
                     f"{result.get('peer_version', MISSING)}; {len(rows)} problems{common.tiers(self.rows)}{list_of(self.left_out())}\n")

    def left_out(self):
        for reason, times in self.errors.items():
            yield f"{times} not measured: {reason}"
        if self.incomplete:
            yield f"{self.incomplete} without all ratios, left out of every figure"

    def group(self, name):
        return [row for row in self.rows if (row["template"] == "histogram") == (name == "histograms")]


def beside_best_and_default(runs):
    """A line a seed. Without any database there is nothing to compare: the default is what is dispatched, and nothing was tuned."""
    lines = []
    for run in runs:
        to_best = [behind(ratio) for ratio in of(run.rows, "best")]
        to_default = [behind(ratio) for ratio in of(run.rows, "default")]
        lines.append([run.seed, len(run.rows), *(common.tenths(percentile(to_best, percent)) for percent in (50, 95, 100)),
                      sum(value > SLOWER for value in to_default), common.tenths(max(to_default, default=None)),
                      common.geometric_mean(of(run.group("reductions"), "default"))])
    return ("\nWhat databases choose, behind the best that a run finds at exactly that problem, and beside the template's default. Negative: dispatch is "
            "faster.\n\n" + common.table(
                [("seed", True), ("problems", True), ("behind its own best, median", True), ("95 of 100", True), ("at most", True),
                 (f"slower than the default by over {100 * SLOWER:.0f} %", True), ("slower than the default, at most", True),
                 ("default / dispatched, reductions, geometric mean", True)], lines)) if lines else ""


def beside_cub(runs):
    lines = []
    for run in runs:
        for group in ("reductions", "histograms"):
            ratios = of(run.group(group), "cub")
            lines.append([run.seed, "none" if run.empty else "given", group, len(ratios), common.geometric_mean(ratios), least(ratios),
                          sum(ratio < 1 for ratio in ratios)])
    return ("\nCUB's time over that of what is dispatched, where CUB has such a function. Above 1 attune is faster.\n\n" + common.table(
        [("seed", True), ("databases", False), ("problems", False), ("compared", True), ("geometric mean", True), ("least", True), ("below 1", True)], lines))


def by_family(rows):
    lines = []
    for family in sorted({row["family"] for row in rows}):
        of_family = [row for row in rows if row["family"] == family]
        to_best = [behind(ratio) for ratio in of(of_family, "best")]
        cub = of(of_family, "cub")
        lines.append([family, len(of_family), common.tenths(percentile(to_best, 50)), common.tenths(max(to_best, default=None)),
                      common.geometric_mean(of(of_family, "default")), common.geometric_mean(cub), least(cub)])
    return "\nWith databases, by family, all seeds. Means are geometric.\n\n" + common.table(
        [("family", False), ("problems", True), ("behind its own best, median", True), ("at most", True), ("default / dispatched", True),
         ("CUB / dispatched", True), ("least", True)], lines)


def data_text(row):
    if "data" not in row:
        return ""
    return f"{row['data']}, {'stated' if 'skew' in row['problem'] else 'not stated'}"


def differing(configuration, other):
    """What the other configuration has that this one has not: two of fifteen parameters each cannot be compared by eye."""
    if not isinstance(configuration, dict) or not isinstance(other, dict):
        return common.short_configuration(other)
    return common.short_configuration({name: value for name, value in other.items() if configuration.get(name) != value})


def farthest_behind(rows):
    slower = [row for row in rows if row["best_ratio"] is not None and behind(row["best_ratio"]) > 0]
    worst = sorted(slower, key=lambda row: row["best_ratio"])[:WORST]
    lines = []
    for row in worst:
        sizes = [f"{axis}={common.count(value)}" for axis, value in row["problem"].items() if isinstance(value, int)]
        lines.append([", ".join([row["family"], *sizes]), data_text(row), common.tenths(behind(row["best_ratio"])),
                      *(common.number(row.get(f"{name}_us")) for name in ("dispatched", "best", "default", "cub")),
                      common.short_configuration(row.get("configuration")),
                      differing(row.get("configuration"), row.get("best_configuration"))])
    return f"\nThe {len(lines)} that are farthest behind their own best; cold, in us.\n\n" + common.table(
        [("problem", False), ("data", False), ("behind", True), ("dispatched", True), ("own best", True), ("default", True), ("CUB", True),
         ("configuration dispatched", False), ("where its own best differs", False)], lines) if lines else ""


def dispatch_random(root):
    devices = {}
    for path, result in common.results(root, "dispatch_random_*"):
        devices.setdefault(path.parent, []).append(Run(path, result))
    parts = []
    for runs in devices.values():
        runs.sort(key=lambda run: (bool(run.empty), run.seed))
        given = [run for run in runs if not run.empty]
        rows = [row for run in given for row in run.rows]
        parts.append("".join(run.head for run in runs) + beside_best_and_default(given) + beside_cub(runs)
                     + (by_family(rows) + farthest_behind(rows) if rows else ""))
    return "\n".join(parts) or NO_DISPATCH


def between_tuned_sizes(root):
    """(figures, results that they are of) of all problems that lay between sizes tuned on the same kind of device."""
    sources, rows = [], []
    for path, result in common.results(root, "dispatch_random_[0-9]*"):
        between = [row for row in Run(path, result).rows if row.get("tier") == "nearest size"]
        if between:
            sources.append((path, result))
            rows += between
    to_best = [behind(ratio) for ratio in of(rows, "best")]
    figures = {"problems": len(to_best), "slower_than_default_most": max((behind(ratio) for ratio in of(rows, "default")), default=None)}
    return {**figures, **{f"behind_best_{name}": percentile(to_best, percent) for name, percent in (("p50", 50), ("p95", 95), ("most", 100))}}, sources


def ragged_lines(rows):
    for template in sorted({row["template"] for row in rows}):
        for case, text, other_size in RAGGED_CASES:
            ratios = [row[f"{case}_ratio"] for row in rows
                      if row["template"] == template and is_ratio(row.get(f"{case}_ratio")) and (row.get(f"{case}_same_blocks") or not other_size)]
            shown = [f"{percentile(ratios, percent):.3f}" if ratios else MISSING for percent in (50, 95, 100)]
            yield [template, text, len(ratios), *shown, sum(ratio > RAGGED_FAR for ratio in ratios)]


def spread_over(result):
    """Of how many winners of the database the measured ones are an even sample."""
    all_of_them = result.get("winners_of")
    return f", spread evenly over {all_of_them}" if isinstance(all_of_them, int) and all_of_them > len(result["rows"]) else ""


def ragged_sizes(root):
    """What winners of a size take at one element more or less, and at a misaligned input, over what they take at whole tiles."""
    text = ""
    for path, result in common.results(root, "ragged_sizes"):
        rows = common.rows_of(path, result)
        measured = [row for row in rows if "error" not in row]
        if not all("template" in row for row in measured):
            raise Malformed(f"failed reading {path}: a row has no 'template'")
        errors = Counter(str(row["error"]) for row in rows if "error" in row)
        incomplete = sum(not all(is_ratio(row.get(f"{case}_ratio")) for case, _, _ in RAGGED_CASES) for row in measured)
        left_out = [f"{times} not measured: {reason}" for reason, times in errors.items()]
        left_out += [f"{incomplete} without all ratios"] if incomplete else []
        text += (f"{common.provenance(result)}; {len(rows)} winners{spread_over(result)}{list_of(left_out)}\n\n"
                 "Time over that at a whole number of tiles, with the input aligned. Of one element more and of one less only winners count that "
                 "launch as many blocks there.\n\n")
        text += common.table([("template", False), ("case", False), ("winners", True), ("median", True), ("95 of 100", True), ("at most", True),
                              (f"above {RAGGED_FAR:.2f}", True)], ragged_lines(measured)) + "\n"
    return text.rstrip("\n") + "\n" if text else NO_RAGGED


def medians_over(result):
    if "processes" not in result:
        return "; one process, by an earlier method that launched the bare function less often: not to be compared with the others"
    processes = result["processes"]
    return f"; medians over {processes} processes" if isinstance(processes, int) and processes > 1 else ""


def dispatch_overhead(root):
    text = ""
    for path, result in common.results(root, "dispatch_overhead"):
        text += f"{common.provenance(result)}{medians_over(result)}\n\n"
        text += common.table([("threads", True), ("path", False), ("raw launch, ns (median)", True), ("added, ns (median)", True), ("added, ns (99 of 100)", True)],
                      [[row.get("threads"), row.get("path", MISSING), common.number(row.get("raw_ns_p50")), common.number(row.get("added_ns_p50")),
                        common.number(row.get("added_ns_p99"))] for row in common.rows_of(path, result)]) + "\n"
    return text.rstrip("\n") + "\n" if text else "No overhead is recorded yet.\n"
