"""What the site's scripts share: which files are pages, and what a page's Markdown says: links, headings, text without code."""
import re
from pathlib import Path

FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
CODE_SPAN = re.compile(r"(`+)(?:.(?!\1))*?.?\1", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)?)\)")
RAW_LINK = re.compile(r"""<(?:a|img)\s[^>]*?(?:href|src)=["']([^"']+)["']""")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # https:, mailto: and the like
FOLDERS = ("docs", "docs/decisions", "bench/spaces", "bench/marks")


def pages(root):
    """Paths of all pages, relative to the repository."""
    found = [path for folder in ("", *FOLDERS) for path in sorted((root / folder).glob("*.md"))]
    return [path.relative_to(root) for path in found]


def lines_with_code(text):
    """(line, is it part of a block of code?)"""
    fence = None
    for line in text.split("\n"):
        match = FENCE.match(line)
        if fence is None and match:
            fence = match.group(1)
            yield line, True
        elif fence is not None:
            yield line, True
            if match and match.group(1).startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
        else:
            yield line, False


def without_code(text):
    """The text with code in blocks and spans as spaces: lines and columns stay."""
    prose = "\n".join(" " * len(line) if is_code else line for line, is_code in lines_with_code(text))
    return CODE_SPAN.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), prose)


def links(text):
    """(line from 1 on, target) of every link and picture outside of code, of Markdown and of raw HTML."""
    prose = without_code(text)
    for pattern, group in ((LINK, 3), (RAW_LINK, 1)):
        for match in pattern.finditer(prose):
            yield prose.count("\n", 0, match.start()) + 1, match.group(group)


def plain(heading):
    """What a heading shows: no marks of code, emphasis and links."""
    return re.sub(r"[`*]", "", LINK.sub(lambda match: match.group(2), heading))


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found, seen = set(), {}
    for line, is_code in lines_with_code(text):
        match = None if is_code else HEADING.match(line)
        if match is None:
            continue
        slug = re.sub(r"[^\w\- ]", "", plain(match.group(2)).lower()).replace(" ", "-")
        times = seen.get(slug, 0)
        seen[slug] = times + 1
        found.add(slug if times == 0 else f"{slug}-{times}")
    return found


def read(path):
    return Path(path).read_text(encoding="utf-8")
