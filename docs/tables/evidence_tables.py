"""Tables of the recorded runs of the tests: tests/gpu/*.json and tests/fuzz/results/*.json."""
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


def fuzzers(root):
    found = [read_object(path) for path in sorted((root / "tests" / "fuzz" / "results").glob("*.json"))]
    if not found:
        return "No long run of the fuzzers is recorded yet.\n"
    rows = [(result["target"], "yes" if result["sanitized"] else "no", f"{result['seconds']:,}",
             f"{result['cpu_seconds']:,}" if "cpu_seconds" in result else MISSING, *(f"{result[name]:,}" for name in ("inputs", "accepted", "refusals")),
             len(result["findings"])) for result in found]
    return table((("reader of", False), ("sanitizers", False), ("seconds", True), ("CPU seconds", True), ("inputs", True), ("accepted", True), ("different refusals", True),
                  ("findings", True)), rows)
