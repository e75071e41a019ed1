"""tools/gpu_tests.sh with a made-up test program (a test double: no GPU is here)."""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(sys.argv.pop(1))

# Two cases a file, and one that is set aside; a file whose name stands in a folder beside the program does what the folder says.
TEST_GPU = """#!/usr/bin/env python3
import json, os, pathlib, sys
folder = pathlib.Path(__file__).parent
name = pathlib.Path(next(word for word in sys.argv if word.startswith("--source-file=")).split("=")[1]).stem
does = {path.parent.name for path in folder.glob("*/" + name)}
if "without_gpu" in does: sys.exit(77)
if "crashes" in does: sys.exit(139)
failed = 1 if "fails" in does else 0
content = "another" if "is_of_another_content" in does else "same"
all = [path.stem + case for path in pathlib.Path("tests/gpu").glob("test_*.cpp") for case in (" a", " b")]
cases = [] if "knows_no_case" in does else [name + " a", name + " b"]
lost = 1 if "loses_a_case" in does else 0
outcome = {"passed": len(cases) - failed - lost, "failed": failed, "skipped": 1, "set_aside": 1, "cases": cases, "left_out": [case for case in all if case not in cases],
           "device": "D", "driver": "1", "cuda": "13.0", "date": "2026-01-02T03:04:05Z", "content": content}
pathlib.Path(sys.argv[sys.argv.index("--outcome") + 1]).write_text(json.dumps(outcome))
if "crashes_at_its_end" in does: os.abort()
sys.exit(failed)
"""


class GpuTests(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="attune gpu tests ")
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name)
        (self.root / "tools").mkdir()
        for name in ("gpu_tests.sh", "gpu_outcome.py"):
            shutil.copy(TOOLS / name, self.root / "tools" / name)
        (self.root / "tests/gpu").mkdir(parents=True)
        self.files = sorted(path.stem for path in (TOOLS.parent / "tests/gpu").glob("test_*.cpp"))
        for name in self.files:
            (self.root / "tests/gpu" / f"{name}.cpp").write_text("")
        self.program = self.root / "build/tests/gpu/test_gpu"
        self.program.parent.mkdir(parents=True)
        self.program.write_text(TEST_GPU)
        self.program.chmod(0o755)
        self.outcome = self.root / "outcome.json"
        self.outcome.write_text("the last run's")

    def that(self, name, does):
        folder = self.program.parent / does
        folder.mkdir()
        (folder / name).write_text("")

    def run_tests(self):
        return subprocess.run([str(self.root / "tools/gpu_tests.sh"), "build", "outcome.json"], capture_output=True, text=True, check=False)

    def test_every_file_is_run_once_and_counted(self):
        done = self.run_tests()
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = json.loads(self.outcome.read_text())
        self.assertEqual(sorted(outcome["cases"]), sorted(name + case for name in self.files for case in (" a", " b")))
        self.assertEqual((outcome["passed"], outcome["failed"], outcome["skipped"]), (2 * len(self.files), 0, 1))  # one is set aside, in every run
        self.assertEqual(outcome["left_out"], [])
        self.assertEqual((outcome["device"], outcome["content"]), ("D", "same"))

    def test_a_failure_is_an_outcome_and_is_told(self):
        for name in ("test_timing", "test_reduce"):  # alone, and among others
            with self.subTest(name):
                self.setUp()
                self.that(name, "fails")
                done = self.run_tests()
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(json.loads(self.outcome.read_text())["failed"], 1)

    def test_what_does_not_end_well_leaves_no_outcome(self):
        for does in ("crashes", "crashes_at_its_end", "knows_no_case"):
            for name in ("test_timing", "test_reduce"):
                with self.subTest(f"{name} {does}"):
                    self.setUp()
                    self.that(name, does)
                    done = self.run_tests()
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(name, done.stderr)
                    self.assertEqual(self.outcome.read_text(), "the last run's")

    def test_parts_of_different_content_are_no_outcome(self):
        self.that("test_reduce", "is_of_another_content")
        self.assertNotEqual(self.run_tests().returncode, 0)
        self.assertEqual(self.outcome.read_text(), "the last run's")

    def test_a_case_that_is_named_but_not_counted_is_no_outcome(self):
        self.that("test_reduce", "loses_a_case")
        done = self.run_tests()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("test_reduce a", done.stderr)
        self.assertEqual(self.outcome.read_text(), "the last run's")

    def test_without_a_gpu_all_are_skipped(self):
        for name in self.files:
            (self.program.parent / "without_gpu").mkdir(exist_ok=True)
            (self.program.parent / "without_gpu" / name).write_text("")
        self.assertEqual(self.run_tests().returncode, 77)
        self.assertEqual(self.outcome.read_text(), "the last run's")


if __name__ == "__main__":
    unittest.main()
