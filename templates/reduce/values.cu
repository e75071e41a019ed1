// Types, tunable parameters and arithmetic of the reduction; reduce.cu says what the parts do.

using Element = ATTUNE_T;
using Accumulator = ATTUNE_A;
using Index = unsigned long long;
using Word = unsigned long long;
using Address = long long;

enum class Op { Sum, Min, Max };
enum class GridStage { TwoPass, BlockAtomic, LastBlock, Ticket, SingleBlock };

constexpr Op kOp = ATTUNE_OP_SUM ? Op::Sum : ATTUNE_OP_MIN ? Op::Min : Op::Max;
constexpr GridStage kGridStage = ATTUNE_GRID_STAGE_TWO_PASS       ? GridStage::TwoPass
                                 : ATTUNE_GRID_STAGE_BLOCK_ATOMIC ? GridStage::BlockAtomic
                                 : ATTUNE_GRID_STAGE_LAST_BLOCK   ? GridStage::LastBlock
                                 : ATTUNE_GRID_STAGE_TICKET       ? GridStage::Ticket
                                                                  : GridStage::SingleBlock;
constexpr bool kShuffle = ATTUNE_BLOCK_STAGE_SHUFFLE;
constexpr bool kBytes = sizeof(Element) == 1;
constexpr bool kInteger = static_cast<Accumulator>(0.5) == 0;

constexpr unsigned kBlock = ATTUNE_BLOCK_SIZE;
constexpr unsigned kItems = ATTUNE_ITEMS;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kVectorWords = kVectorBytes < 4 ? 1 : kVectorBytes / 4;
constexpr unsigned kWidth = kVectorBytes / sizeof(Element);  // elements of a vector
constexpr unsigned kTile = kBlock * kItems;                  // vectors of a tile
constexpr Address kTileBytes = kTile * kVectorBytes;
constexpr unsigned kSlotWords = sizeof(Accumulator) / 4;
constexpr unsigned kGatherLoads = 16 / sizeof(Accumulator);  // partial results that a thread loads at once
constexpr unsigned kSyncHeader = 16;      // words of `sync` before the slots: the counter has a cache line of its own
constexpr unsigned kFinishThreads = 512;  // block of reduce_partials; kSyncHeader and this stand in template.json too

// Registers a thread is given: the loads in flight and what surrounds them. With a tighter limit (the compiler's own
// choice) loads wait for additions or registers are spilled; without one fewer blocks fit on an SM.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kSmThreads = 2048;
#else
constexpr unsigned kSmThreads = 1024;  // what every SM holds, also in blocks of 64
#endif
constexpr unsigned kRegisters = kItems * kVectorWords + 24 + (sizeof(Element) == 8 ? 8 : 0) + (kBlock == 64 ? 8 : 0);
constexpr unsigned kResidentThreads = 65536 / kRegisters < kSmThreads ? 65536 / kRegisters : kSmThreads;
constexpr unsigned kResidentBlocks = kResidentThreads < kBlock ? 1 : kResidentThreads / kBlock;

static_assert(kWidth >= 1, "a vector holds at least one element");
static_assert(kWidth <= kBlock, "one block loads the elements before and after the vectors in one step");

// `ordered` maps to unsigned integers that compare like the values. Minimum and maximum through an atomic maximum need
// that, and that 0 stands below or at the identity: the accumulator starts as 0.
template <class T>
struct Arithmetic;

template <>
struct Arithmetic<float> {
  using Bits = unsigned;
  __device__ static float plus(float a, float b) { return a + b; }
  __device__ static float lesser(float a, float b) { return fminf(a, b); }
  __device__ static float greater(float a, float b) { return fmaxf(a, b); }
  __device__ static float lowest() { return __int_as_float(0xff800000); }
  __device__ static float highest() { return __int_as_float(0x7f800000); }
  __device__ static Bits bits(float a) { return __float_as_uint(a); }
  __device__ static float value(Bits b) { return __uint_as_float(b); }
  __device__ static Bits ordered(float a) { return bits(a) >> 31 ? ~bits(a) : bits(a) | 0x80000000u; }
  __device__ static float from_ordered(Bits b) { return value(b >> 31 ? b & 0x7fffffffu : ~b); }
};

template <>
struct Arithmetic<double> {
  using Bits = unsigned long long;
  __device__ static double plus(double a, double b) { return a + b; }
  // Comparisons, because there is no f64 minimum instruction. `a` is never NaN: it starts as the identity.
  __device__ static double lesser(double a, double b) { return b < a ? b : a; }
  __device__ static double greater(double a, double b) { return b > a ? b : a; }
  __device__ static double lowest() { return value(0xfff0000000000000ull); }
  __device__ static double highest() { return value(0x7ff0000000000000ull); }
  __device__ static Bits bits(double a) { return static_cast<Bits>(__double_as_longlong(a)); }
  __device__ static double value(Bits b) { return __longlong_as_double(static_cast<long long>(b)); }
  __device__ static Bits ordered(double a) { return bits(a) >> 63 ? ~bits(a) : bits(a) | 0x8000000000000000ull; }
  __device__ static double from_ordered(Bits b) { return value(b >> 63 ? b & 0x7fffffffffffffffull : ~b); }
};

template <>
struct Arithmetic<int> {
  using Bits = unsigned;
  __device__ static int plus(int a, int b) { return value(bits(a) + bits(b)); }
  __device__ static int lesser(int a, int b) { return min(a, b); }
  __device__ static int greater(int a, int b) { return max(a, b); }
  __device__ static int lowest() { return kBytes ? -128 : -0x7fffffff - 1; }
  __device__ static int highest() { return kBytes ? 127 : 0x7fffffff; }
  __device__ static Bits bits(int a) { return static_cast<Bits>(a); }
  __device__ static int value(Bits b) { return static_cast<int>(b); }
  __device__ static Bits ordered(int a) { return bits(a) ^ 0x80000000u; }
  __device__ static int from_ordered(Bits b) { return value(b ^ 0x80000000u); }
};

using Math = Arithmetic<Accumulator>;
using Bits = Math::Bits;

__device__ __forceinline__ Accumulator identity() {
  if constexpr (kOp == Op::Sum) return 0;
  else if constexpr (kOp == Op::Min) return Math::highest();
  else return Math::lowest();
}

__device__ __forceinline__ Accumulator combine(Accumulator a, Accumulator b) {
  if constexpr (kOp == Op::Sum) return Math::plus(a, b);
  else if constexpr (kOp == Op::Min) return Math::lesser(a, b);
  else return Math::greater(a, b);
}
