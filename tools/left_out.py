#!/usr/bin/env python3
"""Leaves each tuned problem out of a database in turn, and tells what dispatch would lose there.

What `attune explain` chooses at a problem without its own result, and what the template's default is there, are compared with the best that was
measured there; nothing is measured anew, so that no GPU is needed. A choice that was not measured there counts as unknown. Problems are compared
within one template, device and policy. Chosen and best are of the same measurements: where hundreds of configurations were measured, the best is
luckier than it is fast, by about the noise.

Exit codes: 0 done, 2 wrong arguments, 5 the database cannot be read.
"""
import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

FAR, FARTHER, SLOWER = 0.04, 0.10, 0.01


class Unusable(Exception):
    """The database, or what attune says of it."""


def text_of(configuration):
    """The same for equal configurations."""
    return json.dumps(json.loads(configuration) if isinstance(configuration, str) else configuration, sort_keys=True)


def times_us(medians_us, winner, winner_us, detail):
    """By configuration. Of those that ran off, the run-off's ratios are applied to the winner's time: they are surer than what the search measured
    one after the other (as dispatch reads them, tuner/runtime/between_sizes.cpp)."""
    times = {text_of(configuration): us for configuration, us in medians_us.items()}
    winner = text_of(winner)
    winner_us = times.get(winner, winner_us)
    ratios = {text_of(one["configuration"]): one["ratio"] for name in ("finalists", "left") for one in detail.get(name, []) if one["ratio"] > 0}
    for configuration, ratio in ratios.items():
        times[configuration] = ratio / ratios.get(winner, 1) * winner_us
    times[winner] = winner_us
    return times


class Problem:
    def __init__(self, key, problem, times):
        self.key, self.problem, self.times = key, json.loads(problem), times

    def behind(self, configuration):
        """How much slower than the best it is; nothing when it was not measured here."""
        us = self.times.get(text_of(configuration))
        return None if us is None else us / min(self.times.values()) - 1

    def best(self):
        return json.loads(min(self.times, key=self.times.get))


def problems_of(database, template, policy, device):
    """The newest version of the template: others are no candidates."""
    newest = database.execute("SELECT template_hash FROM best WHERE template_name = ? AND policy = ? ORDER BY recorded_at DESC LIMIT 1", (template, policy)).fetchone()
    if newest is None:
        raise Unusable(f"it has no results of \"{template}\" under {policy}")
    of = (newest[0], policy, device)
    medians = {}
    for key, configuration, us in database.execute(
            "SELECT r.problem_key, c.text, m.value FROM records r JOIN metrics m ON m.record_key = r.key AND m.name = 'time_us' "
            "JOIN configurations c ON c.key = r.configuration_key WHERE r.outcome = 'ok' AND r.template_hash = ? AND r.policy = ? AND r.device_key = ?", of):
        medians.setdefault(key, {})[configuration] = us
    rows = database.execute(
        "SELECT b.key, p.text, b.problem_key, c.text, b.median_us, b.detail_json FROM best b JOIN problems p ON p.key = b.problem_key "
        "JOIN configurations c ON c.key = b.configuration_key WHERE b.template_hash = ? AND b.policy = ? AND b.device_key = ? AND b.objective = 'time' ORDER BY p.text", of)
    return [Problem(key, problem, times_us(medians.get(problem_key, {}), winner, us, json.loads(detail or "{}")))
            for key, problem, problem_key, winner, us, detail in rows]


def device_of(database, asked):
    """(key, name) of the device whose results are looked at. Throws: Unusable when it is not told which."""
    devices = [(key, json.loads(info).get("name", key)) for key, info in database.execute("SELECT hard_key, info_json FROM devices ORDER BY hard_key")]
    found = [device for device in devices if asked is None or asked in device]
    if len(found) != 1:
        raise Unusable(f"it has results of {', '.join(name for _, name in devices) or 'no device'}: name one with --device")
    return found[0]


def explained(attune, database, template, policy, device, problem):
    words = [str(attune), "explain", template, "--db", str(database), "--device", device, "--policy", policy, "--json"]
    for axis, value in problem.items():
        words += [f"--{axis}", str(value)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Unusable(f"{' '.join(words)} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)[0]


def opened(path):
    """Read only."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def copy_database(source, target):
    """With what is in the write-ahead log of a database in use."""
    with closing(opened(source)) as database, closing(sqlite3.connect(target)) as copy:
        database.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def asked_without_themselves(copy, problems, ask):
    """For each problem what `ask` says of the copy of the database without its best row."""
    database = sqlite3.connect(copy, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    answers = []
    for problem in problems:
        row = database.execute("SELECT * FROM best WHERE key = ?", (problem.key,)).fetchone()
        database.execute("DELETE FROM best WHERE key = ?", (problem.key,))
        answers.append(ask(copy, problem.problem))
        database.execute(f"INSERT INTO best VALUES ({','.join('?' * len(row))})", row)
    database.close()
    return answers


def decisions(options, folder, problems, ask):
    """(problem, what dispatch chooses without its result, the default) for each."""
    def of_part(number):
        part = problems[number::options.jobs]
        copy, bare = folder / f"copy{number}.db", folder / f"bare{number}.db"
        for file in (copy, bare):
            copy_database(options.db, file)
        with closing(sqlite3.connect(bare, isolation_level=None)) as database:
            database.execute("DELETE FROM best")
        chosen = asked_without_themselves(copy, part, ask)
        return [(problem, decision, ask(bare, problem.problem)["configuration"]) for problem, decision in zip(part, chosen)]

    with ThreadPoolExecutor(options.jobs) as pool:
        return [one for part in pool.map(of_part, range(options.jobs)) for one in part]


def percentile(ordered, percent):
    """By nearest rank: a value that was measured."""
    return ordered[max(-(-percent * len(ordered) // 100), 1) - 1]


def summary(found):
    behind = sorted(lost for problem, decision, _ in found if (lost := problem.behind(decision["configuration"])) is not None)
    slower = [(1 + chosen) / (1 + default) - 1 for problem, decision, standard in found
              if (chosen := problem.behind(decision["configuration"])) is not None and (default := problem.behind(standard)) is not None]
    told = {"problems": len(found), "unknown": len(found) - len(behind), "compared_with_default": len(slower), "slower_than_default": sum(one > SLOWER for one in slower)}
    if behind:
        told.update(mean=sum(behind) / len(behind), median=percentile(behind, 50), p95=percentile(behind, 95), most=behind[-1],
                    over_4_percent=sum(one > FAR for one in behind), over_10_percent=sum(one > FARTHER for one in behind))
    return told


def worst(found, count):
    known = [(lost, problem, decision) for problem, decision, _ in found if (lost := problem.behind(decision["configuration"])) is not None]
    known.sort(key=lambda one: -one[0])
    rows = []
    for lost, problem, decision in known[:count]:
        chosen, best = decision["configuration"], problem.best()
        rows.append({"problem": problem.problem, "behind": lost, "best_us": min(problem.times.values()), "tier": decision["tier"],
                     "chosen_and_best": {name: [chosen[name], best[name]] for name in chosen if chosen[name] != best.get(name)}})
    return rows


def tell(template, told, rows):
    print(f"{template}: {told['problems']} problems left out in turn; at {told['unknown']} the choice was not measured")
    if "mean" in told:
        print("behind the best measured: mean {mean:.2%}, median {median:.2%}, 95 of 100 {p95:.2%}, at most {most:.2%}; over 4 %: {over_4_percent}, over 10 %: {over_10_percent}".format(**told))
    print(f"slower than the default by over 1 %: {told['slower_than_default']} of {told['compared_with_default']}")
    for row in rows:
        differs = ", ".join(f"{name} {chosen} (best: {best})" for name, (chosen, best) in row["chosen_and_best"].items())
        print(f"{row['behind']:6.1%} of {row['best_us']:.4g} us at {json.dumps(row['problem'])}, {row['tier']}: {differs}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[1])
    parser.add_argument("template", help="a built-in name, e.g. histogram")
    parser.add_argument("--attune", default="build/release/tools/attune", type=pathlib.Path, help="the executable (%(default)s)")
    parser.add_argument("--db", default="build/release/share/shipped.db", type=pathlib.Path, help="the database; it is not changed (%(default)s)")
    parser.add_argument("--device", help="name or key, where the database has several")
    parser.add_argument("--policy", default="cold/graph", help="(%(default)s)")
    parser.add_argument("--worst", default=10, type=int, help="tell so many problems where dispatch loses most (%(default)s)")
    parser.add_argument("--jobs", default=os.cpu_count() or 1, type=int, help="at once (%(default)s)")
    parser.add_argument("--json", action="store_true", help="JSON on standard output")
    return parser.parse_args()


def main():
    options = arguments()
    for file, what in ((options.attune, "executable"), (options.db, "database")):
        if not file.is_file():
            print(f"There is no {what} {file}: build it first, or name another.", file=sys.stderr)
            return 2
    if options.jobs < 1 or options.worst < 0:
        print("--jobs is at least 1, --worst at least 0.", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="attune-left-out-") as name:
            with closing(opened(options.db)) as database:
                key, device = device_of(database, options.device)
                problems = problems_of(database, options.template, options.policy, key)
            ask = lambda file, problem: explained(options.attune.resolve(), file, options.template, options.policy, device, problem)
            found = decisions(options, pathlib.Path(name), problems, ask)
    except (Unusable, OSError, sqlite3.Error, ValueError, KeyError) as error:
        print(f"failed reading {options.db}: {error}", file=sys.stderr)
        return 5
    told, rows = summary(found), worst(found, options.worst)
    if options.json:
        print(json.dumps({"template": options.template, "device": device, "policy": options.policy, **told, "worst": rows}, indent=1))
    else:
        tell(options.template, told, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
