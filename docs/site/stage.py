#!/usr/bin/env python3
"""Puts the pages together that the site is built of: docs/site/stage.py FOLDER [--repository URL]

Pages stay where they are in the repository, so that links between them hold; README.md is the first one. Changed is what MkDocs cannot take or show:
links to sources, which are no pages (they lead to URL/blob/main/PATH, and without a URL their text alone stays), the markers of tables, escaped bars in code of
tables, and lists and tables that follow a paragraph without a blank line, which its Markdown does not see. headers.md lists the public headers with links to
api/, which Doxygen fills.
"""
import argparse
import html
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import pages

BLOCK = re.compile(r"^(?:[-*+] |\d+\. |\| )")
CONTINUES = re.compile(r"^\s+\S")
MARKER = re.compile(r"^<!-- /?table[^>]*-->$")


def leads_to_a_page(root, page, where):
    """The page, relative to the folder of `page`, that a link leads to; nothing where it leads to something else."""
    path = (root / page.parent / where).resolve()
    if path.is_dir() and (path / "README.md").is_file():
        path, where = path / "README.md", where.rstrip("/") + "/README.md"
    is_shown = path.suffix == ".png" or path.relative_to(root) in pages.pages(root)
    return where if is_shown else None


def link_text(root, page, repository, match):
    mark, text, target = match.groups()
    where, hash_sign, anchor = target.partition("#")
    if pages.ELSEWHERE.match(target) or not where:
        return match.group(0)
    page_there = leads_to_a_page(root, page, where)
    if page_there is not None:
        return f"{mark}[{text}]({page_there}{hash_sign}{anchor})"
    path = (root / page.parent / where).resolve().relative_to(root)
    return f"[{text}]({repository.rstrip('/')}/blob/main/{path})" if repository else text


def with_links(root, page, repository, text):
    """Links in code are none: they are found in the text without it, whose places are the same."""
    prose, done, end = pages.without_code(text), [], 0
    for match in pages.LINK.finditer(prose):
        done.append(text[end:match.start()])
        done.append(link_text(root, page, repository, pages.LINK.match(text, match.start()) or match))
        end = match.end()
    return "".join(done) + text[end:]


def code_with_bars(match):
    inner = match.group(0).strip("`")
    return "<code>" + html.escape(inner, quote=False).replace("\\|", "&#124;") + "</code>" if "\\|" in inner else match.group(0)


def for_mkdocs(text):
    """The text with what MkDocs' Markdown needs."""
    done, before, before_is_code = [], "", False
    for line, is_code in pages.lines_with_code(text):
        if is_code:
            begins = pages.FENCE.match(line) and before.strip() and not before_is_code
            done += ["", line] if begins else [line]
        elif MARKER.match(line):
            done.append("")
        else:
            is_table = line.startswith("|")
            if BLOCK.match(line) and before.strip() and not before_is_code and not BLOCK.match(before) and (is_table or not CONTINUES.match(before)):
                done.append("")
            done.append(pages.CODE_SPAN.sub(code_with_bars, line) if is_table else line)
        before, before_is_code = ("" if MARKER.match(line) else line), is_code
    return "\n".join(done)


def first_sentence(header):
    """Of the comment of the type that the header is named for, else of its first type with a comment."""
    found = re.findall(r"((?:^///.*\n)+)(?:template <.*>\n)?(?:class|struct|enum class|using) (\w+)", pages.read(header), re.MULTILINE)
    named = [comment for comment, name in found if name.lower() == header.stem.replace("_", "")]
    comment = (named or [comment for comment, _ in found] or [""])[0]
    text = " ".join(line.removeprefix("///").strip() for line in comment.splitlines())
    return re.split(r"(?<=[a-z0-9)`])[.:;] ", text, maxsplit=1)[0].rstrip(".")


def headers_page(root):
    lines = ["# The public headers", "", "What programs include: `#include <attune/runtime.hpp>` brings all of them. Each is the manual of what it declares; "
             "[all names](api/annotated.html) are in the reference that is made of them.", "", "| header | its main type |", "| --- | --- |"]
    for header in sorted((root / "tuner/include/attune").glob("*.hpp")):
        page = header.name.replace("_", "__").replace(".", "_8") + ".html"
        lines.append(f"| [attune/{header.name}](api/{page}) | {first_sentence(header).replace('|', chr(92) + '|').replace('<', '&lt;')} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Puts the pages of the site together.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repository", default="", help="where the repository is shown: https://HOST/OWNER/NAME")
    arguments = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    for page in pages.pages(root):
        target = arguments.folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(for_mkdocs(with_links(root, page, arguments.repository, pages.read(root / page))), encoding="utf-8")
    shutil.copytree(root / "docs/pictures", arguments.folder / "docs/pictures", ignore=shutil.ignore_patterns("*.sh"))
    (arguments.folder / "headers.md").write_text(headers_page(root), encoding="utf-8")


if __name__ == "__main__":
    main()
