"""docs/tables/doc_tables.py on made-up recordings of `attune ladder reduce --json`."""
import unittest

from ladder_case import ladder_event, ladder_names, LadderCase, REPOSITORY, START
import ladder_tables  # noqa: E402


def ladder(element, n, us, **how):
    return ladder_event("reduce", {"T": element, "op": "sum", "n": n}, us, **how)


class LadderTables(LadderCase):
    template = "reduce"

    def test_nothing_recorded_is_said_and_old_figures_are_not_up_to_date(self):
        self.assertIn("No ladder of the present template is recorded yet.", self.generated("ladder_rungs"))
        self.assertIn("so no rule is decided", self.generated("rules_of_thumb"))
        self.readme("ladder_rungs")
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_each_type_is_a_table_of_rungs_by_ascending_size_in_gb_per_s(self):
        self.record(START, {"event": "progress"}, ladder("f32", 2**20, {"ticket": 4.0}), ladder("f32", 2**16, {"ticket": 2.0, "bulk copies": None}),
                    ladder("i32", 3000, {}))
        text = self.generated("ladder_rungs")
        self.assertIn("Imaginary 1, driver 1.2, cold/graph, 2026-01-02T03:04:05Z, content `0123456789abcdef`", text)
        self.assertIn("T=f32, GB/s\n\n| rung | 2^16 | 2^20 |", text)
        self.assertIn("| ticket | 131.1 | 1049 |", text)  # 4 * 65536 / 2 us, 4 * 1048576 / 4 us
        self.assertIn("| bulk copies | - | 419.4 |", text)
        self.assertIn("| read ceiling | 2000 | 2000 |", text)
        self.assertIn("T=i32, GB/s\n\n| rung | 3000 |", text)
        for name in ladder_names(self.template):
            self.assertEqual(text.count(f"\n| {name} |"), 2)

    def test_a_peer_has_a_line_where_it_was_recorded(self):
        self.record(START, ladder("f32", 2**20, {}, peers=[("lib::Sum", 8.0)]), ladder("f32", 2**21, {}))
        self.assertIn("| peer lib::Sum | 524.3 | - |", self.generated("ladder_rungs"))  # 4 * 1048576 / 8 us

    def test_a_problem_that_was_interrupted_is_left_out(self):
        self.record(START, ladder("f32", 2**20, {}), ladder("f32", 2**21, {}, complete=False))
        self.assertIn("| rung | 2^20 |\n", self.generated("ladder_rungs"))

    def test_a_rule_holds_at_the_sizes_where_its_figure_reaches_its_bound(self):
        # Block atomics are twice as fast as two launches at 2^17, as fast at 2^18, half as fast at 2^19; 2^23 is no middle size.
        sizes = {2**17: 5.0, 2**18: 10.0, 2**19: 20.0, 2**23: 1.0}
        self.record(START, *(ladder("f32", n, {"block atomic": us}) for n, us in sizes.items()))
        text = self.generated("rules_of_thumb")
        self.assertIn("| 1.01 | f32 | holds at 1 of 3 sizes; 0.5 (2^19) to 2 (2^17) |", text)  # rule 8
        # Rule 9: floats do without atomics at 2^19 only.
        self.assertIn("| 1.01 | f32 | holds at 1 of 4 sizes; 0.1 (2^23) to 2 (2^19) |", text)
        self.assertNotIn("integers:", text)

    def test_near_the_limit_is_a_share_of_the_read_ceiling(self):
        # 4 MiB in 2 us are 2.097 TB/s, in 4 us half of it.
        self.record(START, ladder("f32", 2**20, {"two launches": 2.0}, ceiling=2.2e12), ladder("f32", 2**21, {"two launches": 8.0}, ceiling=2.2e12))
        self.assertIn("| 0.90 | f32 | holds at 1 of 2 sizes; 0.477 (2^21) to 0.953 (2^20) |", self.generated("rules_of_thumb"))

    def test_the_width_matters_most_where_it_changes_more_than_stages_and_schedules(self):
        widths = {"tiles": 30.0, "loads of two": 20.0, "loads of four": 10.0, "grid-stride loop": 30.0, "chunks": 30.0, "two halves": 30.0}
        self.record(START, ladder("i32", 2**20, {**widths, "redux.sync": 20.0}), ladder("i32", 2**21, {**widths, "last block done": 60.0}))
        # 3 over 2, the spread of block stages; 3 over 6, that of grid stages.
        self.assertIn("| 1.01 | i32 | holds at 1 of 2 sizes; 0.5 (2^21) to 1.5 (2^20) |", self.generated("rules_of_thumb"))

    def test_a_rung_that_is_empty_at_every_size_decides_nothing(self):
        self.record(START, ladder("f32", 2**20, {"block atomic": None}))
        self.assertIn("| f32 | no figure |", self.generated("rules_of_thumb"))

    def test_every_rung_by_which_a_rule_is_decided_is_in_the_ladder(self):
        names = set(ladder_names(self.template))
        groups = [ladder_tables.BLOCK_STAGES, ladder_tables.SCHEDULES, ladder_tables.WIDTHS, ladder_tables.GRID_STAGES, *(rule.rungs for rule in ladder_tables.RULES)]
        for name in (name for group in groups for name in group):
            self.assertIn(name, names)
        lines = [line for line in (REPOSITORY / "docs/rules_of_thumb.md").read_text().splitlines() if line[:3].strip("| ").isdigit()]
        for line in lines:
            known = set(ladder_names("histogram")) if line[:3].strip("| ") in ("3", "4", "5") else names
            for name in line.split("`")[1::2]:
                self.assertIn(name, known)

    def refused(self, *words):
        self.readme("rules_of_thumb")
        self.assert_refused(*words)

    def test_a_file_that_is_no_ladder_of_a_gpu_is_refused_with_its_place(self):
        self.record({**START, "replay": True}, ladder("f32", 2**20, {}))
        self.refused("ladder_reduce.json", "replayed")
        self.record(START)
        self.refused("ladder_reduce.json", "no complete 'ladder'")
        self.record(START, {"event": "ladder"})
        self.refused("ladder_reduce.json:2:")
        self.file.write_text("{")
        self.refused("ladder_reduce.json:1:")

    def test_a_ladder_of_other_rungs_is_refused_by_the_rung_that_it_lacks(self):
        other = ladder("f32", 2**20, {})
        other["rungs"] = [rung for rung in other["rungs"] if rung["name"] != "ticket, 256 threads"]
        self.record(START, other)
        self.refused("ticket, 256 threads", "rule 6")


if __name__ == "__main__":
    unittest.main()
