// Tunable parameters of the reduction; attune/reduction.cuh has the arithmetic, grid.cu says what the parts do.
#include <attune/memory.cuh>
#include <attune/reduction.cuh>
#include <attune/tiles.cuh>

using namespace attune::reduction;
using attune::Address;
using attune::Word;
using Bits = attune::Raw<Value>::Bits;

constexpr unsigned kBlock = ATTUNE_BLOCK_SIZE;
constexpr unsigned kWarps = kBlock / 32;
constexpr unsigned kItems = ATTUNE_ITEMS;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kWidth = kVectorBytes / sizeof(In);  // elements of a vector
using Tile = attune::Tile<kBlock, kItems, kVectorBytes>;
constexpr unsigned kGatherLoads = 16 / sizeof(Value);  // partial results that a thread loads at once
constexpr unsigned kSyncHeader = 16;      // words of `sync` before the slots: the counter has a cache line of its own
constexpr unsigned kFinishThreads = 512;  // block of reduce_partials; kSyncHeader and this stand in template.json too
using Vector = attune::Vector<kVectorBytes>;

// Registers a thread is given: the loads in flight and what surrounds them. With a tighter limit (the compiler's own
// choice) loads wait for additions or registers are spilled; without one fewer blocks fit on an SM.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kSmThreads = 2048;
#else
constexpr unsigned kSmThreads = 1024;  // what every SM holds, also in blocks of 64
#endif
constexpr unsigned kLoadRegisters = kItems * Vector::kWords * (kTwoInputs || ATTUNE_LOAD_TWO_HALVES ? 2 : 1);
constexpr unsigned kRegisters = kLoadRegisters + 24 + (sizeof(In) == 8 ? 8 : 0) + (sizeof(In) == 2 ? 8 : 0) + (kBlock <= 64 ? 8 : 0) +
                                (kTwoInputs || ATTUNE_TRANSFORM_CUSTOM || ATTUNE_OP_CUSTOM || !ATTUNE_LOAD_TILES ? 16 : 0);
constexpr unsigned kResidentThreads = 65536 / kRegisters < kSmThreads ? 65536 / kRegisters : kSmThreads;
constexpr unsigned kResidentBlocks = kResidentThreads < kBlock ? 1 : kResidentThreads / kBlock > 32 ? 32 : kResidentThreads / kBlock;

static_assert(kWidth >= 1, "a vector holds at least one element");
static_assert(kWidth <= kBlock, "one block loads the elements before and after the vectors in one step");

// Shuffles alone, where the block stage asks for them; redux.sync is a value of its own.
struct ShufflesOnly : Operator {
  static constexpr bool kWholeWarp = false;
};
#if ATTUNE_BLOCK_STAGE_SHUFFLE
using Op = ShufflesOnly;
#else
using Op = Operator;
#endif

#if ATTUNE_OP_CUSTOM || ATTUNE_TRANSFORM_CUSTOM  // attune itself computes the others
extern "C" __global__ void reduce_reference(const In* in, const In* other, Index n, Value shift, Value scale, Value bias, Value* out) {
  reduce_plainly(in, other, n, Scalars{shift, scale, bias}, out);
}
#endif
