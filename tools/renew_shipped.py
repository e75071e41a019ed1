#!/usr/bin/env python3
"""Renews all that the shipped database is made of, on every GPU of this machine.

The grids of tools/shipped_problems.py and every other recording of templates/*/recordings: each problem is searched anew, from what won
before and what is known around it on. GPUs take one recording after the other, the largest first. Times are of the templates as they are now.
Ends with the recordings in place, ready to be looked at (tools/renewal_outcome.py) and committed; build again then: the shipped database is made from them.

What was measured stays in the working folder until all is in place: the same command continues where it was stopped, by Ctrl-C or by --time.

Exit codes: 0 all done, 75 stopped by --time, 130 by Ctrl-C, 1 a step failed, 2 wrong arguments or other GPUs, 4 no GPU.
"""
import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import shipped_problems

STOPPED_BY_TIME = 75
ENDING = ".json.zst"
STAMP_LENGTH = 2 * hashlib.sha256().digest_size  # of the file that tells whose working folder it is


class NotOurs(Exception):
    """The folder holds something else."""


def policy_of(recording):
    """Recordings say it in their name."""
    return "hot/graph" if "_hot" in recording else "cold/graph"


def other_recordings(root, steps):
    """Steps for every recording that no grid makes."""
    named = {(step.template, step.recording) for step in steps}
    for file in sorted(root.glob(f"templates/*/recordings/*{ENDING}")):
        template, name = file.parts[-3], file.name[: -len(ENDING)]
        if (template, name) in named or name.startswith("part."):  # left by a copy that broke off
            continue
        step = shipped_problems.Step(template, [], name, policy=policy_of(name), finalists=6, epochs=21)
        # Slow rungs are what a ladder's recording is there for.
        yield [dataclasses.replace(step, recording="", rungs_of=name), step] if "_ladder_" in name else [step]


@dataclasses.dataclass
class Job:
    """Steps that follow each other on one GPU."""
    number: int
    steps: list


def jobs_of(root):
    grids = shipped_problems.steps()
    chains = [[step] for step in grids] + list(other_recordings(root, grids))
    return [Job(number, steps) for number, steps in enumerate(chains)]


class Renewal:
    def __init__(self, root, attune, folder, devices):
        self.root, self.attune, self.folder, self.devices = root, attune, folder, devices
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

    def put_in_place(self, jobs):
        """The recordings of these jobs, each whole or not at all; the next renewal of their templates begins with nothing."""
        steps = [step for job in jobs for step in job.steps]
        for step in steps:
            if step.recording:
                target = self.old_recording(step)
                shutil.copyfile(self.marker(step), target.with_name("part." + target.name))
                target.with_name("part." + target.name).replace(target)
        for step in steps:
            self.marker(step).unlink(missing_ok=True)
        for template in {step.template for step in steps}:
            for file in self.folder.glob(f"renewed.{template}.db*"):
                file.unlink()

    def database(self, template):
        """One for each, so that what is done of one outlives the renewal of another."""
        return self.folder / f"renewed.{template}.db"

    def old_recording(self, step):
        return self.root / "templates" / step.template / "recordings" / f"{step.recording or step.rungs_of}{ENDING}"

    def marker(self, step):
        """There when the step is done: its recording, or an empty file."""
        if step.recording:
            return self.folder / "recordings" / f"{step.template}.{step.recording}{ENDING}"
        return self.folder / "done" / f"{step.template}.{step.rungs_of}"

    def is_done(self, job):
        return all(self.marker(step).exists() for step in job.steps)

    def size(self, job):
        """About how many problems it has."""
        step = job.steps[-1]
        bytes_each = 350  # of a recording
        return len(step.problems) or self.old_recording(step).stat().st_size / bytes_each

    def problems_file(self, number, step):
        if not step.problems:
            return self.old_recording(step)
        file = self.folder / f"problems_{number}.jsonl"
        file.write_text("".join(json.dumps(problem) + "\n" for problem in step.problems), encoding="utf-8")
        return file

    def words(self, number, step, device, output):
        words = [str(self.attune), "ladder" if step.rungs_of else "record", step.template, "--problems", str(self.problems_file(number, step)),
                 "--policy", step.policy, "--finalists", str(step.finalists), "--epochs", str(step.epochs), "--device", device,
                 "--db", str(self.database(step.template))]
        if len(self.devices) > 1:
            words += ["--compile-workers", str(max(1, (os.cpu_count() or 1) // len(self.devices) - 1))]
        if step.rungs_of:
            return words
        words += ["--strategy", "auto", "--budget", step.budget, "--output", str(output)]
        if step.where:
            words += ["--where", step.where]
        if self.old_recording(step).exists():
            words += ["--try", str(self.old_recording(step))]
        return words


class Crew:
    """One thread for each GPU, which makes one job after the other. The first that fails stops the others."""

    def __init__(self, renewal, jobs):
        self.renewal, self.all = renewal, len(jobs)
        self.left = sorted((job for job in jobs if not renewal.is_done(job)), key=renewal.size)
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.processes, self.failures, self.start = set(), [], time.monotonic()

    def run(self, until):
        """False when it was stopped before all was done. Throws: KeyboardInterrupt, when all have stopped; RuntimeError."""
        threads = [threading.Thread(target=self.work, args=(device,)) for device in self.renewal.devices]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                if until is not None and time.monotonic() >= until or self.failures:
                    break
                time.sleep(0.05)
        finally:
            self.stop()
            for thread in threads:
                thread.join()
        if self.failures:
            raise self.failures[0]
        return not self.left and not self.interrupted

    def stop(self):
        self.stopping.set()
        with self.lock:
            self.interrupted = bool(self.processes)
            for process in self.processes:
                process.send_signal(signal.SIGINT)  # what was measured is in the database

    def next_job(self):
        with self.lock:
            if self.stopping.is_set() or not self.left:
                return None
            job = self.left.pop()
            tell(f"{self.all - len(self.left)} of {self.all}: {job.steps[-1].template} {job.steps[-1].recording} ({time.monotonic() - self.start:.0f} s)")
            return job

    def work(self, device):
        try:
            while job := self.next_job():
                for step in job.steps:
                    if not self.renewal.marker(step).exists() and not self.make(job.number, step, device):
                        return
        except (RuntimeError, OSError) as error:
            self.failures.append(error)

    def make(self, number, step, device):
        """False when it was stopped. Throws: RuntimeError with what a command that failed said."""
        marker = self.renewal.marker(step)
        part = marker.with_name("part." + marker.name)
        log = self.renewal.folder / f"log.{device}"
        with open(log, "w", encoding="utf-8") as output:
            with self.lock:
                if self.stopping.is_set():
                    return False
                process = subprocess.Popen(self.renewal.words(number, step, device, part), stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=subprocess.STDOUT, start_new_session=True)  # a second signal, the terminal's own, would kill it
                self.processes.add(process)
            code = process.wait()
            with self.lock:
                self.processes.remove(process)
        if code != 0:
            if self.stopping.is_set():
                return False
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            raise RuntimeError("\n".join([f"{step.template} {step.recording or step.rungs_of} ended with code {code}:", *lines[-20:]]))
        if not step.recording:
            marker.touch()
        elif part.exists():
            part.rename(marker)
        else:
            raise RuntimeError(f"{self.renewal.attune} {step.template} {step.recording} ended well and wrote no recording: is it attune's executable?")
        return True


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
    parser.add_argument("--device", default="all", help="ordinals of the GPUs, e.g. 0,1 (%(default)s)")
    parser.add_argument("--time", type=seconds, help="stop after this time, e.g. 9m")
    parser.add_argument("--template", action="append", help="only recordings of this template; may be repeated")
    parser.add_argument("--only-measure", action="store_true", help="leave the recordings in the working folder, whatever the GPU: none is replaced")
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


def of_another_kind(jobs, names):
    """A recording that is not of these GPUs; its name begins with its GPU's."""
    for job in jobs:
        kind = job.steps[-1].recording.split("_")[0]
        for name in names:
            if kind not in name.lower():
                return f"{job.steps[-1].recording} is not of {name}"
    return None


def main():
    options = arguments()
    if not options.attune.is_file() or not os.access(options.attune, os.X_OK):
        tell(f"There is no executable {options.attune}: build it first, or name another.")
        return 2
    everything = jobs_of(options.root)
    jobs = [job for job in everything if not options.template or job.steps[-1].template in options.template]
    known = {job.steps[-1].template for job in everything}
    if unknown := set(options.template or []) - known:
        tell(f"There is nothing to renew of {', '.join(sorted(unknown))}: the templates are {', '.join(sorted(known))}.")
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    try:
        names = names_here(options.attune.resolve())
        devices = chosen(options.device, names)
    except ValueError as error:
        tell(str(error))
        return 2
    except RuntimeError as error:
        tell(str(error))
        return 4
    another = of_another_kind(jobs, [names[device] for device in devices])
    if another and not options.only_measure:
        tell(f"{another}, and would be replaced by what is measured here. --only-measure leaves it.")
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
