"""What README.md shows of recorded results: three_numbers, and tune_reduce_short, the output of its quick start without what makes it wide.

They read what reduce_tables, histogram_tables, search_tables and tuning_tables read.
"""
import math
import textwrap

import histogram_tables
import search_tables
from common import Malformed, results, rows_of

COLUMNS = 100  # of README, which people read in a terminal too
RATES = "configurations measured"


def tune_reduce_short(root):
    """A captured table of `attune tune`: what it measured on, the table, how many configurations. A configuration is three dots."""
    blocks = []
    for path in sorted((root / "bench" / "results").glob("*/tune_reduce.txt")):
        lines = path.read_text(encoding="utf-8").strip("\n").split("\n")
        header = next((line for line in lines if line.startswith("problem ") and "configuration" in line), None)
        if header is None:
            raise Malformed(f"failed reading {path}: no line begins with 'problem' and names the configuration")
        cut = header.index("configuration")
        begin = lines.index(header)
        end = next((number for number in range(begin, len(lines)) if not lines[number]), len(lines))
        rows = [line[:cut] + "..." + (" (tie)" if line.endswith("(tie)") else "") for line in lines[begin + 1:end]]
        told = [line for line in lines[:begin] if line.startswith("Measuring")] + [header[:cut] + "..."] + rows + [line for line in lines[end:] if RATES in line]
        wide = next((line for line in told if len(line) > COLUMNS), None)
        if wide is not None:
            raise Malformed(f"failed reading {path}: this line has more than {COLUMNS} columns: {wide}")
        blocks.append("```text\n" + "\n".join(told) + "\n```\n")
    return "".join(blocks) or "No output is recorded yet.\n"


def short_name(result):
    """NVIDIA H100 80GB HBM3 -> H100"""
    device = result.get("device")
    words = str(device.get("name") if isinstance(device, dict) else device).split()
    return words[1] if words[:1] == ["NVIDIA"] and len(words) > 1 else " ".join(words)


def compared(root, name, chosen):
    """(device, ratios) of every device with such a file; `chosen` says which rows count."""
    found = []
    for path, result in results(root, name):
        ratios = [row["ratio"] for row in rows_of(path, result) if histogram_tables.is_compared(row) and str(row.get("policy")).startswith("cold") and chosen(row)]
        if ratios:
            found.append((short_name(result), ratios))
    return found


def means(found):
    """**1.29x** on an H200 (0.996x to 18.8x) and **1.27x** on an H100 (...)"""
    return " and ".join(f"**{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}x** on an {device} ({min(ratios):.3g}x to {max(ratios):.3g}x)"
                        for device, ratios in sorted(found, reverse=True))


def calls(found):
    counted = sorted({len(ratios) for _, ratios in found})
    return " or ".join(map(str, counted))


def searches(root):
    """(attune's score, Kernel Tuner's best strategy, its score, files, evaluations); nothing where either is not recorded."""
    result, peers = search_tables.load(root, "search_score_peer")
    own = [row for row in search_tables.load(root)[1] if not row["warm"] and row["strategy"] == search_tables.DEFAULT]
    files = {row["file"] for row in peers} & {row["file"] for row in own}
    if not files:
        return None
    best = search_tables.ranked(peers)[0]
    return (search_tables.mean(row.get("score") for row in own if row["file"] in files), result.get("peer"), best,
            search_tables.mean(row.get("score") for row in peers if row["strategy"] == best), len(files), max(row["budget"] for row in peers))


def three_numbers(root):
    """Each with the page that has its table."""
    items = []
    reductions = compared(root, "reduce_vs_cub", lambda row: True)
    if reductions:
        items.append(f"Reductions: CUB's time over attune's is {means(reductions)}, in the geometric mean of {calls(reductions)} calls (least to most), "
                     "cold L2 ([table](docs/results.md#reductions-beside-cub)).")
    histograms = compared(root, "histogram_vs_cub", lambda row: not row.get("extra") and row.get("skew_stated") is False)
    if histograms:
        items.append(f"Histograms, where nothing is said of the data: {means(histograms)}, likewise of {calls(histograms)} calls "
                     "([table](docs/results.md#histograms-beside-cub)).")
    scores = searches(root)
    if scores:
        own, peer, strategy, theirs, files, evaluations = scores
        items.append(f"Search: a score of **{own:.2f}**, where `{strategy}`, the best strategy of {peer}, has {theirs:.2f}, on {files} recorded spaces with "
                     f"{evaluations} evaluations; 0 is random search, 1 the optimum at once ([table](docs/search.md#beside-kernel-tuner)).")
    wrapped = [textwrap.fill(item, COLUMNS, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) for item in items]
    return "\n".join(wrapped) + "\n" if items else "Not recorded yet.\n"
