// Block stages of attune's own: by shuffles, by redux.sync, through columns in shared memory; or none.
#include <attune/block.cuh>

constexpr attune::BlockStage kBlockStage = ATTUNE_BLOCK_STAGE_COLUMN_TREE ? attune::BlockStage::SharedTree : attune::BlockStage::Shuffle;

// The block's result, valid in thread 0. One barrier at least, which also publishes what was stored in shared memory
// before. `Call` keeps the shared memory of two calls in one kernel apart.
template <unsigned Threads, unsigned Call>
__device__ __forceinline__ Value block_total(Value x) {
  return attune::block_combine<Op, Threads, kBlockStage, Call>(x);
}
