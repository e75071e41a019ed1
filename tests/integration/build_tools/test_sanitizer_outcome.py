"""tools/sanitizer_outcome.py on made-up logs of compute-sanitizer."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(sys.argv.pop(1))
HEAD = {"device": "Imaginary 1", "driver": "1", "cuda": "2", "date": "2026-01-02", "content": "c", "passed": 1}


class SanitizerOutcome(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="attune sanitizer ")
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def ran(self, name, log, code=0, tool="memcheck"):
        (self.folder / f"{name}.run").write_text(f"{tool}\n{name}\n{code}\n12\n")
        (self.folder / f"{name}.log").write_text(log)
        (self.folder / f"{name}.outcome").write_text(json.dumps(HEAD))

    def gathered(self):
        done = subprocess.run([sys.executable, "-B", str(TOOLS / "sanitizer_outcome.py"), str(self.folder), "300", str(self.folder / "out.json")],
                              capture_output=True, text=True, check=False)
        return done, json.loads((self.folder / "out.json").read_text())

    def test_sums_of_all_processes_count_and_the_device_is_told(self):
        self.ran("loads", "========= ERROR SUMMARY: 0 errors\n========= ERROR SUMMARY: 0 errors\n[doctest] assertions: 21 | 21 passed | 0 failed |\n")
        done, outcome = self.gathered()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(outcome["device"], "Imaginary 1")
        self.assertEqual(outcome["limit_s"], 300)
        self.assertEqual(outcome["rows"], [{"tool": "memcheck", "sample": "loads", "errors": 0, "warnings": 0, "checks": 21, "exit_code": 0, "seconds": 12}])

    def test_a_finding_in_any_process_fails_and_is_shown(self):
        self.ran("loads", "========= ERROR SUMMARY: 0 errors\n========= Invalid read\n========= ERROR SUMMARY: 3 errors\n assertions: 2 | 2 passed | 0 failed |")
        self.ran("races", "========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)\n assertions: 2 | 2 passed | 0 failed |", tool="racecheck")
        done, outcome = self.gathered()
        self.assertEqual(done.returncode, 1)
        self.assertEqual([row["errors"] for row in outcome["rows"]], [3, 2])
        self.assertIn("Invalid read", done.stdout)

    def test_a_warning_is_told_apart_and_fails_too(self):
        self.ran("loads", "========= Warning: Race reported\n========= Warning: Race reported\n"
                 "========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)\n assertions: 2 | 2 passed | 0 failed |", tool="racecheck")
        done, outcome = self.gathered()
        self.assertEqual(done.returncode, 1)
        self.assertEqual([(row["errors"], row["warnings"]) for row in outcome["rows"]], [(0, 2)])
        self.assertEqual(done.stdout.count("Race reported"), 1)  # each line once: there may be others behind it

    def test_what_did_not_end_checked_nothing_or_told_no_sum_fails(self):
        for log, code in (("", 124), ("========= ERROR SUMMARY: 0 errors\n assertions: 0 | 0 passed | 0 failed |", 0), ("assertions: 5 | 5 passed | 0 failed |", 0)):
            with self.subTest(log=log):
                self.ran("loads", log, code)
                self.assertEqual(self.gathered()[0].returncode, 1)


if __name__ == "__main__":
    unittest.main()
