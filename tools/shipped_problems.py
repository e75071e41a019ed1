"""What the shipped database is made of: the grids of problems that tools/renew_shipped.py measures, a step each.

Sizes are odd, but for sums of weights: what dispatch asks between tuned sizes ends in a ragged tile, nearly always, and only measurements at such sizes tell
how configurations do there (docs/decisions/0013-between-ragged-sizes.md). Where times turn from those of one block to those of
the memory, up to some megabytes, sizes lie a third of an octave apart, else an octave.
"""
import dataclasses

TYPES = ["f32", "f64", "f16", "bf16", "i32", "i8"]
MAPPINGS = [("unit", "i32"), ("scaled", "i32"), ("scaled", "f32"), ("edges", "i32"), ("unit", "u8")]
STATED_SKEWS = ["uniform", "zipf", "hot", "constant"]


@dataclasses.dataclass
class Step:
    """One command: `attune record`, or `attune ladder` into the working database of what a recording then takes."""
    template: str
    problems: list
    recording: str = ""   # without ending
    policy: str = "cold/graph"
    budget: str = "10"    # configurations: what won before and around, and as many that a model makes of that
    finalists: int = 2    # beside the default: sizes around say more than the last half per cent of one
    epochs: int = 8       # the fewest that have an interval, for the same reason
    where: str = ""
    rungs_of: str = ""    # the recording whose problems `attune ladder` measures, every rung as ladder.json says


def ragged(per_octave, first=8, last=29):
    """Odd sizes, evenly on a logarithmic scale, none near a power of two."""
    count = (last - first) * per_octave
    return [round(2 ** (first + (i + 0.5) / per_octave)) | 1 for i in range(count)]


def shapes(steps, shares):
    """Rows x columns of 2^8 to 2^29 elements, from few long rows to many short ones, each shape once."""
    found = []
    for step in range(steps):
        elements = 2 ** (8.5 + 20.3 * step / (steps - 1))
        for share in range(shares):
            rows = max(1, round(elements ** ((share + 0.5) / shares)))
            shape = (rows, max(1, round(elements / rows)))
            if shape not in found:
                found.append(shape)
    return found


def of_types(op, sizes):
    return [{"T": t, "op": op, "n": n} for t in TYPES for n in sizes]


def of_shapes(shapes_):
    return [{"T": "f32", "op": "sum", "rows": rows, "columns": columns} for rows, columns in shapes_]


def most_bins(mapping, sample):
    return {"edges": 11, "unit": 8 if sample == "u8" else 17.5, "scaled": 17.5}[mapping]


def histograms(octaves_n, octaves_bins, skew, kinds=MAPPINGS):
    """Samples and bins that far apart, in octaves; neighbouring sizes do not share a number of bins."""
    problems = []
    for mapping, sample in kinds:
        bytes_ = sample == "u8"
        step = min(octaves_n, 1.5) if bytes_ else octaves_n
        for i in range(int(19.5 / step) + 1):
            n = round(2 ** (8.6 + i * step)) | 1
            shift = 0.5 * octaves_bins * (i % 2)  # every second size between the bins of the others
            octaves = [8.0] if bytes_ else [1.5 + shift + k * octaves_bins for k in range(int((most_bins(mapping, sample) - 1.5 - shift) / octaves_bins) + 1)]
            for octave in octaves:
                problem = {"T": sample, "mapping": mapping, "n": n, "bins": round(2**octave)}
                problems.append(problem if skew == "unknown" else {**problem, "skew": skew})
    return problems


def between(kinds, counts):
    """So many of each kind and skew, scattered evenly over the logarithms of samples and bins as programs may ask them, off the grids' lines (bytes have 256 bins): the
    additive recurrence of the plastic number (Roberts 2018), which goes on from one kind to the next, so that they lie between each other."""
    plastic = 1.32471795724474602596
    problems = []
    for mapping, sample in kinds:
        for skew, count in counts.items():
            for _ in range(count):
                turn = len(problems) + 1
                n = round(2 ** (8 + 20 * ((0.5 + turn / plastic) % 1))) | 1
                octave = 8.0 if sample == "u8" else most_bins(mapping, sample) * ((0.5 + turn / plastic**2) % 1)
                problem = {"T": sample, "mapping": mapping, "n": n, "bins": round(2**octave)}
                problems.append(problem if skew == "unknown" else {**problem, "skew": skew})
    return problems


def weighted():
    """Sums of the samples' weights, from few bins to 20,000: powers of two, and sizes between them."""
    sizes = [(octave, 8) for octave in (16, 20, 23, 26)] + [(12.3, 5.2), (14.7, 10.4), (17.9, 3.1), (18.6, 12.8), (19.3, 7.7), (21.4, 9.9), (22.2, 14.3), (24.8, 6.1)]
    return [{"T": "i32", "Counter": "f32", "mapping": "unit", "n": round(2**octave), "bins": round(2**of_bins), **skew}
            for skew in ({}, {"skew": "uniform"}) for octave, of_bins in sizes]


def steps(kind):
    """The grids, as recordings of a kind of GPU ("h200"). A search of one begins with what is known of its problems and of those around them."""
    every_octave, dense = ragged(1), [n for n in ragged(3, 8, 23) if n not in ragged(1)]
    plain = "not exact_n"
    hot = {"policy": "hot/graph"}
    return [
        Step("reduce", of_types("sum", every_octave), f"{kind}_ragged_sum_cold", finalists=4, epochs=21),
        Step("reduce", of_types("max", every_octave), f"{kind}_ragged_max_cold", finalists=4, epochs=21),
        Step("argreduce", of_types("max", every_octave), f"{kind}_ragged_max_cold", finalists=4, epochs=21),
        Step("reduce", of_types("sum", dense), f"{kind}_dense_sum_cold", where=plain),
        Step("reduce", of_types("max", dense), f"{kind}_dense_max_cold", where=plain),
        Step("argreduce", of_types("max", dense), f"{kind}_dense_max_cold", where=plain),
        Step("segmented_reduce", of_shapes(shapes(30, 8)), f"{kind}_dense_shapes_f32_sum_cold"),
        Step("histogram", histograms(2, 2, "unknown"), f"{kind}_dense_unknown_cold"),
        Step("histogram", [problem for skew in STATED_SKEWS for problem in histograms(3, 3, skew)], f"{kind}_dense_stated_cold"),
        Step("histogram", between(MAPPINGS[:3], {**dict.fromkeys(STATED_SKEWS, 40), "unknown": 24}), f"{kind}_between_many_bins_cold"),
        Step("histogram", between(MAPPINGS[3:], {**dict.fromkeys(STATED_SKEWS, 10), "unknown": 8}), f"{kind}_between_edges_and_bytes_cold"),
        Step("histogram", weighted(), f"{kind}_i32_weighted_cold"),
        Step("reduce", of_types("sum", every_octave), f"{kind}_ragged_sum_hot", where=plain, **hot),
        Step("reduce", of_types("max", every_octave), f"{kind}_ragged_max_hot", where=plain, **hot),
        Step("argreduce", of_types("max", every_octave), f"{kind}_ragged_max_hot", where=plain, **hot),
    ]
