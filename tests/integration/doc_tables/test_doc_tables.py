"""docs/tables/doc_tables.py on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase

DEVICE = {"name": "Imaginary 1"}
HEAD = {"device": DEVICE, "driver": "1.2", "cuda": "13.0", "date": "2026-01-02", "content": "0123456789abcdef"}


def comparison(n, policy, attune_us, peer_us, rate):
    return {"problem": {"T": "f32", "op": "sum", "n": n}, "policy": policy, "attune_us": attune_us, "peer": "cub",
            "peer_us": peer_us, "ratio": peer_us / attune_us, "spread": {"attune": 0.003, "peer": 0.004},
            "bytes_per_s": rate, "configuration": {"stage": "a|b", "block_size": 256}}


class DocTables(TablesCase):
    def setUp(self):
        super().setUp()
        (self.root / "tests/gpu").mkdir(parents=True)
        self.write_comparison([comparison(2**20, "cold/graph", 4.0, 5.0, 1.0e12),
                               comparison(1000, "cold/graph", 2.0, 1.0, 2.0e9),
                               comparison(2**20, "hot/graph", 2.0, 3.0, 2.0e12),
                               {"problem": {"T": "f32", "op": "sum", "n": 2**30}, "policy": "cold/graph",
                                "error": "not enough memory"}])
        self.readme("reduce_vs_cub")

    def write_comparison(self, rows):
        (self.results / "reduce_vs_cub.json").write_text(json.dumps({"bench": "reduce_vs_cub", **HEAD, "rows": rows}))

    def test_a_captured_output_stands_word_for_word_in_a_code_block(self):
        (self.results / "tune_reduce.txt").write_text("Measuring on Imaginary 1\n  n  best us\n")
        self.assertIn("```text\nMeasuring on Imaginary 1\n  n  best us\n```\n", self.generated("tune_reduce"))

    def test_what_builds_take_is_told_with_the_machine_and_in_minutes(self):
        folder = self.root / "bench/results/builds"
        folder.mkdir(parents=True)
        machine = {"processor": "Imaginary 2", "cores": 2, "compiler": "c++ 1", "date": "2026-01-02"}
        rows = [{"what": "tools/test.sh", "wall_s": 125.6, "cpu_s": 59.94}]
        tests = [{"test": "slow", "wall_s": 30.0}, {"test": "slower", "wall_s": 20.0}]
        (folder / "builds.json").write_text(json.dumps({**machine, "rows": rows, "tests": tests}))
        text = self.generated("builds", "slow_tests")
        self.assertIn("2 cores of Imaginary 2, c++ 1, 2026-01-02", text)
        self.assertIn("| tools/test.sh | 2 min 05 s | 59.9 s |", text)
        self.assertIn("| slow | 30.0 s |", text)

    def test_both_tuners_stand_beside_each_other_and_what_was_not_done_is_said(self):
        ours = {"decided": 90, "failed": 2, "command_s": 15.5, "space": 100, "best_us": 9.0}
        rows = [{"script": "a.py", "kernel": "scale", "answer": "script", "kernel_tuner": {"decided": 30, "failed": 0, "command_s": 15.1, "best_us": 10.0}, "attune": ours, "over_peer": 0.9},
                {"script": "b.py", "kernel": "sum", "answer": None, "kernel_tuner": None, "attune": None, "problems": ["host code"]}, {"script": "c.py", "failed": "ended with code 1"},
                {"script": "d.py", "kernel": "sort", "answer": None, "kernel_tuner": None, "attune": ours, "over_peer": None, "peer_error": "Traceback\nRuntimeError: no kernel\n\n"}]
        (self.results / "peers.json").write_text(json.dumps({"bench": "peers", "seconds": 15, "peer_version": "Tuner 1", **HEAD, "rows": rows}))
        text = self.generated("peers")
        self.assertIn("Tuner 1, 15 s each", text)
        self.assertIn("| a.py | scale | 100 | script | 30 | 15.10 | 10.00 | 90 (2 failed) | 15.50 | 9.000 | 0.900 |", text)
        self.assertIn("| b.py | sum | not recorded |", text)
        self.assertIn("| d.py | sort | 100 | not recorded | failed | not recorded | not recorded | 90 (2 failed) |", text)
        self.assertIn("\n- d.py: `RuntimeError: no kernel`\n", text)
        self.assertIn("\n| c.py | failed |" + 9 * " not recorded |" + "\n", text)  # as many cells as columns

    def test_figures_before_and_after_are_medians_with_their_ranges(self):
        folder = self.root / "bench/results/builds"
        folder.mkdir(parents=True)
        rows = [{"what": "rate", "unit": "per s", "before": [3.0, 1.0, 2.0], "after": [4.0, 1.0, 2.0, 3.0]}]
        (folder / "before_and_after.json").write_text(json.dumps({
            "device": {"name": "Imaginary 1"}, "driver": "1", "cuda": "2", "date": "2026-01-02", "before_content": "a", "content": "b",
            "method": "in turn", "rows": rows}))
        self.assertIn("| rate | per s | 2.000 (1.000 to 3.000) | 2.500 (1.000 to 4.000) |", self.generated("before_and_after"))

    def test_a_tuning_rate_is_told_with_its_spread_and_each_row_with_its_date(self):
        rows = [{"case": "peer_space_300", "configs_per_s": 320.5, "configs_per_s_runs": [300.0, 320.5, 350.0], "gpu_busy": 0.9,
                 "compile_busy": 0.5, "whole_command_configs_per_s": 120.0, "verified": 300},
                {"case": "scaling", "gpus": 4, "speedup": 3.7, "problems": 16, "configurations": 999, "command_s": 12.0, "date": "2026-01-01"}]
        rows.append({"case": "learning", "strategy": "auto", "budget": 1000, "configs_per_s": 301.5, "searching": 0.021, "gpu_waited_for_compiles": 0.2,
                     "gpu_waited_otherwise": 0.031, "gpu_waited_otherwise_runs": [0.03, 0.031, 0.04]})
        (self.results / "tuning_rate.json").write_text(json.dumps({"bench": "tuning_rate", **HEAD, "rows": rows}))
        text = self.generated("tuning_rate")
        self.assertIn("| 320.5 configurations/s | median of 3 runs from 300.0 to 350.0, 300 verified", text)
        self.assertIn("| strategy `auto`, 1000 configurations of a larger space | 301.5 configurations/s | the GPU waited 3.1 % of the search for neither compilers nor itself (median "
                      "of 3 runs from 3.0 % to 4.0 %), 20.0 % for compilers; the strategy thought for 2.1 % of it, mostly while the GPU worked |", text)
        rows[-1] |= {"gpu_waited_otherwise_runs": [0.031]}
        (self.results / "tuning_rate.json").write_text(json.dumps({"bench": "tuning_rate", **HEAD, "rows": rows}))
        self.assertIn("waited 3.1 % of the search for neither compilers nor itself (one run), 20.0 % for compilers", self.generated("tuning_rate"))
        self.assertIn("| 4 GPUs, 16 problems, 999 configurations | 3.700x | whole command, 12.00 s | 2026-01-01 |", text)

    def test_a_speed_up_is_told_beside_what_each_gpu_took_alone(self):
        row = {"case": "scaling", "gpus": 2, "speedup": 1.9, "problems": 16, "configurations": 999, "command_s": 10.0, "one_by_one_s": 19.0,
               "alone": [{"command_s": 9.0}, {"command_s": 11.0}]}
        (self.results / "tuning_rate.json").write_text(json.dumps({"bench": "tuning_rate", **HEAD, "rows": [row]}))
        self.assertIn("| 2 GPUs, 16 problems, 999 configurations | 1.900x | each GPU alone tuned its share of them in 9.000, 11.00 s, one after the other that is "
                      "19.00 s without the starts and ends that one command would not have had; whole command, 10.00 s |", self.generated("tuning_rate"))
        row |= {"speedup_apart": 1.8, "apart": [{"command_s": 10.5}, {"command_s": 11.0}]}
        (self.results / "tuning_rate.json").write_text(json.dumps({"bench": "tuning_rate", **HEAD, "rows": [row]}))
        self.assertIn("would not have had; all of them at once by a command each, 1.800x (10.50, 11.00 s); whole command", self.generated("tuning_rate"))
        rounds = [{"speedup": speedup, "one_by_one_s": 20.0, "together": {"command_s": 20.0 / speedup}} for speedup in (1.6, 1.9, 2.0)]
        row = {"case": "scaling", "gpus": 2, "speedup": 1.9, "problems": 16, "configurations": 999, "speedup_apart": 1.95, "rounds": rounds}
        (self.results / "tuning_rate.json").write_text(json.dumps({"bench": "tuning_rate", **HEAD, "rows": [row]}))
        text = self.generated("tuning_rate")
        self.assertIn("| 1.900x | median of 3 rounds from 1.600x to 2.000x: ", text)
        self.assertIn("in 10.53 s; by a command for each GPU at the same time, 1.950x |", text)

    def test_repeated_winners_are_counted_and_the_largest_tie_set_is_told(self):
        rows = [{"winner": {}, "tie_set": [{}, {}], "agrees": True, "is_modal": True, "tie_set_spread": 1.004},
                {"winner": {}, "tie_set": [{}], "agrees": False, "is_modal": False, "tie_set_spread": 1.0}]
        (self.results / "winner_repeat.json").write_text(
            json.dumps({"bench": "winner_repeat", **HEAD, "template": "reduce", "problem": {"n": 1024}, "rows": rows}))
        text = self.generated("winner_repeat")
        self.assertIn("of 2 runs, each with an empty database, 1 name the same winner and 1 name it", text)
        self.assertIn("Tie sets hold at most 2, within 0.40 %", text)
        (self.results / "winner_repeat.json").write_text(json.dumps(
            {"bench": "winner_repeat", **HEAD, "template": "reduce", "problem": {"n": 1024}, "devices": 2, "compiled_code_kept": True, "rows": rows}))
        self.assertIn("with an empty database, on 2 devices, with compiled code kept from one to the next, 1 name", self.generated("winner_repeat"))

    def test_large_searches_are_told_with_their_winners_places_and_all_run_offs_are_counted(self):
        searched = {"device_ordinal": 1, "configurations": 5000, "within_3_percent_of_search_best": 40, "search_24th_over_best": 1.0125, "winner_search_place": 9,
                    "winner": {"block_size": 64, "items": 2}}
        again = {"winner": {"items": 2, "block_size": 64}, "search_deviation": 0.0054}
        other = {"winner": {"block_size": 128, "items": 2}, "search_deviation": 0.0061}
        (self.results / "finalists_i32_max_3000017.json").write_text(json.dumps({**HEAD, "rows": [searched, again, other]}))
        text = self.generated("large_search_finalists")
        self.assertIn("| 1 | 5000 | 40 | 1.012 | 9 |\n", text)
        self.assertIn("3 run-offs of these searches' finalists named 2 configurations. Times of the search are off by 0.5 to 0.6 % (standard deviation).", text)

    def test_repeats_of_large_searches_are_told_with_the_old_bound_first(self):
        for name, modal in (("winner_repeat_i32_max_3000017", True), ("winner_repeat_24_finalists", False)):
            rows = [{"tie_set": [], "is_modal": modal, "agrees": modal, "command_s": seconds} for seconds in (3.0, 9.0, 4.0)]
            (self.results / f"{name}.json").write_text(json.dumps({**HEAD, "template": "reduce", "problem": {"n": 1024}, "rows": rows}))
        text = self.generated("large_search_repeats")
        self.assertLess(text.index("0 name the same winner"), text.index("3 name the same winner"))
        self.assertIn(" A run took 4.000 s (median).", text)

    def test_repeats_tell_which_gpu_names_another_winner_and_how_far_behind_it_is(self):
        rows = [{"tie_set": [], "is_modal": modal, "device_ordinal": gpu, "over_fastest": over}
                for gpu, modal, over in ((0, True, 1.0), (1, True, 1.0), (0, True, 1.0), (1, False, 1.0016))]
        (self.results / "winner_repeat_i32_max_3000017_again.json").write_text(
            json.dumps({**HEAD, "template": "reduce", "problem": {"n": 1024}, "devices": 2, "rows": rows}))
        text = self.generated("large_search_repeats_again")
        self.assertIn("Other winners are at most 0.16 % slower than the fastest there. That winner is named by 2 of 2 runs of GPU 0, 1 of 2 runs of GPU 1.", text)
        for row in rows:
            row["is_modal"] = True
        (self.results / "winner_repeat_i32_max_3000017_again.json").write_text(
            json.dumps({**HEAD, "template": "reduce", "problem": {"n": 1024}, "devices": 2, "rows": rows}))
        self.assertNotIn("Other winners", self.generated("large_search_repeats_again"))

    def test_what_is_measured_again_is_compared_at_the_calls_that_both_files_have(self):
        def row(n, policy, us, cub):
            return {"problem": {"n": n}, "policy": policy, "attune_us": us, "peer_us": cub, "ratio": cub / us, "configuration": {"items": 2}}
        then = [row(1024, "cold", 2.0, 3.0), row(1024, "hot", 1.0, 8.0), row(4096, "cold", 7.0, 7.0)]
        now = [row(1024, "hot", 2.0, 8.0), row(1024, "cold", 2.0, 6.0), row(8192, "cold", 9.0, 9.0)]
        head = {**HEAD, "bench": "reduce_vs_cub"}
        (self.results / "reduce_vs_cub.json").write_text(json.dumps({**head, "rows": then}))
        for again in ("reduce_vs_cub_again", "reduce_vs_cub_again_abc"):
            (self.results / f"{again}.json").write_text(json.dumps({**head, "rows": now}))
        # attune 1 and 2 times as long, CUB 2 and 1; ratios 1.5 and 8 then, 3 and 4 now: both means are sqrt(12)
        line = "| 2 | 2 | 1.500 (1.000 to 2.000) | 1.500 (1.000 to 2.000) | 1.250 (0.500 to 2.000) | 3.464 | 3.464 |\n"
        self.assertEqual(self.generated("vs_cub_again").count(line), 2)

    def test_the_cost_of_a_launch_tells_over_how_many_processes_its_medians_are(self):
        rows = [{"threads": 1, "path": "plan", "raw_ns_p50": 2000.0, "added_ns_p50": 51.5, "added_ns_p99": 70.0}]
        of_one = {"bench": "dispatch_overhead", **HEAD, "processes": 1, "rows": rows}
        (self.results / "dispatch_overhead.json").write_text(json.dumps(of_one))
        self.assertIn("| 1 | plan | 2000 | 51.50 | 70.00 |\n", self.generated("dispatch_overhead"))
        self.assertNotIn("medians over", self.generated("dispatch_overhead"))
        (self.results / "dispatch_overhead.json").write_text(json.dumps({**of_one, "processes": 9}))
        self.assertIn("; medians over 9 processes\n", self.generated("dispatch_overhead"))
        of_one.pop("processes")
        (self.results / "dispatch_overhead.json").write_text(json.dumps(of_one))
        self.assertIn("; one process, by an earlier method", self.generated("dispatch_overhead"))

    def test_check_names_the_file_that_is_not_up_to_date_and_leaves_it_alone(self):
        before = (self.root / "README.md").read_text()
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md", done.stdout)
        self.assertEqual((self.root / "README.md").read_text(), before)

    def test_check_accepts_what_was_generated_and_notices_one_changed_digit(self):
        text = self.generated("reduce_vs_cub")
        self.assertEqual(self.run_script("--check").returncode, 0)
        (self.root / "README.md").write_text(text.replace("1.250", "1.350"))
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_check_notices_newer_results(self):
        self.generated("reduce_vs_cub")
        self.write_comparison([comparison(2**20, "cold/graph", 3.0, 5.0, 1.0e12)])
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_tables_in_docs_are_covered(self):
        self.generated("reduce_vs_cub")
        (self.root / "docs/performance.md").write_text("<!-- table:gpu_tests -->\nold\n<!-- /table -->\n")
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/performance.md", done.stdout)
        self.assertNotIn("README.md", done.stdout)

    def test_text_outside_the_markers_is_kept(self):
        text = self.generated("reduce_vs_cub")
        self.assertTrue(text.startswith("# before\n<!-- table:reduce_vs_cub -->\n"))
        self.assertTrue(text.endswith("<!-- /table -->\nbetween\nafter\n"))
        self.assertNotIn("\nold\n", text)

    def test_a_comparison_shows_times_ratio_with_spread_and_configuration_by_ascending_size(self):
        text = self.generated("reduce_vs_cub")
        # hypot(0.003, 0.004) = 0.005; 1.25 * 0.005 = 0.00625
        self.assertIn("| 2^20 | 4.000 | 5.000 | 1.250 ± 0.006 | not recorded | block_size=256 stage=a\\|b |", text)
        self.assertLess(text.index("| 1000 |"), text.index("| 2^20 |"))
        self.assertIn("Imaginary 1, driver 1.2, CUDA 13.0, 2026-01-02, content `0123456789abcdef`", text)

    def test_cold_and_hot_are_tables_of_their_own(self):
        text = self.generated("reduce_vs_cub")
        cold, hot = text.index("cold/graph"), text.index("hot/graph")
        self.assertLess(cold, text.index("| 2^20 | 4.000"))
        self.assertGreater(text.index("| 2^20 | 2.000 | 3.000 | 1.500"), hot)

    def test_ratios_stand_in_a_column_a_kind_with_their_geometric_mean_and_the_least(self):
        rows = [{**comparison(n, "cold/graph", 1.0, ratio, 1.0e12), "ratio": ratio} for n, ratio in ((1000, 0.5), (2**20, 2.0))]
        for row in rows:
            row["problem"]["template"] = "reduce"
        matrix = {"problem": {"template": "segmented_reduce", "T": "f32", "op": "sum", "rows": 1024, "columns": 3}, "policy": "cold/graph",
                  "attune_us": 2.0, "peer_us": 16.0, "ratio": 8.0, "share_of_ceiling": 0.987}
        self.write_comparison([*rows, matrix, {"problem": {"T": "f32", "op": "sum", "n": 2**30}, "policy": "cold/graph", "error": "no memory"}])
        text = self.generated("reduce_ratios")
        # (0.5 * 2 * 8) ^ (1/3) = 2; (0.5 * 2) ^ (1/2) = 1
        self.assertIn("All 3 rows, cold: geometric mean 2.000; without the matrices 1.000; least 0.500 (T=f32, n=1000, op=sum); rows below 0.99: 1.", text)
        self.assertIn("| n | f32 sum |", text)
        self.assertIn("| 2^20 | 2.000 |", text)
        self.assertIn("| f32 row sum | 2^10 x 3 | 2.000 | 16.00 | 8.000 | 98.7 % |", text)
        self.assertIn("1 rows could not be measured", text)

    def test_ratios_tell_where_dispatch_took_the_configurations_from_and_nothing_where_no_row_says(self):
        row = {**comparison(2**20, "cold/graph", 1.0, 2.0, 1.0e12), "ratio": 2.0}
        row["problem"]["template"] = "reduce"
        self.write_comparison([{**row, "tier": "default"}, {**row, "tier": "exact size"}, {**row, "tier": "exact size"}])
        self.assertIn("; dispatched from: exact size 2, default 1\n", self.generated("reduce_ratios"))
        self.write_comparison([row])
        self.assertNotIn("dispatched from", self.generated("reduce_ratios"))

    def test_the_cost_of_reproducible_sums_has_a_line_a_way_and_a_column_a_size(self):
        rows = [{"problem": {"T": "f32", "op": "sum", "n": n}, "how": "compensated", "cost": cost, "distinct_results": seen}
                for n, cost, seen in ((2**16, 1.25, 1), (2**20, 1.5, 2))]
        (self.results / "reproducible_cost.json").write_text(json.dumps({"bench": "reproducible_cost", **HEAD, "rows": rows}))
        self.assertIn("| f32 compensated | 1.250 | 1.500 | 2 |", self.generated("reproducible_cost"))

    def write_search_quality(self, *rows):
        (self.results / "search_quality.json").write_text(json.dumps({"bench": "search_quality", **HEAD, "rows": rows}))

    def test_the_seeds_of_a_search_are_a_line_with_how_many_reach_the_goal_and_how_far_they_stay_behind(self):
        seed = {"case": "reduce", "strategy": "auto", "budget_s": 5, "command_s": 8.0, "behind": 0.004, "reached": True, "goal_behind": 0.01, "goal_command_s": 9,
                "problem": {"T": "f32", "n": 2**22, "op": "sum"}, "compiled_code_kept": False, "search_content": "abc"}
        far = {**seed, "behind": 0.0312, "reached": False, "command_s": 8.5}
        late = {**seed, "behind": -0.002, "reached": False, "command_s": 9.25}
        other = {**seed, "strategy": "random", "goal_behind": 0, "goal_command_s": None, "compiled_code_kept": True, "search_content": "def"}
        self.write_search_quality(seed, far, late, other)
        text = self.generated("search_quality")
        self.assertIn("| reduce T=f32 n=2^22 op=sum | `auto` | 5 | at most 1 % behind, 9 s in all | 1 of 3 | 0.40 % | 3.12 % | 8.500 | 9.250 | `abc` |", text)
        self.assertIn("| `random`, compiled code kept | 5 | as good | 1 of 1 | 0.40 % | 0.40 % | 8.000 | 8.000 | `def` |", text)

    def test_a_search_of_the_former_kind_of_rows_is_refused_and_none_is_said_to_be_missing(self):
        self.assertIn("Not recorded yet.", self.generated("search_quality"))
        self.write_search_quality({"search": "--budget 9s", "command_s": 12.3, "over_fastest": 1.0125, "winner": {"items": 4}})
        self.assert_refused("failed making the table 'search_quality'")

    def test_a_row_that_could_not_be_measured_says_why(self):
        self.assertIn("| 2^30 | not measured: not enough memory |", self.generated("reduce_vs_cub"))

    def test_the_share_is_of_the_best_cold_read_of_the_same_device(self):
        rows = [{"bytes": 2**28, "policy": "cold/graph", "us": 100.0, "bytes_per_s": 2.0e12},
                {"bytes": 2**30, "policy": "cold/graph", "us": 400.0, "bytes_per_s": 2.5e12},
                {"bytes": 2**20, "policy": "hot/graph", "us": 1.0, "bytes_per_s": 9.0e12},
                {"bytes": 2**40, "policy": "cold/graph", "error": "too large", "bytes_per_s": 8.0e13}]
        (self.results / "read_ceiling.json").write_text(json.dumps({"bench": "read_ceiling", **HEAD, "rows": rows}))
        text = self.generated("reduce_vs_cub", "read_ceiling")
        self.assertIn("| 1.250 ± 0.006 | 40.0 % |", text)  # 1.0e12 / 2.5e12
        self.assertIn("| 2^30 | cold/graph | 400.0 | 2500 |", text)
        self.assertIn("| 2^40 | cold/graph | not measured: too large |", text)

    def test_a_single_spread_is_that_of_the_paired_ratio(self):
        row = comparison(2**20, "cold/graph", 4.0, 5.0, 1.0e12)
        row["spread"] = 0.02
        self.write_comparison([row])
        self.assertIn("| 1.250 ± 0.025 |", self.generated("reduce_vs_cub"))  # 1.25 * 0.02

    def test_a_policy_of_the_whole_file_counts_for_its_rows(self):
        rows = [{"bytes": 2**30, "us": 400.0, "bytes_per_s": 2.5e12}, {"bytes": 2**33, "error": "not measured: too large"}]
        (self.results / "read_ceiling.json").write_text(json.dumps({**HEAD, "policy": "cold/graph", "rows": rows}))
        text = self.generated("read_ceiling")
        self.assertIn("| 2^30 | cold/graph | 400.0 | 2500 |", text)
        self.assertIn("| 2^33 | cold/graph | not measured: too large |", text)

    def test_fields_that_were_not_recorded_are_said_to_be(self):
        self.write_comparison([{"problem": {"n": 1024}, "attune_us": 1.0, "configuration": '{"b":true}'}])
        self.assertIn("| 2^10 | 1.000 | not recorded | not recorded | not recorded | b=true |",
                      self.generated("reduce_vs_cub"))

    def test_fuzzers_have_a_row_each_of_all_their_runs_and_their_findings_are_counted(self):
        self.assertIn("No long run of the fuzzers is recorded yet.", self.generated("fuzzers"))
        results = self.root / "tests/fuzz/results"
        results.mkdir(parents=True)
        runs = ({"target": "sizes", "sanitized": True, "seconds": 1800, "inputs": 12345, "accepted": 7, "refusals": 5, "findings": [{"what": "crash", "file": "x"}]},
                {"target": "sizes", "sanitized": True, "seconds": 999, "cpu_seconds": 200, "inputs": 1000, "accepted": 1, "refusals": 6, "findings": []})
        (results / "sizes.json").write_text("".join(json.dumps(run) + "\n" for run in runs))
        self.assertIn("| sizes | yes | 2 | 2,000 | 13,345 | 8 | 6 | 1 |", self.generated("fuzzers"))
        (results / "sizes.json").write_text("".join(json.dumps({**run, "cpu_seconds": 1100}) + "\n" for run in runs))
        self.assertIn("| sizes | yes | 2 | 2,200 | 13,345 | 8 | 6 | 1 |", self.generated("fuzzers"))

    def test_gpu_tests_are_one_line(self):
        outcome = {"passed": 41, "failed": 0, "skipped": 2, **HEAD, "device": "Imaginary 1"}
        (self.root / "tests/gpu/outcome.json").write_text(json.dumps(outcome))
        self.assertIn("GPU tests: 41 passed, 0 failed, 2 skipped on Imaginary 1, driver 1.2, CUDA 13.0, 2026-01-02, "
                      "content `0123456789abcdef`.\n<!-- /table -->", self.generated("gpu_tests"))

    def test_sanitizers_tell_what_was_found_and_what_did_not_end(self):
        run = {"tool": "racecheck", "sample": "loads", "errors": 0, "warnings": 7, "checks": 21, "exit_code": 0, "seconds": 12}
        (self.root / "tests/gpu/sanitizers.json").write_text(json.dumps({**HEAD, "device": "Imaginary 1", "rows": [run, {**run, "sample": "cut", "exit_code": 124, "errors": None}]}))
        text = self.generated("sanitizers")
        self.assertIn("| racecheck | loads | 0 | 7 | 21 | 12 |", text)
        self.assertIn("| racecheck | cut | not recorded | 7 | 21 | ended with 124 |", text)

    def test_sanitizers_of_other_content_than_the_gpu_tests_are_said_to_be(self):
        (self.root / "tests/gpu/sanitizers.json").write_text(json.dumps({**HEAD, "rows": []}))
        for content, changed in ((HEAD["content"], False), ("fedcba9876543210", True)):
            (self.root / "tests/gpu/outcome.json").write_text(json.dumps({**HEAD, "content": content}))
            self.assertEqual("changed since, and this was not run again" in self.generated("sanitizers"), changed)

    def test_a_result_without_what_a_table_needs_is_refused_with_the_table_s_name(self):
        row = {"winner_search_place": 3, "search_deviation": 0.005, "search_24th_over_best": 1.02}
        for broken in ([{**row, "search_24th_over_best": None}], [{"winner_search_place": 3, "search_24th_over_best": 1.02}], []):
            (self.results / "finalists_i32_max_3000017.json").write_text(json.dumps({**HEAD, "rows": broken}))
            self.readme("large_search_finalists")
            self.assert_refused("README.md", "large_search_finalists")

    def test_nothing_recorded_is_said(self):
        (self.results / "reduce_vs_cub.json").unlink()
        text = self.generated("reduce_vs_cub", "read_ceiling", "gpu_tests")
        self.assertIn("No comparison with CUB is recorded yet.", text)
        self.assertIn("No read ceiling is recorded yet.", text)
        self.assertIn("No run of the GPU tests is recorded yet.", text)

    def test_an_unknown_table_is_refused_by_name(self):
        self.readme("reduce_vs_nothing")
        self.assert_refused("README.md", "reduce_vs_nothing", "reduce_vs_cub")

    def test_a_marker_without_its_end_is_refused(self):
        (self.root / "README.md").write_text("<!-- table:gpu_tests -->\ntext\n")
        self.assert_refused("README.md", "<!-- /table -->")

    def test_a_damaged_result_file_is_refused_by_name(self):
        (self.results / "reduce_vs_cub.json").write_text('{"rows": [')
        self.assert_refused("reduce_vs_cub.json")
        (self.results / "reduce_vs_cub.json").write_text('{"rows": 3}')
        self.assert_refused("reduce_vs_cub.json", "rows")


if __name__ == "__main__":
    unittest.main()
