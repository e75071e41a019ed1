"""tune_kernel and run_kernel as scripts call them."""
import sys

from .capture import call as capture
from .capture.runs import Run


def tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None, grid_div_y=None, grid_div_z=None, restrictions=None, answer=None,
                atol=1e-6, verify=None, verbose=False, lang=None, device=0, platform=0, smem_args=None, cmem_args=None, texmem_args=None, compiler=None,
                compiler_options=None, defines=None, log=None, iterations=7, block_size_names=None, quiet=False, strategy=None, strategy_options=None, cache=None,
                metrics=None, simulation_mode=None, parallel=None, observers=None, objective=None, objective_higher_is_better=None, objectives=None, seed=None, **others):
    """Writes down what would be tuned. Returns one result, the first valid configuration with a time of 1 ms that nobody measured, and an environment."""
    call, _, first = capture.take(kernel_name, kernel_source, problem_size, arguments, tune_params, (grid_div_x, grid_div_y, grid_div_z), restrictions, answer, atol,
                                  verify, lang, smem_args, cmem_args, texmem_args, compiler_options, defines, block_size_names)
    call.notes += [f"option {name}: not known, left out" for name in others]
    call.notes += [f"metric {name}: left out; \"metrics\" of template.json may say it, with time_us / 1000 for the milliseconds of time" for name in metrics or {}]
    times = {"time": 1.0, "times": [1.0] * int(iterations or 1), "compile_time": 0.0, "verification_time": 0.0, "benchmark_time": 0.0, "strategy_time": 0.0,
             "framework_time": 0.0, "timestamp": "1970-01-01 00:00:00+00:00"}
    result = {**first, **times}
    for name, metric in (metrics or {}).items():
        try:
            result[name] = metric(dict(result)) if callable(metric) else 1.0
        except Exception:  # it asks for what only a device tells
            result[name] = 1.0
    wished = objective if isinstance(objective, (list, tuple)) else [objective] if objective else list(objectives or {})
    call.notes += [f"objective {name}: left out; \"objective\" of template.json may say it" for name in wished if name != "time"]
    for name in wished:
        result.setdefault(name, 1.0)
    return [result], {"device_name": "none", "iterations": iterations, "compiler_options": compiler_options or []}


def run_kernel(kernel_name, kernel_source, problem_size, arguments, params, grid_div_x=None, grid_div_y=None, grid_div_z=None, lang=None, device=0, platform=0,
               smem_args=None, cmem_args=None, texmem_args=None, compiler=None, compiler_options=None, defines=None, block_size_names=None, *_, **__):
    """Runs nothing. Returns the arguments as they were given, in copies that are known not to be computed."""
    others = [one for one in (smem_args, cmem_args, texmem_args, defines, block_size_names) if one]
    run = Run(kernel_name, kernel_source, problem_size, arguments, params, (grid_div_x, grid_div_y, grid_div_z), others)
    capture.SESSION.runs.append(run)
    return run.results()


def tune_kernel_T1(input_filepath, *_, **__):
    """Such a file is imported without a script."""
    print(f"tune_kernel_T1: {input_filepath} is a T1 file already; import it by itself", file=sys.stderr)
    return [], {}


def tune_cache(cache_path, *_, **__):
    """A recorded space is no kernel that could be tuned."""
    print(f"tune_cache: {cache_path} is a recorded space; search it with `attune simulate`", file=sys.stderr)
    return [], {}
