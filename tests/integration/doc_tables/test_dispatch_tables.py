"""The tables of bench/dispatch_random's and bench/ragged_sizes' results on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase

HEAD = {"device": {"name": "Imaginary 1"}, "driver": "1.2", "cuda": "13.0", "date": "2026-01-02", "content": "0123456789abcdef", "peer_version": "CUB 1.2.3"}


def row(family, problem, best, default, cub, **more):
    """best, default, cub: times over that of what was dispatched, 4 us; None: there was none."""
    ratios = {"best": best, "default": default, "cub": cub}
    return {"problem": problem, "family": family, "template": family.split()[0], "tier": "nearest size", "dispatched_us": 4.0,
            **{f"{name}_us": ratio and 4.0 * ratio for name, ratio in ratios.items()},
            **{f"{name}_ratio": ratio for name, ratio in ratios.items()},
            "spread": 0.01, "configuration": {"items": 4, "stage": "warp"}, "best_configuration": {"items": 8, "stage": "warp"}, **more}


def sum_of(n, best=1.0, default=1.0, cub=1.0, **more):
    return row("reduce f64 sum", {"T": "f64", "op": "sum", "n": n}, best, default, cub, **more)


# Behind its own best by 1 / 0.8 - 1 = 25 % and the default by 1 / 0.9 - 1 = 11.1 %; faster than what a run found (1 / 1.25 - 1 = -20 %), without
# a CUB; as fast as its best and the default, CUB twice as fast.
SLOW = sum_of(200003, 0.8, 0.9, 1.25)
FAST = row("argreduce i8 max", {"T": "i8", "op": "max", "n": 5000}, 1.25, 1.6, None)
COUNTS = row("histogram i32 unit", {"T": "i32", "mapping": "unit", "n": 2**20, "bins": 7, "skew": "zipf"}, 1.0, 1.0, 0.5, data="zipf")
FAILED = {"problem": {"T": "f32", "op": "sum", "n": 9}, "family": "reduce f32 sum", "error": "wrong result: 3 instead of 4"}


def without(measured, field):
    return {name: value for name, value in measured.items() if name != field}


class Tables(TablesCase):
    table = ""

    def write(self, bench, rows, device="imaginary_1", **fields):
        folder = self.root / "bench/results" / device
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{bench}.json").write_text(json.dumps({"bench": bench, **HEAD, **fields, "rows": rows}))


class DispatchRandom(Tables):
    table = "dispatch_random"

    def draw(self, rows, seed=7, empty=False, **more):
        self.write(f"dispatch_random_{'empty_' if empty else ''}{seed}", rows, seed=seed, empty=empty, **more)

    def test_before_the_first_run_the_table_says_so(self):
        self.write("dispatch_overhead", [])
        self.assertIn("No dispatch at random problems is recorded yet.", self.generated(self.table))

    def test_a_file_is_told_with_its_seed_its_problems_and_why_some_were_not_measured(self):
        self.draw([SLOW, FAILED, FAST, COUNTS, FAILED])
        self.assertIn("- seed 7, with databases: Imaginary 1, driver 1.2, CUDA 13.0, 2026-01-02, content `0123456789abcdef`, CUB 1.2.3; 5 problems; dispatched from: "
                      "nearest size 3; 2 not measured: wrong result: 3 instead of 4\n", self.generated(self.table))

    def test_a_seed_is_one_line_beside_its_own_best_and_the_default(self):
        self.draw([SLOW, FAILED, FAST, COUNTS])
        # -20 %, 0 %, 25 %: of three the second is the median, the third stands at 95 of 100. Reductions: (0.9 * 1.6) ^ (1/2) = 1.2
        self.assertIn("| 7 | 3 | 0.0 % | 25.0 % | 25.0 % | 1 | 11.1 % | 1.200 |\n", self.generated(self.table))

    def test_what_is_faster_than_its_best_stays_below_zero(self):
        self.draw([FAST])
        self.assertIn("| 7 | 1 | -20.0 % | -20.0 % | -20.0 % | 0 | -37.5 % | 1.600 |\n", self.generated(self.table))  # 1 / 1.6 - 1

    def test_percentiles_are_the_values_of_the_nearest_rank(self):
        self.draw([sum_of(n, best=1 / (1 + n / 1000)) for n in range(40, 0, -1)])
        self.assertIn("| 7 | 40 | 2.0 % | 3.8 % | 4.0 % |", self.generated(self.table))  # the 20th, the 38th and the 40th of forty

    def test_only_more_than_one_per_cent_behind_the_default_counts_as_slower(self):
        self.draw([sum_of(1, default=1 / 1.009), sum_of(2, default=1 / 1.011), sum_of(3, default=1 / 1.02), sum_of(4, default=1.5)])
        self.assertIn("| 2 | 2.0 % |", self.generated(self.table))

    def test_a_rounded_zero_has_no_sign(self):
        self.draw([sum_of(1, best=1.0001)])
        self.assertIn("| 7 | 1 | 0.0 % | 0.0 % | 0.0 % |", self.generated(self.table))

    def test_cub_is_compared_with_reductions_and_histograms_apart(self):
        self.draw([SLOW, FAST, sum_of(5, cub=0.8), COUNTS])
        text = self.generated(self.table)
        self.assertIn("| 7 | given | reductions | 2 | 1.000 | 0.800 | 1 |\n", text)  # (1.25 * 0.8) ^ (1/2) = 1; argreduce has no CUB here
        self.assertIn("| 7 | given | histograms | 1 | 0.500 | 0.500 | 1 |\n", text)

    def test_without_any_database_only_cub_is_compared(self):
        self.draw([sum_of(1, best=None, default=1.0, cub=1.5)], empty=True)
        text = self.generated(self.table)
        self.assertIn("- seed 7, without any database: ", text)
        self.assertIn("| 7 | none | reductions | 1 | 1.500 | 1.500 | 0 |\n", text)
        self.assertIn("| 7 | none | histograms | 0 | not recorded | not recorded | 0 |\n", text)
        for title in ("own best", "by family", "farthest"):
            self.assertNotIn(title, text)

    def test_problems_whose_best_was_not_looked_for_are_compared_with_the_rest(self):
        self.draw([sum_of(1, best=None, default=2.0, cub=1.5)])
        text = self.generated(self.table)
        self.assertIn("| 7 | 1 | not recorded | not recorded | not recorded | 0 | -50.0 % | 2.000 |\n", text)
        self.assertNotIn("farthest", text)

    def test_families_have_a_line_each_over_all_seeds_with_databases(self):
        self.draw([SLOW, FAST], seed=7)
        self.draw([sum_of(5, best=1.0, default=1.6, cub=0.8)], seed=8)
        self.draw([sum_of(6, best=None, cub=9.0)], seed=7, empty=True)
        text = self.generated(self.table)
        # 25 % and 0 %: the first of two is the median. (0.9 * 1.6) ^ (1/2) = 1.2; (1.25 * 0.8) ^ (1/2) = 1
        self.assertIn("| reduce f64 sum | 2 | 0.0 % | 25.0 % | 1.200 | 1.000 | 0.800 |\n", text)
        self.assertIn("| argreduce i8 max | 1 | -20.0 % | -20.0 % | 1.600 | not recorded | not recorded |\n", text)
        order = [text.index(start) for start in ("- seed 7, with d", "- seed 8, with d", "- seed 7, without")]
        self.assertEqual(order, sorted(order))

    def test_the_ten_farthest_behind_are_told_in_order_and_none_that_is_not_behind(self):
        self.draw([sum_of(n, best=1 / (1 + n / 100)) for n in range(1, 13)])
        text = self.generated(self.table)
        self.assertIn("The 10 that are farthest behind", text)
        behind = [line.split(" | ")[2] for line in text.splitlines() if line.startswith("| reduce f64 sum, n=")]
        self.assertEqual(behind, [f"{n}.0 %" for n in range(12, 2, -1)])
        self.draw([SLOW, FAST, COUNTS])
        self.assertIn("The 1 that are farthest behind", self.generated(self.table))

    def test_one_far_behind_is_told_with_times_data_and_where_the_configurations_differ(self):
        self.draw([SLOW, {**COUNTS, "best_ratio": 0.5, "best_us": 2.0}, {**without(COUNTS, "data"), "best_ratio": 0.625, "data": "hot",
                                                                         "problem": without(COUNTS["problem"], "skew")}])
        text = self.generated(self.table)
        self.assertIn("| reduce f64 sum, n=200003 |  | 25.0 % | 4.000 | 3.200 | 3.600 | 5.000 | items=4 stage=warp | items=8 |\n", text)
        self.assertIn("| histogram i32 unit, n=2^20, bins=7 | zipf, stated | 100.0 % | 4.000 | 2.000 | 4.000 | 2.000 |", text)
        self.assertIn("| histogram i32 unit, n=2^20, bins=7 | hot, not stated | 60.0 % |", text)

    def test_devices_are_told_apart(self):
        self.draw([SLOW])
        self.draw([FAST], device="imaginary_2")
        text = self.generated(self.table)
        self.assertEqual(text.count("With databases, by family"), 2)
        self.assertLess(text.index("| 7 | 1 | 25.0 %"), text.index("| 7 | 1 | -20.0 %"))

    def test_rows_without_a_ratio_are_counted_and_in_no_figure(self):
        for broken in (without(SLOW, "default_ratio"), {**SLOW, "default_ratio": None}, without(SLOW, "best_ratio"), without(SLOW, "cub_ratio"),
                       {**SLOW, "cub_ratio": 0}, {**SLOW, "best_ratio": "1"}):
            self.draw([broken, FAST])
            text = self.generated(self.table)
            self.assertIn("; 2 problems; dispatched from: nearest size 1; 1 without all ratios, left out of every figure\n", text)
            self.assertIn("| 7 | 1 | -20.0 % |", text)

    def test_nothing_measured_is_no_error(self):
        self.draw([FAILED])
        self.assertIn("| 7 | 0 | not recorded | not recorded | not recorded | 0 | not recorded | not recorded |\n", self.generated(self.table))

    def test_times_and_configurations_that_are_missing_are_said_to_be(self):
        broken = SLOW
        for field in ("best_us", "cub_us", "configuration", "best_configuration"):
            broken = without(broken, field)
        self.draw([broken])
        self.assertIn("| 25.0 % | 4.000 | not recorded | 3.600 | not recorded | not recorded | not recorded |\n", self.generated(self.table))

    def test_rows_without_a_family_and_files_of_another_name_are_refused(self):
        self.draw([without(SLOW, "family")])
        self.readme(self.table)
        self.assert_refused("dispatch_random_7.json", "family")
        self.draw([SLOW])
        self.write("dispatch_random_8", [SLOW], seed=7, empty=False)
        self.readme(self.table)
        self.assert_refused("dispatch_random_8.json", "seed")


def winner(one_more, one_less, misaligned, one_more_same_blocks=True, one_less_same_blocks=True, template="reduce"):
    return {"template": template, "choices": {"T": "f32"}, "sizes": {"n": 1024}, "configuration": {}, "whole_us": 2.0,
            "one_more_ratio": one_more, "one_less_ratio": one_less, "misaligned_ratio": misaligned,
            "one_more_same_blocks": one_more_same_blocks, "one_less_same_blocks": one_less_same_blocks, "misaligned_same_blocks": True}


class RaggedSizes(Tables):
    table = "ragged_sizes"

    def test_before_the_first_run_the_table_says_so(self):
        self.assertIn("No ragged sizes are recorded yet.", self.generated(self.table))

    def test_a_case_is_one_line_and_winners_with_other_blocks_count_only_where_the_size_stays(self):
        self.write("ragged_sizes", [winner(1.0, 0.9, 1.2), winner(1.11, 1.0, 1.3), winner(1.1, 1.02, 1.0), winner(9.0, 1.3, 1.15, one_more_same_blocks=False),
                                    winner(1.0, 1.0, 1.0, template="argreduce")])
        text = self.generated(self.table)
        self.assertIn("Imaginary 1, driver 1.2, CUDA 13.0, 2026-01-02, content `0123456789abcdef`; 5 winners\n", text)
        self.assertIn("| reduce | one element more | 3 | 1.100 | 1.110 | 1.110 | 1 |\n", text)  # exactly 1.10 is not above it
        self.assertIn("| reduce | one element less | 4 | 1.000 | 1.300 | 1.300 | 1 |\n", text)
        self.assertIn("| reduce | misaligned input | 4 | 1.150 | 1.300 | 1.300 | 3 |\n", text)  # the second of four is the median
        self.assertIn("| argreduce | misaligned input | 1 | 1.000 | 1.000 | 1.000 | 0 |\n", text)

    def test_what_was_not_measured_and_ratios_that_are_missing_are_counted(self):
        self.write("ragged_sizes", [winner(1.5, 1.0, 1.0), without(winner(1.0, 1.0, 1.0), "one_more_ratio"),
                                    {"template": "reduce", "choices": {}, "n": 8, "error": "no memory"}])
        text = self.generated(self.table)
        self.assertIn("; 3 winners; 1 not measured: no memory; 1 without all ratios\n", text)
        self.assertIn("| reduce | one element more | 1 | 1.500 | 1.500 | 1.500 | 1 |\n", text)
        self.assertIn("| reduce | one element less | 2 | 1.000 |", text)

    def test_a_sample_of_the_winners_is_said_to_be_one(self):
        for of, text in ((3000, "; 1 winners, spread evenly over 3000\n"), (1, "; 1 winners\n")):
            self.write("ragged_sizes", [winner(1.0, 1.0, 1.0)], winners_of=of)
            self.assertIn(text, self.generated(self.table))

    def test_a_case_that_nobody_measured_says_so(self):
        self.write("ragged_sizes", [winner(1.0, 1.0, 1.0, one_more_same_blocks=False, one_less_same_blocks=False)])
        self.assertIn("| reduce | one element more | 0 | not recorded | not recorded | not recorded | 0 |\n", self.generated(self.table))

    def test_a_row_without_its_template_is_refused(self):
        self.write("ragged_sizes", [without(winner(1.0, 1.0, 1.0), "template")])
        self.readme(self.table)
        self.assert_refused("ragged_sizes.json", "template")


if __name__ == "__main__":
    unittest.main()
