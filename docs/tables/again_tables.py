"""Table of benchmarks measured again: bench/results/<device>/{reduce,histogram}_vs_cub_again*.json beside the files without "_again"."""
import json
import statistics

from common import Malformed, geometric_mean, read_object, results, rows_of, table

SAME = ("problem", "policy", "kind", "skew", "skew_stated")  # what makes two rows ones of the same call


def key(row):
    return json.dumps([row.get(name) for name in SAME], sort_keys=True)


def spread(values):
    """The median and where nine of ten values are; both ends where they are fewer than 20."""
    ordered = sorted(values)
    cut = len(ordered) // 20
    return f"{statistics.median(ordered):.3f} ({ordered[cut]:.3f} to {ordered[-1 - cut]:.3f})"


def pairs(path, result):
    """(row then, row now) of every call that both files have."""
    before = path.with_name(path.name.partition("_again")[0] + ".json")
    then = {key(row): row for row in rows_of(before, read_object(before)) if "error" not in row}
    found = [(then[key(row)], row) for row in rows_of(path, result) if "error" not in row and key(row) in then]
    if not found:
        raise Malformed(f"failed comparing {path} with {before}: they have no row in common")
    return found


def vs_cub_again(root):
    lines = []
    for path, result in [found for name in ("reduce_vs_cub_again*", "histogram_vs_cub_again*") for found in results(root, name)]:
        both = pairs(path, result)
        lines.append([result["bench"], result["device"]["name"], f"`{result['content']}`", len(both),
                      sum(1 for then, now in both if then["configuration"] == now["configuration"]),
                      *(spread([now[name] / then[name] for then, now in both]) for name in ("attune_us", "peer_us", "ratio")),
                      *(geometric_mean([row["ratio"] for row in rows]) for rows in zip(*both))])
    return table([("benchmark", False), ("device", False), ("content now", False), ("calls", True), ("same configuration", True),
                  ("attune's time, now / then", True), ("CUB's time, now / then", True), ("ratio, now / then", True),
                  ("mean ratio then", True), ("now", True)], lines) if lines else "Not measured again yet.\n"
