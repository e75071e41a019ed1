"""Tables of bench/results/<device>/histogram_vs_cub.json: every row, and what they say together.

Of every problem there are two rows: with the skew of the samples stated to attune, and without. Rows marked "extra" are told, but no mean has them.
"""
import common
from common import MISSING, Malformed

NAME = "histogram_vs_cub"
NOTHING = "No comparison of histograms with CUB is recorded yet.\n"
SKEWS = ("uniform", "zipf", "hot", "constant")
HOW = {True: "skew stated", False: "skew unknown"}


def checked(path, rows):
    for row in rows:
        if not isinstance(row.get("problem"), dict) or not all(field in row for field in ("kind", "skew", "skew_stated", "policy")):
            raise Malformed(f"failed reading {path}: a row has no 'problem', 'kind', 'skew', 'skew_stated' or 'policy'")
    return rows


def cache_of(policy):
    return str(policy).split("/")[0]


def ordered(values):
    return list(dict.fromkeys(values))


def is_compared(row):
    return isinstance(row.get("ratio"), (int, float))


def by_size(rows):
    """(size, skew) -> rows of the skew stated and unknown; sizes ascend, skews stay as recorded."""
    groups = {}
    for row in sorted(rows, key=lambda row: row["problem"].get("n", 0)):
        groups.setdefault((row["problem"].get("n", MISSING), row["skew"]), {})[row["skew_stated"]] = row
    return groups


def line_of(size, skew, pair):
    """What one problem came to: CUB's time, and of either way to ask attune its time, ratio and configuration."""
    known = next((row for row in pair.values() if is_compared(row)), {})
    line = [common.count(size), skew, common.number(known.get("peer_us"))]
    for stated in (True, False):
        row = pair.get(stated, {})
        line += [common.error_text(row), ""] if "error" in row else [common.number(row.get("attune_us")), common.ratio_text(row)]
    share = known.get("share_of_ceiling")
    line.append(f"{100 * share:.1f} %" if isinstance(share, (int, float)) else "")
    return line + [common.short_configuration(pair.get(stated, {}).get("configuration")) for stated in (True, False)]


def histogram_vs_cub(root):
    """Every row of bench/histogram_vs_cub with its times and configurations."""
    text = ""
    for path, result in common.results(root, NAME):
        rows = checked(path, common.rows_of(path, result))
        text += f"{common.provenance(result)}\n"
        for policy, kind in ordered((row["policy"], row["kind"]) for row in rows):
            of_kind = [row for row in rows if (row["policy"], row["kind"]) == (policy, kind)]
            peer = next((row["peer"] for row in of_kind if "peer" in row), "CUB")
            text += f"\n{kind} bins, {policy} (ratio = {peer} / attune: above 1 attune is faster)\n\n".replace(" edges bins", " bins of given edges")
            text += common.table(
                [("n", True), ("skew", False), ("peer, us", True), ("attune, skew stated, us", True), ("ratio", True), ("attune, skew unknown, us", True),
                 ("ratio", True), ("of the read ceiling", True), ("configuration, skew stated", False), ("configuration, skew unknown", False)],
                [line_of(size, skew, pair) for (size, skew), pair in by_size(of_kind).items()])
            text += sorting(of_kind)
        text += "\n"
    return text.rstrip("\n") + "\n" if text else NOTHING


def sorting(rows):
    sizes = {row["problem"]["n"]: row for row in rows if isinstance(row.get("sort_us"), (int, float)) and row["skew_stated"]}
    told = [f"{common.number(row['sort_us'])} us at {common.count(n)} (ratio {row['sort_ratio']:.3f})" for n, row in sorted(sizes.items())]
    return f"\nSorting and counting runs with Thrust: {', '.join(told)}.\n" if told else ""


def verdict(rows, cache, stated):
    least = min(rows, key=lambda row: row["ratio"])
    ratios = [row["ratio"] for row in rows]
    return (f"All {len(rows)} rows, {cache}, {HOW[stated]}: geometric mean {common.geometric_mean(ratios)}; least {least['ratio']:.3f} ({least['kind']} bins, "
            f"{least['skew']}, n={common.count(least['problem']['n'])}); rows below 1.05: {sum(ratio < 1.05 for ratio in ratios)}, below 1: "
            f"{sum(ratio < 1 for ratio in ratios)}.\n")


def mean_matrix(rows):
    """A line a kind, a column a skew: the geometric mean over its sizes, skew stated / unknown."""
    lines = []
    for kind in ordered(row["kind"] for row in rows):
        cells = []
        for skew in SKEWS:
            means = [common.geometric_mean([row["ratio"] for row in rows if (row["kind"], row["skew"], row["skew_stated"]) == (kind, skew, stated)])
                     for stated in (True, False)]
            cells.append(" / ".join(means))
        lines.append([kind] + cells)
    return common.table([("samples, bins", False)] + [(skew, True) for skew in SKEWS], lines)


def histogram_ratios(root):
    """What the rows of the grid say together, for README.md."""
    text = ""
    for path, result in common.results(root, NAME):
        grid = [row for row in checked(path, common.rows_of(path, result)) if not row.get("extra")]
        rows = [row for row in grid if is_compared(row)]
        missing = len(grid) - len(rows)
        text += f"{common.provenance(result)}{common.tiers(rows)}" + (f"; {missing} rows could not be measured" if missing else "") + "\n"
        for policy in ordered(row["policy"] for row in rows):
            of_policy = [row for row in rows if row["policy"] == policy]
            for stated in (True, False):
                asked = [row for row in of_policy if row["skew_stated"] is stated]
                text += "\n" + verdict(asked, cache_of(policy), stated) if asked else ""
            text += f"\nGeometric mean over the sizes, {cache_of(policy)}, skew stated / unknown:\n\n{mean_matrix(of_policy)}"
        text += "\n"
    return text.rstrip("\n") + "\n" if text else NOTHING
