// Block stages of the literature: trees in shared memory, each an answer to a fault of the one before.
//   interleaved_tree  neighbours first, by a modulo test: divergent warps and bank conflicts
//   sequential_tree   the upper half onto the lower half: neither
//   unrolled_tree     as before; the last warp's steps unrolled, ordered by __syncwarp (since Volta `volatile` is not enough)
//   shuffled_tree     as before; the last warp's steps are shuffles
#include <attune/warp.cuh>

// The block's result, valid in thread 0. One barrier at least, which also publishes what was stored in shared memory
// before. `Call` keeps the shared memory of two calls in one kernel apart.
template <unsigned Threads, unsigned Call>
__device__ __forceinline__ Value block_total(Value x) {
  __shared__ Value values[Threads];
  const unsigned t = threadIdx.x;
  values[t] = x;
  __syncthreads();
#if ATTUNE_BLOCK_STAGE_INTERLEAVED_TREE
#pragma unroll 1
  for (unsigned distance = 1; distance < Threads; distance *= 2) {
    if (t % (2 * distance) == 0) values[t] = Op::combine(values[t], values[t + distance]);
    __syncthreads();
  }
  return values[0];
#elif ATTUNE_BLOCK_STAGE_SEQUENTIAL_TREE
#pragma unroll 1
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    if (t < half) values[t] = Op::combine(values[t], values[t + half]);
    __syncthreads();
  }
  return values[0];
#elif ATTUNE_BLOCK_STAGE_UNROLLED_TREE
#pragma unroll
  for (unsigned half = Threads / 2; half > 32; half /= 2) {
    if (t < half) values[t] = Op::combine(values[t], values[t + half]);
    __syncthreads();
  }
  if (t < 32) {
#pragma unroll
    for (unsigned half = 32; half > 0; half /= 2) {
      // Every lane takes part: those above `half` combine what nobody reads again.
      const Value sum = Op::combine(values[t], values[t + half]);
      __syncwarp();
      values[t] = sum;
      __syncwarp();
    }
    x = values[0];
  }
  return x;
#else
#pragma unroll
  for (unsigned half = Threads / 2; half > 16; half /= 2) {
    if (t < half) values[t] = Op::combine(values[t], values[t + half]);
    __syncthreads();
  }
  return t < 32 ? attune::warp_combine<ShufflesOnly>(values[t]) : x;
#endif
}
