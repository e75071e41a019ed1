#!/usr/bin/env python3
"""Gathers what the runs of tools/sanitize.sh came to: sanitizer_outcome.py FOLDER LIMIT_S OUTCOME

FOLDER holds three files for each run: NAME.run (tool, sample, exit code and seconds, a line each), NAME.log (what it printed) and,
where it got to its end, NAME.outcome (of the GPU tests). Exit code 1 when a run found something, checked nothing or did not end.
"""
import json
import pathlib
import re
import sys


def found(log):
    """Errors and warnings of all processes of a run, warnings being racecheck's hazards between instructions of one warp; None when no tool told a sum."""
    errors = [int(count) for count in re.findall(r"ERROR SUMMARY: (\d+) error", log)]
    hazards = re.findall(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)", log)
    if not errors and not hazards:
        return None, None
    return sum(errors) + sum(int(count) for count, _ in hazards), sum(int(count) for _, count in hazards)


def row_of(run):
    tool, sample, code, seconds = run.read_text(encoding="utf-8").split("\n")[:4]
    log = run.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    checks = re.search(r"assertions: +\d+ \| +(\d+) passed", log)
    errors, warnings = found(log)
    return {"tool": tool, "sample": sample, "errors": errors, "warnings": warnings, "checks": int(checks.group(1)) if checks else 0, "exit_code": int(code),
            "seconds": int(seconds)}


def is_clean(row):
    return row["exit_code"] == 0 and row["errors"] == 0 and row["warnings"] == 0 and row["checks"] > 0


def main():
    folder, limit, path = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    runs = sorted(folder.glob("*.run"))
    rows = [row_of(run) for run in runs]
    head = {}
    for run in runs:
        outcome = run.with_suffix(".outcome")
        if not head and outcome.exists():
            told = json.loads(outcome.read_text(encoding="utf-8"))
            head = {name: told[name] for name in ("device", "driver", "cuda", "date", "content")}
    path.write_text(json.dumps({**head, "limit_s": limit, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    for run, row in zip(runs, rows):
        print(f"{row['tool']}, {row['sample']}: {row['errors'] if row['errors'] is not None else 'no sum of'} errors, {row['warnings'] or 0} warnings, {row['checks']} checks, "
              f"exit code {row['exit_code']}, {row['seconds']} s")
        if not is_clean(row):
            lines = [line for line in run.with_suffix(".log").read_text(encoding="utf-8", errors="replace").splitlines()
                     if re.search("=========|ERROR|logged|reduce|histogram|FATAL", line)]
            print("\n".join(list(dict.fromkeys(lines))[:30]))
    return 0 if rows and all(is_clean(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
