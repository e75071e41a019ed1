"""`attune template import` and `check` on Kernel Tuner's own examples. This repository holds none of them, and neither do the packages on PyPI:
$ATTUNE_KERNEL_TUNER_EXAMPLES names the folder examples/cuda of a clone of Kernel Tuner's repository. Without one, or without NumPy ($ATTUNE_PYTHON,
or python3), the test ends with 77, which ctest shows as skipped. The first argument is the attune executable."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATTUNE = Path(sys.argv.pop(1)).resolve()
PYTHON = os.environ.get("ATTUNE_PYTHON") or "python3"
SKIPPED = 77
SAMPLE = 5
# Configurations of each call of a script: what its restrictions leave, in blocks of at most 1,024 threads, as Kernel Tuner has it.
SPACES = {"vector_add": [15], "matmul": [40], "convolution": [342], "stencil": [31], "reduction": [216] + 6 * [36], "expdist": [640, 32]}


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(SKIPPED)


def examples():
    given = os.environ.get("ATTUNE_KERNEL_TUNER_EXAMPLES")
    if not given:
        skip("ATTUNE_KERNEL_TUNER_EXAMPLES names no folder with Kernel Tuner's examples: examples/cuda of a clone of https://github.com/KernelTuner/kernel_tuner")
    if not (Path(given) / "vector_add.py").is_file():
        skip(f"{given} (ATTUNE_KERNEL_TUNER_EXAMPLES) has no vector_add.py")
    try:
        has_numpy = subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode == 0
    except OSError as error:
        skip(f"{PYTHON} cannot be started: {error}")
    if not has_numpy:
        skip(f"{PYTHON} has no NumPy; name an interpreter that has in ATTUNE_PYTHON")
    return Path(given).resolve()


class Examples(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="attune examples ")
        self.addCleanup(temporary.cleanup)
        self.home = Path(temporary.name).resolve()
        shutil.copytree(EXAMPLES, self.home / "cuda")  # scripts write files beside them

    def run_attune(self, *words):
        return subprocess.run([str(ATTUNE), *map(str, words)], capture_output=True, text=True, check=False, env=os.environ | {"ATTUNE_PYTHON": PYTHON})

    def imported(self, name):
        """The folders of the templates that a script becomes."""
        run = self.run_attune("template", "import", self.home / "cuda" / f"{name}.py", "-o", self.home / name, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        calls = json.loads(run.stdout)["calls"]
        self.assertEqual([call["problems"] for call in calls], [[] for _ in calls])
        return [call["template"]["folder"] for call in calls]

    def test_each_script_becomes_templates_with_its_space_whose_configurations_compile(self):
        for name, sizes in SPACES.items():
            with self.subTest(script=name):
                folders = self.imported(name)
                self.assertEqual(len(folders), len(sizes))
                for folder, size in zip(folders, sizes):
                    run = self.run_attune("template", "check", folder, "--sample", SAMPLE, "--json")
                    self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                    checked = json.loads(run.stdout)[0]
                    self.assertEqual(checked["space_size"], size)
                    tried = checked["sample"]["configurations"]
                    self.assertEqual(len(tried), min(SAMPLE, size))
                    self.assertEqual([one for one in tried if one["outcome"] not in ("fits", "exceeds_limits")], [])

    def test_a_script_that_tunes_host_code_is_refused_with_the_reason(self):
        if not (EXAMPLES / "pnpoly.py").is_file():
            self.skipTest("there is no pnpoly.py")
        run = self.run_attune("template", "import", self.home / "cuda/pnpoly.py", "-o", self.home / "pnpoly")
        self.assertNotEqual(run.returncode, 0, run.stdout)
        # It asks PyCUDA for memory first; where that is installed, for a GPU.
        self.assertRegex(run.stdout + run.stderr, "pycuda|host code that Kernel Tuner calls")


if __name__ == "__main__":
    EXAMPLES = examples()
    unittest.main()
