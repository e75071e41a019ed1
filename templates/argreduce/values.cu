// Types, tunable parameters and the order of candidates; argreduce.cu says what the parts do.
#include <attune/bits.cuh>
#include <attune/block.cuh>
#include <attune/gather.cuh>
#include <attune/memory.cuh>
#include <attune/operators.cuh>
#include <attune/tiles.cuh>
#include <attune/vector.cuh>

using attune::Address;
using attune::BlockStage;
using attune::Word;
using Type = attune::Element<ATTUNE_T>;
using Value = Type::Value;
using Bits = attune::Raw<Value>::Bits;
using Index = unsigned long long;

enum class GridStage { TwoPass, LastBlock, Ticket, SingleBlock };

constexpr bool kMax = ATTUNE_OP_MAX;
constexpr GridStage kGridStage = ATTUNE_GRID_STAGE_TWO_PASS     ? GridStage::TwoPass
                                 : ATTUNE_GRID_STAGE_LAST_BLOCK ? GridStage::LastBlock
                                 : ATTUNE_GRID_STAGE_TICKET     ? GridStage::Ticket
                                                                : GridStage::SingleBlock;
constexpr BlockStage kBlockStage = ATTUNE_BLOCK_STAGE_SHUFFLE ? BlockStage::Shuffle : BlockStage::SharedTree;

constexpr unsigned kBlock = ATTUNE_BLOCK_SIZE;
constexpr unsigned kItems = ATTUNE_ITEMS;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kElementBytes = sizeof(Type::Bits);
constexpr unsigned kWidth = kVectorBytes / kElementBytes;  // elements of a vector
using Tile = attune::Tile<kBlock, kItems, kVectorBytes>;
constexpr bool kBytes = kElementBytes == 1;
constexpr unsigned kValueWords = sizeof(Value) / 4;
constexpr unsigned kGatherLoads = 2;      // partial results that a thread loads at once
constexpr unsigned kSyncHeader = 16;      // words of `sync` before the slots: the counter has a cache line of its own
constexpr unsigned kFinishThreads = 512;  // block of argreduce_partials; kSyncHeader and this stand in template.json too

// Registers a thread is given: the loads in flight, its running state and what surrounds them. With a tighter limit
// loads wait for comparisons or registers are spilled; without one fewer blocks fit on an SM.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kSmThreads = 2048;
#else
constexpr unsigned kSmThreads = 1024;  // what every SM holds, also in blocks of 64
#endif
constexpr unsigned kStateWords = kWidth * (kBytes ? 1 : kValueWords + 1);
constexpr unsigned kRegisters =
    kItems * attune::Vector<kVectorBytes>::kWords + kStateWords + (kValueWords == 2 ? 44 : 40);
constexpr unsigned kResidentThreads = 65536 / kRegisters < kSmThreads ? 65536 / kRegisters : kSmThreads;
constexpr unsigned kResidentBlocks = kResidentThreads < kBlock ? 1 : kResidentThreads / kBlock;

static_assert(kWidth >= 1, "a vector holds at least one element");
static_assert(kWidth <= kBlock, "one block loads the elements before and after the vectors in one step");

template <bool Max>
struct ChooseExtreme {
  using Of = attune::Max<ATTUNE_T>;
};
template <>
struct ChooseExtreme<false> {
  using Of = attune::Min<ATTUNE_T>;
};
using Extreme = ChooseExtreme<kMax>::Of;

// Below and above every index: no element.
constexpr Index kNone = ~0ull;

// An element that may be the answer. Never NaN; without an element it is {identity, kNone}.
struct Candidate {
  Value value;
  Index index;
};

__device__ __forceinline__ bool better(Value a, Value b) { return kMax ? a > b : a < b; }

// The better value or, among equal ones, the lower index: an operator as attune's headers take it. The identity loses
// against every element, also against one of its own value, because its index is the highest.
struct Best {
  using Value = Candidate;
  static constexpr bool kWholeWarp = true;

  __device__ static Candidate identity() { return {kMax ? Type::lowest() : Type::highest(), kNone}; }
  __device__ static Candidate combine(Candidate a, Candidate b) {
    const bool take = better(b.value, a.value) || (b.value == a.value && b.index < a.index);
    return {take ? b.value : a.value, take ? b.index : a.index};
  }
  __device__ static Candidate warp(Candidate x) {
    if constexpr (attune::kHasRedux && sizeof(x.value) == 4) return by_instructions(x);
    else return by_shuffles(x);
  }

 private:
  __device__ static Candidate by_shuffles(Candidate x) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      x = combine(x, {__shfl_xor_sync(~0u, x.value, offset), __shfl_xor_sync(~0u, x.index, offset)});
    return x;
  }
#if __CUDA_ARCH__ >= 800
  // The best value, then the lowest index among those that have it, its upper half first. Adding 0 makes -0 to +0.
  __device__ static Candidate by_instructions(Candidate x) {
    const unsigned key = static_cast<unsigned>(attune::ordered(x.value + ::Value{0}));
    const unsigned best = kMax ? __reduce_max_sync(~0u, key) : __reduce_min_sync(~0u, key);
    const unsigned upper = static_cast<unsigned>(x.index >> 32);
    const unsigned high = __reduce_min_sync(~0u, key == best ? upper : ~0u);
    const unsigned low = __reduce_min_sync(~0u, key == best && upper == high ? static_cast<unsigned>(x.index) : ~0u);
    return {attune::from_ordered<::Value>(static_cast<Bits>(best)), static_cast<Index>(high) << 32 | low};
  }
#else
  __device__ static Candidate by_instructions(Candidate x) { return x; }
#endif
};

// Where in its share a thread has found its best element: in which of its vectors and where in that one. The numbers
// count the thread's own vectors, which come in the order of the input, and fit 32 bits (24 for bytes): a thread that
// has read State::kSpan vectors resolves its state into a candidate with a 64-bit index and starts anew.
struct Place {
  Value value;
  unsigned number;
  unsigned lane;
  bool found;
};
