"""What tests of tables of `attune ladder ... --json` have in common: made-up recordings, and docs/tables/doc_tables.py run on them. The first argument is that script."""
import json
import sys

from tables_case import SCRIPT, TablesCase

REPOSITORY = SCRIPT.parents[2]

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))

START = {"event": "start", "replay": False, "device": "Imaginary 1", "driver": "1.2", "policy": "cold/graph", "date": "2026-01-02T03:04:05Z",
         "template_hash": "0123456789abcdefffff"}


def ladder_names(template):
    """The rungs of the template's own ladder, which has comments."""
    text = (REPOSITORY / f"templates/{template}/ladder.json").read_text()
    return [rung["name"] for rung in json.loads("".join(line for line in text.splitlines(True) if not line.lstrip().startswith("//")))["rungs"]]


def ladder_event(template, problem, us, ceiling=2e12, peers=(), complete=True):
    """Of n elements of four bytes: every rung takes 10 us, but for those in `us`; None: it is empty here."""
    rungs = []
    for name in ladder_names(template):
        median = us.get(name, 10.0)
        rungs.append({"name": name, "median_us": median, "bytes_per_s": median and 4 * problem["n"] / (median * 1e-6)})
    return {"event": "ladder", "problem": problem, "complete": complete, "read_ceiling_bytes_per_s": ceiling, "rungs": rungs,
            "peers": [{"name": name, "median_us": median} for name, median in peers]}


class LadderCase(TablesCase):
    template = ""

    def setUp(self):
        super().setUp()
        self.file = self.results / f"ladder_{self.template}.json"

    def record(self, *events):
        self.file.write_text("".join(json.dumps(event) + "\n" for event in events))
