"""The table of bench/fleet_merge's result on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase

COST = {"wall_s": 7.5, "cpu_s": 4.25, "peak_bytes": 96 * 2**20}
ROW = {"shards": 10, "records": 100000, "generated_s": 1.0, "shard_bytes": 1, "merged_bytes": 1_500_000_000, "fleet_merge": COST, "again": None}


class FleetMerge(TablesCase):
    def write(self, *rows, **more):
        head = {"bench": "fleet_merge", "date": "2026-01-02T03:04:05Z", "content": "0123456789abcdef", "cores": 3}
        (self.root / "bench/results/fleet_merge.json").write_text(json.dumps({**head, "rows": rows, **more}))

    def table(self):
        return self.generated("fleet_merge")

    def test_before_the_first_run_the_table_says_so(self):
        self.assertIn("Not recorded yet.", self.table())

    def test_it_says_on_how_many_processors_when_and_of_what(self):
        self.write(ROW)
        self.assertIn("3 processors, 2026-01-02T03:04:05Z, content `0123456789abcdef`\n", self.table())

    def test_a_shape_is_a_line_with_the_cost_of_both_ways_in_gigabytes_seconds_and_mebibytes(self):
        self.write({**ROW, "db_merge": {"wall_s": 10.5, "cpu_s": 6.5, "peak_bytes": 64 * 2**20}})
        self.assertIn("| 10 | 100,000 | 1.500 | 7.500 | 4.250 | 96.00 | 10.50 | 6.500 | 64.00 |", self.table())

    def test_what_was_not_measured_is_a_dash_and_shapes_keep_their_order(self):
        self.write({**ROW, "shards": 1000, "db_merge": None}, ROW)
        lines = [line for line in self.table().splitlines() if line.startswith("| 10")]
        self.assertEqual([line.split(" | ")[0] for line in lines], ["| 1000", "| 10"])
        for line in lines:
            self.assertTrue(line.endswith("| - | - | - |"), line)

    def test_a_result_that_cannot_be_read_is_refused_by_its_name(self):
        (self.root / "bench/results/fleet_merge.json").write_text("{")
        self.readme("fleet_merge")
        self.assert_refused("fleet_merge.json")


if __name__ == "__main__":
    unittest.main()
