// The block stage by cooperative groups: cg::reduce on tiles of 32 threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

struct Combine {
  __device__ __forceinline__ Value operator()(Value a, Value b) const { return Op::combine(a, b); }
};

// The block's result, valid in thread 0. One barrier at least, which also publishes what was stored in shared memory
// before. `Call` keeps the shared memory of two calls in one kernel apart.
template <unsigned Threads, unsigned Call>
__device__ __forceinline__ Value block_total(Value x) {
  namespace cg = cooperative_groups;
  __shared__ Value results[Threads / 32];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  x = cg::reduce(tile, x, Combine{});
  if (tile.thread_rank() == 0) results[tile.meta_group_rank()] = x;
  __syncthreads();
  if (tile.meta_group_rank() == 0) x = cg::reduce(tile, tile.thread_rank() < Threads / 32 ? results[tile.thread_rank()] : Op::identity(), Combine{});
  return x;
}
