"""docs/tables/promise_table.py through docs/tables/doc_tables.py, on a small made-up repository."""
import json
import unittest

from tables_case import TablesCase

SOURCE = '''
TEST_CASE("it is \\"so\\"") {}
TEST_CASE_FIXTURE(Some::Fixture,
                  "a long claim that "
                  "takes two lines") {}
'''


class PromiseTable(TablesCase):
    def setUp(self):
        super().setUp()
        for name in ("tests/promises/results", "tests/unit"):
            (self.root / name).mkdir(parents=True)
        (self.root / "tests/unit/test_it.cpp").write_text(SOURCE)
        (self.root / "tests/unit/CMakeLists.txt").write_text("attune_test(unit_it LABEL cpu)\nadd_test(NAME campaign COMMAND it)\n")
        (self.root / "docs/promises.md").write_text("<!-- table:promises -->\n<!-- /table -->\n")

    def promise(self, figure="", tests=(), number=1):
        text = json.dumps({"promises": [{"number": number, "text": "It holds.", "tests": list(tests), "figure": figure}]})
        (self.root / "tests/promises/promises.json").write_text(text)

    def figures(self, name, **figures):
        text = json.dumps({"promise": 1, "date": "2026-11-21T10:00:00Z", "figures": figures})
        (self.root / f"tests/promises/results/{name}.json").write_text(text)

    def bench(self, name, **fields):
        text = json.dumps({"bench": name, "date": "2026-11-22T10:00:00Z", "device": {"name": "Imaginary 1"}, **fields})
        (self.root / f"bench/results/imaginary_1/{name}.json").write_text(text)

    def row(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.root / "docs/promises.md").read_text().splitlines()[3]

    def test_a_promise_names_its_tests_by_claim_and_file_or_by_ctest(self):
        self.promise(tests=[{"file": "tests/unit/test_it.cpp", "name": 'it is "so"'},
                            {"file": "tests/unit/test_it.cpp", "name": "a long claim that takes two lines"},
                            {"ctest": "unit_it"}, {"ctest": "campaign"}])
        row = self.row()
        self.assertIn('[test_it.cpp](../tests/unit/test_it.cpp): it is "so"<br>', row)
        self.assertIn("a long claim that takes two lines<br>ctest `unit_it`<br>ctest `campaign`", row)

    def test_a_test_that_is_not_there_is_refused_by_name(self):
        self.promise(tests=[{"file": "tests/unit/test_it.cpp", "name": "it is so"}])
        self.assert_refused("promise 1", '"it is so"', "tests/unit/test_it.cpp")
        self.promise(tests=[{"file": "tests/unit/test_gone.cpp", "name": "it is so"}])
        self.assert_refused("promise 1", "tests/unit/test_gone.cpp")
        self.promise(tests=[{"ctest": "unit"}])
        self.assert_refused("promise 1", "'unit'")

    def test_figures_between_tuned_sizes_are_of_all_seeds_and_of_no_other_tier(self):
        def row(best, tier="nearest size"):
            return {"problem": {"n": 1}, "family": "reduce f32 sum", "template": "reduce", "tier": tier, "best_ratio": best, "default_ratio": 1.0, "cub_ratio": None}
        self.promise("{dispatch_random.problems} problems, {dispatch_random.behind_best_p50:%}, at most {dispatch_random.behind_best_most:%}")
        self.assertIn("| not recorded | not recorded |", self.row())
        self.bench("dispatch_random_7", seed=7, empty=False, rows=[row(1.0), row(0.8)])
        self.bench("dispatch_random_8", seed=8, empty=False, rows=[row(1.0), row(0.5, "default")])
        self.bench("dispatch_random_empty_7", seed=7, empty=True, rows=[row(0.25, "default")])
        self.assertIn("| 3 problems, 0.00 %, at most 25.00 % | 2026-11-22 | Imaginary 1 |", self.row())  # 1 / 0.8 - 1

    def test_a_row_is_found_by_a_text_of_several_words(self):
        self.promise("{cost[path=bound kernel+scratch].ns} ns")
        self.bench("cost", rows=[{"path": "kernel+scratch", "ns": 1}, {"path": "bound kernel+scratch", "ns": 2}])
        self.assertIn("| 2 ns |", self.row())

    def test_fields_come_from_recorded_figures_with_their_date(self):
        self.promise("{kills.done} of {kills.asked} kills, {kills.file.lost} lost, {kills.share:%}")
        self.figures("01_kills", done=1000, asked=12345, file={"lost": 0}, share=0.0123)
        self.assertIn("| 1,000 of 12,345 kills, 0 lost, 1.23 % | 2026-11-21 | no GPU |", self.row())

    def test_fields_come_from_benches_by_row_with_their_device(self):
        self.promise("{overhead[threads=8].ns} ns at 8 threads, regret {overhead.p50}")
        self.bench("overhead", p50=0.25, rows=[{"threads": 1, "ns": 41.25}, {"threads": 8, "ns": 52}])
        self.assertIn("| 52 ns at 8 threads, regret 0.25 | 2026-11-22 | Imaginary 1 |", self.row())

    def test_what_was_not_recorded_is_said_to_be(self):
        self.promise("{kills.done} kills, {overhead.p50} ns")
        self.assertIn("| not recorded | not recorded | not recorded |", self.row())
        self.figures("01_kills", done=3)
        self.assertIn("| 3 kills, not recorded ns | 2026-11-21 | no GPU |", self.row())
        self.figures("02_kills", done=4)  # of another promise
        self.assertIn("| 3 kills", self.row())

    def test_check_notices_newer_figures(self):
        self.promise("{kills.done} kills")
        self.figures("01_kills", done=3)
        self.row()
        self.assertEqual(self.run_script("--check").returncode, 0)
        self.figures("01_kills", done=4)
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/promises.md", done.stdout)

    def test_damaged_files_are_refused_by_name(self):
        self.promise("{kills.done}")
        (self.root / "tests/promises/results/01_kills.json").write_text('{"figures": ')
        self.assert_refused("01_kills.json")
        (self.root / "tests/promises/promises.json").write_text('{"promises": [{"number": 1}]}')
        self.assert_refused("promises.json")


if __name__ == "__main__":
    unittest.main()
