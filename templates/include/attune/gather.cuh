#pragma once
// One block combines the partial results of many.
#include <attune/block.cuh>

namespace attune {

/// Combines `count` partial results with all threads of a block (with one warp when they are few, which saves the
/// barrier), each thread's in index order. `fetch(first, step, count, x)` loads up to Loads of them, first, first + step,
/// ..., combines them into x and returns that. The result is valid in thread 0. Requires: all Threads threads call it.
template <class Op, unsigned Threads, BlockStage Stage, unsigned Loads, class Fetch>
__device__ __forceinline__ typename Op::Value gather(unsigned count, Fetch fetch) {
  const bool few = count <= 32 * Loads;
  const unsigned team = few ? 32 : Threads;
  typename Op::Value x = Op::identity();
  if (threadIdx.x < team)
    for (unsigned first = threadIdx.x; first < count; first += Loads * team) x = fetch(first, team, count, x);
  // Call 1: the block's own values were call 0.
  if (!few) return block_combine<Op, Threads, Stage, 1>(x);
  return threadIdx.x < 32 ? warp_combine<Op>(x) : x;
}

}  // namespace attune
