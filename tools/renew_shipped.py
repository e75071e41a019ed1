#!/usr/bin/env python3
"""Renews all that the shipped database is made of, on every GPU of this machine.

The grids of tools/shipped_problems.py and every other recording of templates/*/recordings: each problem is searched anew, from what won
before and what is known around it on. A kind of GPU that has no recordings yet gets its own, from what won on another. GPUs take one recording after the other, the largest first. Times are of the templates as they are now.
Ends with the recordings in place, ready to be looked at (tools/renewal_outcome.py) and committed; build again then: the shipped database is made from them.

What was measured stays in the working folder until all is in place: the same command continues where it was stopped, by Ctrl-C or by --time.

Exit codes: 0 all done, 75 stopped by --time, 130 by Ctrl-C, 1 a step failed, 2 wrong arguments or other GPUs, 4 no GPU.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import shipped_problems
from renewal import ENDING, Crew, Job, NotOurs, Renewal, behind_kind, device_of, kind_of, tell

STOPPED_BY_TIME = 75


def policy_of(recording):
    """Recordings say it in their name."""
    return "hot/graph" if "_hot" in recording else "cold/graph"


def other_recordings(root, steps, kind):
    """Steps for every recording of any GPU that no grid makes."""
    named = {(step.template, step.recording) for step in steps}
    for file in sorted(root.glob(f"templates/*/recordings/*{ENDING}")):
        template, found = file.parts[-3], file.name[: -len(ENDING)]
        if found.startswith("part."):  # left by a copy that broke off
            continue
        name = f"{kind}_{behind_kind(found)}"
        if (template, name) in named:
            continue
        named.add((template, name))
        step = shipped_problems.Step(template, [], name, policy=policy_of(name), finalists=4, epochs=21)
        # Slow rungs are what a ladder's recording is there for; a recording holds no run-off of rungs.
        rungs = dataclasses.replace(step, recording="", rungs_of=name, finalists=2, epochs=8)
        yield [rungs, step] if "_ladder_" in name else [step]


def jobs_of(root, kind):
    grids = shipped_problems.steps(kind)
    chains = [[step] for step in grids] + list(other_recordings(root, grids, kind))
    return [Job(number, steps) for number, steps in enumerate(chains)]


def of_another(root, jobs, gpu):
    """A recording that would be replaced and is of another GPU that is called alike (an RTX 4090 of a laptop); nothing where there is none."""
    for job in jobs:
        step = job.steps[-1]
        own = root / "templates" / step.template / "recordings" / f"{step.recording}{ENDING}"
        device = device_of(own) if own.exists() else None
        if device not in (None, gpu):
            return f"{own.name} of {step.template} is of {device}, and would be replaced by what is measured on {gpu}; --only-measure leaves it"
    return None


def seconds(text):
    units = {"s": 1, "m": 60, "h": 3600}
    number, unit = (text[:-1], units[text[-1]]) if text and text[-1] in units else (text, 1)
    value = float(number) * unit
    if not value > 0:
        raise ValueError(text)
    return value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="The same command continues where it was stopped.")
    parser.add_argument("attune", nargs="?", default="build/release/tools/attune", type=pathlib.Path, help="the executable (%(default)s)")
    parser.add_argument("folder", nargs="?", default="build/renewal", type=pathlib.Path, help="working folder (%(default)s)")
    parser.add_argument("--device", default="all", help="ordinals of the GPUs, e.g. 0,1 (%(default)s)")
    parser.add_argument("--time", type=seconds, help="stop after this time, e.g. 9m")
    parser.add_argument("--template", action="append", help="only recordings of this template; may be repeated")
    parser.add_argument("--only-measure", action="store_true", help="leave the recordings in the working folder: none is replaced")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def names_here(attune):
    """Of the GPUs of this machine. Throws: RuntimeError."""
    run = subprocess.run([str(attune), "devices", "--json"], capture_output=True, text=True, check=False)
    try:
        told = json.loads(run.stdout)
        names = [device["name"] for device in told["here"]]
    except (ValueError, KeyError, TypeError):
        raise RuntimeError(f"{attune} devices --json ended with code {run.returncode} and lists no devices: is it attune's executable?\n{run.stderr}") from None
    if not names:
        raise RuntimeError(f"there is no GPU here: {told.get('unavailable', '')}")
    return names


def chosen(devices, names):
    """Ordinals. Throws: ValueError."""
    ordinals = list(range(len(names))) if devices == "all" else [int(word) for word in devices.split(",")]
    if any(ordinal not in range(len(names)) for ordinal in ordinals) or len(set(ordinals)) < len(ordinals):
        raise ValueError(f"--device {devices}: this machine has devices 0 to {len(names) - 1}, each can be named once")
    return ordinals


def kind_of_all(names):
    """Throws: ValueError, also for GPUs that are only called alike."""
    if len(set(names)) > 1:
        raise ValueError(f"recordings are of one kind of GPU, and these are {', '.join(sorted(set(names)))}: name those of one kind with --device")
    return kind_of(names[0])


def main():
    options = arguments()
    if not options.attune.is_file() or not os.access(options.attune, os.X_OK):
        tell(f"There is no executable {options.attune}: build it first, or name another.")
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    try:
        names = names_here(options.attune.resolve())
        devices = chosen(options.device, names)
        everything = jobs_of(options.root, kind_of_all([names[device] for device in devices]))
    except ValueError as error:
        tell(str(error))
        return 2
    except RuntimeError as error:
        tell(str(error))
        return 4
    jobs = [job for job in everything if not options.template or job.steps[-1].template in options.template]
    known = {job.steps[-1].template for job in everything}
    if unknown := set(options.template or []) - known:
        tell(f"There is nothing to renew of {', '.join(sorted(unknown))}: the templates are {', '.join(sorted(known))}.")
        return 2
    another = None if options.only_measure else of_another(options.root, jobs, names[devices[0]])
    if another:
        tell(another + ".")
        return 2
    return renew(options, jobs, [str(device) for device in devices], start)


def renew(options, jobs, devices, start):
    try:
        renewal = Renewal(options.root, options.attune.resolve(), options.folder, devices)
    except (OSError, NotOurs) as error:
        tell(f"The working folder cannot be used: {error}.")
        return 2
    try:
        finished = Crew(renewal, jobs).run(None if options.time is None else start + options.time)
        stopped = None if finished else STOPPED_BY_TIME
    except KeyboardInterrupt:
        stopped = 130
    except (RuntimeError, OSError) as error:
        tell(f"{error}\nWhat was measured is kept: the same command continues.")
        return 1
    if stopped:
        tell(f"Stopped after {sum(map(renewal.is_done, jobs))} of {len(jobs)} recordings; nothing is replaced. The same command continues.")
        return stopped
    if options.only_measure:
        tell(f"All is measured ({time.monotonic() - start:.0f} s): {renewal.folder / 'recordings'}.")
        return 0
    try:
        renewal.put_in_place(jobs)
    except OSError as error:
        tell(f"Everything is measured, but not every recording could be put in its place: {error}. The same command continues.")
        return 1
    tell(f"All recordings are renewed ({time.monotonic() - start:.0f} s). Build again: the shipped database is made from them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
