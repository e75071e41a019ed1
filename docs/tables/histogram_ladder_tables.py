"""Tables of `attune ladder histogram --json`: bandwidth of every rung over the bins, and what that says of the rules of thumb on histograms.

bench/results/<device>/ladder_histogram.json holds the events of the command as ladder_tables.py reads those of reduce, measured and not replayed:

    attune ladder histogram --T i32 --mapping unit --skew uniform,zipf,constant --n 2^22 --bins 16,256,1024,4096,16384,65536,2^20 --json \\
        > bench/results/<device>/ladder_histogram.json
"""
from collections import namedtuple

from ladder_tables import FASTER, check_names, every, provenance, rung_table, size_text, times, verdict
from common import Malformed, read_object

NAME = "ladder_histogram"
NOTHING = "No ladder of histograms is recorded yet.\n"
SIZES = ("n", "bins")
# What a title does not tell where it is so.
USUAL = {"Counter": "u32", "channels": "1", "active": "all"}


def count_text(value):
    return size_text(value) if value >= 1024 else str(value)


# ---- GB/s over the bins ------------------------------------------------------------------------------------------------


def table_and_bins(problem):
    """A table has everything but the bins in common: the choices, then n."""
    choices = tuple((name, value) for name, value in problem.items() if name not in SIZES)
    return (choices, problem["n"]), problem["bins"]


def title(choices, n):
    told = [f"{name}={value}" for name, value in choices if USUAL.get(name) != value]
    return ", ".join([*told, f"n={count_text(n)}", "GB/s over the bins"])


def histogram_ladder(root):
    text = ""
    for of in every(root, NAME, table_and_bins):
        text += provenance(of) + "\n"
        for (choices, n), ladders in sorted(of.ladders.items(), key=lambda item: item[0]):
            text += f"\n{title(choices, n)}\n\n" + rung_table(ladders, count_text)
        text += "\n"
    return text.rstrip("\n") + "\n" if text else NOTHING


# ---- rules of thumb ----------------------------------------------------------------------------------------------------

# figure: of the rungs' times of one problem, nothing where a rung that it needs holds nothing there; the rule holds where it is at least FASTER.
# rungs: those that it names. bins, skews: where the rule says something.
Rule = namedtuple("Rule", "number decided_by rungs figure bins skews")

GLOBAL, SORT, COARSENED, BLOCK, WHOLE = "global atomics", "sort, then count runs", "coarsened", "block-private", "whole space"
# "bins over a cluster" is shared memory too, but of no block alone.
NOT_PRIVATE = [GLOBAL, SORT, "bins over a cluster"]
PRIVATE = [COARSENED, "wide loads", "prefetch", "replicas by lane", "replicas by warp, coarsened", BLOCK, "warp-private"]


def fastest(us, names):
    return min((us[name] for name in names if name in us), default=None)


def ratio(slower, faster):
    return slower / faster if slower and faster else None


def over(rung, than):
    """How much faster one rung is than another, by their times."""
    return lambda us: ratio(us.get(than), us.get(rung))


def others(us):
    return [name for name in us if name not in (SORT, WHOLE, "ceiling")]


def few(bins):
    return bins < 1024


def many(bins):
    return bins > 4096


def any_number(_):
    return True


SKEWED = ("zipf", "hot", "constant")
RULES = [
    Rule(3, "below 1024 bins: time of the fastest rung that is not private to a block or warp over the fastest that is", NOT_PRIVATE + PRIVATE,
         lambda us: ratio(fastest(us, NOT_PRIVATE), fastest(us, PRIVATE)), few, ("uniform",)),
    Rule(4, "above 4096 bins: time of the fastest other rung over `sort, then count runs`", [SORT, WHOLE],
         lambda us: ratio(fastest(us, others(us)), us.get(SORT)), many, None),
    Rule(4, "above 4096 bins: time of `global atomics` over `sort, then count runs`", [SORT, GLOBAL], over(SORT, GLOBAL), many, None),
    Rule(5, "private: time of `global atomics` over `coarsened`", [GLOBAL, COARSENED], over(COARSENED, GLOBAL), any_number, SKEWED),
    Rule(5, "coarsened: time of `block-private` over `coarsened`", [BLOCK, COARSENED], over(COARSENED, BLOCK), any_number, SKEWED),
]
TITLES = ["rule", "figure", "holds from", "T", "skew", "verdict"]


def type_and_rest(problem):
    """A verdict is on a type and a skew; of one there may be several n and mappings."""
    rest = tuple((name, value) for name, value in problem.items() if name not in ("T", "skew", *SIZES))
    return (problem["T"], problem["skew"]), (problem["bins"], problem["n"], rest)


def place_text(place):
    bins, n, _ = place
    return f"{count_text(bins)} bins, n={count_text(n)}"


def lines(rows):
    head = ["| " + " | ".join(TITLES) + " |", "| ---: | --- | ---: | --- | --- | --- |"]
    return "\n".join(head + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def row_of(rule, element, skew, ladders):
    figures = {place: rule.figure(times(ladder)) for place, ladder in ladders.items() if rule.bins(place[0])}
    known = {place: figure for place, figure in figures.items() if figure}
    return [str(rule.number), rule.decided_by, f"{FASTER:.2f}", element, skew, verdict(known, FASTER, place_text, "problems")]


def by_rungs(root):
    text = ""
    for of in every(root, NAME, type_and_rest):
        for ladders in of.ladders.values():
            for ladder in ladders.values():
                check_names({rung["name"] for rung in ladder["rungs"]}, RULES)
        rows = [row_of(rule, element, skew, of.ladders[element, skew])
                for rule in RULES for element, skew in sorted(of.ladders) if rule.skews is None or skew in rule.skews]
        text += f"{provenance(of)}\n\n{lines(rows)}\n"
    return text


def by_thrust(root):
    """Rule 4 again, where bench/histogram_vs_cub sorted with Thrust beside attune's fastest."""
    text = ""
    for path in sorted((root / "bench" / "results").glob("*/histogram_vs_cub.json")):
        result = read_object(path)
        figures = {}
        for row in result.get("rows", []):
            try:
                problem = row["problem"]
                if row.get("sort_ratio") and row["skew_stated"] and many(problem["bins"]):
                    figures.setdefault((problem["T"], row["skew"]), {})[problem["bins"], problem["n"], row["policy"]] = 1 / row["sort_ratio"]
            except (TypeError, KeyError) as error:
                raise Malformed(f"failed reading {path}: a row is none of bench/histogram_vs_cub ({error!r})") from error
        rows = [["4", "above 4096 bins: time of attune's fastest over sorting and counting runs with Thrust", f"{FASTER:.2f}", element, skew,
                 verdict(of, FASTER, place_text, "problems")] for (element, skew), of in sorted(figures.items())]
        text += f"Beside CUB and Thrust ({path.parent.name}, {result.get('date', 'no date')}):\n\n{lines(rows)}\n" if rows else ""
    return text


def histogram_rules(root):
    text = (by_rungs(root) or f"{NOTHING.rstrip()[:-1]}, so rules 3 to 5 are not decided.\n\n") + by_thrust(root)
    return text.rstrip("\n") + "\n"
