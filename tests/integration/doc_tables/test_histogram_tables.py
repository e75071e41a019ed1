"""The tables of bench/histogram_vs_cub's results on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase

HEAD = {"bench": "histogram_vs_cub", "device": {"name": "Imaginary 1"}, "driver": "1.2", "cuda": "13.0", "date": "2026-01-02", "content": "0123456789abcdef"}


def row(n, skew, stated, ratio, **more):
    return {"problem": {"template": "histogram", "T": "i32", "mapping": "unit", "n": n, "bins": 256}, "kind": "i32 256", "skew": skew, "skew_stated": stated,
            "policy": "cold/graph", "attune_us": 2.0, "peer": "cub::Peer", "peer_us": 2.0 * ratio, "ratio": ratio, "spread": 0.01,
            "configuration": {"items": 8 if stated else 4}, **more}


def failed(n, skew, stated, reason):
    return {key: value for key, value in row(n, skew, stated, 1.0, error=reason).items() if key in ("problem", "kind", "skew", "skew_stated", "policy", "error")}


class HistogramTables(TablesCase):
    def table_of(self, table, rows):
        (self.results / "histogram_vs_cub.json").write_text(json.dumps({**HEAD, "rows": rows}))
        return self.generated(table)

    def test_before_the_first_run_the_tables_say_so_and_are_up_to_date(self):
        for table in ("histogram_vs_cub", "histogram_ratios"):
            self.assertIn("No comparison of histograms with CUB is recorded yet.", self.generated(table))
            self.assertEqual(self.run_script("--check").returncode, 0)

    def test_a_problem_is_one_line_with_both_ways_to_ask(self):
        text = self.table_of("histogram_vs_cub", [row(2**20, "zipf", True, 1.5, share_of_ceiling=0.987), row(2**20, "zipf", False, 1.25)])
        self.assertIn("i32 256 bins, cold/graph (ratio = cub::Peer / attune", text)
        self.assertIn("| 2^20 | zipf | 3.000 | 2.000 | 1.500 ± 0.015 | 2.000 | 1.250 ± 0.013 | 98.7 % | items=8 | items=4 |", text)
        self.assertIn("Imaginary 1, driver 1.2", text)

    def test_sizes_ascend_and_skews_keep_their_order(self):
        text = self.table_of("histogram_vs_cub", [row(n, skew, True, 1.0) for skew in ("uniform", "constant") for n in (2**20, 2**16)])
        lines = [line.split(" | ")[:2] for line in text.splitlines() if line.startswith("| 2^")]
        self.assertEqual(lines, [["| 2^16", "uniform"], ["| 2^16", "constant"], ["| 2^20", "uniform"], ["| 2^20", "constant"]])

    def test_a_way_that_failed_says_why_beside_the_other(self):
        text = self.table_of("histogram_vs_cub", [failed(2**20, "hot", True, "wrong result: 3 in bin 1"), row(2**20, "hot", False, 1.5)])
        self.assertIn("| 2^20 | hot | 3.000 | not measured: wrong result: 3 in bin 1 |  | 2.000 | 1.500 ± 0.015 |", text)

    def test_the_summary_has_geometric_mean_least_and_slow_rows_of_each_way(self):
        rows = [row(2**16, "uniform", True, 0.5), row(2**20, "uniform", True, 2.0), row(2**16, "zipf", True, 8.0), row(2**16, "uniform", False, 1.02)]
        text = self.table_of("histogram_ratios", rows)
        # (0.5 * 2 * 8) ^ (1/3) = 2; (0.5 * 2) ^ (1/2) = 1
        self.assertIn("All 3 rows, cold, skew stated: geometric mean 2.000; least 0.500 (i32 256 bins, uniform, n=2^16); rows below 1.05: 1, below 1: 1.", text)
        self.assertIn("All 1 rows, cold, skew unknown: geometric mean 1.020; least 1.020 (i32 256 bins, uniform, n=2^16); rows below 1.05: 1, below 1: 0.", text)
        self.assertIn("| i32 256 | 1.000 / 1.020 | 8.000 / not recorded | not recorded / not recorded |", text)

    def test_extra_rows_are_told_and_in_no_mean(self):
        rows = [row(2**20, "uniform", True, 2.0, sort_us=30.0, sort_ratio=15.0), row(2**20, "sorted", True, 9.0, extra=True)]
        summary = self.table_of("histogram_ratios", rows)
        self.assertIn("All 1 rows, cold, skew stated: geometric mean 2.000;", summary)
        every = self.table_of("histogram_vs_cub", rows)
        self.assertIn("| 2^20 | sorted | 18.00 |", every)
        self.assertIn("Sorting and counting runs with Thrust: 30.00 us at 2^20 (ratio 15.000).", every)

    def test_rows_that_could_not_be_measured_are_counted(self):
        text = self.table_of("histogram_ratios", [row(2**20, "hot", True, 2.0), failed(2**20, "hot", False, "no memory")])
        self.assertIn("; 1 rows could not be measured", text)

    def test_a_row_without_its_skew_is_refused_by_the_file_s_name(self):
        broken = row(2**20, "hot", True, 2.0)
        del broken["skew_stated"]
        (self.results / "histogram_vs_cub.json").write_text(json.dumps({**HEAD, "rows": [broken]}))
        self.readme("histogram_ratios")
        self.assert_refused("histogram_vs_cub.json")


if __name__ == "__main__":
    unittest.main()
