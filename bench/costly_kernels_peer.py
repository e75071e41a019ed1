#!/usr/bin/env python3
"""Kernel Tuner under the budget of bench/costly_kernels: the same kernels, search spaces and problems, on its CuPy backend.

Parameters, constraints, launches and tolerances come from the examples' template.json. The sources are compiled unmodified, behind the
macros that attune defines for a configuration. Each row is measured by a process of its own with an empty CuPy cache. CuPy compiles with
-ftz=true, as the template of n-body says too; matrix products are the same with and without. Needs kernel-tuner 1.5 or later and CuPy.
"""
import argparse
import concurrent.futures
import datetime
import importlib.metadata
import itertools
import json
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import time
import warnings

try:
    import cupy
    import kernel_tuner
    import numpy
    from kernel_tuner.searchspace import Searchspace
except ImportError as missing:
    sys.exit(f"costly_kernels_peer: failed importing modules: {missing}; pip install kernel-tuner and the CuPy of this CUDA (cupy-cuda13x)")

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples" / "templates"
PROBLEMS = {"gemm": {"m": 4096, "n": 4096, "k": 4096}, "nbody": {"n": 131072}}  # as in costly_kernels.cpp
VERSION = importlib.metadata.version("kernel_tuner")
MEANINGS = {
    "command_s": "wall time of the call of tune_kernel; starting Python, importing modules, making inputs and the answer come before it",
    "process_s": "wall time of the whole process",
    "decided": "configurations that were run or failed",
    "best_us": "the least mean of 7 launches, which is how Kernel Tuner ranks",
    "verified": "each timed configuration was compared with the answer first; a wrong result ends the benchmark",
    "compare": "host: answer=, every output is copied to the host; device: verify=, outputs stay on the GPU and are not cleared in between",
}


class Template:
    """A template.json for one problem, in the terms of Kernel Tuner."""

    def __init__(self, name: str) -> None:
        text = (EXAMPLES / name / "template.json").read_text(encoding="utf-8")
        self.json = json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL))
        self.source = "\n".join((EXAMPLES / name / file).read_text(encoding="utf-8") for file in self.json["sources"])
        self.sizes = PROBLEMS[name]
        self.known = {size: str(value) for size, value in self.sizes.items()}
        for let, expression in self.json.get("let", {}).items():
            self.known[let] = f"({self.python(expression)})"
        self.launch, self.plain = self.json["launches"][0], self.json["reference"]["launches"][0]
        self.parameters = {key: parameter["values"] for key, parameter in self.json["parameters"].items()}
        self.restrictions = [self.python(constraint) for constraint in self.json["constraints"]]
        admits = compile(" and ".join(f"({restriction})" for restriction in self.restrictions), "constraints", "eval")
        combinations = (dict(zip(self.parameters, values)) for values in itertools.product(*self.parameters.values()))
        space = [configuration for configuration in combinations if eval(admits, {}, configuration)]
        self.block = self.python(self.launch["block"])
        if self.block not in self.parameters:  # Kernel Tuner takes blocks from parameters alone: one more, which the others decide
            self.parameters["block_size_x"] = sorted({eval(self.block, {}, configuration) for configuration in space})
            # `and True`: the parser of python-constraint2 2.9 takes a plain `a == b // c` for `a * c == b`.
            self.restrictions.append(f"block_size_x == {self.block} and True")
            self.block = "block_size_x"
        self.space_size = Searchspace(self.parameters, self.restrictions, max_threads=1024).size
        if self.space_size != len(space):
            raise RuntimeError(f"failed making the space of {name}: Kernel Tuner has {self.space_size} configurations of {len(space)}")

    def python(self, expression: str) -> str:
        """attune's expressions are Python's; sizes and lets are put in, so that only parameters are left."""
        return re.sub(r"[A-Za-z_]\w*", lambda found: self.known.get(found[0], found[0]), expression)

    def grid(self, launch: dict):
        """A function of the configuration; it serves as Kernel Tuner's problem size, with no divisors."""
        texts = [self.python(expression) for expression in dimensions(launch["grid"])]
        return lambda configuration: tuple(eval(text, {"ceil_div": lambda a, b: -(-a // b)}, configuration) for text in texts)

    def macros(self) -> dict:
        """What attune defines (tuner/spec/make_source.cpp), each a function of the configuration."""
        defines = {}
        for name, parameter in self.json["parameters"].items():
            if isinstance(parameter["default"], str):
                for word in parameter["values"]:
                    defines[f"ATTUNE_{name}_{word}".upper()] = lambda chosen, name=name, word=word: int(chosen[name] == word)
            else:
                defines[f"ATTUNE_{name}".upper()] = lambda chosen, name=name: int(chosen[name])
        return defines

    def arguments(self, seed: int) -> list:
        """In the kernel's order. All buffers and scalars of these templates are f32."""
        random = numpy.random.default_rng(seed)
        values = {size: numpy.int64(value) for size, value in self.sizes.items()}
        values |= {name: numpy.float32(scalar["value"]) for name, scalar in self.json.get("scalars", {}).items()}
        for name, buffer in self.json["buffers"].items():
            count = eval(self.python(buffer["count"]))
            values[name] = (numpy.zeros(count) if buffer.get("output") else random.uniform(-1, 1, count)).astype(numpy.float32)
        return [values[name] for name in self.launch["args"]]


def dimensions(expressions) -> list:
    return expressions if isinstance(expressions, list) else [expressions]


def measure(kernel: str, seed: int, budget_s: int, compare: str) -> dict:
    warnings.filterwarnings("ignore", message="Argument at position")  # Kernel Tuner does not see through `using Index = long long`
    template = Template(kernel)
    arguments = template.arguments(seed)
    common = {"lang": "CUPY", "defines": template.macros(), "compiler_options": ["-std=c++17"], "quiet": True}  # attune's standard of C++
    common |= {f"grid_div_{axis}": [] for axis in "xyz"}
    chosen = {name: parameter["default"] for name, parameter in template.json["parameters"].items()}
    chosen |= {f"block_size_{axis}": size for axis, size in zip("xyz", dimensions(template.plain["block"]))}
    after = kernel_tuner.run_kernel(template.plain["kernel"], template.source, template.grid(template.plain), arguments, chosen, **common)
    buffers = template.json["buffers"]
    answer = [value if buffers.get(name, {}).get("output") else None for name, value in zip(template.launch["args"], after)]
    reference = template.json["reference"]
    relative = reference.get("tolerance", 2**-17 * eval(template.python(reference.get("terms", "1"))) ** 0.5)  # 64 ulps of f32
    # Not looser than attune's rule, which allows for each element's own magnitude as well.
    atol = relative * min(float(abs(value).mean()) for value in answer if value is not None)
    check = {"answer": answer, "atol": atol}
    if compare == "device":  # answer= takes arrays of the host alone
        arguments = [cupy.asarray(value) if value.ndim else value for value in arguments]
        there = {i: cupy.asarray(value) for i, value in enumerate(answer) if value is not None}
        check = {"verify": lambda _, results, atol: all(bool(cupy.allclose(there[i], results[i], atol=atol)) for i in there), "atol": atol}
    numpy.random.seed(seed)  # random_sample draws from it; tune_kernel's own seed does not reach that strategy
    limits = {"time_limit": budget_s, "fraction": 1.0}  # without the fraction it ends after a tenth of the space
    start = time.perf_counter()
    results, _ = kernel_tuner.tune_kernel(
        template.launch["kernel"], template.source, template.grid(template.launch), arguments, template.parameters,
        strategy="random_sample", strategy_options=limits, restrictions=template.restrictions, block_size_names=[template.block],
        **check, **common)
    command_s = time.perf_counter() - start
    timed = [result for result in results if "__error__" not in result]
    best = min(timed, key=lambda result: result["time"], default=None)
    return {"kernel": kernel, "peer": f"kernel_tuner {VERSION}", "seed": seed, "budget_s": budget_s, "command_s": command_s,
            "decided": len(results), "space": template.space_size, "best_us": best and best["time"] * 1000, "verified": len(timed),
            "compare": compare, "configuration": best and {name: best[name] for name in template.json["parameters"]}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="gemm,nbody")
    parser.add_argument("--budget-seconds", type=int, default=15, help="time_limit of each call of tune_kernel")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--compare", choices=["host", "device"], default="host", help="where outputs are compared: " + MEANINGS["compare"])
    parser.add_argument("--output", required=True, metavar="FILE",
                        help="where it is what bench/costly_kernels wrote, these rows stand beside attune's, in place of earlier ones")
    options = parser.parse_args()
    kernels = options.kernels.split(",")
    if unknown := set(kernels) - set(PROBLEMS):
        parser.error(f"there is no kernel '{unknown.pop()}'; known: {', '.join(PROBLEMS)}")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    driver = re.search(r"\d+\.\d[\d.]*", pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8"))[0]
    rows = []
    for kernel, seed in itertools.product(kernels, map(int, options.seeds.split(","))):
        with tempfile.TemporaryDirectory() as cache:
            os.environ["CUPY_CACHE_DIR"] = cache
            start = time.perf_counter()
            with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                row = process.submit(measure, kernel, seed, options.budget_seconds, options.compare).result()
            rows.append(row | {"process_s": time.perf_counter() - start})
        print(json.dumps(rows[-1]), file=sys.stderr)
    result = {
        "bench": "costly_kernels_peer",
        "device": {"name": properties["name"].decode(), "compute_capability": 10 * properties["major"] + properties["minor"]},
        "driver": driver,
        "cuda": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),  # NVRTC's, which compiles
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "peer_version": f"Kernel Tuner {VERSION}, CuPy {cupy.__version__}",
        "means": MEANINGS,
        "rows": rows,
    }
    output = pathlib.Path(options.output)
    if output.exists():
        there = json.loads(output.read_text(encoding="utf-8"))
        if there.get("bench") != "costly_kernels":
            sys.exit(f"costly_kernels_peer: {output} is no result of bench/costly_kernels; name another file")
        kept = [row for row in there["rows"] if row.get("compare") != options.compare]
        result = there | {"rows": kept + result.pop("rows"), "peer": result}
    with open(output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
