"""Tables of bench/search_score and bench/search_score_peer.py: bench/results/search_score.json and search_score_peer.json."""
from collections import Counter

from common import MISSING, Malformed, number, read_object, rows_of, table

NONE = "Not recorded yet.\n"
SHARES = ("at_25", "at_50", "at_100", "at_200")
DEFAULT = "auto"  # what a tuning run takes unless told otherwise; stands beside the peers where it was scored


def load(root, name="search_score"):
    """(result, rows); nothing where it is not recorded."""
    path = root / "bench" / "results" / f"{name}.json"
    if not path.exists():
        return {}, []
    result = read_object(path)
    rows = rows_of(path, result)
    for row in rows:
        if not all(isinstance(row.get(key), str) for key in ("file", "space", "strategy")) or not isinstance(row.get("warm"), bool):
            raise Malformed(f"failed reading {path}: a row has no 'file', 'space', 'strategy' or 'warm'")
    return result, rows


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def mean(values):
    known = [value for value in values if is_number(value)]
    return sum(known) / len(known) if known else None


def score_text(value):
    return f"{round(value, 2) + 0.0:.2f}" if is_number(value) else "-"  # + 0.0: no "-0.00"


def conditions(rows):
    """What the rows hold for. Several, where a part was run anew after something had changed."""
    def all_of(key):
        counted = Counter(str(row.get(key, MISSING)) for row in rows)
        return " or ".join(f"{value} ({times} rows)" for value, times in counted.most_common()) if len(counted) > 1 else next(iter(counted))
    return f"{all_of('runs')} runs of each strategy on each file, of at most {all_of('budget')} evaluations"


def provenance(result, rows):
    contents = Counter(row.get("content", MISSING) for row in rows)
    sources = " and ".join(f"`{content}`" + (f" ({times} rows)" if len(contents) > 1 else "") for content, times in contents.most_common())
    return f"attune {result.get('version', MISSING)}, {result.get('date', MISSING)}; {conditions(rows)}; searches' sources {sources}\n\n"


def ranked(rows):
    """Names of strategies, the best on average first."""
    names = {row["strategy"] for row in rows}
    means = {name: mean(row.get("score") for row in rows if row["strategy"] == name) for name in names}
    return sorted(names, key=lambda name: (means[name] is None, -(means[name] or 0), name))


def grid(rows, strategies, key="file", named="file"):
    """A line for each file or space and one of means; the best of a line is bold."""
    def line(title, found):
        best = max((value for value in found if is_number(value)), default=None)
        return [title] + [f"**{score_text(value)}**" if value == best and is_number(value) else score_text(value) for value in found]

    lines = []
    for name in sorted({row[key] for row in rows}):
        lines.append(line(name, [mean(row.get("score") for row in rows if row[key] == name and row["strategy"] == strategy) for strategy in strategies]))
    if len(lines) > 1:
        lines.append(line("mean", [mean(row.get("score") for row in rows if row["strategy"] == strategy) for strategy in strategies]))
        lowest = [min((row["score"] for row in rows if row["strategy"] == strategy and is_number(row.get("score"))), default=None) for strategy in strategies]
        lines.append(line("lowest of a file", lowest))
    return table([(named, False)] + [(strategy, True) for strategy in strategies], lines)


def search_score(root):
    """Strategies from the best to the worst, cold."""
    result, rows = load(root)
    rows = [row for row in rows if not row["warm"]]
    if not rows:
        return NONE
    lines = []
    for strategy in ranked(rows):
        own = [row for row in rows if row["strategy"] == strategy]
        scored = [row for row in own if is_number(row.get("score"))]
        lowest = min(scored, key=lambda row: row["score"], default={})
        lines.append([strategy, score_text(mean(row.get("score") for row in own)), score_text(lowest.get("score")), lowest.get("file", MISSING)]
                     + [score_text(mean(row.get(share) for row in own)) for share in SHARES] + [number(mean(row.get("propose_ms") for row in own)), len(own)])
    columns = [("strategy", False), ("mean score", True), ("lowest", True), ("on", False)]
    columns += [(f"at {share[3:]}", True) for share in SHARES] + [("CPU ms a proposal", True), ("files", True)]
    processors = ", ".join(sorted({str(row.get("processor", MISSING)) for row in rows}))
    return provenance(result, rows) + table(columns, lines) + f"\nCPU times on: {processors}.\n"


def search_score_files(root):
    rows = [row for row in load(root)[1] if not row["warm"]]
    return grid(rows, ranked(rows)) if rows else NONE


def search_score_warm(root):
    """Strategies that make something of what other devices measured; who does not has the same score with it."""
    rows = load(root)[1]
    warm = {(row["file"], row["strategy"]): row for row in rows if row["warm"]}
    if not warm:
        return NONE
    cold = {(row["file"], row["strategy"]): row for row in rows if not row["warm"]}
    learns = {name[1] for name, row in warm.items() if name in cold and cold[name].get("score") != row.get("score")}
    if not learns:
        return "No strategy found anything else with them.\n"
    shown = []
    for (file, strategy), row in warm.items():
        if strategy in learns and (file, strategy) in cold:
            shown += [dict(cold[file, strategy], strategy=f"{strategy}, cold"), dict(row, strategy=f"{strategy}, warm")]
    names = [f"{strategy}, {how}" for strategy in ranked([row for row in warm.values() if row["strategy"] in learns]) for how in ("cold", "warm")]
    return grid(shown, names)


def search_score_spaces(root):
    """What was searched."""
    rows = load(root)[1]
    files = {row["file"]: row for row in rows}
    if not files:
        return NONE
    hints = {row["file"]: len(row.get("hints", [])) for row in rows if row["warm"]}
    lines = [[file, row.get("configurations", MISSING), row.get("valid", MISSING), hints.get(file, 0)] for file, row in sorted(files.items())]
    return table([("file", False), ("configurations", True), ("valid", True), ("other devices' files", True)], lines)


def search_score_peers(root):
    """By space, the mean of its devices: Kernel Tuner's strategies, and of attune's the default, or where it was not scored the best."""
    result, peers = load(root, "search_score_peer")
    files = {row["file"] for row in peers}
    own = [row for row in load(root)[1] if not row["warm"] and row["file"] in files]
    if not peers or not own:
        return NONE
    names = ranked(own)
    chosen = DEFAULT if DEFAULT in names else names[0]
    shown = [dict(row, strategy=f"attune {chosen}") for row in own if row["strategy"] == chosen] + peers
    left_out = [f"{entry['strategy']} on {entry['file']} ({entry['why']})" for entry in result.get("left_out", [])]
    text = f"{result.get('peer', MISSING)}, {result.get('date', MISSING)}; {conditions(peers)}\n\n"
    text += grid(shown, [f"attune {chosen}"] + ranked(peers), "space", "space")
    early = [f"{row['strategy']} on {row['file']} ({number(row['evaluations'])})" for row in peers
             if is_number(row.get("evaluations")) and is_number(row.get("budget")) and row["evaluations"] < row["budget"] / 2]
    text += "\nEnded of themselves before half of the evaluations, and stand where they ended (mean evaluations of a run): " + ", ".join(early) + ".\n" if early else ""
    return text + ("\nLeft out: " + "; ".join(left_out) + ".\n" if left_out else "")
