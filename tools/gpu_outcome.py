#!/usr/bin/env python3
"""Puts the outcomes of several runs of the GPU tests together: gpu_outcome.py OUTPUT PART...

Exit codes: 0 written, 1 the parts are not of one device, driver and content.
"""
import json
import pathlib
import sys


def merged(parts):
    """Counts and cases of all, and what they have in common; the date of the last."""
    common = [{key: part[key] for key in ("device", "driver", "cuda", "content")} for part in parts]
    if any(one != common[0] for one in common):
        raise ValueError(f"these are not parts of one run: {common}")
    counts = {key: sum(part[key] for part in parts) for key in ("passed", "failed", "skipped")}
    return {**common[0], **counts, "cases": [case for part in parts for case in part["cases"]], "date": max(part["date"] for part in parts)}


def main():
    output, *files = sys.argv[1:]
    try:
        outcome = merged([json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    part = pathlib.Path(output + ".part")
    part.write_text(json.dumps(outcome, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(output)
    print(f"{outcome['passed']} passed, {outcome['failed']} failed, {outcome['skipped']} skipped: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
