#!/usr/bin/env python3
"""What a renewal (tools/renew_shipped.py --only-measure) made of what had won before: bench/results/<device>/renewal.json.

Of each problem, what won anew is compared with what had won before, both measured by the renewal: by their run-off where both took part in
it, so that nothing slower can win (who falls behind leaves it early, with the ratio that it had), else by what the search measured of both. On the same kind of GPU also with the time that was recorded before. Look at it before the
recordings are replaced: it reads the old ones where they lie.

Exit codes: 0 written, 1 something has won that is slower than what had won before by more than its spread, 2 wrong arguments.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

ENDING = ".json.zst"
sys.dont_write_bytecode = True  # the script may lie in a tree that is not to change
from left_out import text_of
from renewal import known_recording

FASTER = 0.99  # of the time before


class Unusable(Exception):
    """A recording, or the working folder."""


def read_recording(path):
    run = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=False)
    if run.returncode != 0:
        raise Unusable(f"{path}: {run.stderr.decode(errors='replace').strip()}")
    return json.loads(run.stdout)


class Problem:
    """What a recording has of one: times in us, by configuration."""

    def __init__(self, recorded):
        columns = {name: place for place, name in enumerate(recorded["columns"])}
        self.search, self.intervals = {}, {}
        for row in recorded["measurements"]:
            if row[columns["outcome"]] != "ok":
                continue
            text = text_of(dict(zip(recorded["parameters"], row[columns["values"]])))
            self.search[text] = row[columns["median_us"]]
            self.intervals[text] = (row[columns["low_us"]], row[columns["high_us"]])
        rounds = list(zip(*recorded["rounds_us"]))
        self.run_off = {text_of(finalist): statistics.median(times) for finalist, times in zip(recorded["finalists"], rounds)}
        self.left = {text_of(entry["configuration"]): entry["ratio"] for entry in recorded.get("left", [])}  # over the fastest's time

    def winner(self):
        times = self.run_off or self.search
        return min(times, key=times.get) if times else None

    def best_us(self):
        return (self.run_off or self.search)[self.winner()]


def over_former(new, former):
    """(time of the new winner over the former one's, whether it is slower by more than the spread); nothing where that was not measured."""
    winner = new.winner()
    if winner is None or former not in new.search:
        return None
    if former in new.run_off:
        return new.run_off[winner] / new.run_off[former], False  # the winner is the fastest of them
    if former in new.left:
        return 1 / new.left[former], False
    return new.search[winner] / new.search[former], new.intervals[winner][0] > new.intervals[former][1]


def keyed(recording):
    return {json.dumps(problem["problem"], sort_keys=True): Problem(problem) for problem in recording["problems"]}


def row_of(template, name, new, old, seconds):
    """Of one recording."""
    here, before = keyed(new), keyed(old) if old else {}
    both = [key for key in here if key in before and before[key].winner() is not None]
    compared = {key: over_former(here[key], before[key].winner()) for key in both}
    ratios = [found[0] for found in compared.values() if found]
    row = {"template": template, "recording": name, "policy": new["policy"], "problems": len(here), "compared": len(ratios), "seconds": seconds,
           "configurations": statistics.mean(len(problem["measurements"]) for problem in new["problems"]),
           "ran_off": sum(1 for key in both if before[key].winner() in here[key].run_off or before[key].winner() in here[key].left),
           "same": sum(1 for key in both if here[key].winner() == before[key].winner()),
           "faster": sum(1 for ratio in ratios if ratio < FASTER),
           "slower": sum(1 for found in compared.values() if found and found[1]),
           "over_former_median": statistics.median(ratios) if ratios else None, "over_former_most": max(ratios, default=None)}
    if old and old["device"]["name"] == new["device"]["name"]:
        recorded = [here[key].best_us() / before[key].best_us() for key in both if here[key].winner() is not None]
        row |= {"over_recorded_median": statistics.median(recorded), "over_recorded_most": max(recorded)}
    return row


def outcome(folder, root):
    """Throws: Unusable."""
    try:
        times = json.loads((folder / "times.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unusable(f"{folder}: no renewal's working folder: {error}") from None
    files = sorted((folder / "recordings").glob(f"*{ENDING}"))
    if not files:
        raise Unusable(f"{folder}/recordings: there are no recordings")
    rows, provenance = [], {}
    for file in files:
        template, name = file.name[: -len(ENDING)].split(".", 1)
        old = known_recording(root / "templates" / template / "recordings", name)
        new = read_recording(file)
        rows.append(row_of(template, name, new, read_recording(old) if old else None, times["steps"].get(f"{template}.{name}")))
        provenance = {"device": new["device"], "driver": new["driver"], "date": max(new["date"], provenance.get("date", "")),
                      "templates": {**provenance.get("templates", {}), template: new["template_hash"]}}
    return {"bench": "renewal", **provenance, "gpus": len(times["devices"]), "seconds": times["seconds"],
            "means": {"faster": f"below {FASTER} of the former winner's time, both measured by the renewal",
                      "slower": "the interval of the winner's time lies above that of the former winner's", "configurations": "known of a problem, in the mean",
                      "ran_off": "problems whose former winner took part in the run-off: none is slower there"},
            "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="working folder of the renewal")
    parser.add_argument("--output", type=pathlib.Path, help="folder of the results; default: bench/results of the source tree")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        result = outcome(options.folder, options.root)
    except (Unusable, KeyError) as error:
        print(f"failed comparing: {error}", file=sys.stderr)
        return 2
    device = re.sub("[^a-z0-9]+", "_", result["device"]["name"].lower())
    path = (options.output or options.root / "bench/results") / device / "renewal.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    slower = sum(row["slower"] for row in result["rows"])
    print(f"{sum(row['problems'] for row in result['rows'])} problems, {slower} slower than what had won before by more than the spread; written to {path}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
