"""A Slurm of one node in a private folder: slurmctld and slurmd in the foreground, without systemd, munge or an account.

Processors stand for GPUs. Needs Debian's slurm-wlm and root (slurmd starts tasks under their users' names). The daemons belong to this
process alone and are ended with it; nothing outside of the folder is read or written but Slurm's programs.
"""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")

CONF = """\
ClusterName=attune
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
# A task that is queued again begins after so many seconds, not two minutes.
AuthInfo=cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why no Slurm can run here; empty when one can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=search_path()) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: slurm-wlm)"
    return "" if os.geteuid() == 0 else "slurmd starts tasks as root only"


def search_path():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def end_with_parent():
    """Where this process is killed, as by a time limit, nobody is left to end the daemons: the kernel does."""
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, folder, cpus, environment, patience):
        self.folder, self.patience = folder, patience  # patience: how many times as long as usual to wait
        self.host = socket.gethostname().split(".")[0]
        self.environment = dict(environment, SLURM_CONF=str(folder / "slurm.conf"), PATH=search_path())
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CONF.format(host=self.host, folder=folder, cpus=cpus, control_port=free_port(), node_port=free_port()))
        self.daemons = []

    def __enter__(self):
        try:
            self.start("slurmctld", "-D", "-i")
            self.start("slurmd", "-D", "-N", self.host)
            self.wait_for("the node", lambda: self.run("sinfo", "-h", "-o", "%T").strip() in ("idle", "mixed", "allocated"), 30)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        if self.daemons:
            self.run("scancel", "--full", "--user=root", check=False)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.end_steps()

    def end_steps(self):
        """slurmstepd of tasks that still ran: by their command line's folder, since they are nobody's children any more."""
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    environ = file.read()
            except OSError:
                continue
            if f"SLURM_CONF={self.folder}/slurm.conf".encode() in environ.split(b"\0"):
                try:
                    os.kill(int(entry), signal.SIGKILL)
                except OSError:
                    pass

    def start(self, *words):
        log = open(self.folder / f"{words[0]}.out", "wb")
        self.daemons.append(subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                             preexec_fn=end_with_parent))
        log.close()

    def run(self, *words, check=True, text=None):
        done = subprocess.run(words, env=self.environment, input=text, capture_output=True, text=True, timeout=60)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}{done.stdout}\n{self.logs()}")
        return done.stdout

    def wait_for(self, what, condition, most_s):
        most_s *= self.patience
        end = time.monotonic() + most_s
        while True:
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise AssertionError(f"{daemon.args[0]} ended with {daemon.returncode}\n{self.logs()}")
            try:
                if condition():
                    return
            except AssertionError:  # the controller does not answer yet
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                raise AssertionError(f"waited {most_s} s for {what}\n{self.run('squeue', check=False)}\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        text = ""
        for name in ("slurmctld.log", "slurmd.log", "slurmctld.out", "slurmd.out"):
            path = self.folder / name
            if path.exists():
                text += f"--- {name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-25:]) + "\n"
        return text
