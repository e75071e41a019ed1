"""tools/build.sh over a small build of its own, and the times that tools/cpu_time.sh notes."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(sys.argv.pop(1))

BUILD = """rule make
  command = sh -c "$body"
  description = Making $out
build first: make
  body = {first}
build second: make first
  body = touch second
default second
"""


class BuildScript(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="attune build ")
        self.folder = Path(self.temporary.name) / "a folder"
        self.folder.mkdir()
        self.addCleanup(self.temporary.cleanup)

    def build(self, first, *words):
        (self.folder / "build.ninja").write_text(BUILD.format(first=first))
        return subprocess.run([str(TOOLS / "build.sh"), str(self.folder), *words], capture_output=True, text=True, check=False)

    def test_a_build_tells_its_steps_and_makes_everything(self):
        done = self.build("touch first")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "second").exists())
        self.assertIn("of 2 steps", done.stderr)
        self.assertIn("built: 2 steps in ", done.stderr)
        self.assertNotIn("\r", done.stderr)  # not a terminal
        self.assertIn("[2/2] Making second", (self.folder / "build.log").read_text())

    def test_targets_are_passed_on(self):
        self.assertEqual(self.build("touch first", "first").returncode, 0)
        self.assertTrue((self.folder / "first").exists())
        self.assertFalse((self.folder / "second").exists())

    def test_nothing_to_do_is_said(self):
        self.build("touch first")
        self.assertIn("built: nothing to do", self.build("touch first").stderr)

    def test_a_failing_step_fails_the_build_and_is_shown_with_the_log(self):
        done = self.build("echo the compilers words; exit 3")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the compilers words", done.stderr)
        self.assertIn(str(self.folder / "build.log"), done.stderr)
        self.assertFalse((self.folder / "second").exists())

    def test_a_folder_that_is_not_configured_is_an_error(self):
        done = subprocess.run([str(TOOLS / "build.sh"), str(self.folder / "none")], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.folder / "none"), done.stderr)

    def test_the_time_of_a_compiler_is_noted_and_its_failure_kept(self):
        log = self.folder / "cpu 100%.log"
        environment = dict(os.environ, ATTUNE_CPU_LOG=str(log))
        done = subprocess.run([str(TOOLS / "cpu_time.sh"), "sh", "-c", "echo words >&2; exit 4", "-o", "a 5%U file.o"],
                              env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "words\n")
        user, system, made = log.read_text().rstrip("\n").split(" ", 2)
        self.assertGreaterEqual(float(user) + float(system), 0)
        self.assertEqual(made, "a 5%U file.o")


unittest.main()
