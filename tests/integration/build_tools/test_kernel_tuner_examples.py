"""`attune template import` of Kernel Tuner's own examples, which this repository does not hold: they are taken from $ATTUNE_KERNEL_TUNER_EXAMPLES
(the folder examples/cuda of its repository) or fetched; exits with 77, which ctest shows as skipped, where neither is to be had."""
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATTUNE = Path(sys.argv.pop(1)).resolve()
REPOSITORY = "https://github.com/KernelTuner/kernel_tuner"
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(SKIPPED)


def python_with_numpy():
    """The scripts' interpreter."""
    for python in (os.environ.get("ATTUNE_PYTHON"), "python3", "/usr/bin/python3"):
        if python and shutil.which(python) and subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
            return python
    return skip("no interpreter of Python has NumPy")


def examples(folder):
    if given := os.environ.get("ATTUNE_KERNEL_TUNER_EXAMPLES"):
        return Path(given).resolve()
    words = ["git", "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=20", "clone", "--quiet", "--depth", "1", REPOSITORY, str(folder / "fetched")]
    try:
        fetched = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"GIT_TERMINAL_PROMPT": "0"})
    except (OSError, subprocess.TimeoutExpired) as error:
        return skip(f"{REPOSITORY} cannot be fetched: {error}")
    return folder / "fetched/examples/cuda" if fetched.returncode == 0 else skip(f"{REPOSITORY} cannot be fetched: {fetched.stderr.strip()}")


def count(space, holds=lambda **_: True):
    return sum(1 for values in itertools.product(*space.values()) if holds(**dict(zip(space, values))))


def threads(block_size_x, block_size_y, **_):
    """What Kernel Tuner asks of every block."""
    return block_size_x * block_size_y <= 1024


POWERS = [2**i for i in range(12)]
BLOCKS = {"block_size_x": [16 * i for i in range(1, 9)], "block_size_y": POWERS[:6], "tile_size_x": POWERS[:3], "tile_size_y": POWERS[:3]}
# Configurations of each call of a script, by its own words; nothing: it is no CUDA kernel.
CALLS = {
    "vector_add.py": [15],
    "matmul.py": [count({"block_size_x": [16, 32, 64], "block_size_y": POWERS[:6], "tile_size_x": POWERS[:4], "tile_size_y": POWERS[:4]},
                        lambda block_size_x, block_size_y, tile_size_y, **_: block_size_x == block_size_y * tile_size_y and threads(block_size_x, block_size_y))],
    "convolution.py": [count(BLOCKS, threads)],
    "stencil.py": [count({"block_size_x": [32 * i for i in range(1, 9)], "block_size_y": POWERS[:6]}, threads)],
    "reduction.py": [6 * 2 * 3 * 6] + 6 * [6 * 2 * 3],
    "expdist.py": [count({"block_size_x": POWERS[5:10], "block_size_y": POWERS[:6], "tile_size_x": POWERS[:4], "tile_size_y": POWERS[:4], "use_shared_mem": [0, 1]}, threads), 32],
}


class Examples(unittest.TestCase):
    def run_attune(self, *words):
        done = subprocess.run([str(ATTUNE), *map(str, words)], capture_output=True, text=True, check=False, env=os.environ | {"ATTUNE_PYTHON": PYTHON})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_each_is_imported_with_the_space_that_it_describes_and_compiles(self):
        for name, counts in CALLS.items():
            with self.subTest(script=name), tempfile.TemporaryDirectory() as folder:
                shutil.copytree(EXAMPLES, Path(folder) / "cuda")  # scripts write files beside them
                told = self.run_attune("template", "import", Path(folder) / "cuda" / name, "-o", Path(folder) / "made", "--json")
                self.assertEqual([call["problems"] for call in told["calls"]], [[]] * len(counts))
                for call, wanted in zip(told["calls"], counts):
                    made = Path(call["template"]["folder"])
                    checked = self.run_attune("template", "check", made, "--sample", "2", "--json")
                    self.assertEqual(checked[0]["space_size"], wanted)
                    self.assertEqual([one["outcome"] for one in checked[0]["sample"]["configurations"] if one["outcome"] not in ("fits", "exceeds_limits")], [])


if __name__ == "__main__":
    PYTHON = python_with_numpy()
    with tempfile.TemporaryDirectory() as home:
        EXAMPLES = examples(Path(home))
        if not (EXAMPLES / "vector_add.py").is_file():
            skip(f"{EXAMPLES} holds no examples of Kernel Tuner")
        unittest.main()
