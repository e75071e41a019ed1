#!/usr/bin/env python3
"""Renews all that the shipped database is made of, on every GPU of this machine.

First what is searched for new winners and the grids of tools/shipped_problems.py, then every other recording of
templates/*/recordings: its problems, with what had a chance there and what won around. Times are of the templates as they are now.
Ends with the recordings in place, ready to be looked at and committed; build again then: the shipped database is made from them.

What was measured stays in the working folder until all is in place: the same command continues where it was stopped, by Ctrl-C or by --time.

Exit codes: 0 all done, 75 stopped by --time, 130 by Ctrl-C, 1 a step failed, 2 wrong arguments.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import shipped_problems

STOPPED_BY_TIME = 75
ENDING = ".json.zst"
STAMP_LENGTH = 2 * hashlib.sha256().digest_size  # of the file that tells whose working folder it is


class Stopped(Exception):
    """Time is up, or the user has had enough."""


class NotOurs(Exception):
    """The folder holds something else."""


def policy_of(recording):
    """Recordings say it in their name."""
    return "hot/graph" if "_hot" in recording else "cold/graph"


def other_recordings(root, steps):
    """A step for every recording that no grid makes."""
    named = {(step.template, step.recording) for step in steps}
    for file in sorted(root.glob(f"templates/*/recordings/*{ENDING}")):
        template, name = file.parts[-3], file.name[: -len(ENDING)]
        if "_ladder_" in name:  # slow rungs are what it is there for
            yield shipped_problems.Step(template, [], "ladder", policy=policy_of(name), finalists=6, epochs=21, rungs_of=name)
        if (template, name) not in named:
            yield shipped_problems.Step(template, [], recording=name, policy=policy_of(name), finalists=6, epochs=21)


class Renewal:
    def __init__(self, root, attune, folder, devices, until):
        self.root, self.attune, self.folder, self.devices, self.until = root, attune, folder, devices, until
        folder.mkdir(parents=True, exist_ok=True)
        stamp = folder / "executable"
        ours = stamp.is_file() and len(stamp.read_bytes()) == STAMP_LENGTH
        if not ours and any(folder.iterdir()):
            raise NotOurs(f"{folder} holds something that no renewal has made: name an empty folder, or one that is not there")
        self.begin_anew_with_another(hashlib.sha256(attune.read_bytes()).hexdigest())
        (folder / "recordings").mkdir(exist_ok=True)
        (folder / "done").mkdir(exist_ok=True)

    def begin_anew_with_another(self, executable):
        """Steps that another executable has done, of other templates perhaps, are done again; the database knows what of it holds."""
        stamp = self.folder / "executable"
        if stamp.exists() and stamp.read_text(encoding="utf-8") != executable:
            for name in ("recordings", "done"):
                shutil.rmtree(self.folder / name, ignore_errors=True)
        stamp.write_text(executable, encoding="utf-8")

    def put_in_place(self, steps):
        """The recordings of these steps, each whole or not at all; the next renewal of their templates begins with nothing."""
        for number, step in steps:
            if step.recording:
                target = self.old_recording(step)
                shutil.copyfile(self.marker(number, step), target.with_name("part." + target.name))
                target.with_name("part." + target.name).replace(target)
        for number, step in steps:
            self.marker(number, step).unlink(missing_ok=True)
        for template in {step.template for _, step in steps}:
            for file in self.folder.glob(f"renewed.{template}.db*"):
                file.unlink()

    def database(self, template):
        """One for each, so that what is done of one outlives the renewal of another."""
        return self.folder / f"renewed.{template}.db"

    def old_recording(self, step):
        return self.root / "templates" / step.template / "recordings" / f"{step.recording or step.rungs_of}{ENDING}"

    def marker(self, number, step):
        """There when the step is done: its recording, or an empty file."""
        if step.recording:
            return self.folder / "recordings" / f"{step.template}.{step.recording}{ENDING}"
        return self.folder / "done" / f"{number}_{step.template}_{step.strategy}"

    def problems_file(self, number, step):
        if not step.problems:
            return self.old_recording(step)
        file = self.folder / f"problems_{number}.jsonl"
        file.write_text("".join(json.dumps(problem) + "\n" for problem in step.problems), encoding="utf-8")
        return file

    def words(self, number, step, output):
        command = "record" if step.recording else "ladder" if step.rungs_of else "tune"
        words = [str(self.attune), command, step.template, "--problems", str(self.problems_file(number, step)), "--policy", step.policy,
                 "--finalists", str(step.finalists), "--epochs", str(step.epochs), "--device", self.one_device() if step.rungs_of else self.devices, "--db", str(self.database(step.template))]
        if not step.rungs_of:
            words += ["--strategy", step.strategy, "--budget", step.budget]
        if step.where:
            words += ["--where", step.where]
        if step.recording:
            words += ["--output", str(output)]
            if step.strategy in ("portfolio", "winners") and self.old_recording(step).exists():
                words += ["--try", str(self.old_recording(step))]
        return words

    def one_device(self):
        """Rungs are compared with each other."""
        return "0" if self.devices == "all" else self.devices.split(",")[0]

    def run(self, number, step):
        marker = self.marker(number, step)
        if marker.exists():
            return
        left = None if self.until is None else self.until - time.monotonic()
        if left is not None and left <= 0:
            raise Stopped
        part = marker.with_name("part." + marker.name)
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(self.words(number, step, part), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True)  # a second signal, the terminal's own, would kill it
            try:
                code = process.wait(timeout=left)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.send_signal(signal.SIGINT)  # what was measured is in the database
                process.wait()
                raise Stopped from None
        if code != 0:
            lines = (self.folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()
            raise RuntimeError("\n".join([f"{step.template} {step.recording or step.strategy} ended with code {code}:", *lines[-20:]]))
        if step.recording:
            if not part.exists():
                raise RuntimeError(f"{self.attune} {step.template} {step.recording} ended well and wrote no recording: is it attune's executable?")
            part.rename(marker)
        else:
            marker.touch()


def tell(text):
    print(text, file=sys.stderr, flush=True)


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
    parser.add_argument("--device", default="all", help="as attune tune --device takes them (%(default)s)")
    parser.add_argument("--time", type=seconds, help="stop after this time, e.g. 9m")
    parser.add_argument("--template", action="append", help="only steps of this template; may be repeated")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if not options.attune.is_file() or not os.access(options.attune, os.X_OK):
        tell(f"There is no executable {options.attune}: build it first, or name another.")
        return 2
    grids = shipped_problems.steps()
    numbered = enumerate([*grids, *other_recordings(options.root, grids)])
    steps = [(number, step) for number, step in numbered if not options.template or step.template in options.template]
    unknown = set(options.template or []) - {step.template for step in grids}
    if unknown:
        tell(f"There is nothing to renew of {', '.join(sorted(unknown))}: the templates are {', '.join(sorted({step.template for step in grids}))}.")
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    try:
        renewal = Renewal(options.root, options.attune.resolve(), options.folder, options.device, None if options.time is None else start + options.time)
    except (OSError, NotOurs) as error:
        tell(f"The working folder cannot be used: {error}.")
        return 2
    try:
        for place, (number, step) in enumerate(steps):
            if not renewal.marker(number, step).exists():
                tell(f"{place + 1} of {len(steps)}: {step.template} {step.recording or step.strategy} ({time.monotonic() - start:.0f} s)")
            renewal.run(number, step)
    except (Stopped, KeyboardInterrupt):
        done = sum(renewal.marker(number, step).exists() for number, step in steps)
        tell(f"Stopped after {done} of {len(steps)} steps; nothing is replaced. The same command continues.")
        return STOPPED_BY_TIME if renewal.until is not None and time.monotonic() >= renewal.until else 130
    except (RuntimeError, OSError) as error:
        tell(f"{error}\nWhat was measured is kept: the same command continues.")
        return 1
    try:
        renewal.put_in_place(steps)
    except OSError as error:
        tell(f"Everything is measured, but not every recording could be put in its place: {error}. The same command continues.")
        return 1
    tell(f"All recordings are renewed ({time.monotonic() - start:.0f} s). Build again: the shipped database is made from them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
