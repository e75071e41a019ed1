"""Tables of the recorded runs of the tests: tests/gpu/*.json and tests/fuzz/results/*.json."""
import json

from common import MISSING, provenance, read_object, table


def gpu_tests(root):
    path = root / "tests" / "gpu" / "outcome.json"
    if not path.exists():
        return "No run of the GPU tests is recorded yet.\n"
    outcome = read_object(path)
    parts = [f"{outcome.get(kind, MISSING)} {kind}" for kind in ("passed", "failed", "skipped")]
    return f"GPU tests: {', '.join(parts)} on {provenance(outcome)}.\n"


def sanitizers(root):
    path = root / "tests" / "gpu" / "sanitizers.json"
    if not path.exists():
        return "No run of compute-sanitizer is recorded yet.\n"
    outcome = read_object(path)
    rows = [(row.get("tool", MISSING), row.get("sample", MISSING), *(MISSING if row.get(name) is None else row[name] for name in ("errors", "warnings", "checks")),
             row.get("seconds", MISSING) if row.get("exit_code") == 0 else f"ended with {row.get('exit_code', MISSING)}") for row in outcome.get("rows", [])]
    tests = root / "tests" / "gpu" / "outcome.json"
    stale = tests.exists() and read_object(tests).get("content") != outcome.get("content")
    later = "; kernels or code that drives the GPU changed since, and this was not run again" if stale else ""
    return f"{provenance(outcome)}{later}\n\n" + table((("tool", False), ("sample", False), ("errors", True), ("warnings", True), ("checks", True), ("seconds", True)), rows) + "\n"


def read_run(path, number, line):
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise SystemExit(f"{path}:{number}: no run of a fuzzer ({error}); one was cut off while it wrote: remove the line") from error


def fuzzers(root):
    found = sorted((root / "tests" / "fuzz" / "results").glob("*.json"))
    if not found:
        return "No long run of the fuzzers is recorded yet.\n"
    rows = []
    for path in found:
        runs = [read_run(path, number, line) for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
        total = {name: sum(run[name] for run in runs) for name in ("inputs", "accepted")}
        # The first runs recorded only the clock, which also counts what a process waits or is stopped.
        seconds = sum(run.get("cpu_seconds", run["seconds"]) for run in runs)
        rows.append((runs[0]["target"], "yes" if all(run["sanitized"] for run in runs) else "no", len(runs), f"{seconds:,}",
                     f"{total['inputs']:,}", f"{total['accepted']:,}", f"{max(run['refusals'] for run in runs):,}", sum(len(run["findings"]) for run in runs)))
    return table((("reader of", False), ("sanitizers", False), ("runs", True), ("CPU seconds", True), ("inputs", True), ("accepted", True), ("most different refusals", True),
                  ("findings", True)), rows)
