#!/usr/bin/env python3
"""Puts the outcomes of several runs of the GPU tests together, each of which left out what others ran: gpu_outcome.py OUTPUT PART...

Exit codes: 0 written, 1 the parts are not of one device, driver and content, or do not run every case once.
"""
import json
import pathlib
import sys
from collections import Counter


def check(parts):
    """They are parts of one run: of the same sources and device, and each case is in one of them."""
    common = [{key: part[key] for key in ("device", "driver", "cuda", "content", "set_aside")} for part in parts]
    if any(one != common[0] for one in common):
        raise ValueError(f"these are not parts of one run: {common}")
    known = [sorted(part["cases"] + part["left_out"]) for part in parts]
    if any(one != known[0] for one in known):
        raise ValueError("these are not parts of one run: they know different cases")
    ran = Counter(case for part in parts for case in part["cases"])
    not_once = [f"{ran[case]} times: {case}" for case in known[0] if ran[case] != 1]
    if not_once:
        raise ValueError("cases that did not run once:\n" + "\n".join(not_once))
    for part in parts:
        counted = part["passed"] + part["failed"] + part["skipped"] - part["set_aside"]
        if counted != len(part["cases"]):
            raise ValueError(f"{counted} cases are counted, {len(part['cases'])} are named: {', '.join(part['cases'])}")


def merged(parts):
    check(parts)
    first = parts[0]
    counts = {key: sum(part[key] for part in parts) for key in ("passed", "failed")}
    skipped = first["set_aside"] + sum(part["skipped"] - part["set_aside"] for part in parts)  # every part sets the same aside
    return {**first, **counts, "skipped": skipped, "cases": [case for part in parts for case in part["cases"]], "left_out": [],
            "date": max(part["date"] for part in parts)}


def main():
    output, *files = sys.argv[1:]
    try:
        outcome = merged([json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files])
    except (ValueError, KeyError) as error:
        print(f"no outcome is written: {error}", file=sys.stderr)
        return 1
    part = pathlib.Path(output + ".part")
    part.write_text(json.dumps(outcome, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(output)
    print(f"{outcome['passed']} passed, {outcome['failed']} failed, {outcome['skipped']} skipped: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
