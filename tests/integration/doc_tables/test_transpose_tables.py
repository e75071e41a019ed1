"""The table of bench/transpose_vs_copy's results on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase

TABLE = "transpose_vs_copy"


class TransposeTable(TablesCase):
    def write(self, rows):
        result = {"device": {"name": "Imaginary 1"}, "driver": "1", "cuda": "13.0", "date": "2026-01-02", "content": "abc", "configurations": 40, "rows": rows}
        (self.results / "transpose_vs_copy.json").write_text(json.dumps(result))

    def test_before_the_first_run_the_table_says_so(self):
        self.assertIn("Not recorded yet.", self.generated(TABLE))

    def test_a_row_says_how_much_of_a_copys_speed_the_winner_and_the_default_have(self):
        self.write([{"problem": {"T": "f16", "rows": 63, "columns": 4194301}, "attune_us": 200.0, "default_us": 250.0, "peer_us": 180.0, "ratio": 0.9,
                     "spread": {"attune": 0.006, "peer": 0.008}, "configuration": {"variant": "tile"}}])
        text = self.generated(TABLE)
        self.assertIn("| f16 | 63 x 4194301 | 200.0 | 180.0 | 0.900 ± 0.009 | 0.720 | variant=tile |", text)
        self.assertIn("40 random configurations of each problem beside the default", text)

    def test_a_default_that_does_not_run_is_said(self):
        self.write([{"problem": {"T": "f16", "rows": 1, "columns": 1}, "attune_us": 2.0, "default_us": 0, "peer_us": 1.0, "ratio": 0.5}])
        self.assertIn("| 0.500 | not recorded |", self.generated(TABLE))

    def test_a_row_without_a_problem_is_refused_with_its_file(self):
        self.readme(TABLE)
        self.write([{"ratio": 1.0}])
        self.assert_refused("transpose_vs_copy.json", "problem")


if __name__ == "__main__":
    unittest.main()
