#!/usr/bin/env python3
"""What torch.sum takes, beside the figures of bench/reduce_vs_cub, for orientation: another process, so no ratio is formed here.

Each call reads a window of its own out of a pool several times the L2 cache, all calls in one CUDA graph, as the policy cold/graph
does it. Writes a result file that `attune ladder --peers` reads. Needs PyTorch with CUDA.

usage: torch_sum.py RESULT.json -o OUT.json [--sizes 2^16,2^20,...]
RESULT.json: a result file of the same GPU, whose device, driver and content are taken over.
"""
import argparse
import datetime
import json
import statistics
import sys

import torch

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "i8": torch.int8}
# What torch accumulates in and returns, as near to attune's accumulators as it goes.
RESULTS = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float32, "bf16": torch.float32, "i32": torch.int32, "i8": torch.int32}
ROUNDS = 21
POOL_BYTES = 1 << 29


def count(text: str) -> int:
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent) if exponent else int(base)


def measure_us(kind: str, n: int) -> float:
    """Median over rounds of the time of one call, cold."""
    element = TYPES[kind]
    size = torch.empty((), dtype=element).element_size()
    windows = max(2, min(400, POOL_BYTES // max(1, n * size)))
    pool = torch.ones((windows, n), dtype=element, device="cuda")
    results = torch.zeros(windows, dtype=RESULTS[kind], device="cuda")

    def all_windows() -> None:
        for w in range(windows):
            torch.sum(pool[w], dim=0, dtype=RESULTS[kind], out=results[w])

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        all_windows()  # loads the kernels
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        all_windows()
    flush = torch.ones(POOL_BYTES // 4, dtype=torch.float32, device="cuda")
    samples = []
    for _ in range(ROUNDS):
        flush.max()  # reads: leaves no dirty lines behind
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        samples.append(start.elapsed_time(end) * 1000 / windows)
    if abs(float(results[0]) - n) > 1e-3 * n and kind != "i8":
        sys.exit(f"torch_sum: the sum of {n} ones of {kind} is {float(results[0])}")
    return statistics.median(samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", help="result file of the same GPU")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--sizes", default="2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26,2^28,2^30")
    parser.add_argument("--types", default="f32,i32,f64,f16,bf16,i8")
    options = parser.parse_args()
    with open(options.result, encoding="utf-8") as file:
        beside = json.load(file)
    here = torch.cuda.get_device_name()
    if beside["device"]["name"] != here:
        sys.exit(f"torch_sum: {options.result} is of {beside['device']['name']}, this is {here}; name a result file of this GPU")
    rows = []
    for kind in options.types.split(","):
        for n in map(count, options.sizes.split(",")):
            rows.append({"problem": {"T": kind, "op": "sum", "n": n}, "policy": "cold/graph", "peer": "torch.sum", "peer_us": measure_us(kind, n)})
    result = {
        "bench": "torch_sum",
        "device": beside["device"],
        "driver": beside["driver"],
        "cuda": beside["cuda"],
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "content": beside["content"],
        "peer_version": f"PyTorch {torch.__version__}",
        "rows": rows,
    }
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
