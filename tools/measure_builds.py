#!/usr/bin/env python3
"""Measures what a newcomer and a developer wait for, from a fresh clone of HEAD without a compiler cache: the quick start, the tests,
the portable build, and rebuilding after a change of a low header and of single sources. Takes about a quarter of an hour of an idle machine.

    tools/measure_builds.py [--output bench/results/builds/builds.json] [--keep FOLDER]

Afterwards docs/tables/doc_tables.py writes the tables of docs/building.md.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import build_machine

ROOT = Path(__file__).resolve().parent.parent
TEST = re.compile(r"Test +#\d+: (\S+) \.+ *(?:\*+)?(\w+) +([0-9.]+) sec")


def run(what, words, folder, environment):
    """Wall and CPU seconds of a command with all its children. Ends this program when the command fails."""
    print(f"{what}: {' '.join(words)}", file=sys.stderr, flush=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"measure_builds: `{' '.join(words)}` ended with {done.returncode}:\n{done.stdout[-3000:]}")
    row = {"what": what, "wall_s": round(time.monotonic() - start, 1),
           "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)}
    print(f"  {row['wall_s']} s, {row['cpu_s']} s of CPU", file=sys.stderr, flush=True)
    return row, done.stdout


def sources_of_session(clone):
    """One source of each batch of tuner/session."""
    batches = sorted((clone / "build/portable/tuner/session/CMakeFiles/attune_session.dir/Unity").glob("unity_*_cxx.cxx"))
    firsts = [re.search(r'#include ".*/(tuner/session/[^"]+)"', batch.read_text(encoding="utf-8")) for batch in batches]
    return [first[1] for first in firsts if first]


def measure(clone, environment):
    rows = []
    row, _ = run("tools/quickstart.sh", ["tools/quickstart.sh"], clone, environment)
    rows.append(row)
    row, text = run("tools/test.sh", ["tools/test.sh"], clone, environment)
    rows.append(row)
    tests = sorted(({"test": name, "wall_s": float(seconds)} for name, _, seconds in TEST.findall(text)), key=lambda t: -t["wall_s"])
    built = re.search(r"^built: \d+ steps in (.*)$", text, re.MULTILINE)
    print(f"  of it the build: {built[1] if built else 'unknown'}", file=sys.stderr)
    run("configuring the portable build", ["cmake", "--preset", "portable"], clone, environment)
    row, _ = run("the portable build with tests and benchmarks", ["tools/build.sh", "build/portable"], clone, environment)
    rows.append(row)
    os.utime(clone / "tuner/base/text.hpp")
    row, _ = run("the portable build after a change of tuner/base/text.hpp", ["tools/build.sh", "build/portable"], clone, environment)
    rows.append(row)
    changed = []
    for source in sources_of_session(clone):
        os.utime(clone / source)
        changed.append(run(f"the portable build after a change of {source}", ["tools/build.sh", "build/portable"], clone, environment)[0])
    rows.append(max(changed, key=lambda one: one["wall_s"]))
    return rows, tests


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/builds/builds.json")
    parser.add_argument("--keep", type=Path, help="where the clone is made and left; must not exist")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        clone = arguments.keep or Path(temporary) / "attune"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        environment = dict(os.environ, CCACHE_DISABLE="1", HOME=temporary, XDG_DATA_HOME=temporary, XDG_CACHE_HOME=temporary)
        environment.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=clone, capture_output=True, text=True, check=True).stdout.strip()
        rows, tests = measure(clone, environment)
    result = {"bench": "builds", **build_machine.machine(), "commit": commit, "rows": rows, "tests": tests}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(arguments.output)


main()
