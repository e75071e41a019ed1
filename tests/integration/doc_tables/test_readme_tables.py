"""What docs/tables/doc_tables.py puts into README.md: three numbers, and the output of the quick start."""
import json
import unittest

from tables_case import TablesCase

OUTPUT = """Measuring on Imaginary 1 (sm_90, driver 1), 2026-01-02T03:04:05Z
Tuning reduce into /tmp/some.db

problem            policy      best us  configuration
reduce T=f32 n=1   cold/graph    1.500  block_size=256 items=1
reduce T=f32 n=2   cold/graph    2.500  block_size=512 items=1 (tie)

37 configurations measured in 1.5 s, 0 known from before
GPU busy 78 %
"""


def ratio(value, policy="cold/graph", **more):
    return {"problem": {"n": 1}, "policy": policy, "ratio": value, **more}


def score(strategy, file, value, warm=False):
    return {"file": file, "space": file.split("/")[0], "strategy": strategy, "warm": warm, "score": value, "budget": 220}


class ReadmeTables(TablesCase):
    def write(self, name, rows, device="NVIDIA X100 9GB", folder=None):
        folder = folder or self.results
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps({"device": {"name": device}, "peer": "Tuner 2", "rows": rows}))

    def test_of_a_captured_output_configurations_are_dots_and_ties_stay(self):
        (self.results / "tune_reduce.txt").write_text(OUTPUT)
        self.assertIn("""```text
Measuring on Imaginary 1 (sm_90, driver 1), 2026-01-02T03:04:05Z
problem            policy      best us  ...
reduce T=f32 n=1   cold/graph    1.500  ...
reduce T=f32 n=2   cold/graph    2.500  ... (tie)
37 configurations measured in 1.5 s, 0 known from before
```
""", self.generated("tune_reduce_short"))

    def test_an_output_that_stays_wider_than_a_terminal_is_refused(self):
        (self.results / "tune_reduce.txt").write_text(OUTPUT.replace("policy", "policy" + 60 * " "))
        self.readme("tune_reduce_short")
        self.assert_refused("tune_reduce.txt", "more than 100 columns")

    def test_an_output_without_a_table_is_refused(self):
        (self.results / "tune_reduce.txt").write_text("nothing\n")
        self.readme("tune_reduce_short")
        self.assert_refused("tune_reduce.txt", "configuration")

    def test_means_are_geometric_of_cold_calls_and_each_device_has_its_range(self):
        self.write("reduce_vs_cub", [ratio(1.0), ratio(4.0), ratio(100.0, "hot/graph"), {"problem": {"n": 2}, "policy": "cold/graph", "error": "no memory"}])
        self.write("reduce_vs_cub", [ratio(2.0), ratio(8.0)], "NVIDIA X200", self.root / "bench/results/imaginary_2")
        text = " ".join(self.generated("three_numbers").split())
        self.assertIn("- Reductions: CUB's time over attune's is **4.00x** on an X200 (2x to 8x) and **2.00x** on an X100 (1x to 4x), in the geometric mean of 2 calls", text)
        self.assertNotIn("Histograms", text)

    def test_of_histograms_those_count_of_which_nothing_is_said(self):
        unknown = {"kind": "u8 256", "skew": "hot", "skew_stated": False}
        self.write("histogram_vs_cub", [ratio(3.0, **unknown), ratio(9.0, **{**unknown, "skew_stated": True}), ratio(9.0, **unknown, extra=True)])
        self.assertIn("**3.00x** on an X100 (3x to 3x), likewise of 1 calls", " ".join(self.generated("three_numbers").split()))

    def test_searches_stand_beside_the_peers_best_strategy_on_the_same_files(self):
        results = self.root / "bench/results"
        own = [score("auto", "a/1", 0.8), score("auto", "b/1", 0.6), score("auto", "c/1", -9.0), score("auto", "a/1", 9.0, True), score("random", "a/1", 0.0)]
        (results / "search_score.json").write_text(json.dumps({"rows": own}))
        peers = [score("good", "a/1", 0.3), score("good", "b/1", 0.4), score("bad", "a/1", 0.1), score("bad", "b/1", 0.1)]
        (results / "search_score_peer.json").write_text(json.dumps({"peer": "Tuner 2", "rows": peers}))
        text = " ".join(self.generated("three_numbers").split())
        self.assertIn("a score of **0.70**, where `good`, the best strategy of Tuner 2, has 0.35, on 2 recorded spaces with 220 evaluations;", text)

    def test_without_results_nothing_is_claimed(self):
        text = self.generated("three_numbers", "tune_reduce_short")
        self.assertIn("Not recorded yet.", text)
        self.assertIn("No output is recorded yet.", text)

    def test_no_line_is_wider_than_a_terminal(self):
        self.write("reduce_vs_cub", [ratio(1.0)])
        self.assertTrue(all(len(line) <= 100 for line in self.generated("three_numbers").splitlines()))


if __name__ == "__main__":
    unittest.main()
