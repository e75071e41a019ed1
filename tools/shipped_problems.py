#!/usr/bin/env python3
"""Names what the shipped database is made of beside the recordings that are there already, a step a line:

    <template> <recording or "-"> <policy> <strategy> <budget> <file with the problems, a JSON object a line>

"-": measured into the working database only, where later steps find its winners. tools/renew_shipped.sh runs the steps.

Sizes lie an octave apart and are odd: what dispatch asks between tuned sizes ends in a ragged tile, nearly always, and
only measurements at such sizes tell how configurations do there (docs/decisions/0013-between-ragged-sizes.md).

    shipped_problems.py FOLDER    writes the files into FOLDER, prints the steps
"""
import json
import pathlib
import sys

TYPES = ["f32", "f64", "f16", "bf16", "i32", "i8"]


def ragged(per_octave, first=8, last=29):
    """Odd sizes, evenly on a logarithmic scale, none near a power of two."""
    count = (last - first) * per_octave
    return [round(2 ** (first + (i + 0.5) / per_octave)) | 1 for i in range(count)]


def shapes():
    """Rows x columns of 2^8 to 2^29 elements, from few long rows to many short ones."""
    for step in range(10):
        elements = 2 ** (8.5 + 2.1 * step)
        for share in (0.1, 0.35, 0.6, 0.85):
            rows = max(1, round(elements**share))
            yield rows, max(1, round(elements / rows))


def steps():
    plain = lambda op, sizes: [{"T": t, "op": op, "n": n} for t in TYPES for n in sizes]
    few = ragged(1)[1::5]
    yield "reduce", "-", "cold/graph", "winners", "100%", plain("sum", few) + plain("max", few)
    yield "reduce", "h200_ragged_sum_cold", "cold/graph", "portfolio", "100%", plain("sum", ragged(1))
    yield "reduce", "h200_ragged_max_cold", "cold/graph", "portfolio", "100%", plain("max", ragged(1))
    yield "argreduce", "h200_ragged_max_cold", "cold/graph", "winners", "100%", plain("max", ragged(1))
    rows = [{"T": "f32", "op": "sum", "rows": r, "columns": c} for r, c in shapes()]
    yield "segmented_reduce", "-", "cold/graph", "random", "120", rows[2::7]
    yield "segmented_reduce", "h200_shapes_f32_sum_cold", "cold/graph", "winners", "100%", rows


def main():
    folder = pathlib.Path(sys.argv[1])
    for number, (template, recording, policy, strategy, budget, problems) in enumerate(steps()):
        file = folder / f"problems_{number}.jsonl"
        file.write_text("".join(json.dumps(problem) + "\n" for problem in problems))
        print(template, recording, policy, strategy, budget, file)


if __name__ == "__main__":
    main()
