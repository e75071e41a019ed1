"""Every command of README.md and docs/cheat-sheet.md: `attune --help` knows it and its options, and its C++ compiles; README and its pictures stay small.

Arguments: the repository, the attune executable, the C++ compiler, then folders of headers.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, ATTUNE, COMPILER, *INCLUDES = sys.argv[1:]
del sys.argv[1:]
PAGES = ("README.md", "docs/cheat-sheet.md")
AXES = {"--T", "--op", "--n", "--size", "--rows", "--columns"}  # of the templates that are named
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`(attune [a-z][^`]*)`")
DECLARED = """
#include <cstdint>
#include <string>
#include <attune/runtime.hpp>
struct Given {
  const float* in; std::int64_t n, m; float *out, *value; std::int64_t* index; attune::Stream stream; const unsigned char* samples; std::uint32_t* counts;
  float *x, *y, a;
};
"""
USED = "[[maybe_unused]] auto [in, n, m, out, value, index, stream, samples, counts, x, y, a] = given;\n"


def blocks(language):
    return [(page, text) for page in PAGES for found, text in BLOCK.findall((Path(ROOT) / page).read_text()) if found == language]


def words_of(line):
    """The commands of a line of shell, each as its words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";")
    lexer.whitespace_split = True
    parts = [[]]
    for word in lexer:
        if word == ";":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def commands():
    """(page, words) of every command of attune, in blocks and in the text."""
    lines = [(page, line) for page, text in blocks("sh") for line in text.splitlines()]
    lines += [(page, text) for page in PAGES for text in SPAN.findall((Path(ROOT) / page).read_text())]
    return [(page, words) for page, line in lines for words in words_of(line) if words[:1] == ["attune"]]


def help_of(words):
    """What the help of the command says: of two words, else of one; nothing where there is no such command."""
    for names in (words[1:3], words[1:2]):
        done = subprocess.run([ATTUNE, *names, "--help"], capture_output=True, text=True)
        if done.returncode == 0 and f"Usage: attune {' '.join(names)} [" in done.stdout:
            return done.stdout
    return None


class Commands(unittest.TestCase):
    def test_every_command_and_option_is_known_to_help(self):
        found = list(commands())
        self.assertGreater(len(found), 30)
        for page, words in found:
            text = help_of(words)
            self.assertIsNotNone(text, f"{page}: {' '.join(words)}: there is no such command")
            known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text)) | AXES
            for option in words[1:]:
                if re.match(r"--?[A-Za-z]", option):
                    self.assertIn(option, known, f"{page}: {' '.join(words)}")

    def test_what_needs_neither_a_gpu_nor_files_of_the_reader_runs(self):
        alone = [["source", "reduce"], ["compile", "reduce.cu"], ["template", "list"], ["db", "path"]]
        found = [words for page, words in commands() if page == PAGES[1] and words[1:3] in alone]
        self.assertEqual([words[1:3] for words in found], [["template", "list"], ["source", "reduce"], ["compile", "reduce.cu"], ["db", "path"]])
        with tempfile.TemporaryDirectory() as folder:
            environment = {name: text for name, text in os.environ.items() if not name.startswith(("ATTUNE_", "XDG_"))}
            environment.update(HOME=folder, CUDA_VISIBLE_DEVICES="")
            for words in found:
                done = subprocess.run([ATTUNE, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{' '.join(words)}:\n{done.stderr}")

    def test_every_piece_of_program_compiles(self):
        pieces = blocks("cpp")
        self.assertEqual(len(pieces), len(PAGES))
        with tempfile.TemporaryDirectory() as folder:
            for page, text in pieces:
                source = Path(folder) / "piece.cpp"
                body = "\n".join(line for line in text.splitlines() if not line.startswith("#include"))
                source.write_text(f"{DECLARED}void piece(const Given& given) {{\n{USED}{body}\n}}\n")
                done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", *[f"-I{include}" for include in INCLUDES], str(source)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{page}:\n{done.stderr}")

    def test_readme_is_short_and_fits_a_terminal_but_for_links_and_tables(self):
        lines = (Path(ROOT) / "README.md").read_text().splitlines()
        self.assertLess(len(lines), 150)
        self.assertEqual([line for line in lines if len(line) > 100 and not line.startswith(("|", "<a "))], [])
        self.assertFalse(any(line.startswith("|") for line in lines[:40]))

    def test_pictures_are_small(self):
        pictures = list((Path(ROOT) / "docs/pictures").glob("*.png"))
        self.assertEqual(len(pictures), 2)
        self.assertTrue(all(picture.stat().st_size < 150 * 1024 for picture in pictures))


if __name__ == "__main__":
    unittest.main()
