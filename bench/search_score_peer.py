#!/usr/bin/env python3
"""Kernel Tuner's own strategies under the conditions of bench/search_score: the same recorded spaces, its simulation runner, its defaults.

A space is exactly the configurations of the file; a parameter's values are those that occur, ascending. A run's trace is the different
configurations in the order in which they were first evaluated, which is what Kernel Tuner's budget counts. bench/search_score scores the
traces (--traces), so that there is one definition. The settings are Kernel Tuner's defaults, and what a released version makes of failures is its
own. Needs kernel-tuner 1.5 and scikit-learn (for bayes_opt); no GPU.
"""
import argparse
import concurrent.futures
import datetime
import functools
import gzip
import importlib.metadata
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings

try:
    import numpy
    from kernel_tuner.interface import Options, strategy_map
    from kernel_tuner.runners.simulation import SimulationRunner
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.util import InvalidConfig, StopCriterionReached, TuningBudget
except ImportError as missing:
    sys.exit(f"search_score_peer: failed importing modules: {missing}; pip install kernel-tuner scikit-learn")

ROOT = pathlib.Path(__file__).resolve().parent
STRATEGIES = ["pso", "diff_evo", "genetic_algorithm", "simulated_annealing", "dual_annealing", "bayes_opt", "greedy_ils", "random_sample"]
ENDINGS = (".json", ".json.gz", ".json.zst")


def text_of(path: pathlib.Path) -> str:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8").read()
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True, text=True).stdout
    return path.read_text(encoding="utf-8")


def from_kernel_tuner(document: dict):
    objective, names = document.get("objective", "time"), document["tune_params_keys"]
    return names, [({name: entry[name] for name in names}, entry.get(objective)) for entry in document["cache"].values()]


def from_t4(document: dict):
    entries = []
    for result in document["results"]:
        objective = result.get("objectives", ["time"])[0]
        times = [measured["value"] for measured in result.get("measurements", []) if measured["name"] == objective]
        entries.append((result["configuration"], times[0] if times and result.get("invalidity", "correct") == "correct" else None))
    return list(entries[0][0]), entries


def plain(value):
    return int(value) if isinstance(value, bool) else value


def from_recording(document: dict):
    """Booleans as 0 and 1: neighbours of spaces that have them end Kernel Tuner 1.5 with an AttributeError."""
    (problem,) = document["problems"]
    column = {name: place for place, name in enumerate(problem["columns"])}
    entries = [(dict(zip(problem["parameters"], map(plain, row[column["values"]]))), row[column["median_us"]] if row[column["outcome"]] == "ok" else None)
               for row in problem["measurements"]]
    return problem["parameters"], entries


@functools.lru_cache(maxsize=1)
def cache_of(path: pathlib.Path) -> dict:
    """In Kernel Tuner's terms, as it reads its own caches."""
    document = json.loads(text_of(path))
    reader = from_recording if "attune_recording" in document else from_kernel_tuner if "cache" in document else from_t4
    names, entries = reader(document)
    parameters = {name: sorted({configuration[name] for configuration, _ in entries}) for name in names}
    cache = {}
    for configuration, cost in entries:
        values = {name: configuration[name] for name in names}
        valid = isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 < cost < 1e19
        values |= {"time": float(cost)} if valid else {"time": InvalidConfig(), "__error__": InvalidConfig()}
        cache[",".join(str(configuration[name]) for name in names)] = values
    return {"tune_params": parameters, "cache": cache}


class InOrder(dict):
    """Takes the place of the runner's set of what it has evaluated, and keeps the order."""

    add = dict.setdefault


def late(*_) -> None:
    raise TimeoutError


def run(path: pathlib.Path, strategy: str, seed: int, budget: int, limit_s: int):
    """The trace, and the wall time; nothing where it took too long."""
    recorded = cache_of(path)
    space, cache = Searchspace(None, None, None, from_cache=recorded), recorded["cache"]  # a new one for each run: it remembers neighbours
    warnings.simplefilter("ignore")  # bayes_opt takes the greatest double, which stands for a failure, for a time
    random.seed(seed)  # the strategies draw from either
    numpy.random.seed(seed)
    runner = SimulationRunner(None, Options(kernel_name=path.name), Options(quiet=True), 1, None)
    runner.visited_results = InOrder()
    limits = {"max_fevals": min(budget, space.size)}
    options = Options(strategy_options=Options(limits), cache=cache, cachefile=None, tune_params=space.tune_params, restrictions=[], metrics=None,
                      objective=["time"], objective_higher_is_better=[False], verbose=False, simulated_time=0, simulation_mode=True,
                      budget=TuningBudget(None, limits["max_fevals"]), **limits)
    signal.signal(signal.SIGALRM, late)
    signal.alarm(limit_s)
    start = time.perf_counter()
    try:
        strategy_map[strategy].tune(space, runner, options)
    except StopCriterionReached:
        pass
    except TimeoutError:
        return None, time.perf_counter() - start
    finally:
        signal.alarm(0)
    return [None if "__error__" in cache[key] else cache[key]["time"] for key in runner.visited_results], time.perf_counter() - start


def files_of(named: list) -> list:
    files = []
    for path in named:
        inside = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS)) if path.is_dir() else [path]
        files += [file.resolve() for file in inside]
    return files


def run_strategy(workers, options, path: pathlib.Path, strategy: str):
    """The runs, or why there are none."""
    tasks = [workers.submit(run, path, strategy, options.seed + i, options.budget, options.limit_seconds) for i in range(options.runs)]
    try:
        found = [task.result() for task in tasks]
    except Exception as error:  # of Kernel Tuner's: the others go on, and the page says it
        return f"{type(error).__name__}: {error}"[:120]
    return f"a run took more than {options.limit_seconds} s" if any(trace is None for trace, _ in found) else found


def score(options, path: pathlib.Path, traces: list) -> list:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(trace) + "\n" for trace in traces)
        file.flush()
        # The whole folder, as names of spaces depend on it.
        command = [options.search_score, path.parent, "--traces", file.name, "--budget", str(options.budget)]
        return [json.loads(line) for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()]


def score_file(workers, options, path: pathlib.Path):
    """Rows of the file, and by strategy why it has none."""
    traces, seconds, left_out = [], {}, {}
    name = f"{path.parent.name}/{path.name}"
    for strategy in options.strategies.split(","):
        found = run_strategy(workers, options, path, strategy)
        if isinstance(found, str):
            left_out[strategy] = found
            print(f"{name} {strategy}: left out, {found}", file=sys.stderr)
            continue
        seconds[strategy] = sum(wall for _, wall in found) / len(found)
        print(f"{name} {strategy}: {seconds[strategy]:.2f} s a run", file=sys.stderr)
        traces += [{"file": name, "strategy": strategy, "times": times} for times, _ in found]
    rows = score(options, path, traces) if traces else []
    return [row | {"seed": options.seed, "run_s": round(seconds[row["strategy"]], 3)} for row in rows], left_out


class Results:
    """The output file. What is run again takes the place of what is there of the same file and strategy."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.peer = path, f"Kernel Tuner {importlib.metadata.version('kernel_tuner')}"
        self.rows, self.left_out = {}, {}
        if not path.exists():
            return
        there = json.loads(path.read_text(encoding="utf-8"))
        if there.get("bench") != "search_score_peer" or there.get("peer") != self.peer:
            sys.exit(f"search_score_peer: {path} is no result of this benchmark with {self.peer}; name another file")
        self.rows = {(row["file"], row["strategy"]): row for row in there["rows"]}
        self.left_out = {(entry["file"], entry["strategy"]): entry["why"] for entry in there["left_out"]}

    def put(self, file: str, strategies: list, rows: list, left_out: dict) -> None:
        for strategy in strategies:
            self.rows.pop((file, strategy), None)
            self.left_out.pop((file, strategy), None)
        self.rows |= {(file, row["strategy"]): row for row in rows}
        self.left_out |= {(file, strategy): why for strategy, why in left_out.items()}

    def write(self) -> None:
        result = {"bench": "search_score_peer", "peer": self.peer, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                  "left_out": [{"file": file, "strategy": strategy, "why": why} for (file, strategy), why in sorted(self.left_out.items())]}
        lines = ",\n".join("  " + json.dumps(self.rows[name]) for name in sorted(self.rows))
        self.path.write_text(json.dumps(result, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="as bench/search_score takes them, but for recordings of several problems")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--budget", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-seconds", type=int, default=120, help="a strategy of which a run takes longer is left out on that file")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--search-score", type=pathlib.Path, required=True, metavar="PROGRAM", help="build/.../bench/search_score, which scores")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "results" / "search_score_peer.json")
    options = parser.parse_args()
    if unknown := set(options.strategies.split(",")) - set(strategy_map):
        parser.error(f"Kernel Tuner has no strategy '{unknown.pop()}'; it has {', '.join(strategy_map)}")
    results = Results(options.output)
    with concurrent.futures.ProcessPoolExecutor(options.workers) as workers:
        for path in files_of(options.files):
            results.put(f"{path.parent.name}/{path.name}", options.strategies.split(","), *score_file(workers, options, path))
            results.write()


if __name__ == "__main__":
    main()
