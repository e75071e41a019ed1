"""tools/python/import_script.py on scripts whose answers come from run_kernel, which computes nothing there."""
import importlib.util
import unittest

from import_script_case import Scripts, call

SOURCE = ('__global__ void simple(float *out, const float *in, int n) { out[blockIdx.x * block_size_x + threadIdx.x] = in[0]; }\n'
          '__global__ void plain(float *out, const float *in, int n) { out[blockIdx.x * block_size_x + threadIdx.x] = in[0]; }\n')
BEFORE = """
import copy, json, pickle, numpy
source, n = {source!r}, 1024
given = [numpy.zeros(n, dtype=numpy.float32), numpy.random.rand(n).astype(numpy.float32), numpy.int32(n)]
results = kernel_tuner.run_kernel("plain", source, n, given, {{"block_size_x": 64}}{more})
"""
MADE_OF, NUMBERS_OF = 'it is made of what run_kernel of "plain" gives, which is not run here', 'its numbers are those that went into run_kernel of "plain", which is not run here'


@unittest.skipUnless(importlib.util.find_spec("numpy"), "needs NumPy, which is not there")
class Runs(Scripts):
    def answered(self, answer, before="", more="", source=SOURCE, arguments="given"):
        """The notes of a script that compares its results with this, and what its T1 file has of it."""
        script = call(BEFORE.format(source=source, more=more) + before, source="source", size="n", arguments=arguments, space={"block_size_x": [32, 64], "tile": [1, 2]},
                      answer=answer)
        told = self.told(script)["calls"][0]
        return told["notes"], self.file()["Import"]["answer"]["arguments"]

    def is_left_out(self, answer, why, **others):
        with self.subTest(answer):
            notes, answers = self.answered(f"[{answer}, None, None]", **others)
            self.assertEqual([list(one) for one in answers], [["Argument", "Name", "NotComputed"]])
            self.assertEqual(answers[0]["NotComputed"], f"{why}; give the template a reference that launches it")
            self.assertEqual([one for one in notes if one.startswith(f"answer of out: {why}")], [notes[-1]])
            self.assertFalse((self.folder / "answer").exists())

    def test_what_run_kernel_gives_and_what_is_made_of_it_are_no_answers(self):
        for made in ("results[0]", "results[0][:]", "results[0] * 2 + 1", "1 - results[0]", "numpy.sqrt(results[0])", "results[0].reshape(32, 32).T", "results[0].astype('f8')",
                     "results[0].copy()", "numpy.asarray(results[0])", "copy.deepcopy(results)[0]", "numpy.concatenate([results[0][:512], results[0][512:]])",
                     "numpy.where(results[0] > 1, results[0], given[1])"):
            self.is_left_out(made, MADE_OF)

    def test_a_copy_that_lost_its_mark_is_known_by_its_numbers(self):
        for made in ("numpy.array(results[0])", "numpy.array(results[0], dtype='f8')", "pickle.loads(pickle.dumps(results[0]))", "numpy.array(results[0].tolist(), dtype='f4')"):
            self.is_left_out(made, NUMBERS_OF)

    def test_an_answer_that_the_script_computes_is_taken(self):
        for made in ("given[1] * 2", "numpy.ones_like(results[0])", "results[1]", "given[1]"):  # the kernel only reads its second argument
            with self.subTest(made):
                notes, answers = self.answered(f"[{made}, None, None]")
                self.assertIn(answers[0].get("File"), ("answer/0.npy", "args/1.npy"))  # each content is written once
                self.assertEqual([one for one in notes if "run_kernel" in one], [])

    def test_of_several_answers_those_are_taken_that_are_computed(self):
        source = SOURCE.replace("const float *in", "float *in")
        _, answers = self.answered("[results[0], given[1] + 1, None]", source=source)
        self.assertEqual([one.get("File") for one in answers], [None, "answer/1.npy"])
        self.assertEqual(self.file()["KernelSpecification"]["Arguments"][1]["DataSource"], "args/1.npy")

    def test_data_are_not_kept_for_the_sake_of_an_answer_that_is_none(self):
        self.answered("[results[0], None, None]")
        self.assertNotIn("DataSource", self.file()["KernelSpecification"]["Arguments"][1])

    def test_an_argument_that_run_kernel_gives_is_taken_as_it_went_in_with_a_note(self):
        notes, _ = self.answered("None", arguments="[results[0], *given[1:]]")
        self.assertEqual(notes, ['out: it comes from run_kernel of "plain", which is not run here; its contents are made of what went into that'])
        self.assertEqual(self.file()["KernelSpecification"]["Arguments"][0]["Fill"], "zeros")
        self.assertEqual(self.answered("None", arguments="[given[0], results[1], results[2]]")[0], [])

    def test_the_note_says_how_the_kernel_is_launched_from_the_template(self):
        launched = '{"launches": [{"kernel": "plain", "grid": ["ceil_div(1024, block_size_x)"], "block": ["block_size_x"], "args": ["out", "in", "n"]}]}'
        self.assertTrue(self.answered("[results[0], None, None]")[0][-1].endswith(f"; the script launched it with block_size_x=64: {launched}"))
        divided = self.answered("[results[0], None, None]", more=', grid_div_x=["block_size_x", 4]')[0][-1]
        self.assertIn("with block_size_x=64, the grid divided in x by block_size_x * 4", divided)
        self.assertIn('"grid": ["ceil_div(1024, block_size_x * 4)"], "block": ["block_size_x"]', divided)

    def test_a_launch_that_is_not_plain_is_told_in_words(self):
        for more in (', grid_div_x=lambda p: p["block_size_x"]', ', grid_div_x=["block_size_x / 2"]', ', smem_args={"size": 64}'):
            with self.subTest(more):
                self.assertNotIn("launches\"", self.answered("[results[0], None, None]", more=more)[0][-1])
        other = self.answered("[results[0], None, None]", before="source = source + '// other'\n")[0][-1]
        self.assertTrue(other.endswith("the script launched it with block_size_x=64, from another source"))

    def test_scripts_that_print_sum_and_store_what_comes_back_go_on(self):
        before = ("assert repr(results[0][:2]) == 'array([0., 0.], dtype=float32)' and str(results[0][:2]) == '[0. 0.]'\n"
                  "assert type(results[0].sum()) is numpy.float32 and type(results[0][3]) is numpy.float32 and type(numpy.dot(results[0], results[0])) is numpy.float32\n"
                  "assert numpy.allclose(results[0], 0) is True and (results[0] == 0).all() and type(pickle.loads(pickle.dumps(results[0]))) is numpy.ndarray\n"
                  "json.dumps({'a': results[0].tolist()})\nnumpy.save('r.npy', results[0])\nresults[0][1] = 7\n")
        self.is_left_out("results[0]", MADE_OF, before=before)


if __name__ == "__main__":
    unittest.main()
