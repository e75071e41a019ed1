"""Tables of `attune ladder ... --json`: bandwidth of every rung at every size, and what that says of the published rules of thumb.

bench/results/<device>/ladder_reduce.json holds the events "start", "ladder" and "end" of the command (others may be left out), an event a line, measured and not replayed:

    attune ladder reduce --T f32,i32 --size 64K..32M --json > bench/results/<device>/ladder_reduce.json
"""
import json
from collections import namedtuple

from common import MISSING, Malformed

NAME = "ladder_reduce"

# start: that event. ladders: of reduce {type: {n: event "ladder"}}; in general {key of the tables: {key within one: event}}
Recorded = namedtuple("Recorded", "start ladders")


def type_and_n(problem):
    return problem["T"], problem["n"]


def recorded(path, keys=type_and_n):
    """keys: of a problem, that of its table and that of its column there."""
    start, ladders = None, {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            event = json.loads(line)
            kind = event["event"]
            if kind == "start":
                start = event
            elif kind == "ladder" and event["complete"]:
                outer, inner = keys(event["problem"])
                ladders.setdefault(outer, {})[inner] = event
        except (ValueError, TypeError, KeyError) as error:
            raise Malformed(f"failed reading {path}:{number}: no event of attune ladder --json ({error!r})") from error
    if start is None or not ladders:
        raise Malformed(f"failed reading {path}: there is no event 'start' or no complete 'ladder'; record it with attune ladder --json")
    if start.get("replay") is not False:
        raise Malformed(f"failed reading {path}: it was replayed, not measured; record it on a GPU")
    return Recorded(start, ladders)


def every(root, name=NAME, keys=type_and_n):
    """What each device recorded."""
    return [recorded(path, keys) for path in sorted((root / "bench" / "results").glob(f"*/{name}.json"))]


def provenance(of):
    return (f"{of.start.get('device', MISSING)}, driver {of.start.get('driver', MISSING)}, {of.start.get('policy', MISSING)}, {of.start.get('date', MISSING)}, "
            f"content `{str(of.start.get('template_hash', MISSING))[:16]}`")


def size_text(n):
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def rungs_of(ladder):
    return {rung["name"]: rung for rung in ladder["rungs"]}


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "| --- |" + " ---: |" * (len(titles) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def rate_text(bytes_per_s):
    return f"{bytes_per_s / 1e9:.4g}" if bytes_per_s else "-"


def rung_table(ladders, column_text):
    """A line a rung, a column a problem, in ascending order of their keys; then peers and the read ceiling."""
    columns = sorted(ladders)
    rungs = {column: rungs_of(ladders[column]) for column in columns}
    names = [rung["name"] for rung in ladders[columns[-1]]["rungs"]]
    rows = [[name, *(rate_text(rungs[column].get(name, {}).get("bytes_per_s")) for column in columns)] for name in names]
    ceilings = [rate_text(ladders[column].get("read_ceiling_bytes_per_s")) for column in columns]
    return table(["rung", *map(column_text, columns)], [*rows, *peer_rows(ladders, columns), ["read ceiling", *ceilings]])


def peer_rows(ladders, sizes):
    """The library's bandwidth, where it was recorded beside the ladder; the bytes are those of the rungs."""
    names = sorted({peer["name"] for ladder in ladders.values() for peer in ladder.get("peers", [])})
    for name in names:
        cells = []
        for n in sizes:
            us = [peer["median_us"] for peer in ladders[n].get("peers", []) if peer["name"] == name]
            known = next((rung for rung in ladders[n]["rungs"] if rung["bytes_per_s"] and rung["median_us"]), None)
            cells.append(rate_text(known["bytes_per_s"] * known["median_us"] / us[0]) if us and known else "-")
        yield [f"peer {name}", *cells]


def ladder_rungs(root):
    text = ""
    for of in every(root):
        text += provenance(of) + "\n"
        for element, ladders in sorted(of.ladders.items()):
            text += f"\nT={element}, GB/s\n\n" + rung_table(ladders, size_text)
        text += "\n"
    return text.rstrip("\n") + "\n" if text else "No ladder of the present template is recorded yet.\n"


# ---- rules of thumb ----------------------------------------------------------------------------------------------------

# figure: of the rungs' times at one size; the rule holds where it is at least `least`. Times closer than 1 % tell nothing apart.
# types, sizes: where the rule says something.
Rule = namedtuple("Rule", "number decided_by rungs figure least types sizes")
FASTER, AS_FAST = 1.01, 0.99


def everywhere(_):
    return True


def faster(rung, than):
    """How much faster one rung is than another, by their times."""
    return lambda us: us[than] / us[rung]


BLOCK_STAGES = ["four elements a thread", "cooperative groups", "CUB BlockReduce", "CUB WarpReduce", "redux.sync", "column tree"]
SCHEDULES = ["grid-stride loop", "chunks", "two halves", "tiles"]
WIDTHS = ["tiles", "loads of two", "loads of four"]
WITHOUT_ATOMICS = ["two launches", "last block done", "ticket"]
GRID_STAGES = [*WITHOUT_ATOMICS, "block atomic"]


def spread(us, names):
    """Slowest over fastest of those rungs that hold something."""
    there = [us[name] for name in names if name in us]
    return max(there) / min(there)


def width_beyond_others(us):
    fastest = min(us[name] for name in WIDTHS if name in us)
    return us["tiles"] / fastest / max(spread(us, names) for names in (BLOCK_STAGES, SCHEDULES, GRID_STAGES))


def best_without_atomics(us):
    return min(us[name] for name in WITHOUT_ATOMICS)


RULES = [
    Rule(1, "read ceiling, share of it that `two launches` reaches", ["two launches"], lambda us: us["ceiling"] / us["two launches"], 0.9, None, everywhere),
    Rule(2, "time of `two launches` over `block atomic`, below 100000 elements", ["block atomic", "two launches"], faster("block atomic", "two launches"),
         FASTER, None, lambda n: n < 100000),
    Rule(6, "time of `ticket` over `ticket, 256 threads`", ["ticket, 256 threads", "ticket"], faster("ticket, 256 threads", "ticket"), AS_FAST, None, everywhere),
    Rule(7, "`tiles` over the fastest of it and loads of two and four, over the largest such spread of block stages, schedules and grid stages",
         ["tiles", "four elements a thread", *SCHEDULES, *GRID_STAGES], width_beyond_others, FASTER, None, everywhere),
    Rule(8, "time of `two launches` over `block atomic`, 2^17 to 2^22", ["block atomic", "two launches"], faster("block atomic", "two launches"), FASTER, None,
         lambda n: 2**17 <= n <= 2**22),
    Rule(9, "floats: time of `block atomic` over the fastest without atomics", [*WITHOUT_ATOMICS, "block atomic"],
         lambda us: us["block atomic"] / best_without_atomics(us), FASTER, ("f16", "bf16", "f32", "f64"), everywhere),
    Rule(9, "integers: time of the fastest without atomics over `block atomic`", [*WITHOUT_ATOMICS, "block atomic"],
         lambda us: best_without_atomics(us) / us["block atomic"], AS_FAST, ("i8", "u8", "i32", "u32", "i64", "u64"), everywhere),
    Rule(10, "time of `block atomic, a block a tile` over `block atomic`, from 2^24 on (2048 tiles and more)", ["block atomic", "block atomic, a block a tile"],
         faster("block atomic", "block atomic, a block a tile"), FASTER, None, lambda n: n >= 2**24),
]


def times(ladder):
    """us by rung, and "ceiling": what the read ceiling would take."""
    us = {rung["name"]: rung["median_us"] for rung in ladder["rungs"] if rung["median_us"]}
    timed = next((rung for rung in ladder["rungs"] if rung["bytes_per_s"] and rung["median_us"]), None)
    if timed and ladder.get("read_ceiling_bytes_per_s"):
        us["ceiling"] = timed["bytes_per_s"] * timed["median_us"] / ladder["read_ceiling_bytes_per_s"]
    return us


def verdict(figures, least, column_text, noun):
    """"holds at 3 of 4 sizes; 0.98 (2^16) to 1.4 (2^20)"; figures: by key of their columns."""
    if not figures:
        return "no figure"
    holds = sum(1 for figure in figures.values() if figure >= least)
    low, high = min(figures, key=figures.get), max(figures, key=figures.get)
    return f"holds at {holds} of {len(figures)} {noun}; {figures[low]:.3g} ({column_text(low)}) to {figures[high]:.3g} ({column_text(high)})"


def figures_of(rule, ladders):
    figures = {}
    for n, ladder in ladders.items():
        us = times(ladder)
        needed = rule.rungs + (["ceiling"] if rule.number == 1 else [])
        if rule.sizes(n) and all(name in us for name in needed):
            figures[n] = rule.figure(us)
    return figures


def check_names(rungs, rules=None):
    for rule in RULES if rules is None else rules:
        for name in rule.rungs:
            if name not in rungs:
                raise Malformed(f"the recorded ladder has no rung '{name}', by which rule {rule.number} is decided; record it anew")


def rules_of_thumb(root):
    text = ""
    for of in every(root):
        for ladders in of.ladders.values():
            for ladder in ladders.values():
                check_names({rung["name"] for rung in ladder["rungs"]})
        rows = [[str(rule.number), rule.decided_by, f"{rule.least:.2f}", element, verdict(figures_of(rule, of.ladders[element]), rule.least, size_text, "sizes")]
                for rule in RULES for element in sorted(of.ladders) if rule.types is None or element in rule.types]
        lines = ["| rule | figure | holds from | T | verdict |", "| ---: | --- | ---: | --- | --- |", *("| " + " | ".join(row) + " |" for row in rows)]
        text += provenance(of) + "\n\n" + "\n".join(lines) + "\n\n"
    return text.rstrip("\n") + "\n" if text else "No ladder of the present template is recorded yet, so no rule is decided.\n"
