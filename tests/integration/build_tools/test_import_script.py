"""tools/python/import_script.py on small scripts: what becomes of the calls of tune_kernel in them."""
import ast
import importlib.util
import itertools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(sys.argv.pop(1)).resolve() / "python" / "import_script.py"
NEEDS_NUMPY = unittest.skipUnless(importlib.util.find_spec("numpy"), "needs NumPy, which is not there")
SIMPLE = 'extern "C" __global__ void simple(float *out, int n) { if (threadIdx.x < n) out[0] = 1; }\n'
SPACE = {"block_size_x": [32, 64, 128, 256], "tile": [1, 2, 3, 4], "mode": [0, 1]}
ALLOWED = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In,
           ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.Name, ast.Load, ast.Constant, ast.Tuple, ast.Call)


def call(before="", source=repr(SIMPLE), size="1000", arguments="[]", space=SPACE, **options):
    """A script that tunes one kernel."""
    keywords = "".join(f", {name}={value}" for name, value in options.items())
    return f'import kernel_tuner\n{before}\nresults, env = kernel_tuner.tune_kernel("simple", {source}, {size}, {arguments}, {space!r}{keywords})\n'


class Scripts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="attune import script ")
        self.addCleanup(temporary.cleanup)
        self.home = Path(temporary.name).resolve()
        self.folder = self.home / "taken"

    def put(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run_tool(self, script, *words, name="script.py", options=()):
        path = self.put(name, script)
        return subprocess.run([sys.executable, str(TOOL), *options, str(path), str(self.folder), *(("--",) + words if words else ())], capture_output=True, text=True, check=False,
                              cwd=self.home.parent)

    def told(self, script, *words, code=0, options=()):
        run = self.run_tool(script, *words, options=("--json",) + tuple(options))
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        told = json.loads(run.stdout)
        self.assertEqual(told["exit_code"], code)
        return told

    def file(self, name="simple.json"):
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def taken(self, script, *words, code=0):
        self.told(script, *words, code=code)
        return self.file()

    def conditions(self, script, code=0):
        return [one["Expression"] for one in self.taken(script, code=code)["ConfigurationSpace"]["Conditions"]]

    def count(self, document):
        """Configurations that satisfy the conditions, each of which says no more than the reader of such files knows."""
        space = {one["Name"]: one["Values"] for one in document["ConfigurationSpace"]["TuningParameters"]}
        texts = [one["Expression"] for one in document["ConfigurationSpace"]["Conditions"]]
        for one in document["ConfigurationSpace"]["Conditions"]:
            nodes = list(ast.walk(ast.parse(one["Expression"], mode="eval")))
            self.assertTrue(all(isinstance(node, ALLOWED) for node in nodes), one)
            names = {node.id for node in nodes if isinstance(node, ast.Name)} - {"min", "max", "abs", "int"}
            self.assertEqual(names, set(one["Parameters"]))
        points = [dict(zip(space, values)) for values in itertools.product(*space.values())]
        return sum(all(eval(text, {}, dict(point)) for text in texts) for point in points)


class Calls(Scripts):
    def test_a_call_becomes_a_t1_file_with_its_source_beside_it_byte_for_byte(self):
        source = SIMPLE + "// \u00e9\n\n"
        document = self.taken(call(source=repr(source)))
        self.assertEqual((self.folder / "simple.cu").read_bytes(), source.encode())
        self.assertEqual(document["ConfigurationSpace"]["TuningParameters"][1], {"Name": "tile", "Type": "int", "Values": [1, 2, 3, 4]})
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


class Restrictions(Scripts):
    def test_texts_are_taken_as_they_are(self):
        texts = ["tile * block_size_x <= 256", "mode == 0 or tile in (1, 2)"]
        document = self.taken(call(restrictions=repr(texts)))
        self.assertEqual([one["Expression"] for one in document["ConfigurationSpace"]["Conditions"]], texts)
        # tile * block <= 256: 4 + 4 + 2 + 1 = 11, of those with tile <= 2: 2 + 2 + 2 + 1 = 7
        self.assertEqual(self.count(document), 11 + 7)

    def test_texts_with_chains_and_lists_are_said_in_the_words_of_conditions(self):
        self.assertEqual(self.conditions(call(restrictions='["64 <= block_size_x < 256 and tile not in [3]"]')), ["64 <= block_size_x", "block_size_x < 256", "tile != 3"])

    def test_a_lambda_of_the_dictionary_is_read_with_what_stands_around_it(self):
        before = "LIMIT = 256\ndef restriction(factor):\n    return lambda p: p['block_size_x'] * p[\"tile\"] * factor <= LIMIT"
        self.assertEqual(self.conditions(call(before, restrictions="restriction(2)")), ["block_size_x * tile * 2 <= 256"])

    def test_a_lambda_of_named_parameters_is_read(self):
        self.assertEqual(self.conditions(call(restrictions="[lambda tile, block_size_x: tile * block_size_x > 64]")), ["tile * block_size_x > 64"])

    def test_a_function_with_the_names_that_it_takes_is_read(self):
        self.assertEqual(self.conditions(call("def big(a, b):\n    return a > b * 32", restrictions='[(big, ["block_size_x", "tile"])]')), ["block_size_x > tile * 32"])

    def test_lambdas_in_one_line_are_told_apart(self):
        self.assertEqual(self.conditions(call(restrictions='[lambda p: p["tile"] > 1, lambda p: p["tile"] < 4, lambda p: p["mode"] == 1]')), ["tile > 1", "tile < 4", "mode == 1"])

    def test_a_function_of_several_statements_is_read(self):
        before = '''
WIDTHS = {"small": 64}
def threads(p, factor=2):
    return p["block_size_x"] * factor
def valid(p):
    """Whether it runs."""
    total = threads(p) * p["tile"]
    if p["mode"] == 1:
        return total <= 512
    for tile in (3, 4):
        if p["tile"] == tile and total > 256:
            return False
    return total >= WIDTHS["small"]'''
        told = self.told(call(before, restrictions="valid"))
        self.assertIn("read from its source", told["calls"][0]["taken"][0])
        # mode 1, 2 * block * tile <= 512: 4 + 4 + 2 + 1 = 11 as above; mode 0: all 8 of tiles 1 and 2; of tile 3, 2 * 32 * 3 = 192 only; of tile 4, 256 only
        self.assertEqual(self.count(self.file()), 11 + 8 + 1 + 1)

    def test_all_and_any_and_comprehensions_are_read(self):
        told = self.told(call(restrictions='lambda p: all(p[name] % 2 == 0 for name in ["block_size_x", "tile"]) and any([p["mode"] == 1, p["tile"] > 3])'))
        self.assertIn("read from its source", told["calls"][0]["taken"][0])
        self.assertEqual(self.count(self.file()), 4 * (2 + 1))  # mode 1: tiles 2 and 4; mode 0: tile 4

    def test_what_cannot_be_read_is_tried_at_every_combination(self):
        told = self.told(call("import math", restrictions='lambda p: math.gcd(p["block_size_x"], p["tile"] * 32) == 64'))
        self.assertIn("tried at every combination", told["calls"][0]["taken"][0])
        # gcd(b, 32 t) == 64: t = 2: b = 64, 128, 256; t = 4: b = 64
        self.assertEqual(self.count(self.file()), 2 * (3 + 1))
        self.assertTrue(all("mode" not in one["Parameters"] for one in self.file()["ConfigurationSpace"]["Conditions"]))

    def test_what_is_tried_is_said_of_numbers_by_bounds_and_of_texts_by_name(self):
        space = {"n": list(range(10)), "kind": ["one", "two", "three"]}
        self.assertEqual(self.conditions(call(space=space, restrictions='[lambda p: len("x" * p["n"]) < 4, lambda p: len(p["kind"]) == 3]')), ["n <= 3", "kind != 'three'"])

    def test_a_function_that_can_only_be_tried_at_too_many_points_is_refused(self):
        space = {name: list(range(40)) for name in "abcde"}  # 40^5 is 102 million
        told = self.told(call(space=space, restrictions='lambda p: hash((p["a"], p["b"], p["c"], p["d"], p["e"])) % 2 == 0'), code=5)
        self.assertIn("102400000 combinations", told["calls"][0]["problems"][0])
        self.assertFalse(self.file()["Import"]["importable"])

    def test_combinations_that_divide_by_zero_are_kept_with_a_note(self):
        told = self.told(call(restrictions='["tile % mode == 0"]'))
        self.assertIn("divides by zero at 4 of 8", told["calls"][0]["notes"][0])
        self.assertEqual(self.conditions(call(restrictions='["8 % (tile - 1) == 0"]')), ["tile != 4"])  # 8 % 0: kept, 8 % 1 and 8 % 2 are 0, 8 % 3 is 2

    def test_a_guard_stays_with_what_it_guards(self):
        self.assertEqual(self.conditions(call(restrictions='["mode != 0 and tile % mode == 0"]')), ["mode != 0 and tile % mode == 0"])

    def test_a_restriction_that_fails_is_named(self):
        problem = self.told(call(restrictions='[lambda p: p["tiles"] > 1]'), code=5)["calls"][0]["problems"][0]
        self.assertIn("the lambda in line", problem)
        self.assertIn("tiles", problem)


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
        self.assertEqual([found[1][key] for key in ("Size", "Shape", "DType", "DataSource")], [1000, [1000], "float32", "args/1.npy"])

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
    def test_constant_memory_is_a_symbol(self):
        found = self.arguments("f = numpy.random.rand(9).astype(numpy.float32)", "[f, f, f, numpy.int32(9)]", cmem_args='{"d_filter": f * 2}')
        self.assertEqual([found[4][key] for key in ("Name", "MemoryType", "MemType", "Size", "DataSource")], ["d_filter", "Symbol", "Constant", 9, "args/d_filter.npy"])

    @NEEDS_NUMPY
    def test_contents_of_large_arrays_are_left_out_with_a_note(self):
        script = call("import numpy\na = numpy.random.rand(1 << 18)", source=repr(self.VECTOR_ADD), arguments="[a, a, a, numpy.int32(1)]")
        self.assertIn("2097152 bytes are not kept", self.told(script, options=("--largest-array", "1"))["calls"][0]["notes"][0])
        self.assertNotIn("DataSource", self.file()["KernelSpecification"]["Arguments"][0])

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
