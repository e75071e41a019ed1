#!/usr/bin/env python3
"""Generates the tables of README.md and docs/*.md from recorded results, so that no number is typed by hand.

A table stands between two marker lines:

    <!-- table:reduce_vs_cub -->
    ...
    <!-- /table -->

Known tables: reduce_vs_cub, reduce_ratios, reproducible_cost, search_quality, read_ceiling, tuning_rate, winner_repeat and
dispatch_overhead (bench/results/<device>/*.json), dispatch_random and ragged_sizes (tools/dispatch_tables.py), gpu_tests (tests/gpu/outcome.json), sanitizers (tests/gpu/sanitizers.json),
tune_reduce (bench/results/<device>/*.txt: the output of the command, as captured), promises (tools/promise_table.py),
histogram_vs_cub and histogram_ratios (tools/histogram_tables.py),
builds, slow_tests, build_folders, build_headers and before_and_after (tools/build_tables.py),
ladder_rungs and rules_of_thumb (tools/ladder_tables.py), histogram_ladder and histogram_rules (tools/histogram_ladder_tables.py).

    tools/doc_tables.py            rewrites the files
    tools/doc_tables.py --check    changes nothing; exit code 1 and the file's name when a table is not up to date
"""
import argparse
import json
import math
import re
import statistics
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import build_tables
import dispatch_tables
import histogram_ladder_tables
import histogram_tables
import ladder_tables
import promise_table
from promise_table import MISSING, Malformed, read_object as read_json

MARKED = re.compile(r"(<!-- table:([a-z0-9_]+) -->\n)(.*?)(<!-- /table -->)", re.DOTALL)
OPENING = re.compile(r"<!-- table:")


def number(value):
    """Four significant digits without an exponent, as the reports write them."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return MISSING
    if value == 0:
        return "0"
    rounded = float(f"{value:.4g}")
    decimals = max(3 - math.floor(math.log10(abs(rounded))), 0)
    return f"{rounded:.{decimals}f}"


def count(value):
    """1048576 -> 2^20; other counts as they are."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return str(value)


def short_configuration(text):
    """{"block_size":256,"items":4} -> block_size=256 items=4"""
    try:
        configuration = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return str(text)
    if not isinstance(configuration, dict):
        return MISSING if configuration is None else str(configuration)
    return " ".join(f"{name}={value if isinstance(value, str) else json.dumps(value)}"
                    for name, value in sorted(configuration.items()))


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(columns, rows):
    """columns: (title, is it a number?)"""
    lines = ["| " + " | ".join(title for title, _ in columns) + " |",
             "| " + " | ".join("---:" if right else "---" for _, right in columns) + " |"]
    lines += ["| " + " | ".join(cell(text) for text in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def provenance(result):
    device = result.get("device")
    name = device.get("name", MISSING) if isinstance(device, dict) else device or MISSING
    return (f"{name}, driver {result.get('driver', MISSING)}, CUDA {result.get('cuda', MISSING)}, "
            f"{result.get('date', MISSING)}, content `{result.get('content', MISSING)}`")


def results(root, bench):
    """(path, result) of every device that has this benchmark. bench may be a pattern: several files of a device."""
    return [(path, read_json(path)) for path in sorted((root / "bench" / "results").glob(f"*/{bench}.json"))]


def rows_of(path, result):
    rows = result.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Malformed(f"failed reading {path}: 'rows' is no list of objects")
    return rows


def tiers(rows):
    """Where dispatch took the configurations of these rows from; nothing where no row tells it."""
    counted = Counter(row["tier"] for row in rows if isinstance(row.get("tier"), str))
    return "; dispatched from: " + ", ".join(f"{tier} {times}" for tier, times in counted.most_common()) if counted else ""


def ceiling(folder):
    """Bytes per second of the best pure read from memory on this device, or nothing. Hot reads come from the L2."""
    path = folder / "read_ceiling.json"
    if not path.exists():
        return None
    result = read_json(path)
    rates = [row["bytes_per_s"] for row in rows_of(path, result)
             if "error" not in row and isinstance(row.get("bytes_per_s"), (int, float))
             and not str(row.get("policy", result.get("policy"))).startswith("hot")]
    return max(rates, default=None)


def error_text(row):
    reason = str(row["error"])
    return reason if reason.startswith("not measured") else f"not measured: {reason}"


def problem_text(problem):
    """What is the same in a whole table: everything but the size."""
    return ", ".join(f"{axis}={problem[axis]}" for axis in sorted(problem) if axis != "n")


def ratio_text(row):
    if not isinstance(row.get("ratio"), (int, float)):
        return MISSING
    spread = row.get("spread")
    # Either the relative half interval of the paired ratio, or those of both sides: independent ones add in squares.
    widths = [spread.get(side) for side in ("attune", "peer")] if isinstance(spread, dict) else [spread]
    if not all(isinstance(width, (int, float)) for width in widths):
        return f"{row['ratio']:.3f}"
    return f"{row['ratio']:.3f} ± {row['ratio'] * math.hypot(*widths):.3f}"


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


def geometric_mean(values):
    return f"{math.exp(sum(map(math.log, values)) / len(values)):.3f}" if values else MISSING


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


def search_quality(root):
    text = ""
    for path, result in results(root, "search_quality"):
        lines = [[f"`{row['search'] or 'the whole space'}`", number(row["command_s"]), f"{100 * (row['over_fastest'] - 1):.2f} %",
                  short_configuration(row["winner"])] for row in rows_of(path, result)]
        text += f"{provenance(result)}; {problem_text(result['problem'])}, n={count(result['problem']['n'])}\n\n"
        text += table([("search", False), ("whole command, s", True), ("behind the fastest, paired", True), ("winner", False)], lines) + "\n"
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


def gpu_tests(root):
    path = root / "tests" / "gpu" / "outcome.json"
    if not path.exists():
        return "No run of the GPU tests is recorded yet.\n"
    outcome = read_json(path)
    parts = [f"{outcome.get(kind, MISSING)} {kind}" for kind in ("passed", "failed", "skipped")]
    return f"GPU tests: {', '.join(parts)} on {provenance(outcome)}.\n"


def sanitizers(root):
    path = root / "tests" / "gpu" / "sanitizers.json"
    if not path.exists():
        return "No run of compute-sanitizer is recorded yet.\n"
    outcome = read_json(path)
    rows = [(row.get("tool", MISSING), row.get("sample", MISSING), *(MISSING if row.get(name) is None else row[name] for name in ("errors", "warnings", "checks")),
             row.get("seconds", MISSING) if row.get("exit_code") == 0 else f"ended with {row.get('exit_code', MISSING)}") for row in outcome.get("rows", [])]
    tests = root / "tests" / "gpu" / "outcome.json"
    stale = tests.exists() and read_json(tests).get("content") != outcome.get("content")
    later = "; kernels or code that drives the GPU changed since, and this was not run again" if stale else ""
    return f"{provenance(outcome)}{later}\n\n" + table((("tool", False), ("sample", False), ("errors", True), ("warnings", True), ("checks", True), ("seconds", True)), rows) + "\n"


def fuzzers(root):
    found = [read_json(path) for path in sorted((root / "tests" / "fuzz" / "results").glob("*.json"))]
    if not found:
        return "No long run of the fuzzers is recorded yet.\n"
    rows = [(result["target"], "yes" if result["sanitized"] else "no", *(f"{result[name]:,}" for name in ("seconds", "inputs", "accepted", "refusals")),
             len(result["findings"])) for result in found]
    return table((("reader of", False), ("sanitizers", False), ("seconds", True), ("inputs", True), ("accepted", True), ("different refusals", True),
                  ("findings", True)), rows)


def tune_reduce(root):
    return captured(root, "tune_reduce")


def captured(root, command):
    """What the command itself printed on each device, word for word."""
    blocks = [path.read_text(encoding="utf-8").strip("\n") for path in sorted((root / "bench" / "results").glob(f"*/{command}.txt"))]
    return "".join(f"```text\n{block}\n```\n" for block in blocks) or "No output is recorded yet.\n"


def percent(share):
    return f"{100 * share:.0f} %" if isinstance(share, (int, float)) else MISSING


def rate_line(row):
    """What one row of tuning_rate.json says: (what, figure, what it is about)."""
    case = row.get("case", MISSING)
    if case == "peer_space_300":
        runs = row.get("configs_per_s_runs", [])
        return [("300 configurations, 60 sources, n = 2^24",
                 f"{number(row.get('configs_per_s'))} configurations/s",
                 f"median of {len(runs)} runs from {number(min(runs, default=None))} to {number(max(runs, default=None))}, "
                 f"{row.get('verified', MISSING)} verified and committed; GPU worker busy {percent(row.get('gpu_busy'))}, "
                 f"compile workers {percent(row.get('compile_busy'))}"),
                ("the same, whole command", f"{number(row.get('whole_command_configs_per_s'))} configurations/s",
                 "with starting processes, NVRTC and the GPU, and the run-off")]
    if case == "scaling":
        return [(f"{row.get('gpus', MISSING)} GPU{'' if row.get('gpus') == 1 else 's'}, {row.get('problems', MISSING)} problems, {row.get('configurations', MISSING)} configurations",
                 f"{number(row.get('speedup'))}x", f"whole command, {number(row.get('command_s'))} s")]
    if case == "million_configurations":
        size = row.get("parent_bytes")
        return [(f"a space of {row.get('space_size', MISSING)} configurations",
                 f"{number(size / 1e6)} MB" if isinstance(size, (int, float)) else MISSING, "most memory of the tuning process")]
    raise Malformed(f"tuning_rate: no row is called '{case}'")


def tuning_rate(root):
    text = ""
    for path, result in results(root, "tuning_rate"):
        lines = [[*line, row.get("date", result.get("date", MISSING))] for row in rows_of(path, result) for line in rate_line(row)]
        text += f"{provenance(result)}\n\n"
        text += table([("what", False), ("figure", True), ("", False), ("measured", False)], lines) + "\n"
    return text.rstrip("\n") + "\n" if text else "No tuning rate is recorded yet.\n"


def repeated(root, *names):
    text = ""
    for path, result in [found for name in names for found in results(root, name)]:
        rows = rows_of(path, result)
        ties = [len(row.get("tie_set", [])) for row in rows]
        spread = max((row.get("tie_set_spread", 1) for row in rows), default=1)
        modal = sum(1 for row in rows if row.get("is_modal"))
        how = f", on {result['devices']} devices" if result.get("devices", 1) > 1 else ""
        how += ", with compiled code kept from one to the next" if result.get("compiled_code_kept") else ""
        text += (f"{provenance(result)}\n\n{result.get('template', MISSING)} {short_configuration(result.get('problem'))}: of {len(rows)} runs, each "
                 f"with an empty database{how}, {modal} name the same winner and {sum(1 for row in rows if row.get('agrees'))} name it or declare a tie with "
                 f"it. Tie sets hold at most {max(ties, default=0)}, within {100 * (spread - 1):.2f} % of each other in one final paired run.{run_time(rows)}\n\n")
    return text.rstrip("\n") + "\n" if text else "No repetition is recorded yet.\n"


def run_time(rows):
    seconds = [row["command_s"] for row in rows if isinstance(row.get("command_s"), (int, float))]
    return f" A run took {number(statistics.median(seconds))} s (median)." if seconds else ""


def winner_repeat(root):
    return repeated(root, "winner_repeat")


def large_search_repeats(root):
    """First those of a bound of 24 finalists, then those of the rule for large searches."""
    return repeated(root, "winner_repeat_24_finalists", "winner_repeat_i32_max_3000017")


def large_search_finalists(root):
    text = ""
    for path, result in results(root, "finalists_i32_max_3000017"):
        rows = rows_of(path, result)
        searches = [row for row in rows if "winner_search_place" in row]
        off = [row["search_deviation"] for row in rows if "search_deviation" in row]
        winners = {json.dumps(row.get("winner"), sort_keys=True) for row in rows}
        text += f"{provenance(result)}\n\n"
        text += table([("GPU", True), ("configurations", True), ("within 3 % of the search's best", True), ("the 24th, over the best", True), ("the winner's place in the search", True)],
                      [[row.get("device_ordinal"), row.get("configurations"), row.get("within_3_percent_of_search_best"), f"{row['search_24th_over_best']:.3f}",
                        row["winner_search_place"]] for row in searches])
        text += (f"\n{len(rows)} run-offs of these searches' finalists named {len(winners)} configuration{'s' if len(winners) > 1 else ''}. Times of the search are off by "
                 f"{100 * min(off):.1f} to {100 * max(off):.1f} % (standard deviation).\n\n")
    return text.rstrip("\n") + "\n" if text else "No large search is recorded yet.\n"


def tenths(share):
    return f"{round(100 * share, 1) + 0.0:.1f} %" if isinstance(share, (int, float)) else MISSING  # + 0.0: no "-0.0 %"


def medians_over(result):
    if "processes" not in result:
        return "; one process, by an earlier method that launched the bare function less often: not to be compared with the others"
    processes = result["processes"]
    return f"; medians over {processes} processes" if isinstance(processes, int) and processes > 1 else ""


def dispatch_overhead(root):
    text = ""
    for path, result in results(root, "dispatch_overhead"):
        text += f"{provenance(result)}{medians_over(result)}\n\n"
        text += table([("threads", True), ("path", False), ("raw launch, ns (median)", True), ("added, ns (median)", True), ("added, ns (99 of 100)", True)],
                      [[row.get("threads"), row.get("path", MISSING), number(row.get("raw_ns_p50")), number(row.get("added_ns_p50")),
                        number(row.get("added_ns_p99"))] for row in rows_of(path, result)]) + "\n"
    return text.rstrip("\n") + "\n" if text else "No overhead is recorded yet.\n"


def with_helpers(make):
    """A table of a module of its own, which is handed what all tables share."""
    return lambda root: make(sys.modules[__name__], root)


OF_MODULES = (dispatch_tables.dispatch_random, dispatch_tables.ragged_sizes, histogram_tables.histogram_vs_cub, histogram_tables.histogram_ratios,
              build_tables.builds, build_tables.slow_tests, build_tables.build_folders,
              build_tables.build_headers, build_tables.before_and_after)
TABLES = {"reduce_vs_cub": reduce_vs_cub, "reduce_ratios": reduce_ratios, "reproducible_cost": reproducible_cost, "search_quality": search_quality,
          "read_ceiling": read_ceiling, "gpu_tests": gpu_tests, "sanitizers": sanitizers, "fuzzers": fuzzers, "tune_reduce": tune_reduce,
          "tuning_rate": tuning_rate, "winner_repeat": winner_repeat,
          "large_search_repeats": large_search_repeats, "large_search_finalists": large_search_finalists, "dispatch_overhead": dispatch_overhead,
          "ladder_rungs": ladder_tables.ladder_rungs, "rules_of_thumb": ladder_tables.rules_of_thumb,
          "histogram_ladder": histogram_ladder_tables.histogram_ladder, "histogram_rules": histogram_ladder_tables.histogram_rules,
          "promises": lambda root: promise_table.promise_table(root, {"dispatch_random": with_helpers(dispatch_tables.between_tuned_sizes)}), **{make.__name__: with_helpers(make) for make in OF_MODULES}}


def regenerate(root, path):
    """The file's text with every table as it should be."""
    text = path.read_text(encoding="utf-8")
    if len(MARKED.findall(text)) != len(OPENING.findall(text)):
        raise Malformed(f"failed reading {path}: a '<!-- table:NAME -->' line has no '<!-- /table -->' line after it")

    def replace(match):
        name = match.group(2)
        if name not in TABLES:
            raise Malformed(f"failed reading {path}: no table is called '{name}'; there are {', '.join(sorted(TABLES))}")
        try:
            return match.group(1) + TABLES[name](root) + match.group(4)
        except (AttributeError, LookupError, TypeError, ValueError, ZeroDivisionError) as error:
            raise Malformed(f"failed making the table '{name}' of {path}: a recorded result does not hold what it needs ({type(error).__name__}: {error})") from error

    return MARKED.sub(replace, text)


def main():
    parser = argparse.ArgumentParser(description="Generates the tables of README.md and docs/*.md from recorded results.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 when a table is not up to date")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the repository")
    arguments = parser.parse_args()
    root = arguments.root
    stale = []
    try:
        for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
            if not path.exists():
                continue
            wanted = regenerate(root, path)
            if wanted == path.read_text(encoding="utf-8"):
                continue
            stale.append(path.relative_to(root))
            if not arguments.check:
                path.write_text(wanted, encoding="utf-8")
    except Malformed as error:
        print(f"doc_tables: {error}", file=sys.stderr)
        return 2
    for path in stale:
        print(f"{path}: a table differs from the recorded results; run tools/doc_tables.py" if arguments.check
              else f"{path}: rewritten")
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
