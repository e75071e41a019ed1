"""bench/search_score on small made-up spaces. The first argument is the program."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()


def cache(best, parameters=("a", "b")):
    """20 x 20 configurations; the optimum, 1, is at a = b = best."""
    entries = {}
    for a in range(20):
        for b in range(20):
            entries[f"{a},{b}"] = {parameters[0]: a, parameters[1]: b, "time": 1.0 + (a - best) ** 2 + (b - best) ** 2}
    return {"tune_params_keys": list(parameters), "cache": entries}


class SearchScore(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "kernel").mkdir()
        for name, space in (("one", cache(7)), ("two", cache(8)), ("other", cache(3, ("a", "c")))):
            (self.root / "kernel" / f"{name}.json").write_text(json.dumps(space))

    def said(self, *arguments):
        command = [PROGRAM, self.root / "kernel", "--output", self.root / "results", "--runs", "5", "--budget", "60", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def rows(self):
        return json.loads((self.root / "results/search_score.json").read_text())["rows"]

    def names(self):
        return [(row["file"], row["strategy"], row["warm"]) for row in self.rows()]

    def test_each_space_is_scored_cold_and_where_others_tell_of_it_warm_without_itself(self):
        self.said("--strategies", "random,model")
        self.assertEqual(self.names(), [("kernel/one.json", "model", False), ("kernel/one.json", "model", True), ("kernel/one.json", "random", False),
                                        ("kernel/one.json", "random", True), ("kernel/other.json", "model", False), ("kernel/other.json", "random", False),
                                        ("kernel/two.json", "model", False), ("kernel/two.json", "model", True), ("kernel/two.json", "random", False),
                                        ("kernel/two.json", "random", True)])
        rows = {name: row for name, row in zip(self.names(), self.rows())}
        self.assertEqual([hint["file"] for hint in rows["kernel/one.json", "model", True]["hints"]], ["kernel/two.json"])
        self.assertEqual(rows["kernel/one.json", "model", False]["hints"], [])
        cold, warm = rows["kernel/one.json", "random", False], rows["kernel/one.json", "random", True]
        self.assertEqual(cold["score"], warm["score"], "random search makes nothing of hints")
        self.assertGreater(rows["kernel/one.json", "model", False]["score"], cold["score"])
        self.assertNotIn(str(self.root), json.dumps(self.rows()), "no machine's paths in results")

    def test_a_second_run_goes_on_where_the_first_stopped(self):
        self.said("--strategies", "random", "--only", "one")
        before = self.rows()
        self.assertEqual(len(before), 2)
        self.assertEqual(len(self.said("--strategies", "random")), 1 + 3, "those of 'one' are there already")
        self.assertEqual([row for row in self.rows() if row["file"] == "kernel/one.json"], before)
        self.assertEqual(len(self.said("--strategies", "random")), 1)
        self.assertEqual(len(self.said("--strategies", "random", "--again")), 1 + 5)

    def test_what_a_row_does_not_hold_for_is_made_anew(self):
        self.said("--strategies", "random", "--only", "one")
        (self.root / "kernel/two.json").write_text(json.dumps(cache(9)))
        said = self.said("--strategies", "random", "--only", "one")
        self.assertEqual(len(said), 1 + 1, "another file of the hints concerns the warm row alone")
        self.assertIn("warm", said[0])
        self.said("--strategies", "random", "--only", "one", "--seed", "7")
        self.assertEqual([row["seed"] for row in self.rows()], [7, 7])

    def test_parts_are_merged_into_what_is_there(self):
        self.said("--strategies", "random")
        self.said("--strategies", "local", "--only", "two")
        self.assertEqual(len(self.names()), 5 + 2)
        self.assertIn(("kernel/two.json", "local", True), self.names())

    def test_traces_of_others_are_scored_by_the_same_definition(self):
        traces = self.root / "traces.jsonl"
        lines = [{"file": "kernel/one.json", "strategy": "at once", "times": [1.0]}, {"file": "kernel/one.json", "strategy": "never", "times": [None] * 60}]
        traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
        at_once, never = map(json.loads, self.said("--traces", traces))
        self.assertEqual((at_once["score"], at_once["at_25"], at_once["runs"], at_once["space"]), (1.0, 1.0, 1, "kernel"))
        self.assertLess(never["score"], 0)

    def test_a_strategy_that_needs_a_database_is_refused(self):
        done = subprocess.run([PROGRAM, self.root / "kernel", "--output", self.root / "results", "--strategies", "winners"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("winners", done.stderr)


if __name__ == "__main__":
    unittest.main()
