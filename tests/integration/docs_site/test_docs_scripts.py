"""docs/site/check_links.py and stage.py on small made-up pages. The first argument is the folder of both."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(sys.argv.pop(1))


class DocsCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("README.md", "# Title\n[a page](docs/page.md)\n")
        self.write("docs/page.md", "# Page\n## One & two: `three`\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def check(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPTS / "check_links.py", "--root", self.root, *arguments], capture_output=True, text=True)

    def assert_mistakes(self, *lines, built=()):
        done = self.check(*built)
        self.assertEqual(done.stderr.splitlines(), list(lines))
        self.assertEqual(done.returncode, 1 if lines else 0)


class Pages(DocsCase):
    def test_links_to_pages_headings_files_folders_and_other_hosts_are_right(self):
        self.write("tests/some.cpp", "")
        self.write("docs/page.md", "# Page\n## One & two: `three`\n[here](#one--two-three) [back](../README.md#title) [source](../tests/some.cpp) [all](../tests)\n"
                                   "[elsewhere](https://example.invalid/nothing#there)\n")
        self.assert_mistakes()

    def test_a_file_that_is_not_there_is_named_with_page_and_line(self):
        self.write("docs/page.md", "# Page\n\ntext [a link\nover lines](gone.md) text\n![picture](gone.png)\n")
        self.assert_mistakes("docs/page.md:3: there is no gone.md in the repository", "docs/page.md:5: there is no gone.png in the repository")

    def test_a_heading_that_is_not_there_is_named(self):
        self.write("README.md", "# Title\n[a page](docs/page.md#one-two-three) [here](#titel)\n")
        self.assert_mistakes("README.md:2: docs/page.md has no heading #one-two-three", "README.md:2: README.md has no heading #titel")

    def test_of_equal_headings_the_second_has_a_number(self):
        self.write("README.md", "# Title\n[a page](docs/page.md#twice-1) [a page](docs/page.md#twice-2)\n")
        self.write("docs/page.md", "# Page\n## Twice\n## Twice\n")
        self.assert_mistakes("README.md:2: docs/page.md has no heading #twice-2")

    def test_raw_html_is_read_and_code_is_not(self):
        self.write("README.md", "# Title\n[a page](docs/page.md) `[no](link.md)`\n```cpp\nauto f = [x](gone); // ```\n# no heading\n```\n"
                                "<a href=\"gone.html\"><img src=\"gone.png\"></a> [here](#no-heading)\n")
        self.assert_mistakes("README.md:7: README.md has no heading #no-heading", "README.md:7: there is no gone.html in the repository",
                             "README.md:7: there is no gone.png in the repository")

    def test_a_file_outside_of_the_repository_counts_as_none(self):
        self.write("README.md", "# Title\n[a page](docs/page.md) [out](../elsewhere) [root](/etc/passwd)\n")
        self.assert_mistakes("README.md:2: there is no ../elsewhere in the repository", "README.md:2: there is no /etc/passwd in the repository")

    def test_a_page_that_nobody_names_is_told(self):
        self.write("docs/alone.md", "# Alone\n[self](alone.md)\n")
        self.assert_mistakes("docs/alone.md: no other page names it")

    def test_nothing_to_check_is_no_success(self):
        shutil.rmtree(self.root / "docs")
        (self.root / "README.md").unlink()
        self.assertEqual(self.check().returncode, 2)


class Site(DocsCase):
    def test_links_loads_and_elements_of_a_built_site_are_checked(self):
        self.write("site/index.html", "<a href='docs/page.html#there'>1</a><a href='docs/page.html#gone'>2</a><a href='gone.html'>3</a><a href='https://example.invalid'>4</a>\n"
                                      "<script src='https://example.invalid/code.js'></script><img src='picture.png'>")
        self.write("site/docs/page.html", "<h2 id='there'>There</h2><a href='../'>up</a><a name='old'></a><a href='#old'>old</a>")
        self.assert_mistakes("index.html:1: docs/page.html has no element #gone", "index.html:1: there is no gone.html", "index.html:2: loads https://example.invalid/code.js from another host",
                             "index.html:2: there is no picture.png", built=("--built", self.root / "site"))


class Stage(DocsCase):
    def stage(self, *arguments):
        """What stage.py makes of the made-up repository: it takes the one that it lies in."""
        shutil.copytree(SCRIPTS, self.root / "docs/site", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
        self.write("docs/pictures/one.png", "")
        self.write("tuner/include/attune/bound_kernel.hpp", "/// Something else.\nenum class Other {};\n/// A kernel: on one stream. More.\nclass BoundKernel {};\n")
        subprocess.run([sys.executable, "-B", self.root / "docs/site/stage.py", self.root / "staged", *arguments], check=True)
        return {str(path.relative_to(self.root / "staged")): path.read_text() for path in (self.root / "staged").rglob("*.md")}

    def test_links_to_pages_stay_and_links_to_sources_become_text(self):
        self.write("tests/some.cpp", "")
        self.write("docs/decisions/README.md", "# All\n")
        self.write("docs/page.md", "[s](../tests/some.cpp) [p](../README.md#title) [d](decisions) ![i](pictures/one.png) `[s](../tests/some.cpp)`\n")
        self.assertEqual(self.stage()["docs/page.md"], "s [p](../README.md#title) [d](decisions/README.md) ![i](pictures/one.png) `[s](../tests/some.cpp)`\n")

    def test_links_to_sources_lead_to_where_the_repository_is_shown(self):
        self.write("tests/some.cpp", "")
        self.write("docs/page.md", "[s](../tests/some.cpp)\n")
        self.assertEqual(self.stage("--repository", "https://example.invalid/a/b/")["docs/page.md"], "[s](https://example.invalid/a/b/blob/main/tests/some.cpp)\n")

    def test_lists_tables_and_code_stand_apart_from_paragraphs_and_markers_are_gone(self):
        self.write("docs/page.md", "text\n- one\n  more\n- two\n\ntext\n| a |\n| --- |\n| `x \\| <y>` |\n<!-- table:t -->\n```\n| code |\n- code\n```\n<!-- /table -->\n")
        self.assertEqual(self.stage()["docs/page.md"], "text\n\n- one\n  more\n- two\n\ntext\n\n| a |\n| --- |\n| <code>x &#124; &lt;y&gt;</code> |\n\n```\n| code |\n- code\n```\n\n")

    def test_a_header_is_listed_with_what_its_main_type_is(self):
        self.assertIn("| [attune/bound_kernel.hpp](api/bound__kernel_8hpp.html) | A kernel |", self.stage()["headers.md"])


if __name__ == "__main__":
    unittest.main()
