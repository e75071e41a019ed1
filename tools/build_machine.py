"""What a build was measured on, for the result files of measure_builds.py and build_times.py."""
import datetime
import os
import re
import subprocess
from pathlib import Path


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return {"processor": model[1] if model else "unknown", "cores": len(os.sched_getaffinity(0)), "compiler": compiler,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
