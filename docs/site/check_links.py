#!/usr/bin/env python3
"""Checks that links lead somewhere. Links to other hosts are not followed.

    docs/site/check_links.py                 README.md, docs and the other pages: every relative link names a file or folder of the repository, every
                                             anchor a heading, and every page of docs is named by another page
    docs/site/check_links.py --built FOLDER  the built site: every link names a file and an element of it, and nothing is loaded from another host

Exit code: 1 when a link leads nowhere, with a line for each; 2 when there is nothing to check.
"""
import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
import pages


def page_mistakes(root):
    named, mistakes = set(), []
    texts = {path: pages.read(root / path) for path in pages.pages(root)}
    headings = {path: pages.anchors(text) for path, text in texts.items()}
    for page, text in texts.items():
        for line, target in pages.links(text):
            if pages.ELSEWHERE.match(target):
                continue
            where, _, anchor = unquote(target).partition("#")
            path = (root / page.parent / where).resolve() if where else (root / page).resolve()
            if where.startswith("/") or not path.exists() or root.resolve() not in (path, *path.parents):
                mistakes.append(f"{page}:{line}: there is no {where} in the repository")
                continue
            linked = path.relative_to(root.resolve())
            if linked != page:
                named.add(linked / "README.md" if path.is_dir() else linked)
            if anchor and anchor not in headings.get(linked, set()):
                mistakes.append(f"{page}:{line}: {linked} has no heading #{anchor}")
    mistakes += [f"{page}: no other page names it" for page in texts if page.parts[0] == "docs" and page not in named]
    return len(texts), mistakes


class Built(HTMLParser):
    """Links and names of one built page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.update(value for value in (values.get("id"), values.get("name") if tag == "a" else None) if value)
        target = values.get("src") or (values.get("href") if tag in ("a", "link", "area") else None)
        if not target:
            return
        is_loaded = tag not in ("a", "area") and not (tag == "link" and "canonical" in (values.get("rel") or ""))
        (self.loads if is_loaded else self.links).append((self.getpos()[0], target))

    handle_startendtag = handle_starttag


def built_mistakes(folder):
    built = {path.resolve(): Built(pages.read(path)) for path in sorted(folder.rglob("*.html"))}
    mistakes = []
    for path, page in built.items():
        shown = path.relative_to(folder.resolve())
        for line, target in page.links + page.loads:
            if pages.ELSEWHERE.match(target) or target.startswith("//"):
                if (line, target) in page.loads and not target.startswith("data:"):
                    mistakes.append(f"{shown}:{line}: loads {target} from another host")
                continue
            where, _, anchor = target.partition("#")
            linked = (path.parent / unquote(where.partition("?")[0])).resolve() if where.partition("?")[0] else path
            linked = linked / "index.html" if linked.is_dir() else linked
            if not linked.is_file():
                mistakes.append(f"{shown}:{line}: there is no {where}")
            elif anchor and linked in built and unquote(anchor) not in built[linked].names:
                mistakes.append(f"{shown}:{line}: {linked.relative_to(folder.resolve())} has no element #{anchor}")
    return len(built), mistakes


def main():
    parser = argparse.ArgumentParser(description="Checks that links of the documentation lead somewhere.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the repository")
    parser.add_argument("--built", type=Path, help="check this built site in place of the repository's pages")
    arguments = parser.parse_args()
    count, mistakes = built_mistakes(arguments.built) if arguments.built else page_mistakes(arguments.root)
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    if not count:
        print(f"check_links: there is no page in {arguments.built or arguments.root}", file=sys.stderr)
        return 2
    if not mistakes:
        print(f"All links of {count} pages lead somewhere.")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
