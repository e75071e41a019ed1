"""What tests of docs/tables/doc_tables.py have in common: a made-up repository in a folder of its own, and the script run on it. The first argument is that script."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(sys.argv.pop(1))


class TablesCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs").mkdir()
        self.results = self.root / "bench/results/imaginary_1"
        self.results.mkdir(parents=True)

    def readme(self, *tables):
        body = "".join(f"<!-- table:{name} -->\nold\n<!-- /table -->\nbetween\n" for name in tables)
        (self.root / "README.md").write_text("# before\n" + body + "after\n")

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--root", self.root, *arguments], capture_output=True, text=True)

    def generated(self, *tables):
        self.readme(*tables)
        done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.root / "README.md").read_text()

    def assert_refused(self, *words):
        """With exit code 2 and these words, generating and checking alike; and no document is touched."""
        documents = {path: path.read_text() for path in self.root.rglob("*.md")}
        for arguments in ([], ["--check"]):
            done = self.run_script(*arguments)
            self.assertEqual(done.returncode, 2)
            for word in words:
                self.assertIn(word, done.stderr)
        self.assertEqual({path: path.read_text() for path in self.root.rglob("*.md")}, documents)
