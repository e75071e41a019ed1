"""docs/tables/doc_tables.py on made-up recordings of `attune ladder histogram --json`."""
import json
import unittest

from ladder_case import ladder_event, ladder_names, LadderCase, START
import histogram_ladder_tables  # noqa: E402

N = 2**20


def ladder(bins, us, skew="uniform", n=N, element="i32", peers=(), complete=True, **choices):
    problem = {"Counter": "u32", "T": element, "active": "all", "bins": bins, "channels": "1", "mapping": "unit", "n": n, "skew": skew, **choices}
    return ladder_event("histogram", problem, us, peers=peers, complete=complete)


def thrust(bins, sort_ratio, skew="uniform", skew_stated=True):
    return {"problem": {"T": "i32", "n": N, "bins": bins}, "kind": f"i32 {bins}", "skew": skew, "skew_stated": skew_stated, "policy": "cold/graph",
            "sort_us": 100.0, "sort_ratio": sort_ratio}


class HistogramLadderTables(LadderCase):
    template = "histogram"

    def verdicts(self, number):
        """The lines of a rule: figure, type, skew and verdict."""
        lines = [line.strip("| ").split(" | ") for line in self.generated("histogram_rules").splitlines() if line.startswith(f"| {number} |")]
        return [(cells[1], cells[3], cells[4], cells[5]) for cells in lines]

    def test_nothing_recorded_is_said(self):
        self.assertIn("No ladder of histograms is recorded yet.", self.generated("histogram_ladder"))
        self.assertIn("No ladder of histograms is recorded yet, so rules 3 to 5 are not decided.", self.generated("histogram_rules"))

    def test_a_table_is_of_one_type_mapping_skew_and_n_over_ascending_bins(self):
        self.record(START, ladder(4096, {"coarsened": 4.0}), ladder(16, {"coarsened": 2.0, "packed counters": None}), ladder(16, {}, skew="zipf"),
                    ladder(16, {}, n=3000), ladder(16, {}, Counter="u64", mapping="scaled"))
        text = self.generated("histogram_ladder")
        self.assertIn("Imaginary 1, driver 1.2, cold/graph, 2026-01-02T03:04:05Z, content `0123456789abcdef`", text)
        self.assertIn("\nT=i32, mapping=unit, skew=uniform, n=2^20, GB/s over the bins\n\n| rung | 16 | 2^12 |", text)
        self.assertIn("| coarsened | 2097 | 1049 |", text)  # 4 * 1048576 bytes in 2 us, in 4 us
        self.assertIn("| packed counters | - | 419.4 |", text)
        self.assertIn("| read ceiling | 2000 | 2000 |", text)
        self.assertIn("\nT=i32, mapping=unit, skew=zipf, n=2^20, ", text)
        self.assertIn("\nT=i32, mapping=unit, skew=uniform, n=3000, ", text)
        self.assertIn("\nCounter=u64, T=i32, mapping=scaled, skew=uniform, n=2^20, ", text)
        for name in ladder_names(self.template):
            self.assertEqual(text.count(f"\n| {name} |"), 4)

    def test_a_peer_has_a_line_where_it_was_recorded_and_an_interrupted_problem_is_left_out(self):
        self.record(START, ladder(16, {}, peers=[("lib::Even", 8.0)]), ladder(32, {}), ladder(64, {}, complete=False))
        text = self.generated("histogram_ladder")
        self.assertIn("| rung | 16 | 32 |\n", text)
        self.assertIn("| peer lib::Even | 524.3 | - |", text)  # 4 * 1048576 bytes in 8 us

    def test_few_bins_are_private_where_the_fastest_private_rung_beats_the_fastest_other(self):
        slow = {"global atomics": 40.0, "sort, then count runs": 30.0, "bins over a cluster": 20.0}
        # 20 over 10, then 8 over 10; from 1024 bins on the rule says nothing, nor of other skews than uniform.
        self.record(START, ladder(16, slow), ladder(512, {**slow, "sort, then count runs": 8.0}), ladder(1024, slow), ladder(16, slow, skew="zipf"))
        (_, element, skew, verdict), = self.verdicts(3)
        self.assertEqual((element, skew), ("i32", "uniform"))
        self.assertEqual(verdict, "holds at 1 of 2 problems; 0.8 (512 bins, n=2^20) to 2 (16 bins, n=2^20)")

    def test_rungs_that_hold_nothing_leave_the_figure_to_those_that_do(self):
        self.record(START, ladder(16, {"bins over a cluster": None, "sort, then count runs": None, "global atomics": 30.0, "prefetch": None}))
        self.assertIn("holds at 1 of 1 problems; 3 (16", self.verdicts(3)[0][3])

    def test_sorting_many_bins_is_compared_with_all_other_rungs_but_the_whole_space_and_with_global_atomics(self):
        # The whole space holds the sort and whatever is faster: 5 us of it count for nothing.
        sort = {"sort, then count runs": 6.0, "whole space": 5.0, "global atomics": 12.0}
        self.record(START, ladder(8192, sort), ladder(65536, {**sort, "packed counters": 3.0}), ladder(4096, sort), ladder(65536, sort, skew="zipf"))
        best, atomics = (self.verdicts(4)[i:i + 2] for i in (0, 2))
        self.assertEqual([row[2] for row in best], ["uniform", "zipf"])
        self.assertEqual(best[0][3], "holds at 1 of 2 problems; 0.5 (2^16 bins, n=2^20) to 1.67 (2^13 bins, n=2^20)")
        self.assertEqual(best[1][3], "holds at 1 of 1 problems; 1.67 (2^16 bins, n=2^20) to 1.67 (2^16 bins, n=2^20)")
        self.assertIn("holds at 2 of 2 problems; 2 (2^13", atomics[0][3])

    def test_thrusts_sort_is_compared_with_the_fastest_of_attune_whether_or_not_a_ladder_is_recorded(self):
        rows = [thrust(16384, 4.0), thrust(65536, 0.5), thrust(65536, 0.25, skew_stated=False), thrust(2048, 0.1),
                {"problem": {"T": "i32", "n": N, "bins": 16384}, "skew": "hot", "skew_stated": True, "policy": "cold/graph"}]
        (self.results / "histogram_vs_cub.json").write_text(json.dumps({"date": "2026-01-02", "rows": rows}))
        (figure, _, skew, verdict), = self.verdicts(4)
        self.assertIn("Thrust", figure)
        self.assertEqual(skew, "uniform")
        self.assertEqual(verdict, "holds at 1 of 2 problems; 0.25 (2^14 bins, n=2^20) to 2 (2^16 bins, n=2^20)")
        self.record(START, ladder(8192, {}))
        self.assertEqual(len(self.verdicts(4)), 3)

    def test_skewed_samples_decide_on_private_and_coarsened_and_uniform_ones_do_not(self):
        us = {"global atomics": 40.0, "block-private": 8.0, "coarsened": 10.0}
        self.record(START, *(ladder(256, us, skew=skew) for skew in ("uniform", "zipf", "hot", "constant", "sorted")), ladder(2**20, {**us, "coarsened": None}, skew="hot"))
        rows = self.verdicts(5)
        self.assertEqual([row[2] for row in rows], ["constant", "hot", "zipf"] * 2)
        for row in rows[:3]:
            self.assertEqual(row[3], "holds at 1 of 1 problems; 4 (256 bins, n=2^20) to 4 (256 bins, n=2^20)")
        for row in rows[3:]:
            self.assertEqual(row[3], "holds at 0 of 1 problems; 0.8 (256 bins, n=2^20) to 0.8 (256 bins, n=2^20)")

    def test_every_rung_by_which_a_rule_is_decided_is_in_the_ladder(self):
        for name in (name for rule in histogram_ladder_tables.RULES for name in rule.rungs):
            self.assertIn(name, ladder_names(self.template))

    def refused(self, *words):
        self.readme("histogram_rules")
        self.assert_refused(*words)

    def test_a_file_that_is_no_ladder_of_these_rungs_is_refused_with_its_place(self):
        self.record(START, {"event": "ladder", "complete": True, "problem": {"T": "i32", "n": 1}})
        self.refused("ladder_histogram.json:2:", "skew")
        self.record({**START, "replay": True}, ladder(16, {}))
        self.refused("ladder_histogram.json", "replayed")
        other = ladder(16, {})
        other["rungs"] = [rung for rung in other["rungs"] if rung["name"] != "warp-private"]
        self.record(START, other)
        self.refused("warp-private", "rule 3")
        self.file.unlink()
        (self.results / "histogram_vs_cub.json").write_text(json.dumps({"rows": [{"problem": 3, "sort_ratio": 2.0, "skew_stated": True}]}))
        self.refused("histogram_vs_cub.json")


if __name__ == "__main__":
    unittest.main()
