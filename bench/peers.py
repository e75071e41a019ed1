#!/usr/bin/env python3
"""Kernel Tuner and attune side by side: the same script, GPU, data and answer, the same seconds each (docs/peers.md).

Of every call of tune_kernel in a script, which stays as it is: Kernel Tuner (CuPy, its strategy random_sample) and attune (template import, then tune with its
default strategy, for times with warm caches, which are what Kernel Tuner takes) search for --seconds each. Results are compared with the script's answer, or by its own
function; a call without either gets what Kernel Tuner's run of its first valid configuration that runs puts out. What either found best is then timed by one harness,
Kernel Tuner's, both configurations in turn. Everything that a tuner runs is in a process of its own, with empty caches. Rows of other scripts stay in the output, each with
its own date. Needs kernel-tuner, CuPy and NumPy.

Exit codes: 0 written, 1 a step failed (the row says which), 2 wrong arguments.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS, ITERATIONS = 5, 32
MOST_TRIED, TOLD = 20, 500
ROUNDING = 1e-5  # of the largest element: of an answer that is another configuration's, for both tuners
HOST_HEADERS = ("stdio.h", "stdlib.h", "string.h", "math.h")
MEANS = {
    "decided": "configurations that were run or failed within the seconds",
    "command_s": "wall time of the search: the call of tune_kernel, or the command `attune tune`",
    "best_us": f"of the configuration found best: median of {ROUNDS} rounds of {ITERATIONS} launches, by Kernel Tuner's own timing, in turn with the other's",
    "over_peer": "attune's best_us over Kernel Tuner's",
    "policy": "what attune's times are of",
    "answer": "script: its own; its function: what the script verifies with, of every configuration of Kernel Tuner's and of attune's best one; first configuration: what Kernel Tuner's "
              "run of the first one that runs puts out; none: outputs depend on the configuration, as partial sums do, or Kernel Tuner runs none",
    "peer_error": "the end of what Kernel Tuner said where it did not run the script",
    "failures": "of attune's, an example of each outcome",
}

# Runs in place of the script, under Kernel Tuner and under what `attune template import` puts in its place: both see the same random numbers and answers.
WRAPPER = '''
import json, os, pathlib, runpy, sys
import numpy
import kernel_tuner
folder = pathlib.Path({folder!r})
mode = os.environ.get("ATTUNE_PEERS_MODE", "import")
original, calls = kernel_tuner.tune_kernel, [0]
if mode != "import":
    import peers
    kernel_tuner.run_kernel = peers.run_kernel(folder, kernel_tuner.run_kernel)

def tune_kernel(name, source, size, arguments, parameters, *more, **named):
    number = calls[0]
    calls[0] += 1
    if mode != "import":
        import peers
        return peers.in_kernel_tuner(mode, folder, number, (name, source, size, arguments, parameters, *more), named)
    import peers
    for option in ("answer", "verify"):
        named.pop(option, None)
    named.update(peers.stored_answer(folder, number, len(arguments)))
    return original(name, source, size, arguments, parameters, *more, **named)

kernel_tuner.tune_kernel = tune_kernel
numpy.random.seed(1)
os.chdir({home!r})
sys.argv = [{script!r}]
runpy.run_path({script!r}, run_name="__main__")
'''

NAMES = ["kernel_name", "kernel_source", "problem_size", "arguments", "tune_params", "grid_div_x", "grid_div_y", "grid_div_z", "restrictions", "answer", "atol", "verify"]


def in_kernel_tuner(mode, folder, number, positional, named):
    """One call of tune_kernel within a process of Kernel Tuner's."""
    import kernel_tuner.interface as interface
    call = dict(zip(NAMES, positional)) | named
    for option in ("strategy", "strategy_options", "cache", "verbose", "log", "quiet", "simulation_mode", "iterations"):
        call.pop(option, None)
    call |= backend(folder, call) | {"quiet": True}
    if number >= int(os.environ["ATTUNE_PEERS_CALLS"]):
        return [{**first_valid(call), "time": 1.0}], {}
    if mode == "answer":
        return make_answer(folder, number, call)
    if has_function(call):
        call["verify"] = of_lists_or_one(call["verify"])
    else:
        call.pop("verify", None)
        call |= stored_answer(folder, number, len(call["arguments"]))
    if mode == "time":
        return time_both(interface, folder, number, call)
    limits = {"time_limit": float(os.environ["ATTUNE_PEERS_SECONDS"]), "fraction": 1.0}
    start = time.perf_counter()
    results, environment = interface.tune_kernel(**call, strategy="random_sample", strategy_options=limits)
    command_s = time.perf_counter() - start
    timed = [result for result in results if isinstance(result.get("time"), float)]
    best = min(timed, key=lambda result: result["time"], default=None)
    found = {"decided": len(results), "failed": len(results) - len(timed), "command_s": command_s,
             "configuration": best and {name: plain(best[name]) for name in call["tune_params"]}}
    (folder / f"peer_{number}.json").write_text(json.dumps(found), encoding="utf-8")
    return results, environment


def backend(folder, named):
    """Its CuPy backend compiles by NVRTC as C++11 unless told otherwise, which CUB is not, and without headers of the host, of which device code needs nothing."""
    options = [option for option in named.get("compiler_options") or [] if "std=" not in option]
    return {"lang": "CUPY", "compiler_options": [*options, "-std=c++17", f"-I{folder / 'host'}"]}


def run_kernel(folder, original):
    """What a script calls as run_kernel, to make its answer."""
    return lambda *positional, **named: original(*positional, **(named | backend(folder, named)))


def has_function(call):
    """Whether the script verifies by a function of its own."""
    return call.get("answer") is not None and call.get("verify") is not None and not os.environ["ATTUNE_PEERS_UNCHECKED"]


def of_lists_or_one(verify):
    """Kernel Tuner gives lists, of an item for each argument. Scripts for earlier versions take the one that is compared."""
    def told(answer, results, atol=None):
        places = [place for place, value in enumerate(answer) if value is not None]
        one = places[0] if len(places) == 1 else None
        try:
            return bool(verify(answer, results, atol=atol))
        except (TypeError, ValueError):
            if one is None:
                raise
            return bool(verify(answer[one], results[one], atol=atol))
    return told


def stored_answer(folder, number, arguments):
    """What both tuners compare results with, and its tolerance where the script does not say the answer itself."""
    import numpy
    file = folder / f"answer_{number}.npz"
    if not file.exists():
        return {"answer": None}
    stored = numpy.load(file)
    tolerance = {"atol": float(stored["atol"])} if "atol" in stored else {}
    return {"answer": [stored[str(place)] if str(place) in stored else None for place in range(arguments)]} | tolerance


def plain(value):
    return value.item() if hasattr(value, "item") else value


def valid(call):
    """Its configurations, in Kernel Tuner's order."""
    from kernel_tuner.searchspace import Searchspace
    space = Searchspace(call["tune_params"], call.get("restrictions"), max_threads=1024)
    return [dict(zip(call["tune_params"], values)) for values in space.list]


def first_valid(call):
    return valid(call)[0]


def first_output(call):
    """The arguments after a run of the first configuration that runs; others may need more shared memory than there is."""
    import kernel_tuner.interface as interface
    run = {name: value for name, value in call.items() if name not in ("answer", "atol", "verify", "restrictions", "tune_params", "quiet", "metrics", "objective", "observers")}
    for chosen in valid(call)[:MOST_TRIED]:
        try:
            return interface.run_kernel(**run, params=chosen)
        except RuntimeError as error:
            last = error
    raise last


def make_answer(folder, number, call):
    """What results are compared with, as a file; the script's own where it is arrays."""
    import numpy
    chosen = first_valid(call)
    if os.environ["ATTUNE_PEERS_UNCHECKED"]:
        (folder / f"call_{number}.json").write_text(json.dumps({"kernel": call["kernel_name"], "answer": "none"}), encoding="utf-8")
        return [{**chosen, "time": 1.0}], {}
    if has_function(call):
        (folder / f"call_{number}.json").write_text(json.dumps({"kernel": call["kernel_name"], "answer": "its function"}), encoding="utf-8")
        return [{**chosen, "time": 1.0}], {}
    given = call.get("answer")
    listed = [value if isinstance(value, numpy.ndarray) and value.ndim else None for value in given] if given is not None else []
    kind = "script"
    if not any(value is not None for value in listed):
        kind, after = "first configuration", first_output(call)
        listed = [value if isinstance(value, numpy.ndarray) and not numpy.array_equal(value, before) else None for value, before in zip(after, call["arguments"])]
    answers = {str(place): value for place, value in enumerate(listed) if value is not None}
    if not answers:
        raise RuntimeError(f"{call['kernel_name']} changes none of its arguments: there is no answer; name the script in --unchecked")
    if kind != "script":  # another configuration sums in another order
        answers["atol"] = numpy.float64(ROUNDING * max(float(numpy.abs(value).max()) for value in answers.values()))
    numpy.savez(folder / f"answer_{number}.npz", **answers)
    (folder / f"call_{number}.json").write_text(json.dumps({"kernel": call["kernel_name"], "answer": kind}), encoding="utf-8")
    return [{**chosen, "time": 1.0}], {}


def time_both(interface, folder, number, call):
    """Both configurations, in turn, each round a call of its own."""
    wanted = json.loads((folder / f"both_{number}.json").read_text(encoding="utf-8"))
    times = {name: [] for name in wanted}
    for _ in range(ROUNDS):
        for name, configuration in wanted.items():
            one = {parameter: [value] for parameter, value in configuration.items()}
            results, environment = interface.tune_kernel(**(call | {"tune_params": one, "restrictions": None}), iterations=ITERATIONS)
            times[name].append(results[0]["time"] * 1000 if results and isinstance(results[0].get("time"), float) else None)
    (folder / f"times_{number}.json").write_text(json.dumps(times), encoding="utf-8")
    return [{**next(iter(wanted.values())), "time": 1.0}], {}


def module_path():
    """Where what runs in place of a script finds this file."""
    return os.pathsep.join([str(pathlib.Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")])


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(words, **named):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **named)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with code {done.returncode}:\n{(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def without_folders(told):
    """Names of files stay; where this machine has them says nothing to anybody else."""
    if isinstance(told, dict):
        return {name: without_folders(value) for name, value in told.items()}
    return re.sub(r"[\w./-]*/(?=[\w.-]+)", "", told) if isinstance(told, str) else told


class Script:
    """One script's folder of work."""

    def __init__(self, script, options, folder):
        self.script, self.attune, self.seconds, self.calls, self.folder = script, options.attune.resolve(), options.seconds, options.calls, folder
        self.policy = options.policy
        self.unchecked = "1" if script.stem in options.unchecked else ""
        self.wrapper = folder / script.name
        (folder / "host").mkdir()
        for header in HOST_HEADERS:
            (folder / "host" / header).touch()
        self.wrapper.write_text(WRAPPER.format(folder=str(folder), home=str(script.parent), script=str(script)), encoding="utf-8")

    def kernel_tuner(self, mode):
        with tempfile.TemporaryDirectory() as cache:
            run([sys.executable, self.wrapper], env=os.environ | {"ATTUNE_PEERS_MODE": mode, "ATTUNE_PEERS_SECONDS": str(self.seconds), "ATTUNE_PEERS_CALLS": str(self.calls),
                                                   "ATTUNE_PEERS_UNCHECKED": self.unchecked, "CUPY_CACHE_DIR": cache, "PYTHONPATH": module_path()})

    def attune_finds(self, template):
        """One command of attune's, of the template's one problem. Its own line of the problem, and the seconds of the command."""
        with tempfile.TemporaryDirectory() as home:
            start = time.perf_counter()
            told = run([self.attune, "tune", template, "--budget", f"{self.seconds}s", "--policy", self.policy, "--json", "--db", pathlib.Path(home) / "peers.db"],
                       env=os.environ | {"HOME": home, "XDG_CACHE_HOME": home})
            command_s = time.perf_counter() - start
        lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        return next(line for line in lines if line["event"] == "problem"), command_s

    def peer_runs(self, mode):
        """Whether Kernel Tuner runs the script here; else attune goes on alone, and the row says why."""
        try:
            self.kernel_tuner(mode)
            return True
        except RuntimeError as error:
            self.peer_error = without_folders(str(error))[-TOLD:]
            say(f"{self.script.name}: Kernel Tuner does not run it here:\n{self.peer_error}")
            return False

    def imported(self):
        """What the import says of each call of the script, in their order."""
        told = run([self.attune, "template", "import", self.wrapper, "-o", self.folder / "template", "--json"],
                   env=os.environ | {"ATTUNE_PEERS_MODE": "import", "PYTHONPATH": module_path()})
        return json.loads(told)["calls"]

    def stored(self, name, number):
        file = self.folder / f"{name}_{number}.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    def rows(self):
        peer_runs = self.peer_runs("answer")
        self.unchecked = self.unchecked or ("" if peer_runs else "1")
        calls = self.imported()
        peer_runs = peer_runs and self.peer_runs("tune")
        rows = [self.row(number, call) for number, call in enumerate(calls[: self.calls])]
        if not peer_runs:
            return [row | {"over_peer": None, "peer_error": self.peer_error} for row in rows]
        for number, row in enumerate(rows):
            both = {"kernel_tuner": row["kernel_tuner"] and row["kernel_tuner"]["configuration"], "attune": row["attune"] and row["attune"]["configuration"]}
            (self.folder / f"both_{number}.json").write_text(json.dumps({name: found for name, found in both.items() if found}), encoding="utf-8")
        self.kernel_tuner("time")
        for number, row in enumerate(rows):
            for name, times in (self.stored("times", number) or {}).items():
                row[name] |= {"rounds_us": times, "best_us": statistics.median(times) if None not in times else None}
            timed = [row[name] and row[name].get("best_us") for name in ("attune", "kernel_tuner")]
            row["over_peer"] = timed[0] / timed[1] if all(timed) else None
        return rows

    def row(self, number, call):
        """Without times of the common harness."""
        made, about = call["template"], self.stored("call", number) or {}
        row = {"script": self.script.name, "call": number, "kernel": call["kernel"], "answer": about.get("answer"), "kernel_tuner": self.stored("peer", number), "attune": None}
        if made is None:
            return row | {"problems": call["problems"]}
        problem, command_s = self.attune_finds(made["folder"])
        best = problem["best"]
        row["attune"] = {"decided": problem["measured"], "failed": sum(problem["failed"].values()), "failures": without_folders(problem["failure_examples"]), "command_s": command_s, "space": problem["space_size"],
                         "configuration": best and best["configuration"], "verified": bool(best and best["verified"]), "own_median_us": best and best["median_us"]}
        return row


def content_of(version):
    """The hash in what `attune --version` prints."""
    return re.search(r"\(content (\w+)\)", version)[1]


def provenance(attune):
    import cupy
    import importlib.metadata
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    version = run([attune, "--version"]).splitlines()[0]
    driver = re.search(r"\d+\.\d[\d.]*", pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8"))[0]
    return {"bench": "peers", "device": {"name": properties["name"].decode()}, "driver": driver, "cuda": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "attune": version, "content": content_of(version),
            "peer_version": f"Kernel Tuner {importlib.metadata.version('kernel_tuner')}, CuPy {cupy.__version__}", "means": MEANS}


def earlier_rows(output, head):
    """The rows that the output has. Raises ValueError where they are of another machine or other programs."""
    if not output.exists():
        return []
    earlier = json.loads(output.read_text(encoding="utf-8"))
    differing = [name for name in head if name not in ("date", "means") and earlier.get(name) != head[name]]
    if differing:
        raise ValueError(f"{output} is of another {', '.join(differing)}; state another --output")
    return earlier["rows"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="+", type=pathlib.Path, help="Python scripts that call kernel_tuner.tune_kernel; they are run: trust them")
    parser.add_argument("--attune", required=True, type=pathlib.Path, help="the executable")
    parser.add_argument("--seconds", type=int, default=15, help="of each search (%(default)s)")
    parser.add_argument("--calls", type=int, default=1000, help="of each script no more than its first calls of tune_kernel (%(default)s)")
    parser.add_argument("--unchecked", nargs="*", default=[], metavar="NAME", help="scripts (without .py) whose results nobody compares, since they depend on the configuration")
    parser.add_argument("--policy", default="hot/stream", help="what attune's times are of: `attune tune --help` (%(default)s, as Kernel Tuner's are)")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the result, JSON")
    options = parser.parse_args()
    for file in [options.attune, *options.scripts]:
        if not file.is_file():
            parser.error(f"there is no file {file}")
    head = provenance(options.attune.resolve()) | {"seconds": options.seconds, "policy": options.policy}
    try:
        earlier = earlier_rows(options.output, head)
    except (ValueError, KeyError) as error:
        parser.error(f"--output: {error}")
    rows, code = [], 0
    for script in options.scripts:
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            say(f"{script.name}: both tuners, {options.seconds} s for each call")
            try:
                rows += Script(script.resolve(), options, pathlib.Path(folder)).rows()
                code = max(code, int("peer_error" in rows[-1]))
            except (RuntimeError, OSError, ValueError, KeyError) as error:
                rows.append({"script": script.name, "failed": str(error)})
                say(f"{script.name}: {error}")
                code = 1
    scripts = {row["script"] for row in rows}
    rows = [row for row in earlier if row["script"] not in scripts] + [{**row, "date": head["date"]} for row in rows]
    options.output.write_text(json.dumps(head | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
