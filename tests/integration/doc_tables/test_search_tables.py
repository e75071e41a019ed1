"""The tables of bench/search_score's results on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase


def row(file, strategy, score, warm=False, **more):
    return {"file": file, "strategy": strategy, "warm": warm, "runs": 100, "budget": 220, "content": "abc", "recorded": "1", "hints": [], "score": score,
            "at_25": 0.5, "at_50": 0.6, "at_100": 0.7, "at_200": 0.8, "propose_ms": 0.25, "space": file.split("/")[0], "configurations": 400, "valid": 300,
            "processor": "Imaginary 9"} | more


class SearchTables(TablesCase):
    def write(self, rows, name="search_score", **more):
        result = {"bench": name, "version": "1", "date": "2026-01-02", "rows": rows} | more
        (self.results.parent / f"{name}.json").write_text(json.dumps(result))

    def test_before_the_first_run_each_table_says_so(self):
        tables = ("search_score", "search_score_files", "search_score_warm", "search_score_spaces", "search_score_peers")
        self.assertEqual(self.generated(*tables).count("Not recorded yet."), len(tables))

    def test_strategies_stand_in_the_order_of_their_means_with_the_lowest_and_where(self):
        self.write([row("k/a", "early", 0.1), row("k/b", "early", 0.3), row("k/a", "late", 0.9), row("k/b", "late", -0.004)])
        text = self.generated("search_score")
        self.assertLess(text.index("| late | 0.45 | 0.00 | k/b |"), text.index("| early | 0.20 | 0.10 | k/a |"))
        self.assertIn("| 0.50 | 0.60 | 0.70 | 0.80 | 0.2500 | 2 |", text)
        self.assertIn("100 runs of each strategy on each file, of at most 220 evaluations", text)
        self.assertIn("CPU times on: Imaginary 9.", text)

    def test_a_strategy_shows_by_itself_once_it_was_scored(self):
        self.write([row("k/a", "random", 0.0), row("k/a", "never_heard_of", 0.5)])
        self.assertIn("| file | never_heard_of | random |", self.generated("search_score_files"))

    def test_the_best_of_a_file_is_bold_and_the_means_stand_below(self):
        self.write([row("k/a", "x", 0.2), row("k/b", "x", 0.9), row("k/a", "y", 0.4), row("k/b", "y", 0.5)])
        text = self.generated("search_score_files")
        for line in ("| k/a | 0.20 | **0.40** |", "| k/b | **0.90** | 0.50 |", "| mean | **0.55** | 0.45 |", "| lowest of a file | 0.20 | **0.40** |"):
            self.assertIn(line, text)

    def test_a_space_where_nothing_can_be_gained_has_no_score_and_no_part_in_the_mean(self):
        self.write([row("k/a", "x", 0.5), row("k/b", "x", None)])
        self.assertIn("| k/b | - |", self.generated("search_score_files"))
        self.assertIn("| x | 0.50 | 0.50 | k/a |", self.generated("search_score"))

    def test_only_strategies_that_learn_are_in_the_warm_table(self):
        self.write([row("k/a", "model", 0.5), row("k/a", "model", 0.75, warm=True), row("k/a", "random", 0.0), row("k/a", "random", 0.0, warm=True),
                    row("alone/c", "model", 0.5)])
        text = self.generated("search_score_warm")
        self.assertIn("| file | model, cold | model, warm |", text)
        self.assertIn("| k/a | 0.50 | **0.75** |", text)
        self.assertNotIn("alone/c", text)
        self.assertNotIn("random", text)

    def test_rows_of_several_sources_and_numbers_of_runs_are_told(self):
        self.write([row("k/a", "x", 0.5), row("k/b", "x", 0.5), row("k/c", "x", 0.5, content="def", runs=10)])
        text = self.generated("search_score")
        self.assertIn("searches' sources `abc` (2 rows) and `def` (1 rows)", text)
        self.assertIn("100 (2 rows) or 10 (1 rows) runs", text)

    def test_peers_stand_beside_the_default_by_space_with_what_was_left_out(self):
        self.write([row("k/a", "auto", 0.5), row("k/b", "auto", 0.7), row("k/a", "model", 0.9), row("k/b", "model", 0.9), row("not/theirs", "auto", 0.0)])
        self.write([row("k/a", "pso", 0.25, evaluations=220.0), row("k/b", "pso", 0.35, evaluations=12.5)], "search_score_peer", peer="Kernel Tuner 9", left_out=[{"file": "k/a", "strategy": "slow", "why": "why"}])
        text = self.generated("search_score_peers")
        self.assertIn("| space | attune auto | pso |", text)
        self.assertIn("| k | **0.60** | 0.30 |", text)
        self.assertIn("Kernel Tuner 9, 2026-01-02", text)
        self.assertIn("(mean evaluations of a run): pso on k/b (12.50).", text)
        self.assertIn("Left out: slow on k/a (why).", text)
        self.assertNotIn("theirs", text)

    def test_without_the_default_the_best_stands_beside_the_peers(self):
        self.write([row("k/a", "local", 0.5), row("k/a", "model", 0.9)])
        self.write([row("k/a", "pso", 0.25)], "search_score_peer")
        self.assertIn("| space | attune model | pso |", self.generated("search_score_peers"))

    def test_a_row_without_a_strategy_is_refused_with_its_file(self):
        self.readme("search_score")
        self.write([{"file": "k/a", "score": 1.0}])
        self.assert_refused("search_score.json", "strategy")


if __name__ == "__main__":
    unittest.main()
