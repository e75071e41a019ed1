"""tools/renewal_outcome.py of made-up recordings."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(sys.argv.pop(1))


class RenewalOutcome(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="attune outcome ")
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)
        self.old, self.new = self.folder / "root/templates/copy/recordings", self.folder / "work/recordings"
        self.old.mkdir(parents=True)
        self.new.mkdir(parents=True)
        (self.folder / "work/times.json").write_text(json.dumps({"seconds": 7.5, "devices": ["0", "1"], "steps": {"copy.h200_cold": 7}}))

    @staticmethod
    def problem(n, times, run_off, left=None):
        """Times by block size: (low, median, high) of the search, a median of the run-off, and a ratio of who left it before its end."""
        return {"problem": {"n": n}, "parameters": ["block_size"], "columns": ["values", "outcome", "median_us", "low_us", "high_us"],
                "measurements": [[[block], "ok", median, low, high] for block, (low, median, high) in times.items()] + [[[999], "crashed", 0, 0, 0]],
                "finalists": [json.dumps({"block_size": block}) for block in run_off], "rounds_us": [list(run_off.values())] * 3,
                "left": [{"configuration": json.dumps({"block_size": block}), "ratio": ratio} for block, ratio in (left or {}).items()]}

    def write(self, path, problems, name="NVIDIA H200"):
        recording = {"device": {"name": name}, "driver": "1.2", "date": "2026-01-02", "template_hash": "abc", "policy": "cold/graph", "problems": problems}
        subprocess.run(["zstd", "-q", "-o", str(path)], input=json.dumps(recording).encode(), check=True)

    def outcome(self):
        run = subprocess.run([sys.executable, str(TOOLS / "renewal_outcome.py"), str(self.folder / "work"), "--root", str(self.folder / "root"),
                              "--output", str(self.folder / "results")], capture_output=True, text=True, check=False)
        file = self.folder / "results/nvidia_h200/renewal.json"
        return run, json.loads(file.read_text()) if file.exists() else None

    def test_what_won_anew_is_compared_with_what_had_won_as_the_renewal_measured_both(self):
        self.write(self.old / "h200_cold.json.zst", [self.problem(1, {64: (9, 10, 11), 128: (9, 10, 11)}, {64: 9.5, 128: 10}),
                                                     self.problem(2, {64: (9, 10, 11)}, {64: 20}), self.problem(3, {32: (1, 1, 1)}, {32: 1})])
        self.write(self.new / "copy.h200_cold.json.zst", [
            self.problem(1, {64: (7, 8, 9), 256: (7.5, 8.5, 9)}, {256: 7, 64: 8}),    # 64 had won; 256 is faster, in the run-off of both
            self.problem(2, {64: (18, 19, 19.5), 128: (19, 19.2, 20)}, {128: 19.2}),  # slower by the search's medians, not by its spread
            self.problem(3, {64: (2, 2, 2)}, {64: 2})])                               # 32 was not measured
        run, result = self.outcome()
        self.assertEqual(run.returncode, 0, run.stderr)
        row = result["rows"][0]
        self.assertEqual((result["gpus"], result["seconds"], result["templates"]), (2, 7.5, {"copy": "abc"}))
        self.assertEqual((row["problems"], row["compared"], row["ran_off"], row["same"], row["faster"], row["slower"], row["seconds"]), (3, 2, 1, 0, 1, 0, 7))
        self.assertAlmostEqual(row["over_former_most"], 19.2 / 19)
        self.assertAlmostEqual(row["over_recorded_median"], 19.2 / 20)

    def test_a_former_winner_that_left_the_run_off_early_is_compared_by_what_that_said(self):
        self.write(self.old / "h200_cold.json.zst", [self.problem(1, {64: (9, 10, 11)}, {64: 10})])
        self.write(self.new / "copy.h200_cold.json.zst", [self.problem(1, {64: (9, 10, 11), 128: (11.5, 12, 12.5)}, {128: 12}, {64: 1.25})])
        run, result = self.outcome()
        self.assertEqual(run.returncode, 0, run.stderr)
        row = result["rows"][0]
        self.assertEqual((row["ran_off"], row["faster"], row["slower"], row["over_former_most"]), (1, 1, 0, 0.8))

    def test_a_winner_beyond_the_spread_of_the_former_one_is_told_by_the_exit_code(self):
        self.write(self.old / "h200_cold.json.zst", [self.problem(1, {64: (9, 10, 11)}, {64: 10})])
        self.write(self.new / "copy.h200_cold.json.zst", [self.problem(1, {64: (9, 10, 11), 128: (11.5, 12, 12.5)}, {128: 12})])
        run, result = self.outcome()
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(result["rows"][0]["slower"], 1)

    def test_the_first_recording_of_a_kind_of_gpu_is_compared_with_another_kind_s_and_not_with_its_times(self):
        self.write(self.old / "a100_cold.json.zst", [self.problem(1, {64: (9, 10, 11)}, {64: 10})], "NVIDIA A100-SXM4-40GB")
        self.write(self.new / "copy.h200_cold.json.zst", [self.problem(1, {64: (4, 5, 6), 128: (3, 4, 5)}, {64: 5, 128: 4})])
        run, result = self.outcome()
        self.assertEqual(run.returncode, 0, run.stderr)
        row = result["rows"][0]
        self.assertEqual((row["ran_off"], row["faster"], row["over_former_most"]), (1, 1, 0.8))
        self.assertNotIn("over_recorded_median", row)

    def test_a_folder_or_a_recording_that_is_none_is_refused(self):
        run, _ = self.outcome()
        self.assertEqual(run.returncode, 2)
        self.assertIn("there are no recordings", run.stderr)
        (self.new / "copy.h200_cold.json.zst").write_text("not compressed")
        run, _ = self.outcome()
        self.assertEqual(run.returncode, 2)
        self.assertIn("copy.h200_cold.json.zst", run.stderr)
        (self.folder / "work/times.json").unlink()
        self.assertEqual(self.outcome()[0].returncode, 2)


if __name__ == "__main__":
    unittest.main()
