// Types, tunable parameters, operator, transform and finish of the reduction; grid.cu says what the parts do.
#include <attune/bits.cuh>
#include <attune/memory.cuh>
#include <attune/operators.cuh>
#include <attune/vector.cuh>

using In = ATTUNE_T;
using Value = ATTUNE_A;
using Index = unsigned long long;
using attune::Address;
using attune::Word;
using Bits = attune::Raw<Value>::Bits;

enum class GridStage { Ticket, LastBlock, TwoPass, BlockAtomic, WarpAtomic, ThreadAtomic, SharedAtomic, Cluster, GridSync, SingleBlock, SingleThread };

constexpr GridStage kGridStage = ATTUNE_GRID_STAGE_TICKET          ? GridStage::Ticket
                                 : ATTUNE_GRID_STAGE_LAST_BLOCK    ? GridStage::LastBlock
                                 : ATTUNE_GRID_STAGE_TWO_PASS      ? GridStage::TwoPass
                                 : ATTUNE_GRID_STAGE_BLOCK_ATOMIC  ? GridStage::BlockAtomic
                                 : ATTUNE_GRID_STAGE_WARP_ATOMIC   ? GridStage::WarpAtomic
                                 : ATTUNE_GRID_STAGE_THREAD_ATOMIC ? GridStage::ThreadAtomic
                                 : ATTUNE_GRID_STAGE_SHARED_ATOMIC ? GridStage::SharedAtomic
                                 : ATTUNE_GRID_STAGE_CLUSTER       ? GridStage::Cluster
                                 : ATTUNE_GRID_STAGE_GRID_SYNC     ? GridStage::GridSync
                                 : ATTUNE_GRID_STAGE_SINGLE_BLOCK  ? GridStage::SingleBlock
                                                                   : GridStage::SingleThread;

constexpr unsigned kBlock = ATTUNE_BLOCK_SIZE;
constexpr unsigned kWarps = kBlock / 32;
constexpr unsigned kItems = ATTUNE_ITEMS;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kWidth = kVectorBytes / sizeof(In);  // elements of a vector
constexpr unsigned kTileVectors = kBlock * kItems;
constexpr Address kTileBytes = Address{kTileVectors} * kVectorBytes;
constexpr unsigned kSlotWords = sizeof(Value) / 4;
constexpr unsigned kGatherLoads = 16 / sizeof(Value);  // partial results that a thread loads at once
constexpr unsigned kSyncHeader = 16;      // words of `sync` before the slots: the counter has a cache line of its own
constexpr unsigned kFinishThreads = 512;  // block of reduce_partials; kSyncHeader and this stand in template.json too
constexpr bool kTwoInputs = ATTUNE_TRANSFORM_TIMES;
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

// The caller's own operator: any associative one with its identity.
struct Custom : attune::Operator<In> {
  static constexpr bool kWholeWarp = false;
  __device__ static Value identity() { return attune_start(); }
  __device__ static Value combine(Value a, Value b) { return attune_combine(a, b); }
};

#if ATTUNE_OP_SUM
using Operator = attune::Sum<In>;
#elif ATTUNE_OP_PRODUCT
using Operator = attune::Product<In>;
#elif ATTUNE_OP_MIN
using Operator = attune::Min<In>;
#elif ATTUNE_OP_MAX
using Operator = attune::Max<In>;
#elif ATTUNE_OP_AND
using Operator = attune::And<In>;
#elif ATTUNE_OP_OR
using Operator = attune::Or<In>;
#elif ATTUNE_OP_XOR
using Operator = attune::Xor<In>;
#else
using Operator = Custom;
#endif

// Shuffles alone, where the block stage asks for them; redux.sync is a value of its own.
struct ShufflesOnly : Operator {
  static constexpr bool kWholeWarp = false;
};
#if ATTUNE_BLOCK_STAGE_SHUFFLE
using Op = ShufflesOnly;
#else
using Op = Operator;
#endif

// What the caller passes beside the input.
struct Scalars {
  Value shift, scale, bias;
};

template <bool Signed, class V>
__device__ __forceinline__ V magnitude(V x) {
  if constexpr (Signed) return x < V{0} ? attune::Product<In>::combine(static_cast<V>(-1), x) : x;
  else return x;
}

// What an element contributes. `y` is the second input's.
__device__ __forceinline__ Value mapped(Value x, Value y, const Scalars& scalars) {
#if ATTUNE_TRANSFORM_ABSOLUTE
  return magnitude<attune::Element<In>::kSigned>(x);
#elif ATTUNE_TRANSFORM_SQUARE
  return attune::Product<In>::combine(x, x);
#elif ATTUNE_TRANSFORM_SHIFTED_SQUARE
  const Value d = attune::Sum<In>::combine(x, -scalars.shift);
  return attune::Product<In>::combine(d, d);
#elif ATTUNE_TRANSFORM_TIMES
  return attune::Product<In>::combine(x, y);
#elif ATTUNE_TRANSFORM_CUSTOM
  return attune_map(x);
#else
  return x;
#endif
}

// What becomes of the combined value.
__device__ __forceinline__ Value finished(Value x, Index n, const Scalars& scalars) {
#if ATTUNE_FINISH_MEAN
  return x / static_cast<Value>(n);
#elif ATTUNE_FINISH_ROOT
  if constexpr (sizeof(Value) == 8) return sqrt(x);
  else return sqrtf(static_cast<float>(x));
#elif ATTUNE_FINISH_SCALE_BIAS
  return attune::Sum<In>::combine(attune::Product<In>::combine(scalars.scale, x), scalars.bias);
#else
  return x;
#endif
}

// The reference: each of 1024 threads in double precision or wider integers, then one after the other.
extern "C" __global__ void reduce_plainly(const In* in, const In* other, Index n, Value shift, Value scale, Value bias, Value* out) {
  __shared__ Value partial[1024];
  const Scalars scalars{shift, scale, bias};
  Value x = Operator::identity();
  for (Index i = threadIdx.x; i < n; i += 1024)
    x = Operator::combine(x, mapped(attune::load_element(in + i), kTwoInputs ? attune::load_element(other + i) : Value{0}, scalars));
  partial[threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned t = 1; t < 1024; ++t) x = Operator::combine(x, partial[t]);
  *out = finished(x, n, scalars);
}
