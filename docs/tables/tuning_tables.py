"""Tables of how fast, how well and how repeatably attune tunes: search_quality, tuning_rate, winner_repeat, renewal (bench/results/<device>/*.json) and
what `attune tune` printed (*.txt)."""
import json
import statistics

from common import MISSING, Malformed, captured, count, number, percent, provenance, results, rows_of, short_configuration, table, tenths


def goal_text(row):
    """{"goal_behind": 0.01, "goal_command_s": 9} -> at most 1 % behind, 9 s in all"""
    behind = f"at most {100 * row['goal_behind']:.3g} % behind" if row["goal_behind"] else "as good"
    return behind + (f", {row['goal_command_s']:g} s in all" if row["goal_command_s"] is not None else "")


def search_quality_line(rows):
    """What the seeds of one case and strategy found."""
    first = rows[0]
    behind, seconds = [row["behind"] for row in rows], [row["command_s"] for row in rows]
    kept = ", compiled code kept" if any(row["compiled_code_kept"] for row in rows) else ""
    return [f"{first['case']} " + " ".join(f"{axis}={count(value)}" for axis, value in first["problem"].items()), f"`{first['strategy']}`{kept}",
            f"{first['budget_s']:g}", goal_text(first), f"{sum(1 for row in rows if row['reached'])} of {len(rows)}",
            f"{100 * statistics.median(behind):.2f} %", f"{100 * max(behind):.2f} %", number(statistics.median(seconds)), number(max(seconds)),
            ", ".join(f"`{digest}`" for digest in sorted({row["search_content"] for row in rows}))]


def search_quality(root):
    text = ""
    for path, result in results(root, "search_quality"):
        parts = {}
        for row in rows_of(path, result):
            parts.setdefault((row["case"], row["strategy"], row["compiled_code_kept"]), []).append(row)
        text += f"{provenance(result)}\n\n"
        text += table([("problem", False), ("strategy", False), ("budget, s", True), ("goal", False), ("reached", True), ("behind the mark, median", True), ("most", True),
                       ("whole command, s, median", True), ("most", True), ("searches", False)], [search_quality_line(rows) for rows in parts.values()]) + "\n"
    return text.rstrip("\n") + "\n" if text else "Not recorded yet.\n"


def renewal_line(template, rows):
    """Of all recordings of a template."""
    total = {name: sum(row[name] for row in rows) for name in ("problems", "compared", "ran_off", "same", "faster", "slower")}
    ratios = [row["over_former_most"] for row in rows if row["over_former_most"] is not None]
    seconds = [row["seconds"] for row in rows]
    return [template, str(len(rows)), str(total["problems"]), number(sum(row["configurations"] * row["problems"] for row in rows) / total["problems"]),
            number(sum(seconds)) if None not in seconds else MISSING, str(total["compared"]), str(total["ran_off"]), str(total["same"]), str(total["faster"]), str(total["slower"]),
            number(max(ratios, default=None))]


def renewal(root):
    text = ""
    for path, result in results(root, "renewal"):
        templates = {}
        for row in rows_of(path, result):
            templates.setdefault(row["template"], []).append(row)
        text += f"{provenance(result)}: {result['gpus']} GPUs, {number(result['seconds'])} s in all\n\n"
        text += table([("template", False), ("recordings", True), ("problems", True), ("configurations each", True), ("GPU time, s", True),
                       ("former winner measured", True), ("in the run-off", True), ("wins again", True), ("beaten by 1 %", True), ("behind it by more than the spread", True), ("most", True)],
                      [renewal_line(template, rows) for template, rows in templates.items()]) + "\n"
    return text.rstrip("\n") + "\n" if text else "Not recorded yet.\n"


def own_kernel(root):
    return captured(root, "own_kernel")


def tune_reduce(root):
    return captured(root, "tune_reduce")


def devices_time(row):
    """What a row of scaling says of the devices' time; empty of one that was measured before it did."""
    if "tuning" not in row:
        return ""
    return (f": {number(row.get('before_first_problem_s'))} s before the first problem, {number(row.get('after_last_problem_s'))} s after the last; of the "
            f"devices' time {percent(row['tuning'])} with a problem, {percent(row.get('searching'))} searching, {percent(row.get('gpu_busy'))} at work on the GPU")


def one_by_one(row):
    """How long the GPUs of a row of scaling took each alone; empty of one that was measured against one GPU."""
    if "alone" not in row:
        return ""
    alone = ", ".join(number(run.get("command_s")) for run in row["alone"])
    between = f"{number(row['speedup_before'])}x before and {number(row.get('speedup_after'))}x after that; " if "speedup_before" in row else ""
    return (f"{between}each GPU alone tuned its share of them in {alone} s, one after the other that is {number(row.get('one_by_one_s'))} s without the starts and ends "
            f"that one command would not have had; {apart(row)}")


def apart(row):
    """How the same shares fared at the same time by a command each; empty of a row without."""
    if "speedup_apart" not in row:
        return ""
    seconds = ", ".join(number(run.get("command_s")) for run in row["apart"])
    return f"all of them at once by a command each, {number(row['speedup_apart'])}x ({seconds} s); "


def in_rounds(row):
    """What a row of scaling says of its rounds; empty of one that was measured before there were any."""
    rounds = row.get("rounds", [])
    if not rounds:
        return ""
    speedups = [one["speedup"] for one in rounds]
    seconds = [one["together"]["command_s"] for one in rounds]
    how_many = "one round" if len(rounds) == 1 else f"median of {len(rounds)} rounds from {number(min(speedups))}x to {number(max(speedups))}x"
    text = (f"{how_many}: each GPU alone tunes its share, all together "
            f"{number(statistics.median(one['one_by_one_s'] for one in rounds))} s without the starts and ends that one command does not have, and then one command all of it, in {number(statistics.median(seconds))} s")
    return text + (f"; by a command for each GPU at the same time, {number(row['speedup_apart'])}x" if "speedup_apart" in row else "")


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
                 f"{number(row.get('speedup'))}x", in_rounds(row) or one_by_one(row) + f"whole command, {number(row.get('command_s'))} s" + devices_time(row))]
    if case == "learning":
        runs = row.get("gpu_waited_otherwise_runs", [])
        spread = "one run" if len(runs) == 1 else f"median of {len(runs)} runs from {tenths(min(runs, default=None))} to {tenths(max(runs, default=None))}"
        return [(f"strategy `{row.get('strategy', MISSING)}`, {row.get('budget', MISSING)} configurations of a larger space{', of ' + row['of'] if 'of' in row else ''}", f"{number(row.get('configs_per_s'))} configurations/s",
                 f"the GPU waited {tenths(row.get('gpu_waited_otherwise'))} of the search for neither compilers nor itself ({spread}), "
                 f"{tenths(row.get('gpu_waited_for_compiles'))} for compilers; the strategy thought for "
                 f"{tenths(row.get('searching'))} of it, mostly while the GPU worked")]
    if case == "million_configurations":
        size = row.get("parent_bytes")
        return [(f"a space of {row.get('space_size', MISSING)} configurations",
                 f"{number(size / 1e6)} MB" if isinstance(size, (int, float)) else MISSING, "most memory of the tuning process")]
    raise Malformed(f"tuning_rate: no row is called '{case}'")


def scaling_again(root, path):
    """Rows of scaling that were measured beside those of tuning_rate.json, with other numbers of problems or GPUs."""
    return [row for other, result in results(root, "tuning_rate_again*") if other.parent == path.parent
            for row in rows_of(other, result) if row.get("case") == "scaling"]


def tuning_rate(root):
    text = ""
    for path, result in results(root, "tuning_rate"):
        rows = sorted(rows_of(path, result) + scaling_again(root, path), key=lambda row: (row.get("gpus", 0), row.get("problems", 0)))
        lines = [[what, figure, about, row.get("date", result.get("date", MISSING))] for row in rows for what, figure, about in rate_line(row)]
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
        others = [row["over_fastest"] for row in rows if not row.get("is_modal") and isinstance(row.get("over_fastest"), (int, float))]
        behind = f" Other winners are at most {100 * (max(others) - 1):.2f} % slower than the fastest there.{winners_of_each_gpu(rows)}" if others else ""
        how = f", on {result['devices']} devices" if result.get("devices", 1) > 1 else ""
        how += ", with compiled code kept from one to the next" if result.get("compiled_code_kept") else ""
        text += (f"{provenance(result)}\n\n{result.get('template', MISSING)} {short_configuration(result.get('problem'))}: of {len(rows)} runs, each "
                 f"with an empty database{how}, {modal} name the same winner and {sum(1 for row in rows if row.get('agrees'))} name it or declare a tie with "
                 f"it. Tie sets hold at most {max(ties, default=0)}, within {100 * (spread - 1):.2f} % of each other in one final paired run.{behind}{run_time(rows)}\n\n")
    return text.rstrip("\n") + "\n" if text else "No repetition is recorded yet.\n"


def winners_of_each_gpu(rows):
    """How often each of several GPUs names it: two of a kind may differ."""
    ordinals = sorted({row["device_ordinal"] for row in rows if "device_ordinal" in row})
    if len(ordinals) < 2:
        return ""
    of_each = [[row for row in rows if row.get("device_ordinal") == ordinal] for ordinal in ordinals]
    return " That winner is named by " + ", ".join(
        f"{sum(1 for row in own if row.get('is_modal'))} of {len(own)} runs of GPU {ordinal}" for ordinal, own in zip(ordinals, of_each)) + "."


def run_time(rows):
    seconds = [row["command_s"] for row in rows if isinstance(row.get("command_s"), (int, float))]
    return f" A run took {number(statistics.median(seconds))} s (median)." if seconds else ""


def winner_repeat(root):
    return repeated(root, "winner_repeat")


def large_search_repeats(root):
    """First those of a bound of 24 finalists, then those of the rule for large searches."""
    return repeated(root, "winner_repeat_24_finalists", "winner_repeat_i32_max_3000017")


def large_search_repeats_again(root):
    """The same command later: on other GPUs of the kind, and of two contents one after the other on two GPUs."""
    return repeated(root, "winner_repeat_i32_max_3000017_again*")


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
