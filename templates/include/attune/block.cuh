#pragma once
// Combining the values of a block's threads.
#include <attune/warp.cuh>

namespace attune {

enum class BlockStage {
  Shuffle,    ///< every warp by shuffles, then the warps' results by shuffles
  SharedTree  ///< every thread's value goes through shared memory, each lane of warp 0 combines a column, then shuffles
};

/// The block's result, valid in warp 0. One barrier, which also publishes what the callers stored in shared memory before.
/// `Call` keeps the shared memory of two calls in one kernel apart.
/// Requires: all Threads threads call it, a multiple of 32 up to 1024.
template <class Op, unsigned Threads, BlockStage Stage, unsigned Call = 0>
__device__ __forceinline__ typename Op::Value block_combine(typename Op::Value x) {
  using Value = typename Op::Value;
  constexpr unsigned kWarps = Threads / 32;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if constexpr (Stage == BlockStage::Shuffle) {
    __shared__ Value results[kWarps];
    x = warp_combine<Op>(x);
    if (lane == 0) results[warp] = x;
    __syncthreads();
    if (warp == 0) x = warp_combine<Op>(lane < kWarps ? results[lane] : Op::identity());
  } else {
    __shared__ Value values[Threads];
    if (warp != 0) values[threadIdx.x] = x;
    __syncthreads();
    if (warp == 0) {
      constexpr unsigned kChains = kWarps < 4 ? kWarps : 4;
      Value chain[kChains];
      chain[0] = x;
#pragma unroll
      for (unsigned k = 1; k < kChains; ++k) chain[k] = values[k * 32 + lane];
#pragma unroll
      for (unsigned k = kChains; k < kWarps; ++k)
        chain[k % kChains] = Op::combine(chain[k % kChains], values[k * 32 + lane]);
#pragma unroll
      for (unsigned k = 1; k < kChains; ++k) chain[0] = Op::combine(chain[0], chain[k]);
      x = warp_combine<Op>(chain[0]);
    }
  }
  return x;
}

}  // namespace attune
