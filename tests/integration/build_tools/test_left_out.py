"""tools/left_out.py on the shipped database, asked through the real executable."""
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS, ATTUNE, SHIPPED = Path(sys.argv.pop(1)), Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sys.path.insert(0, str(TOOLS))
import left_out


class Times(unittest.TestCase):
    def test_ratios_of_the_run_off_apply_to_the_winners_time_and_the_rest_is_of_the_search(self):
        detail = {"finalists": [{"configuration": '{"b":1}', "ratio": 1.0}, {"configuration": '{"b":2}', "ratio": 1.5}], "left": [{"configuration": '{"b":3}', "ratio": 2.0}]}
        times = left_out.times_us({'{"b":1}': 10.0, '{"b":2}': 11.0, '{"b":4}': 30.0}, '{"b": 1}', 9.0, detail)
        self.assertEqual(times, {'{"b": 1}': 10.0, '{"b": 2}': 15.0, '{"b": 3}': 20.0, '{"b": 4}': 30.0})

    def test_a_winner_whose_record_is_gone_has_the_time_of_its_row(self):
        self.assertEqual(left_out.times_us({}, '{"b":1}', 9.0, {}), {'{"b": 1}': 9.0})

    def test_what_was_not_measured_is_not_known(self):
        problem = left_out.Problem("key", '{"n":1}', {'{"b": 1}': 10.0, '{"b": 2}': 12.0})
        self.assertAlmostEqual(problem.behind({"b": 2}), 0.2)
        self.assertIsNone(problem.behind({"b": 5}))

    def test_percentiles_are_by_nearest_rank(self):
        self.assertEqual([left_out.percentile([1, 2, 3, 4], percent) for percent in (1, 50, 51, 95, 100)], [1, 2, 3, 4, 4])


class LeftOut(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The shipped results of segmented_reduce; and those of one GPU alone, like a database of one's own."""
        temporary = tempfile.TemporaryDirectory(prefix="attune left out ")
        cls.addClassCleanup(temporary.cleanup)
        cls.shipped, cls.of_one = Path(temporary.name) / "shipped.db", Path(temporary.name) / "one.db"
        shutil.copyfile(SHIPPED, cls.shipped)
        cls.cut(cls.shipped, "DELETE FROM best WHERE template_name != 'segmented_reduce'", "DELETE FROM records WHERE template_hash NOT IN (SELECT template_hash FROM best)")
        shutil.copyfile(cls.shipped, cls.of_one)
        cls.cut(cls.of_one, "DELETE FROM devices WHERE hard_key != (SELECT device_key FROM best GROUP BY device_key ORDER BY count(*) DESC LIMIT 1)",
                "DELETE FROM best WHERE device_key NOT IN (SELECT hard_key FROM devices)")

    @staticmethod
    def cut(file, *statements):
        database = sqlite3.connect(file, isolation_level=None)
        for statement in (*statements, "VACUUM"):
            database.execute(statement)
        database.close()

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="attune left out ")
        self.addCleanup(temporary.cleanup)
        self.file = Path(temporary.name) / "some.db"
        shutil.copyfile(self.of_one, self.file)

    def keep(self, condition):
        """Only these best rows of segmented_reduce."""
        with sqlite3.connect(self.file) as database:
            database.execute(f"DELETE FROM best WHERE template_name != 'segmented_reduce' OR NOT ({condition})")
            count = database.execute("SELECT count(*) FROM best").fetchone()[0]
        database.close()
        return count

    def run_tool(self, *words):
        return subprocess.run([sys.executable, "-B", str(TOOLS / "left_out.py"), "--attune", str(ATTUNE), "--db", str(self.file), *words], capture_output=True, text=True, check=False)

    def told(self, *words):
        run = self.run_tool(*words, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_every_problem_is_left_out_once_and_the_database_stays_as_it_is(self):
        count = self.keep("sizes_json LIKE '%\"rows\":1%'")
        self.assertGreater(count, 10)
        before = self.file.read_bytes()
        told = self.told("segmented_reduce", "--jobs", "2", "--worst", "3")
        self.assertEqual(told["problems"], count)
        self.assertLessEqual(told["unknown"], count)
        self.assertEqual(len(told["worst"]), 3)
        self.assertGreaterEqual(told["worst"][0]["behind"], told["worst"][1]["behind"])
        self.assertAlmostEqual(told["worst"][0]["behind"], told["most"])
        self.assertEqual(self.file.read_bytes(), before)

    def test_of_a_single_result_nothing_is_left_but_the_default(self):
        with sqlite3.connect(self.file) as database:
            key = database.execute("SELECT key FROM best WHERE template_name = 'segmented_reduce' AND default_us > 0 ORDER BY key").fetchone()[0]
        database.close()
        self.assertEqual(self.keep(f"key = '{key}'"), 1)
        told = self.told("segmented_reduce")
        self.assertEqual((told["problems"], told["slower_than_default"]), (1, 0))
        self.assertEqual([row["tier"] for row in told["worst"]], ["default"])

    def test_of_two_gpus_one_is_named(self):
        shutil.copyfile(self.shipped, self.file)
        refused = self.run_tool("segmented_reduce")
        self.assertEqual(refused.returncode, 5)
        self.assertIn("it has results of NVIDIA H200, NVIDIA H100 80GB HBM3: name one with --device", refused.stderr)
        self.keep("sizes_json LIKE '%\"rows\":1%'")
        counts = [self.told("segmented_reduce", "--device", name)["problems"] for name in ("NVIDIA H200", "NVIDIA H100 80GB HBM3")]
        self.assertGreater(min(counts), 10)

    def test_a_database_in_use_is_read_whole(self):
        count = self.keep("sizes_json LIKE '%\"rows\":1%'")
        database = sqlite3.connect(self.file, isolation_level=None)
        self.addCleanup(database.close)
        row = database.execute("SELECT * FROM best").fetchone()
        database.execute("DELETE FROM best WHERE key = ?", (row[0],))
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute(f"INSERT INTO best VALUES ({','.join('?' * len(row))})", row)  # in the log alone
        self.assertEqual(self.told("segmented_reduce")["problems"], count)

    def test_what_cannot_be_read_is_told_with_5_and_what_is_not_there_with_2(self):
        run = self.run_tool("nothing")
        self.assertEqual(run.returncode, 5)
        self.assertIn('no results of "nothing"', run.stderr)
        self.assertEqual(self.run_tool("reduce", "--device", "another").returncode, 5)
        self.file.write_text("no database at all")
        self.assertEqual(self.run_tool("reduce").returncode, 5)
        self.file.unlink()
        run = self.run_tool("reduce")
        self.assertEqual(run.returncode, 2)
        self.assertIn("There is no database", run.stderr)


unittest.main()
