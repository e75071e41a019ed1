"""Tables of bench/reduce_vs_cub, reproducible_cost and read_ceiling: bench/results/<device>/*.json."""
from common import MISSING, Malformed, count, error_text, geometric_mean, number, problem_text, provenance, ratio_text, read_object, results, rows_of, short_configuration, table, tiers


def ceiling(folder):
    """Bytes per second of the best pure read from memory on this device, or nothing. Hot reads come from the L2."""
    path = folder / "read_ceiling.json"
    if not path.exists():
        return None
    result = read_object(path)
    rates = [row["bytes_per_s"] for row in rows_of(path, result)
             if "error" not in row and isinstance(row.get("bytes_per_s"), (int, float))
             and not str(row.get("policy", result.get("policy"))).startswith("hot")]
    return max(rates, default=None)


def comparison_rows(rows, best_read):
    for row in sorted(rows, key=lambda row: row.get("problem", {}).get("n", 0)):
        size = count(row.get("problem", {}).get("n", MISSING))
        if "error" in row:
            yield [size, error_text(row), "", "", "", ""]
            continue
        rate = row.get("bytes_per_s")
        share = f"{100 * rate / best_read:.1f} %" if best_read and isinstance(rate, (int, float)) else MISSING
        yield [size, number(row.get("attune_us")), number(row.get("peer_us")), ratio_text(row), share,
               short_configuration(row.get("configuration"))]


def reduce_vs_cub(root):
    text = ""
    for path, result in results(root, "reduce_vs_cub"):
        best_read = ceiling(path.parent)
        groups = {}
        for row in rows_of(path, result):
            if not isinstance(row.get("problem"), dict):
                raise Malformed(f"failed reading {path}: a row has no 'problem'")
            groups.setdefault((problem_text(row["problem"]), row.get("policy", MISSING)), []).append(row)
        text += f"{provenance(result)}\n"
        for (problem, policy), rows in sorted(groups.items()):
            cache = str(policy).split("/")[0]
            text += f"\n{problem}, {policy} (ratio = CUB / attune: above 1 attune is faster)\n\n"
            text += table([("n", True), (f"attune {cache}, us", True), (f"CUB {cache}, us", True), ("ratio", True),
                           ("of read ceiling", True), ("configuration", False)], comparison_rows(rows, best_read))
        text += "\n"
    return text.rstrip("\n") + "\n" if text else "No comparison with CUB is recorded yet.\n"


def kind_text(problem):
    op = {"argreduce": "arg-", "segmented_reduce": "row "}.get(problem.get("template"), "") + str(problem.get("op", MISSING))
    return f"{problem.get('T', MISSING)} {op}"


def is_compared(row):
    return isinstance(row.get("ratio"), (int, float)) and isinstance(row.get("problem"), dict)


def ratio_matrix(rows):
    """A line a size, a column a kind of problem; the last line has the columns' geometric means."""
    kinds = list(dict.fromkeys(kind_text(row["problem"]) for row in rows))
    by_size = {}
    for row in rows:
        by_size.setdefault(row["problem"]["n"], {})[kind_text(row["problem"])] = row["ratio"]
    lines = [[count(n)] + [f"{found[kind]:.3f}" if kind in found else MISSING for kind in kinds] for n, found in sorted(by_size.items())]
    means = [geometric_mean([found[kind] for found in by_size.values() if kind in found]) for kind in kinds]
    lines.append(["geometric mean"] + means)
    return table([("n", True)] + [(kind, True) for kind in kinds], lines)


def verdict(rows, cache):
    least = min(rows, key=lambda row: row["ratio"])
    below = sum(row["ratio"] < 0.99 for row in rows)
    flat = [row["ratio"] for row in rows if "n" in row["problem"]]
    where = ", ".join(f"{axis}={count(value)}" for axis, value in sorted(least["problem"].items()) if axis != "template")
    return (f"All {len(rows)} rows, {cache}: geometric mean {geometric_mean([row['ratio'] for row in rows])}; without the matrices {geometric_mean(flat)}; "
            f"least {least['ratio']:.3f} ({where}); rows below 0.99: {below}.\n")


def large_inputs(rows):
    lines = []
    for row in rows:
        share = row.get("share_of_ceiling")
        if not isinstance(share, (int, float)):
            continue
        problem = row["problem"]
        size = count(problem["n"]) if "n" in problem else f"{count(problem['rows'])} x {count(problem['columns'])}"
        lines.append([kind_text(problem), size, number(row.get("attune_us")), number(row.get("peer_us")), f"{row['ratio']:.3f}", f"{100 * share:.1f} %"])
    return table([("problem", False), ("elements", True), ("attune, us", True), ("CUB, us", True), ("ratio", True), ("of the read ceiling", True)], lines)


def reduce_ratios(root):
    """What bench/reduce_vs_cub found, as ratios; every row with its times and configuration is reduce_vs_cub's."""
    text = ""
    for path, result in results(root, "reduce_vs_cub"):
        rows = [row for row in rows_of(path, result) if is_compared(row)]
        missing = len(rows_of(path, result)) - len(rows)
        text += f"{provenance(result)}{tiers(rows)}" + (f"; {missing} rows could not be measured" if missing else "") + "\n"
        for policy in dict.fromkeys(row.get("policy", MISSING) for row in rows):
            of_policy = [row for row in rows if row.get("policy", MISSING) == policy]
            cache = str(policy).split("/")[0]
            text += f"\n{verdict(of_policy, cache)}\n{ratio_matrix([row for row in of_policy if 'n' in row['problem']])}"
            if cache == "cold":
                text += f"\nInputs of at least 1 GiB, cold, beside a kernel that only reads, in the same run:\n\n{large_inputs(of_policy)}"
        text += "\n"
    return text.rstrip("\n") + "\n" if text else "No comparison with CUB is recorded yet.\n"


def reproducible_cost(root):
    text = ""
    for path, result in results(root, "reproducible_cost"):
        rows = rows_of(path, result)
        sizes = sorted({row["problem"]["n"] for row in rows})
        text += f"{provenance(result)}; times over that of `reduce` in the same run, cold\n\n"
        lines = []
        for kind, how in dict.fromkeys((row["problem"]["T"], row["how"]) for row in rows):
            of = {row["problem"]["n"]: row for row in rows if (row["problem"]["T"], row["how"]) == (kind, how)}
            results_seen = max(row["distinct_results"] for row in of.values())
            lines.append([f"{kind} {how}"] + [f"{of[n]['cost']:.3f}" if n in of else MISSING for n in sizes] + [str(results_seen)])
        text += table([("sum", False)] + [(count(n), True) for n in sizes] + [("most different results", True)], lines) + "\n"
    return text.rstrip("\n") + "\n" if text else "Not recorded yet.\n"


def read_ceiling(root):
    text = ""
    for path, result in results(root, "read_ceiling"):
        lines = []
        for row in rows_of(path, result):
            problem = row.get("problem") if isinstance(row.get("problem"), dict) else {}
            size = row.get("bytes", problem.get("bytes", problem.get("n", MISSING)))
            policy = row.get("policy", result.get("policy", MISSING))
            if "error" in row:
                lines.append([count(size), policy, error_text(row), ""])
                continue
            rate = row.get("bytes_per_s")
            microseconds = row.get("us", row.get("attune_us"))
            lines.append([count(size), policy, number(microseconds),
                          number(rate / 1e9) if isinstance(rate, (int, float)) else MISSING])
        text += f"{provenance(result)}\n\n"
        text += table([("bytes", True), ("policy", False), ("us", True), ("GB/s", True)], lines) + "\n"
    return text.rstrip("\n") + "\n" if text else "No read ceiling is recorded yet.\n"
