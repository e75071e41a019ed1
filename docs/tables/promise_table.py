"""The table of docs/promises.md: what attune promises, the tests that fail when it is broken, and the figures they recorded.

tests/promises/promises.json lists the promises: `number`, `text`, `tests` (each the `name` of a TEST_CASE and its `file`, or the
name of a `ctest`) and `figure`, a text with fields in braces:

    {kill_nine.lost}                          tests/promises/results/NN_kill_nine.json, field "lost" of its figures
    {flips.file.wrong}                        a field within a field
    {cold_start.ms_beyond_context}            bench/results/<device>/cold_start.json
    {db_scale[records=10000000].open_ms}      of the row with that value
    {flips.file.share:%}                      as a percentage
    {dispatch_overhead.added_ns_p50_interval} a list of two numbers, "54.3 to 60.9"
    {dispatch_random.behind_best_p95:%}       a figure that is computed from several files, by one of `computed`
"""
import re
from pathlib import Path

from common import MISSING, Malformed, read_object

WITHOUT_GPU = "no GPU"  # what recorded figures say of their device: nothing
FIELD = re.compile(r"\{(\w+)(?:\[(\w+)=([\w +]+)\])?\.([\w.]+)(:%)?\}")
CASE = re.compile(r'\b(?:TEST_CASE(?:_FIXTURE)?)\s*\(\s*(?:[\w:]+\s*,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CTEST = re.compile(r"(?:\badd_test\s*\(\s*NAME\s+|\battune_test\s*\(\s*)(\w+)")


def promises(root):
    path = root / "tests/promises/promises.json"
    listed = read_object(path).get("promises")
    if not isinstance(listed, list) or not all(isinstance(p, dict) and {"number", "text", "tests", "figure"} <= p.keys() for p in listed):
        raise Malformed(f"failed reading {path}: 'promises' is no list of objects with number, text, tests and figure")
    return listed


def cases_in(path):
    """The names of the test cases of a source file."""
    names = {"".join(STRING.findall(literals)) for literals in CASE.findall(path.read_text(encoding="utf-8"))}
    return {name.encode().decode("unicode_escape").encode("latin-1").decode("utf-8") if "\\" in name else name for name in names}


def ctests_of(root):
    names = set()
    for path in sorted(root.glob("tests/**/CMakeLists.txt")):
        names.update(CTEST.findall(path.read_text(encoding="utf-8")))
    return names


def check_tests(root):
    """Every test that a promise names is there."""
    ctests = ctests_of(root)
    for promise in promises(root):
        for test in promise["tests"]:
            what = f"promise {promise['number']}"
            if "ctest" in test:
                if test["ctest"] not in ctests:
                    raise Malformed(f"{what} names the ctest '{test['ctest']}', which no CMakeLists.txt of tests/ adds")
                continue
            path = root / test.get("file", "")
            if not path.is_file():
                raise Malformed(f"{what} names the file '{test.get('file', '')}', which is not there")
            if test.get("name") not in cases_in(path):
                raise Malformed(f"{what} names the test \"{test.get('name')}\", which {test['file']} does not have")


class Figures:
    """Fills the fields of one promise's figure; remembers what it used."""

    def __init__(self, root, number, computed):
        self.root, self.number, self.computed, self.used = root, number, computed, {}

    def source(self, name):
        """(fields, rows) of a recorded file or computed from several, or nothing."""
        if name in self.computed:
            fields, sources = self.computed[name](self.root)
            self.used.update(((name, str(path)), (str(file.get("date", MISSING)), file["device"]["name"])) for path, file in sources)
            return (fields, []) if sources else None
        path = self.root / f"tests/promises/results/{str(self.number).zfill(2)}_{name}.json"
        if path.is_file():
            file = read_object(path)
            figures = file.get("figures")
            if not isinstance(figures, dict):
                raise Malformed(f"failed reading {path}: 'figures' is no object")
            self.used[name] = (str(file.get("date", MISSING)), str(figures.get("device", WITHOUT_GPU)))
            return figures, []
        for path in sorted((self.root / "bench/results").glob(f"*/{name}.json")):
            file = read_object(path)
            device = file.get("device")
            self.used[name] = (str(file.get("date", MISSING)), device.get("name", MISSING) if isinstance(device, dict) else str(device))
            rows = file.get("rows", [])
            return file, rows if isinstance(rows, list) else []
        return None

    def value(self, match):
        name, key, wanted, field, percent = match.groups()
        found = self.source(name)
        if found is None:
            return MISSING
        fields, rows = found
        candidates = [row for row in rows if str(row.get(key)) == wanted] if key else [fields, *rows]
        for candidate in candidates:
            value = candidate
            for part in field.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                return shown(value, percent)
        return MISSING

    def text(self, template):
        filled = FIELD.sub(self.value, template)
        return filled if self.used else MISSING


def shown(value, percent):
    if isinstance(value, list) and len(value) == 2:
        return f"{shown(value[0], percent)} to {shown(value[1], percent)}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if percent:
        return f"{100 * value:.2f} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def test_text(test):
    if "ctest" in test:
        return f"ctest `{test['ctest']}`"
    name = test["name"].replace("|", "\\|")
    return f"[{Path(test['file']).name}](../{test['file']}): {name}"


def promise_table(root, computed):
    """computed: by name, what makes (figures, [(path, result) that they are of]) of the recorded results."""
    check_tests(root)
    lines = ["| | attune promises | tests that fail when it is broken | figure | recorded | where |", "| ---: | --- | --- | --- | --- | --- |"]
    for promise in promises(root):
        figures = Figures(root, promise["number"], computed)
        text = figures.text(promise["figure"])
        dates = sorted({date[:10] for date, _ in figures.used.values()})
        places = sorted({place for _, place in figures.used.values()})
        tests = "<br>".join(test_text(test) for test in promise["tests"]) or "none yet"
        lines.append(f"| {promise['number']} | {promise['text']} | {tests} | {text} | {', '.join(dates) or MISSING} | {', '.join(places) or MISSING} |")
    return "\n".join(lines) + "\n"
