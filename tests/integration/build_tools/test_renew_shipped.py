"""tools/renew_shipped.py with a made-up attune (a test double: no GPU is here), and the problems of tools/shipped_problems.py."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOOLS = Path(sys.argv.pop(1))
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import renewal
import shipped_problems

ATTUNE = f"#!{sys.executable} -IS" + """
import json, pathlib, signal, sys, time
folder = pathlib.Path(__file__).parent
if sys.argv[1] == "devices":
    print(json.dumps({"here": [{"name": name} for name in (folder / "gpus").read_text().splitlines()], "known": [], "unavailable": "no driver"}))
    sys.exit(0)
with open(folder / "calls", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
def interrupted(*_):
    (folder / "interrupted").write_text("")
    sys.exit(130)
signal.signal(signal.SIGINT, interrupted)
calls = (folder / "calls").read_text().splitlines()
if (folder / "broken_on_1").exists() and "--device 1 " in " ".join(sys.argv):
    while not (folder / "started").exists():
        time.sleep(0.01)
    sys.exit(4)
if (folder / "slow").exists() or (folder / "slow_after").exists() and len(calls) > int((folder / "slow_after").read_text()):
    (folder / "started").write_text("")
    time.sleep(60)
if (folder / "broken").exists():
    print("the words of the failure")
    sys.exit(4)
if sys.argv[1] == "record":
    pathlib.Path(sys.argv[sys.argv.index("--output") + 1]).write_text("new")
"""


class RenewShipped(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="attune renew ")
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)
        self.attune = self.folder / "attune"
        self.attune.write_text(ATTUNE)
        self.attune.chmod(0o755)
        for template in ("reduce", "argreduce", "segmented_reduce", "histogram"):
            (self.folder / "root/templates" / template / "recordings").mkdir(parents=True)
        self.old = self.folder / "root/templates/reduce/recordings/h200_f32_sum_hot.json.zst"
        self.old.write_text("old")
        self.gpus("NVIDIA H200")

    def gpus(self, *names):
        (self.folder / "gpus").write_text("\n".join(names))

    def words(self, *more):
        return [sys.executable, str(TOOLS / "renew_shipped.py"), str(self.attune), str(self.folder / "work"), "--root", str(self.folder / "root"), *more]

    def renew(self, *more):
        return subprocess.run(self.words(*more), capture_output=True, text=True, check=False)

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def call_of(self, template, recording):
        """The one that made it."""
        found = [call for call in self.calls() if f"part.{template}.{recording}.json.zst" in call]
        self.assertEqual(len(found), 1, recording)
        return found[0]

    def test_grids_and_the_other_recordings_are_measured_once_and_replaced_at_the_end(self):
        done = self.renew()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.old.read_text(), "new")
        self.assertEqual(len(self.calls()), len(shipped_problems.steps("h200")) + 1)
        other = self.call_of("reduce", "h200_f32_sum_hot")
        self.assertIn(f"--problems {self.old}", other)
        self.assertIn(f"--try {self.old}", other)
        self.assertIn("--policy hot/graph", other)
        for step in shipped_problems.steps("h200"):
            call = self.call_of(step.template, step.recording)
            self.assertTrue(call.startswith(f"record {step.template} "), call)
            self.assertIn(f"--policy {step.policy} --finalists {step.finalists} --epochs {step.epochs} --device 0 ", call)
            self.assertIn(f"--budget {step.budget} ", call)
            self.assertIn("--strategy auto ", call)
            self.assertEqual((self.folder / "root/templates" / step.template / "recordings" / f"{step.recording}.json.zst").read_text(), "new")
        # The next renewal begins with nothing: it does not put in place what an earlier one has measured.
        self.old.write_text("newer")
        (self.folder / "broken").touch()
        self.assertEqual(self.renew().returncode, 1)
        self.assertEqual(self.old.read_text(), "newer")

    def test_a_ladder_s_recording_has_every_rung_anew_whatever_had_a_chance(self):
        ladder = self.old.with_name("h200_ladder_f32_cold.json.zst")
        ladder.write_text("old")
        self.gpus("NVIDIA H200", "NVIDIA H200")
        self.assertEqual(self.renew().returncode, 0)
        rungs, record = [call for call in self.calls() if f"--problems {ladder}" in call]
        self.assertTrue(rungs.startswith(f"ladder reduce --problems {ladder} --policy cold/graph"), rungs)
        self.assertNotIn("--budget", rungs)
        self.assertTrue(record.startswith(f"record reduce --problems {ladder}"), record)
        self.assertEqual(rungs.split("--device ")[1].split(" ")[0], record.split("--device ")[1].split(" ")[0])
        self.assertEqual(rungs.split("--db ")[1].split(" ")[0], record.split("--db ")[1].split(" ")[0])

    def test_another_executable_does_all_steps_again(self):
        (self.folder / "slow").touch()
        self.assertEqual(self.renew("--template", "histogram", "--time", "1s").returncode, 75)
        (self.folder / "slow").unlink()
        (self.folder / "work/recordings/reduce.h200_f32_sum_hot.json.zst").write_text("of the other")
        self.attune.write_text(ATTUNE + "# of other templates\n")
        self.assertEqual(self.renew().returncode, 0)
        self.assertEqual(len(self.calls()), 1 + len(shipped_problems.steps("h200")) + 1)

    def test_templates_that_are_not_shipped_are_refused(self):
        for more in ([], ["--template", "histogram"]):
            done = self.renew("--template", "nosuch", *more)
            self.assertEqual(done.returncode, 2)
            self.assertIn("nosuch: the templates are argreduce, histogram", done.stderr)
        self.assertEqual(self.calls(), [])

    def test_a_folder_of_something_else_is_left_as_it_is(self):
        work = self.folder / "work"
        (work / "recordings").mkdir(parents=True)
        (work / "recordings/precious").write_text("")
        for _ in range(2):
            done = self.renew()
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{work} holds something that no renewal has made", done.stderr)
            self.attune.write_text(ATTUNE + "# another\n")
            (work / "executable").write_text("of somebody, not a renewal's stamp")
        self.assertEqual(sorted(path.name for path in work.iterdir()), ["executable", "recordings"])
        self.assertTrue((work / "recordings/precious").exists())
        shutil.rmtree(work)
        work.write_text("a file")
        self.assertEqual(self.renew().returncode, 2)
        self.assertEqual(work.read_text(), "a file")

    def test_what_is_done_of_one_template_outlives_the_renewal_of_another(self):
        (self.folder / "slow_after").write_text("6")
        self.assertEqual(self.renew("--time", "2s").returncode, 75)
        (self.folder / "slow_after").unlink()
        done = {path.relative_to(self.folder) for path in (self.folder / "work").glob("recordings/*") if "histogram" not in path.name}
        self.assertTrue(done)
        database = self.folder / "work/renewed.reduce.db"
        database.write_text("measured")
        self.assertEqual(self.renew("--template", "histogram").returncode, 0)
        self.assertTrue(all((self.folder / path).exists() for path in done))
        self.assertEqual(database.read_text(), "measured")
        self.assertEqual(self.renew("--template", "reduce").returncode, 0)
        self.assertFalse(database.exists())

    def test_an_executable_that_writes_nothing_is_told(self):
        self.attune.write_text(ATTUNE.replace('if sys.argv[1] == "record"', "if False"))
        done = self.renew()
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrote no recording", done.stderr)
        self.attune.write_text("#!/bin/sh\n")
        done = self.renew()
        self.assertEqual(done.returncode, 4)
        self.assertIn("lists no devices", done.stderr)

    def test_a_part_can_be_renewed_alone_and_the_rest_later(self):
        self.assertEqual(self.renew("--template", "histogram").returncode, 0)
        self.assertTrue(all(call.split()[1] == "histogram" for call in self.calls()))
        self.assertEqual(self.old.read_text(), "old")
        self.assertEqual(self.renew().returncode, 0)
        self.assertEqual(self.old.read_text(), "new")

    def test_a_step_that_fails_ends_it_with_its_words_and_replaces_nothing(self):
        (self.folder / "broken").touch()
        done = self.renew()
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with code 4", done.stderr)
        self.assertIn("the words of the failure", done.stderr)
        self.assertEqual(self.old.read_text(), "old")
        self.assertEqual(len(self.calls()), 1)

    def test_a_recording_that_cannot_be_put_in_its_place_is_told_and_the_same_command_continues(self):
        in_the_way = self.old.with_name("part." + self.old.name)  # what is copied first
        in_the_way.mkdir()
        failed = self.renew()
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("Everything is measured", failed.stderr)
        calls = len(self.calls())
        in_the_way.rmdir()
        self.assertEqual(self.renew().returncode, 0)
        self.assertEqual(len(self.calls()), calls)

    def test_when_time_is_up_the_step_is_interrupted_and_the_same_command_continues(self):
        (self.folder / "slow").touch()
        done = self.renew("--time", "1s")
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertTrue((self.folder / "interrupted").exists())
        self.assertEqual(self.old.read_text(), "old")
        (self.folder / "slow").unlink()
        self.assertEqual(self.renew().returncode, 0)
        self.assertEqual(len(self.calls()), len(shipped_problems.steps("h200")) + 2)  # the interrupted one twice

    def test_several_gpus_take_one_recording_after_the_other_and_share_the_processors(self):
        self.gpus(*["NVIDIA H200"] * 3)
        self.assertEqual(self.renew("--device", "0,2").returncode, 0)
        used = [call.split("--device ")[1].split(" ")[0] for call in self.calls()]
        self.assertEqual(set(used), {"0", "2"})
        self.assertEqual(len(used), len(shipped_problems.steps("h200")) + 1)
        self.assertIn(f"--compile-workers {max(1, os.cpu_count() // 2 - 1)} ", self.calls()[0])

    def test_the_first_that_fails_stops_the_others(self):
        self.gpus(*["NVIDIA H200"] * 2)
        (self.folder / "broken_on_1").touch()
        (self.folder / "slow").touch()
        done = self.renew()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("ended with code 4", done.stderr)
        self.assertTrue((self.folder / "interrupted").exists())

    def test_another_kind_of_gpu_gets_recordings_of_its_own_from_what_won_on_this_one(self):
        self.gpus("NVIDIA H100 80GB HBM3")
        self.assertEqual(self.renew("--only-measure").returncode, 0)
        self.assertEqual((self.folder / "work/recordings/reduce.h100_f32_sum_hot.json.zst").read_text(), "new")
        self.assertIn(f"--try {self.old}", self.call_of("reduce", "h100_f32_sum_hot"))
        own = self.old.with_name("h100_f32_sum_hot.json.zst")
        self.assertFalse(own.exists())
        self.assertEqual(self.renew().returncode, 0)
        self.assertEqual((self.old.read_text(), own.read_text()), ("old", "new"))
        # From then on it begins with its own.
        (self.folder / "calls").unlink()
        self.assertEqual(self.renew("--template", "reduce").returncode, 0)
        self.assertIn(f"--try {own}", self.call_of("reduce", "h100_f32_sum_hot"))
        self.assertEqual(sorted(file.name for file in self.old.parent.glob("*f32_sum_hot*")), [own.name, self.old.name])

    def test_kinds_of_gpus_are_not_mixed(self):
        self.gpus("NVIDIA H200", "NVIDIA H100 80GB HBM3")
        refused = self.renew()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("these are NVIDIA H100 80GB HBM3, NVIDIA H200: name those of one kind", refused.stderr)
        self.assertEqual(self.calls(), [])
        self.assertEqual(self.renew("--device", "0").returncode, 0)
        self.gpus("NVIDIA H200", "NVIDIA H200 NVL")
        self.assertEqual(self.renew().returncode, 2)

    def test_recordings_of_a_gpu_that_is_only_called_alike_are_not_replaced(self):
        told = json.dumps({"device": {"name": "NVIDIA H200 NVL"}}).encode()
        self.old.unlink()
        subprocess.run(["zstd", "-q", "-o", str(self.old)], input=told, check=True)
        before = self.old.read_bytes()
        refused = self.renew()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("h200_f32_sum_hot.json.zst of reduce is of NVIDIA H200 NVL, and would be replaced by what is measured on NVIDIA H200;", refused.stderr)
        self.assertEqual(self.calls(), [])
        self.assertEqual(self.renew("--only-measure").returncode, 0)
        self.assertEqual(self.old.read_bytes(), before)

    def test_a_kind_is_what_names_a_gpu_without_its_maker_and_memory(self):
        kinds = {"NVIDIA H200": "h200", "NVIDIA H100 80GB HBM3": "h100", "NVIDIA A100-SXM4-40GB": "a100", "NVIDIA GeForce RTX 4090": "rtx4090", "Tesla V100-PCIE-16GB": "v100",
                 "NVIDIA RTX 6000 Ada Generation": "rtx6000", "NVIDIA L40S": "l40s"}
        self.assertEqual({name: renewal.kind_of(name) for name in kinds}, kinds)

    def test_without_a_gpu_and_with_ones_that_are_not_there_it_says_so(self):
        self.assertEqual(self.renew("--device", "1").returncode, 2)
        self.assertEqual(self.renew("--device", "0,0").returncode, 2)
        self.gpus()
        done = self.renew()
        self.assertEqual(done.returncode, 4)
        self.assertIn("no driver", done.stderr)

    def test_ctrl_c_interrupts_the_step_once(self):
        (self.folder / "slow").touch()
        process = subprocess.Popen(self.words(), stderr=subprocess.PIPE, text=True)
        while not (self.folder / "started").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGTERM)
        _, told = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertIn("The same command continues", told)
        self.assertTrue((self.folder / "interrupted").exists())

    def test_wrong_arguments_are_refused(self):
        self.assertEqual(self.renew("--time", "soon").returncode, 2)
        for spoil in (lambda: self.attune.chmod(0o644), self.attune.unlink):
            spoil()
            done = self.renew()
            self.assertEqual(done.returncode, 2)
            self.assertIn("There is no executable", done.stderr)


class ShippedProblems(unittest.TestCase):
    def test_no_step_names_a_problem_twice_and_no_recording_is_made_twice(self):
        for step in shipped_problems.steps("h200"):
            self.assertEqual(len({json.dumps(problem, sort_keys=True) for problem in step.problems}), len(step.problems))
        recordings = [(step.template, step.recording) for step in shipped_problems.steps("h200") if step.recording]
        self.assertEqual(len(set(recordings)), len(recordings))

    def test_sizes_are_odd_and_lie_as_far_apart_as_is_said(self):
        for n in shipped_problems.ragged(3, 8, 23):
            self.assertEqual(n % 2, 1)
        sizes = shipped_problems.ragged(1)
        self.assertEqual(len(sizes), 21)
        self.assertTrue(all(1.9 < b / a < 2.1 for a, b in zip(sizes, sizes[1:])))

    def test_every_histogram_has_bins_and_samples_that_exist(self):
        for skew in ("unknown", *shipped_problems.STATED_SKEWS):
            problems = shipped_problems.histograms(3, 3, skew)
            self.assertTrue(all(problem["bins"] >= 2 and problem["n"] >= 256 for problem in problems))
            self.assertEqual({problem["bins"] for problem in problems if problem["T"] == "u8"}, {256})
            self.assertEqual({problem.get("skew", "unknown") for problem in problems}, {skew})


if __name__ == "__main__":
    unittest.main()
