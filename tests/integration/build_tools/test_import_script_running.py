"""tools/python/import_script.py on small scripts: how a script runs in it, what of that is told, and what a script may do beside tuning."""
import json
import subprocess
import sys
import unittest

from import_script_case import TOOL, Scripts, call


class Running(Scripts):
    def test_a_script_goes_on_with_the_first_valid_configuration(self):
        after = '''
import json
from kernel_tuner.util import get_best_config, get_config_string
from kernel_tuner.integration import store_results
store_results("stored.json", "simple", "", {}, 1, results, env)
best = get_best_config(results, "time")
assert len(results) == 1 and min(results, key=lambda one: one["time"]) == best and best["GFLOP/s"] == 5.0 and results[0]["power"] == 1.0
assert (best["block_size_x"], best["tile"], best["mode"]) == (64, 2, 0), best
json.dumps(results), get_config_string(best), env["device_name"]'''
        self.assertIsNone(self.told(call(restrictions='["tile > 1", "block_size_x > 32"]', metrics='{"GFLOP/s": lambda p: 5 / p["time"], "power": lambda p: p["nvml_power"]}') + after)["error"])
        self.assertFalse((self.home / "stored.json").exists())

    def test_metrics_and_objectives_are_told_with_what_a_template_has_for_them(self):
        notes = self.told(call(metrics='{"GFLOP/s": lambda p: 5 / p["time"]}', objective='"GFLOP/s"'))["calls"][0]["notes"]
        told = "\n".join(notes)
        self.assertIn('metric GFLOP/s: left out; "metrics" of template.json may say it', told)
        self.assertIn('objective GFLOP/s: left out; "objective" of template.json may say it', told)
        self.assertNotIn("objective", "\n".join(self.told(call(objective='"time"'))["calls"][0]["notes"]))

    def test_what_scripts_import_is_there_and_does_nothing(self):
        before = '''
from kernel_tuner.observers import BenchmarkObserver
from kernel_tuner.observers.nvml import NVMLObserver
from kernel_tuner.observers.observer import ContinuousObserver
from kernel_tuner.file_utils import store_output_file, store_metadata_file
from kernel_tuner.energy import energy
import kernel_tuner.strategies.common, kernel_tuner.interface
class Registers(BenchmarkObserver):
    def get_results(self):
        return {}
store_output_file("stored.json", [], {})
observer = NVMLObserver(["nvml_energy"])
observer.before_start()'''
        self.assertIsNone(self.told(call(before, observers="[observer, Registers()]"))["error"])
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), ["script.py", "taken"])

    def test_an_error_after_a_call_is_told_and_the_call_kept(self):
        told = self.told(call() + "results[0]['gone']\n")
        self.assertEqual([told["error"]["kind"], told["error"]["line"], len(told["calls"])], ["KeyError", 4, 1])
        self.assertIn("The script ended there", self.run_tool(call() + "results[0]['gone']\n").stdout)

    def test_a_script_that_ends_itself_after_a_call_is_fine(self):
        self.assertIsNone(self.told(call() + "import sys\nsys.exit(0)\n")["error"])

    def test_a_syntax_error_is_told_with_its_place(self):
        error = self.told("import kernel_tuner\nx = (1 +\n  * 2)\n", code=2)["error"]
        self.assertEqual([error["kind"], error["line"], error["column"]], ["SyntaxError", 3, 3])
        run = self.run_tool("import kernel_tuner\nx = (1 +\n  * 2)\n")
        self.assertIn("script.py:3:3: SyntaxError", run.stdout)

    def test_a_script_that_is_not_there_cannot_be_read(self):
        run = subprocess.run([sys.executable, str(TOOL), str(self.home / "gone.py"), str(self.folder)], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("gone.py: FileNotFoundError", run.stdout)

    def test_a_script_that_never_tunes_catches_nothing(self):
        self.assertIn("tune_kernel was not called", self.run_tool("print(1)\n").stdout)
        self.told("print(1)\n", code=3)

    def test_a_script_that_only_runs_kernels_catches_nothing(self):
        script = 'from kernel_tuner import run_kernel\nassert run_kernel("k", "", 1, [[1]], {}) == [[1]]\n'
        self.assertEqual(self.told(script, code=3)["runs"], 1)
        self.assertIn("run_kernel only", self.run_tool(script).stdout)

    def test_a_package_that_is_missing_is_named_with_a_remedy(self):
        error = self.told("import no_such_package.part\n" + call(), code=3)["error"]
        self.assertEqual(error["package"], "no_such_package")
        self.assertIn("-m pip install no_such_package", error["remedy"])

    def test_a_missing_numpy_has_an_exit_code_of_its_own(self):
        self.put("numpy.py", "raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\n")
        self.assertIn("pip install numpy", self.told("import numpy\n" + call(), code=4)["error"]["remedy"])

    def test_a_script_runs_in_its_own_folder_with_its_own_arguments(self):
        self.put("beside.py", "VALUE = 7\n")
        before = "import os, sys, beside\nassert __name__ == '__main__' and sys.argv[1:] == ['--fast', '3'] and os.path.exists('beside.py') and sys.argv[0] == __file__"
        self.assertIsNone(self.told(call(before, size="beside.VALUE"), "--fast", "3")["error"])
        self.assertEqual(self.file()["KernelSpecification"]["ProblemSize"], [7])

    def test_what_a_script_prints_is_no_part_of_the_report(self):
        run = self.run_tool("import os\nprint('loud')\nos.system('echo louder')\n" + call(), options=("--json",))
        json.loads(run.stdout)
        self.assertEqual(run.stderr.split(), ["loud", "louder"])

    def test_each_call_is_told_in_lines(self):
        lines = self.run_tool(call(restrictions='["tile > 1"]', verify="print")).stdout.splitlines()
        self.assertEqual(lines[0], "simple.json: kernel simple, 32 combinations, 1 conditions")
        self.assertIn("  restriction 'tile > 1': taken, 1 condition", lines)
        self.assertTrue(any(line.startswith("  note: verify: print is not taken") for line in lines))


class Behaviour(Scripts):
    """What a script does beside tuning."""

    def test_what_it_writes_takes_no_files_place_and_is_read_again(self):
        for before, mode in (("mine", "w"), ("mine", "a"), ("mine", "r+")):
            with self.subTest(mode=mode):
                results = self.put("results.json", before)
                told = self.told(call() + f'open("results.json", {mode!r}).write("yours")\nprint(repr(open("results.json").read()))\n')
                self.assertIsNone(told["error"])
                self.assertEqual(results.read_text(), before)
        run = self.run_tool(call() + 'from pathlib import Path\nPath("new.txt").write_text("here")\nprint(Path("new.txt").read_text())\n')
        self.assertIn("here", run.stderr)
        self.assertFalse((self.home / "new.txt").exists())

    def test_whatever_it_prints_and_starts_the_report_is_whole(self):
        for behind in ('import atexit; atexit.register(print, "bye")', 'import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.3), print("late"))).start()',
                       "import os; os.fork()", "import sys; sys.stdout.close()", 'import os; os.system("echo more")'):
            with self.subTest(behind=behind):
                self.assertEqual(len(self.told(call() + behind + "\n")["calls"]), 1)

    def test_whatever_it_raises_what_came_before_is_kept(self):
        for raised in ("class Q(BaseException): pass\nraise Q('z')", "raise GeneratorExit", "raise ValueError('\\ud800')"):
            with self.subTest(raised=raised):
                told = self.told(call() + raised + "\n")
                self.assertEqual(len(told["calls"]), 1)
                self.assertIsNotNone(told["error"])


if __name__ == "__main__":
    unittest.main()
