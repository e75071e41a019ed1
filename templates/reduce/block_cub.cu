// The block stage by CUB's primitives.
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

struct Combine {
  __device__ __forceinline__ Value operator()(Value a, Value b) const { return Op::combine(a, b); }
};

// The block's result, valid in thread 0. One barrier at least, which also publishes what was stored in shared memory
// before. `Call` keeps the shared memory of two calls in one kernel apart.
template <unsigned Threads, unsigned Call>
__device__ __forceinline__ Value block_total(Value x) {
#if ATTUNE_BLOCK_STAGE_CUB_BLOCK
  using Reduce = cub::BlockReduce<Value, Threads>;
  __shared__ typename Reduce::TempStorage storage;
  x = Reduce(storage).Reduce(x, Combine{});
  __syncthreads();  // with one warp CUB has none
  return x;
#else
  using Reduce = cub::WarpReduce<Value>;
  __shared__ typename Reduce::TempStorage storage[Threads / 32];
  __shared__ Value results[Threads / 32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  x = Reduce(storage[warp]).Reduce(x, Combine{});
  if (lane == 0) results[warp] = x;
  __syncthreads();
  if (warp == 0) x = Reduce(storage[0]).Reduce(lane < Threads / 32 ? results[lane] : Op::identity(), Combine{});
  return x;
#endif
}
