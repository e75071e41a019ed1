"""tools/python/import_script.py on small scripts: what becomes of the calls of tune_kernel in them."""
import importlib.util
import json
import unittest

from import_script_case import SIMPLE, SPACE, Scripts, call

NEEDS_NUMPY = unittest.skipUnless(importlib.util.find_spec("numpy"), "needs NumPy, which is not there")


class Calls(Scripts):
    def test_a_call_becomes_a_t1_file_with_its_source_beside_it_byte_for_byte(self):
        source = SIMPLE + "// \u00e9\n\n"
        document = self.taken(call(source=repr(source)))
        self.assertEqual((self.folder / "simple.cu").read_bytes(), source.encode())
        self.assertEqual(document["ConfigurationSpace"]["TuningParameters"][1], {"Name": "tile", "Type": "int", "Values": [1, 2, 3, 4], "Default": 1})
        kernel = document["KernelSpecification"]
        self.assertEqual([kernel[key] for key in ("Language", "KernelName", "KernelFile", "GlobalSizeType")], ["CUDA", "simple", "simple.cu", "CUDA"])
        self.assertEqual(document["Import"]["from"], "Kernel Tuner script")
        self.assertEqual(document["Import"]["script"], "script.py")

    def test_a_file_of_arguments_by_position_says_what_keywords_say(self):
        keywords = self.taken(call(grid_div_x='["tile"]', grid_div_y="[]", restrictions='["tile > 1"]'))
        by_position = self.taken(f'from kernel_tuner import tune_kernel\ntune_kernel("simple", {SIMPLE!r}, 1000, [], {SPACE!r}, ["tile"], [], None, ["tile > 1"])')
        self.assertEqual(keywords, by_position)

    def test_several_calls_of_one_kernel_become_files_with_a_number_and_share_the_source(self):
        told = self.told(call() + call() + call(source=repr(SIMPLE + "// other")))
        self.assertEqual([one["file"] for one in told["calls"]], ["simple.json", "simple_2.json", "simple_3.json"])
        self.assertEqual([self.file(one["file"])["KernelSpecification"]["KernelFile"] for one in told["calls"]], ["simple.cu", "simple.cu", "simple_2.cu"])

    def test_values_have_the_type_of_all_of_them(self):
        space = {"a": [1, 2], "b": [0.5, 1], "c": [True, False], "d": ["float", "double"]}
        found = self.taken(call(space=space))["ConfigurationSpace"]["TuningParameters"]
        self.assertEqual([(one["Name"], one["Type"], one["Values"]) for one in found],
                         [("a", "int", [1, 2]), ("b", "float", [0.5, 1]), ("c", "bool", [True, False]), ("d", "string", ["float", "double"])])

    def test_values_of_several_kinds_make_no_template(self):
        self.assertIn("several kinds", self.told(call(space={"a": [0, "x"]}), code=5)["calls"][0]["problems"][0])

    def test_clocks_are_left_out_with_a_note(self):
        script = "from kernel_tuner.nvml import get_nvml_gr_clocks\n" + call(space=SPACE).replace(repr(SPACE), f"{{**{SPACE!r}, **get_nvml_gr_clocks(0)}}")
        told = self.told(script)
        self.assertIn("nvml_gr_clock", told["calls"][0]["notes"][0])
        self.assertEqual(len(self.file()["ConfigurationSpace"]["TuningParameters"]), 3)


class Geometry(Scripts):
    def test_the_grid_is_divided_by_the_block_where_nothing_else_is_said(self):
        kernel = self.taken(call(space={"block_size_x": [32], "block_size_y": [4], "tile": [1]}))["KernelSpecification"]
        self.assertEqual([kernel["GridDivX"], kernel["GridDivY"], kernel["GridDivZ"]], [["block_size_x"], ["block_size_y"], []])
        self.assertEqual(kernel["LocalSize"], {"X": "block_size_x", "Y": "block_size_y", "Z": "1"})

    def test_divisors_may_be_lists_texts_numbers_and_functions(self):
        kernel = self.taken(call(grid_div_x='["block_size_x/32", "tile"]', grid_div_y='lambda p: p["tile"] * 2', grid_div_z="[4, 'block_size_x']"))["KernelSpecification"]
        self.assertEqual([kernel["GridDivX"], kernel["GridDivY"], kernel["GridDivZ"]], [["int(block_size_x/32)", "tile"], ["tile * 2"], ["4", "block_size_x"]])

    def test_an_empty_list_divides_by_one_where_the_default_would_divide(self):
        kernel = self.taken(call(grid_div_x="[]", grid_div_y="[]"))["KernelSpecification"]
        self.assertEqual([kernel["GridDivX"], kernel["GridDivY"]], [["1"], []])

    def test_quotients_that_are_whole_are_integers(self):
        kernel = self.taken(call(grid_div_x='lambda p: p["block_size_x"] / 32', grid_div_y='lambda p: p["block_size_x"] / 64'))["KernelSpecification"]
        self.assertEqual([kernel["GridDivX"], kernel["GridDivY"]], [["int(block_size_x / 32)"], ["block_size_x / 64"]])

    def test_names_of_the_block_may_be_ones_own(self):
        kernel = self.taken(call(space={"bx": [32], "by": [4]}, block_size_names='["bx", "by"]'))["KernelSpecification"]
        self.assertEqual([kernel["LocalSize"], kernel["GridDivX"], kernel["GridDivY"]], [{"X": "bx", "Y": "by", "Z": "1"}, ["bx"], ["by"]])

    def test_default_names_count_in_any_case(self):
        kernel = self.taken(call(space={"BLOCK_SIZE_X": [32]}))["KernelSpecification"]
        self.assertEqual([kernel["LocalSize"]["X"], kernel["GridDivX"]], ["BLOCK_SIZE_X", ["BLOCK_SIZE_X"]])

    def test_a_block_without_a_parameter_has_256_threads_and_divides_nothing(self):
        kernel = self.taken(call(space={"tile": [1]}))["KernelSpecification"]
        self.assertEqual([kernel["LocalSize"], kernel["GridDivX"]], [{"X": "256", "Y": "1", "Z": "1"}, []])

    def test_problem_sizes_may_be_numbers_tuples_texts_and_functions(self):
        for given, expected in (("1000", [1000]), ("(100, 200)", [100, 200]), ('"tile"', ["tile"]), ('("tile * 8", 4)', ["tile * 8", 4]),
                                ('lambda p: (p["tile"] * 8, 4)', ["tile * 8", 4]), ('lambda p: p["tile"] if p["mode"] else 7', ["(mode != 0) * tile + (mode == 0) * 7"])):
            with self.subTest(given):
                self.assertEqual(self.taken(call(size=given))["KernelSpecification"]["ProblemSize"], expected)

    def test_shared_memory_may_be_a_number_a_text_or_a_function(self):
        for given, expected in (("4096", 4096), ('"block_size_x * 4"', "block_size_x * 4"), ('lambda p: p["block_size_x"] * p["tile"] * 4', "block_size_x * tile * 4")):
            with self.subTest(given):
                self.assertEqual(self.taken(call(smem_args=f'{{"size": {given}}}'))["KernelSpecification"]["SharedMemory"], expected)

    def test_blocks_that_no_device_runs_are_left_out_once(self):
        space = {"block_size_x": [256, 512, 1024], "block_size_y": [1, 2, 4]}
        document = self.taken(call(space=space))
        self.assertEqual(document["ConfigurationSpace"]["Conditions"], [{"Expression": "block_size_x * block_size_y <= 1024", "Parameters": ["block_size_x", "block_size_y"]}])
        self.assertEqual(self.count(document), 6)  # 256: 3, 512: 2, 1024: 1
        self.assertEqual(self.conditions(call(space=space, restrictions='["block_size_x*block_size_y <= 1024"]')), ["block_size_x*block_size_y <= 1024"])

    def test_macros_that_the_source_uses_beside_the_parameters_are_named(self):
        document = self.taken(call(source=repr(SIMPLE + "// block_size_y kernel_tuner")))
        self.assertEqual(document["Import"]["macros"], {"block_size_y": "1", "kernel_tuner": "1"})

    def test_defines_take_the_place_of_the_parameters_macros(self):
        told = self.taken(call(defines='{"WIDTH": 4, "TYPE": "float", "TILES": lambda p: p["tile"] + 1}'))["Import"]
        self.assertEqual(told["macros"], {"WIDTH": "4", "TYPE": "float", "TILES": "(tile + 1)"})
        self.assertFalse(told["macros_of_parameters"])

    def test_a_source_that_uses_the_size_of_the_grid_makes_no_template(self):
        self.assertIn("grid_size_x", self.told(call(source=repr(SIMPLE + "// grid_size_x")), code=5)["calls"][0]["problems"][0])


class Sources(Scripts):
    def test_a_file_is_copied_with_the_headers_beside_it(self):
        self.put("kernels/own.cu", '#include "lib/a.cuh"\n#include <math.h>\n' + SIMPLE)
        self.put("kernels/lib/a.cuh", '#include "b.cuh"\r\n')
        self.put("kernels/lib/b.cuh", b"// \xff\n")
        self.assertEqual(self.taken(call(source='"kernels/own.cu"'))["KernelSpecification"]["KernelFile"], "own.cu")
        self.assertEqual((self.folder / "own.cu").read_bytes(), (self.home / "kernels/own.cu").read_bytes())
        self.assertEqual((self.folder / "lib/a.cuh").read_bytes(), b'#include "b.cuh"\r\n')
        self.assertEqual((self.folder / "lib/b.cuh").read_bytes(), b"// \xff\n")

    def test_headers_of_include_folders_are_copied_and_the_option_left_out(self):
        self.put("headers/c.cuh", "// c\n")
        kernel = self.taken(call(source=repr('#include "c.cuh"\n' + SIMPLE), compiler_options='["-Iheaders", "--use_fast_math"]'))["KernelSpecification"]
        self.assertEqual(kernel["CompilerOptions"], ["--use_fast_math"])
        self.assertEqual((self.folder / "c.cuh").read_bytes(), b"// c\n")

    def test_a_header_that_is_not_there_is_noted(self):
        self.assertIn("gone.cuh", self.told(call(source=repr('#include "gone.cuh"\n' + SIMPLE)))["calls"][0]["notes"][0])

    def test_a_source_that_is_made_for_each_configuration_makes_no_template(self):
        told = self.told(call("def make(p):\n    return '__global__ void simple() { %d; }' % p['block_size_x']", source="make", lang='"CUDA"', restrictions='["block_size_x > 64"]'), code=5)
        self.assertIn("make()", told["calls"][0]["problems"][0])
        self.assertEqual((self.folder / "simple.cu").read_text(encoding="utf-8"), "__global__ void simple() { 128; }")

    def test_kernels_of_other_languages_make_no_template(self):
        self.assertIn("OpenCL", self.told(call(source='"__kernel void simple() {}"'), code=5)["calls"][0]["problems"][0])
        self.assertIn("not CUDA", self.told(call(lang='"C"'), code=5)["calls"][0]["problems"][0])

    def test_texture_memory_makes_no_template(self):
        self.assertIn("texture memory", self.told(call(texmem_args='{"tex": None}'), code=5)["calls"][0]["problems"][0])


class Arguments(Scripts):
    VECTOR_ADD = 'extern "C" __global__ void __launch_bounds__(256)\nsimple(float *c, const float *__restrict__ a, const float* b, /* how many */ int n) {}\n'

    def arguments(self, before, given, **options):
        return self.taken(call("import numpy\n" + before, source=repr(self.VECTOR_ADD), arguments=given, **options))["KernelSpecification"]["Arguments"]

    def test_numbers_of_python_are_taken_with_a_note(self):
        told = self.told(call(source=repr(SIMPLE), arguments="[1.5, 7]"))
        self.assertEqual(len(told["calls"][0]["notes"]), 2)
        self.assertEqual([(one["Name"], one["Type"], one["FillValue"]) for one in self.file()["KernelSpecification"]["Arguments"]], [("out", "float", 1.5), ("n", "int32", 7)])

    @NEEDS_NUMPY
    def test_arguments_have_names_types_and_sizes(self):
        found = self.arguments("a = numpy.random.randn(1000).astype(numpy.float32)", "[numpy.zeros_like(a), a, a * 0 + 2, numpy.int32(1000)]")
        self.assertEqual([one["Name"] for one in found], ["c", "a", "b", "n"])
        self.assertEqual([one["Type"] for one in found], ["float", "float", "float", "int32"])
        self.assertEqual([one["MemoryType"] for one in found], ["Vector", "Vector", "Vector", "Scalar"])
        self.assertEqual([one["AccessType"] for one in found], ["ReadWrite", "ReadOnly", "ReadOnly", "ReadOnly"])
        self.assertEqual([one.get("Fill") for one in found], ["zeros", "random", "constant", None])
        self.assertEqual([(one["FillType"], one.get("FillValue")) for one in found], [("Constant", 0), ("Random", None), ("Constant", 2), ("Constant", 1000)])
        self.assertEqual([found[1][key] for key in ("Size", "Shape", "DType")], [1000, [1000], "float32"])

    @NEEDS_NUMPY
    def test_random_numbers_are_kept_where_results_are_compared(self):
        before = "a = numpy.random.default_rng(7).random(1000, dtype=numpy.float32)\nnumpy.save('these.npy', a)"
        found = self.arguments(before, "[a * 0, a, a + 1, numpy.int32(1000)]")
        self.assertEqual([one.get("DataSource") for one in found], [None, None, None, None])
        found = self.arguments(before, "[a * 0, a, a + 1, numpy.int32(1000)]", answer="[a + a, None, None, None]", cmem_args='{"filter": a + 2}')
        self.assertEqual([one.get("DataSource") for one in found], [None, "args/1.npy", "args/2.npy", None, "args/filter.npy"])
        self.assertEqual((self.folder / "args/1.npy").read_bytes()[-4000:], next((self.folder / "written").glob("*.these.npy")).read_bytes()[-4000:])

    @NEEDS_NUMPY
    def test_contents_are_kept_once_as_numpy_reads_them(self):
        found = self.arguments("a = numpy.arange(12, dtype=numpy.int32).reshape(3, 4)\nnumpy.save('expected.npy', a)", "[a, a.copy(), a + 1, numpy.int32(1)]")
        self.assertEqual([one["DataSource"] for one in found[:3]], ["args/0.npy", "args/0.npy", "args/2.npy"])
        self.assertEqual([found[0][key] for key in ("Fill", "Minimum", "Maximum")], ["other", 0, 11])
        import numpy
        kept = numpy.load(self.folder / "args/0.npy", allow_pickle=False)
        self.assertTrue((kept == numpy.load(next((self.folder / "written").glob("*.expected.npy")))).all() and kept.dtype == numpy.int32)

    @NEEDS_NUMPY
    def test_an_array_in_fortran_order_is_kept_as_it_lies_in_memory(self):
        self.arguments("a = numpy.asfortranarray(numpy.arange(6, dtype=numpy.float32).reshape(2, 3))", "[a, a, a, numpy.int32(1)]")
        import numpy
        self.assertEqual(numpy.load(self.folder / "args/0.npy").reshape(-1).tolist(), [0, 3, 1, 4, 2, 5])

    @NEEDS_NUMPY
    def test_an_answer_with_none_names_the_outputs(self):
        self.arguments("a = numpy.random.rand(8).astype(numpy.float32)", "[a * 0, a, a, numpy.int32(8)]", answer="[a + a, None, None, None]", atol="1e-3")
        document = self.file()
        self.assertEqual(document["Import"]["answer"]["arguments"], [{"Argument": 0, "Name": "c", "DType": "float32", "Shape": [8], "Fill": "random", "File": "answer/0.npy"}])
        self.assertEqual(document["Import"]["atol"], 1e-3)
        self.assertTrue((self.folder / "answer/0.npy").is_file())

    @NEEDS_NUMPY
    def test_an_answer_is_kept_in_the_order_of_its_argument(self):
        before = "c = numpy.zeros((2, 3), dtype=numpy.float32)\nright = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)"
        import numpy
        for argument, answer, kept in (("c", "numpy.asfortranarray(right)", [0, 1, 2, 3, 4, 5]), ("numpy.asfortranarray(c)", "right", [0, 3, 1, 4, 2, 5]),
                                       ("numpy.asfortranarray(c)", "right.ravel()", [0, 3, 1, 4, 2, 5])):
            with self.subTest(argument=argument, answer=answer):
                self.arguments(before, f"[{argument}, c, c, numpy.int32(6)]", answer=f"[{answer}, None, None, None]")
                self.assertEqual(numpy.load(self.folder / "answer/0.npy").reshape(-1).tolist(), kept)

    @NEEDS_NUMPY
    def test_an_answer_of_another_type_is_taken_in_the_argument_s_where_that_says_the_same(self):
        import numpy
        before = "c, k = numpy.zeros(4, dtype=numpy.float32), numpy.zeros(4, dtype=numpy.int32)"
        self.arguments(before, "[c, k, c, numpy.int32(4)]", answer="[numpy.arange(4) / 3, numpy.arange(4), None, None]")
        self.assertEqual(numpy.load(self.folder / "answer/0.npy").dtype, numpy.float32)
        self.assertEqual(numpy.load(self.folder / "answer/1.npy").dtype, numpy.int32)
        self.assertIn("answer of c: float64, taken as float32 as the argument is", self.file()["Import"]["notes"])
        # A fraction is no whole number, and 2^40 none of 32 bits.
        self.arguments(before, "[c, k, k, numpy.int32(4)]", answer="[None, numpy.arange(4) + 0.5, numpy.arange(4) + 2**40, None]")
        self.assertEqual(numpy.load(self.folder / "answer/1.npy").dtype, numpy.float64)
        self.assertEqual(numpy.load(self.folder / "answer/2.npy").dtype, numpy.int64)

    def test_the_defaults_are_the_first_configuration_that_the_restrictions_leave(self):
        self.run_tool(call(restrictions=repr(["block_size_x * tile == 512", "mode == 1"])))
        parameters = self.file()["ConfigurationSpace"]["TuningParameters"]
        self.assertEqual({one["Name"]: one["Default"] for one in parameters}, {"block_size_x": 128, "tile": 4, "mode": 1})

    @NEEDS_NUMPY
    def test_answers_that_name_nothing_are_none(self):
        self.arguments("a = numpy.ones(8, dtype=numpy.float32)", "[a, a, a, numpy.int32(8)]", answer="[None, None, None, None]")
        self.assertFalse(self.file()["Import"]["answer"]["given"])

    @NEEDS_NUMPY
    def test_an_answer_that_is_a_number_is_told_by_its_value(self):
        self.arguments("a = numpy.ones(8, dtype=numpy.float32)", "[a, a, a, numpy.int32(8)]", answer="[a, None, None, numpy.int32(9)]", atol="numpy.float32(0.5)")
        told = self.file()["Import"]
        self.assertEqual(told["answer"]["arguments"][1], {"Argument": 3, "Name": "n", "Value": 9})
        self.assertEqual(told["atol"], 0.5)

    @NEEDS_NUMPY
    def test_arrays_of_complex_numbers_are_vectors_of_two(self):
        found = self.arguments("a = numpy.arange(8, dtype=numpy.complex64)", "[a, a, a.astype(numpy.complex128), numpy.int32(8)]")
        self.assertEqual([(one["Type"], one["FillType"]) for one in found[:3]], [("float2", "BinaryRaw"), ("float2", "BinaryRaw"), ("double2", "BinaryRaw")])

    @NEEDS_NUMPY
    def test_numbers_that_json_does_not_have_are_in_the_files_alone(self):
        found = self.arguments("a = numpy.array([1, numpy.inf, numpy.nan, 2], dtype=numpy.float32)\nb = numpy.full(4, numpy.inf, dtype=numpy.float32)", "[a, a, b, numpy.int32(4)]")
        self.assertEqual([one.get("Fill") for one in found], ["other", "other", "other", None])
        text = (self.folder / "simple.json").read_text(encoding="utf-8")
        json.loads(text, parse_constant=lambda word: self.fail(f"{word} is no JSON"))

    @NEEDS_NUMPY
    def test_constant_memory_is_a_symbol(self):
        found = self.arguments("f = numpy.arange(9).astype(numpy.float32)", "[f, f, f, numpy.int32(9)]", cmem_args='{"d_filter": f * 2}')
        self.assertEqual([found[4][key] for key in ("Name", "MemoryType", "MemType", "Size", "DataSource")], ["d_filter", "Symbol", "Constant", 9, "args/d_filter.npy"])

    @NEEDS_NUMPY
    def test_contents_of_large_arrays_are_left_out_with_a_note(self):
        script = call("import numpy\na = numpy.arange(1 << 18, dtype=numpy.float64)", source=repr(self.VECTOR_ADD), arguments="[a, a, a, numpy.int32(1)]")
        self.assertIn("2097152 bytes are not kept", self.told(script, options=("--largest-array", "1"))["calls"][0]["notes"][0])
        self.assertNotIn("DataSource", self.file()["KernelSpecification"]["Arguments"][0])

    @NEEDS_NUMPY
    def test_a_large_answer_is_left_out_with_a_note(self):
        script = call("import numpy\na = numpy.zeros(1 << 18)", source=repr(self.VECTOR_ADD), arguments="[a, a, a, numpy.int32(1)]",
                      answer="[numpy.arange(1 << 18, dtype=numpy.float64), None, None, None]")
        self.assertIn("answer of c: its 2097152 bytes are not kept", self.told(script, options=("--largest-array", "1"))["calls"][0]["notes"][0])
        self.assertNotIn("File", self.file()["Import"]["answer"]["arguments"][0])

    @NEEDS_NUMPY
    def test_arguments_that_depend_on_the_configuration_make_no_template(self):
        script = call("import numpy\nfrom kernel_tuner.accuracy import Tunable", arguments='[Tunable("mode", [numpy.zeros(4), numpy.ones(4)]), numpy.int32(4)]')
        self.assertIn("Tunable", self.told(script, code=5)["calls"][0]["problems"][0])

    @NEEDS_NUMPY
    def test_numbers_of_numpy_are_plain_ones_in_parameters_and_sizes(self):
        script = 'import numpy\n' + call(size="(numpy.int64(100), 1)").replace("[1, 2, 3, 4]", "numpy.arange(1, 5)")
        document = self.taken(script)
        self.assertEqual(document["KernelSpecification"]["ProblemSize"], [100, 1])
        self.assertEqual(document["ConfigurationSpace"]["TuningParameters"][1]["Values"], [1, 2, 3, 4])


if __name__ == "__main__":
    unittest.main()
