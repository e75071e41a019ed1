#!/usr/bin/env python3
"""Runs two builds' bench/dispatch_overhead and bench/tuning_rate in turn on one GPU and writes what both gave, for docs/building.md.

Every other round begins with the other build: what runs first after something else may be slower. A process stays fast or slow for as
long as it lives, so the spread is over processes and few of them say nothing.

    tools/before_and_after.py BEFORE AFTER --output bench/results/builds/before_and_after.json

BEFORE and AFTER are build folders (cmake --preset portable).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATHS = {"kernel": "Kernel::launch", "plan": "Plan::launch", "kernel+scratch": "Kernel::launch with the runtime's scratch",
         "plan+scratch": "Plan::launch with the runtime's scratch"}


def run(build, bench, folder, words=()):
    environment = dict(os.environ, ATTUNE_WORKER=str(build / "tools/attune"), ATTUNE_DB=str(folder / "none.db"))
    done = subprocess.run([str(build / "bench" / bench), "--output", str(folder), *words], env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"before_and_after: {bench} of {build} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return json.loads(next(folder.glob(f"*/{bench}.json")).read_text(encoding="utf-8"))


def one_process(build):
    """Words with which every build measures alike, in one process: the rounds here are the repetitions."""
    told = subprocess.run([str(build / "bench/dispatch_overhead"), "--help"], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ["--batches", "400", *(["--processes", "1"] if "--processes" in told.stdout else [])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    builds = {"before": arguments.before.resolve(), "after": arguments.after.resolve()}
    rows, last = {}, {}

    def add(what, unit, which, values):
        rows.setdefault(what, {"what": what, "unit": unit, "before": [], "after": []})[which] += values

    for number in range(arguments.rounds):
        for which in ("before", "after") if number % 2 == 0 else ("after", "before"):
            build = builds[which]
            with tempfile.TemporaryDirectory() as name:
                rate = run(build, "tuning_rate", Path(name), ["--repeats", "3", "--templates", str(ROOT / "bench/templates")])
                add("tuning rate, the 300 configurations of bench/tuning_rate", "configurations/s", which, rate["rows"][0]["configs_per_s_runs"])
                last[which] = run(build, "dispatch_overhead", Path(name), one_process(build))
            for row in last[which]["rows"]:
                if row["path"] in PATHS:
                    threads = "one thread" if row["threads"] == 1 else f"{row['threads']} threads"
                    add(f"added by {PATHS[row['path']]}, {threads}", "ns", which, [row["added_ns_p50"]])
    after = last["after"]
    result = {"bench": "before_and_after", "device": after["device"], "driver": after["driver"], "cuda": after["cuda"], "date": after["date"],
              "before_content": last["before"]["content"], "content": after["content"],
              "method": f"both in turn on one machine, {arguments.rounds} times, every other time in the other order", "rows": list(rows.values())}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result["rows"]))


main()
