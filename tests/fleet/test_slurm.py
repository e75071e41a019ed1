#!/usr/bin/env python3
"""`attune fleet` under a real Slurm: the array that `attune fleet sbatch` prints, one task killed and one told to stop, both queued again by
the script itself, one cancelled, which stays so, then the merge job. Usage: test_slurm.py ATTUNE FAKE_CUDA_FOLDER TEMPLATE PATIENCE, where
PATIENCE says how many times as long as usual to wait (1 without sanitizers). Exit code 77: no Slurm can run here.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import slurm_cluster

SHARDS, KILLED, STOPPED, CANCELLED = 8, 3, 5, 6
SIZES = ",".join(str(1000 * i) for i in range(1, 25))
PROBLEM = ["--T", "i32", "--faults", "none", "--size", SIZES]


class Fleet:
    def __init__(self, attune, fake_cuda, template, patience, folder):
        self.patience = patience
        self.attune, self.template, self.folder, self.plan = attune, template, folder, folder / "plan"
        self.environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"), XDG_DATA_HOME=str(folder / "data"),
                                TMPDIR=str(folder / "scratch"), ATTUNE_TEMPLATES="", ATTUNE_SHIPPED_DB=str(folder / "none.db"),
                                LD_LIBRARY_PATH=f"{fake_cuda}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                                # Half as slow as it says it is, so that tasks last long enough to be killed.
                                ATTUNE_FAKE_CUDA=json.dumps({"devices": [{}], "real_time": 0.5}))
        for name in ("SLURM_TMPDIR", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "ATTUNE_DB"):
            self.environment.pop(name, None)
        (folder / "scratch").mkdir()

    def run(self, *words, fast=False):
        environment = dict(self.environment, ATTUNE_FAKE_CUDA='{"devices":[{}]}') if fast else self.environment
        done = subprocess.run([self.attune, *map(str, words)], env=environment, capture_output=True, text=True, timeout=120 * self.patience)
        assert done.returncode == 0, f"attune {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}{done.stdout}"
        return done.stdout

    def result(self, shard, suffix):
        return self.plan / "results" / f"shard-{shard:04}{suffix}"

    def process_of(self, shard):
        """The process id of a shard's `attune fleet run`; None when it does not run."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                environ = Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[1:4] == [b"fleet", b"run", str(self.plan).encode()] and f"SLURM_ARRAY_TASK_ID={shard}".encode() in environ:
                return int(entry)
        return None

    def rows(self, database):
        """The exported rows, by kind."""
        kinds = {}
        for line in self.run("db", "export", "--db", database).splitlines():
            row = json.loads(line)
            kinds.setdefault(row["kind"], []).append(row)
        return kinds


def interrupt(fleet, cluster, shard, how):
    """Once the shard has published something and is at work at more."""
    cluster.wait_for(f"shard {shard} to publish", lambda: fleet.result(shard, ".part.db").exists() and fleet.process_of(shard), 60)
    assert not fleet.result(shard, ".db").exists(), f"shard {shard} had ended before it could be interrupted"
    how(fleet.process_of(shard))


def check_cancelled(fleet, logs):
    """What it had measured is there and merged; it goes on where somebody runs it."""
    assert fleet.result(CANCELLED, ".part.db").exists() and not fleet.result(CANCELLED, ".db").exists(), f"it ran again\n{logs}"
    told = (fleet.plan / "logs" / "merge.out").read_text()
    assert f"{SHARDS - 1} of {SHARDS} shards finished" in told and f"not finished: shard {CANCELLED}" in told, told
    fleet.run("fleet", "run", fleet.plan, "--shard", CANCELLED, fast=True)
    fleet.run("fleet", "merge", fleet.plan, "--db", fleet.plan / "merged.db")


def check_merged(fleet):
    merged = fleet.plan / "merged.db"
    fleet.run("tune", fleet.template, *PROBLEM, "--db", fleet.folder / "one.db", "--compile-workers", "2", fast=True)
    one, all_of_them = fleet.rows(fleet.folder / "one.db"), fleet.rows(merged)
    assert {row["problem"] for row in all_of_them["best"]} == {row["problem"] for row in one["best"]}
    measured = lambda rows: sorted((row["problem"], row["configuration"]) for row in rows["record"])
    assert measured(all_of_them) == measured(one), "the fleet measured something else than one machine"
    # In another order, all at once and in several merges: the same rows.
    files = [fleet.result(shard, ".db") for shard in range(SHARDS)]
    fleet.run("db", "merge", "--db", fleet.folder / "backwards.db", *reversed(files))
    aside = fleet.folder / "aside"
    aside.mkdir()
    for file in files[:4]:
        shutil.move(file, aside)
    fleet.run("fleet", "merge", fleet.plan, "--db", fleet.folder / "in-parts.db")
    for file in files[:4]:
        shutil.move(aside / file.name, file)
    fleet.run("fleet", "merge", fleet.plan, "--db", fleet.folder / "in-parts.db", "--strict")
    export = lambda name: fleet.run("db", "export", "--db", name)
    assert export(merged) == export(fleet.folder / "backwards.db") == export(fleet.folder / "in-parts.db")


def check_report(fleet):
    report = json.loads(fleet.run("fleet", "merge", fleet.plan, "--db", fleet.plan / "merged.db", "--json", "--strict"))
    assert report["complete"] and report["stored"]["records"] == 0, "merging again stored something"
    for shard in report["shards"]:
        assert shard["state"] == "finished" and shard["left"] == 0
        assert len(shard["runs"]) == (2 if shard["shard"] in (KILLED, STOPPED, CANCELLED) else 1), shard["runs"]
        assert shard["controls"][0]["compared"] == 48 and not shard["controls"][0]["disagrees"]


def main(attune, fake_cuda, template, patience):
    why = slurm_cluster.why_not()
    if why:
        print(f"skipped: no Slurm can run here: {why}")
        return 77
    with tempfile.TemporaryDirectory(prefix="attune-fleet-slurm-") as name:
        fleet = Fleet(attune, fake_cuda, template, int(patience), Path(name).resolve())
        fleet.run("fleet", "plan", template, *PROBLEM, "--shards", SHARDS, "-o", fleet.plan)
        # Compiled beforehand: the tasks measure.
        fleet.run("tune", template, *PROBLEM[:-1], "1000", "--db", fleet.folder / "warm.db", fast=True)
        script = fleet.run("fleet", "sbatch", fleet.plan, "--gpus", 0, "--cpus", 1)
        (fleet.folder / "slurm").mkdir()
        with slurm_cluster.Cluster(fleet.folder / "slurm", SHARDS, fleet.environment, fleet.patience) as cluster:
            print(cluster.run("bash", text=script).strip(), flush=True)
            array = cluster.run("squeue", "-h", "-o", "%F", "--name=attune-fleet").split()[0]
            interrupt(fleet, cluster, KILLED, lambda process: os.kill(process, signal.SIGKILL))
            interrupt(fleet, cluster, STOPPED, lambda _: cluster.run("scancel", "--signal=USR1", "--batch", f"{array}_{STOPPED}"))
            interrupt(fleet, cluster, CANCELLED, lambda _: cluster.run("scancel", f"{array}_{CANCELLED}"))
            cluster.wait_for("the merge job", lambda: not cluster.run("squeue", "-h"), 80)
        logs = "".join(path.read_text() for path in sorted((fleet.plan / "logs").iterdir()))
        check_cancelled(fleet, logs)
        for shard in range(SHARDS):
            assert fleet.result(shard, ".db").exists() and not fleet.result(shard, ".part.db").exists(), f"shard {shard}\n{logs}"
        check_merged(fleet)
        check_report(fleet)
    print("an array of 8, one task killed and one stopped, both queued again, one cancelled and left alone; merged")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
