"""The work of tools/renew_shipped.py: what lies in its working folder, and who measures it."""
import dataclasses
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ENDING = ".json.zst"
STAMP_LENGTH = 2 * hashlib.sha256().digest_size  # of the file that tells whose working folder it is


def kind_of(gpu):
    """What the recordings of a GPU begin with: h100 of "NVIDIA H100 80GB HBM3", rtx4090 of "NVIDIA GeForce RTX 4090"."""
    words = [word for word in re.split("[^A-Za-z0-9]+", gpu) if word.lower() not in ("", "nvidia", "geforce", "tesla", "quadro")]
    last = next((place for place, word in enumerate(words) if any(letter.isdigit() for letter in word)), 0)
    return "".join(words[: last + 1]).lower()


def behind_kind(recording):
    """The name without its GPU's."""
    return recording.partition("_")[2]


def known_recording(folder, name):
    """That of this name or, where the GPU has none yet, another kind's of the same problems; nothing where nobody has one."""
    own = folder / f"{name}{ENDING}"
    if own.exists():
        return own
    others = (file for file in sorted(folder.glob(f"*{ENDING}")) if not file.name.startswith("part."))  # left by a copy that broke off
    return next((file for file in others if behind_kind(file.name) == behind_kind(own.name)), None)


def device_of(recording):
    """The GPU that a recording is of; nothing where it does not tell."""
    unpacked = subprocess.run(["zstd", "-dcq", str(recording)], capture_output=True, check=False).stdout
    try:
        return json.loads(unpacked)["device"]["name"]
    except (ValueError, KeyError, TypeError):
        return None


class NotOurs(Exception):
    """The folder holds something else."""


@dataclasses.dataclass
class Job:
    """Steps that follow each other on one GPU."""
    number: int
    steps: list


def tell(text):
    print(text, file=sys.stderr, flush=True)


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
            self.times_file().unlink(missing_ok=True)
        stamp.write_text(executable, encoding="utf-8")

    def put_in_place(self, jobs):
        """The recordings of these jobs, each whole or not at all; the next renewal of their templates begins with nothing."""
        steps = [step for job in jobs for step in job.steps]
        for step in steps:
            if step.recording:
                target = self.recordings(step) / f"{step.recording}{ENDING}"
                shutil.copyfile(self.marker(step), target.with_name("part." + target.name))
                target.with_name("part." + target.name).replace(target)
        for step in steps:
            self.marker(step).unlink(missing_ok=True)
        for template in {step.template for step in steps}:
            for file in self.folder.glob(f"renewed.{template}.db*"):
                file.unlink()
        self.times_file().unlink(missing_ok=True)

    def times_file(self):
        return self.folder / "times.json"

    def database(self, template):
        """One for each, so that what is done of one outlives the renewal of another."""
        return self.folder / f"renewed.{template}.db"

    def recordings(self, step):
        return self.root / "templates" / step.template / "recordings"

    def known(self, step):
        """The recording that it begins with; nothing: there is none."""
        return known_recording(self.recordings(step), step.recording or step.rungs_of)

    def marker(self, step):
        """There when the step is done: its recording, or an empty file."""
        if step.recording:
            return self.folder / "recordings" / f"{step.template}.{step.recording}{ENDING}"
        return self.folder / "done" / f"{step.template}.{step.rungs_of}"

    def add_times(self, seconds, steps_s):
        """To those of the commands that were stopped before."""
        file = self.times_file()
        times = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"seconds": 0, "steps": {}}
        times["devices"] = self.devices
        times["seconds"] += seconds
        for name, step_s in steps_s.items():
            times["steps"][name] = times["steps"].get(name, 0) + step_s
        file.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")

    def is_done(self, job):
        return all(self.marker(step).exists() for step in job.steps)

    def size(self, job):
        """About how many problems it has."""
        step = job.steps[-1]
        bytes_each = 350  # of a recording
        return len(step.problems) or self.known(step).stat().st_size / bytes_each

    def problems_file(self, number, step):
        if not step.problems:
            return self.known(step)
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
        if known := self.known(step):
            words += ["--try", str(known)]
        return words


class Crew:
    """One thread for each GPU, which makes one job after the other. The first that fails stops the others."""

    def __init__(self, renewal, jobs):
        self.renewal, self.all = renewal, len(jobs)
        self.left = sorted((job for job in jobs if not renewal.is_done(job)), key=renewal.size)
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.processes, self.failures, self.steps_s, self.start = set(), [], {}, time.monotonic()
        self.interrupted = False  # whether a step was under way when it was to stop

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
            self.renewal.add_times(time.monotonic() - self.start, self.steps_s)
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
        marker, start = self.renewal.marker(step), time.monotonic()
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
                self.steps_s[f"{step.template}.{step.recording or step.rungs_of + '.ladder'}"] = time.monotonic() - start
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
