"""What tests of tools/python/import_script.py have in common: small scripts in a folder of their own, and the tool run on them. The first argument
is the folder tools."""
import ast
import itertools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(sys.argv.pop(1)).resolve() / "python" / "import_script.py"
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
