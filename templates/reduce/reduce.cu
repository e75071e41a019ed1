// One value out of n elements: sum, minimum or maximum.
//
// Reading: the part of the input that consists of whole, aligned vectors is dealt to the blocks in tiles of
// kBlock * kItems vectors, round-robin. A thread issues its kItems loads of a tile before it uses the first. The elements
// before and after that part (fewer than two vectors) are loaded one by one, by the last block, which never has more
// tiles than another, and before its tiles, so that nobody waits for them. Only offsets inside a tile are 32-bit.
//
// Combining: inside a block (block_stage) and between blocks (grid_stage) in an order that n, the alignment and the
// configuration fix, except for block_atomic: its floating-point sums differ in the last bits from run to run.
// `ticket` waits, but only for blocks that have started, whatever the order in which the device starts them.
//
// Results: i8 accumulates into i32. Integer sums are modulo 2^32. Minimum and maximum skip NaN; all NaN counts as no
// element. The sign of a zero minimum or maximum is unspecified. No element gives the identity: 0 for sum; +inf or the
// largest value of T for min; -inf or the lowest value of T for max.
//
// Scratch: `sync` is zero before the first launch and zero again after each one; `partials` needs no initial value.
// Launches that may overlap need scratch of their own.

using Element = ATTUNE_T;
using Accumulator = ATTUNE_A;
using Index = unsigned long long;
using Word = unsigned long long;

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
constexpr unsigned kSlotWords = sizeof(Accumulator) / 4;
constexpr unsigned kSyncHeader = 16;      // words of `sync` before the slots: the counter has a cache line of its own
constexpr unsigned kFinishThreads = 512;  // block of reduce_partials; kSyncHeader and this stand in template.json too
constexpr unsigned kGatherLoads = 4;      // partial results that a thread loads at once
static_assert(kWidth >= 1, "a vector holds at least one element");
static_assert(2 * (kWidth - 1) <= kBlock, "one block loads the unaligned ends in one step");

// ---- arithmetic of the accumulator types ---------------------------------------------------------------------------

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

// ---- memory shared between blocks ----------------------------------------------------------------------------------

__device__ __forceinline__ void store_relaxed(unsigned* at, unsigned word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
__device__ __forceinline__ void store_relaxed(Word* at, Word word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* at) {
  unsigned word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
__device__ __forceinline__ Word load_relaxed(const Word* at) {
  Word word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}
// Counts the callers from 0 to `last`, whose call sets the counter back to 0; everything a caller wrote before is
// visible to the last one.
__device__ __forceinline__ unsigned arrive(unsigned* counter, unsigned last) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

// ---- loading -------------------------------------------------------------------------------------------------------

struct Vector {
  unsigned word[kVectorWords];
};

// Volatile so that the compiler keeps the loads of a tile together, ahead of their use.
__device__ __forceinline__ Vector load_vector(const char* at) {
  Vector v;
  if constexpr (kVectorBytes == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(at));
  else if constexpr (kVectorBytes == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(at));
  else if constexpr (kVectorBytes == 4)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  else if constexpr (kVectorBytes == 2)
    asm volatile("ld.global.u16 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  else
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  return v;
}

// A thread's running state: one accumulator for each element of a vector, so that additions do not wait for each other.
struct Lanes {
  Accumulator lane[kWidth];

  __device__ __forceinline__ explicit Lanes(Accumulator first) {
    lane[0] = first;
#pragma unroll
    for (unsigned k = 1; k < kWidth; ++k) lane[k] = identity();
  }
  __device__ __forceinline__ static Accumulator element(const Vector& v, unsigned k) {
    if constexpr (sizeof(Element) == 8) return Math::value(static_cast<Word>(v.word[2 * k + 1]) << 32 | v.word[2 * k]);
    else return Math::value(v.word[k]);
  }
  __device__ __forceinline__ void add(const Vector& v) {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) lane[k] = combine(lane[k], element(v, k));
  }
  __device__ __forceinline__ Accumulator total() const {
    Accumulator x[kWidth];
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) x[k] = lane[k];
#pragma unroll
    for (unsigned half = kWidth / 2; half > 0; half /= 2)
#pragma unroll
      for (unsigned k = 0; k < half; ++k) x[k] = combine(x[k], x[k + half]);
    return x[0];
  }
};

// The same for i8: four elements of a word at a time. Sums are 32-bit; minima and maxima stay packed bytes.
struct PackedLanes {
  // What fills a word that holds fewer than four elements, and what minima and maxima start from.
  static constexpr unsigned kIdle = kOp == Op::Sum ? 0u : kOp == Op::Min ? 0x7f7f7f7fu : 0x80808080u;
  static constexpr unsigned kPadding = kVectorBytes < 4 ? kIdle << 8 * (kVectorBytes % 4) : 0u;
  unsigned lane[kVectorWords];

  __device__ __forceinline__ explicit PackedLanes(Accumulator first) {
    lane[0] = kOp == Op::Sum ? static_cast<unsigned>(first) : kIdle << 8 | (static_cast<unsigned>(first) & 0xffu);
#pragma unroll
    for (unsigned k = 1; k < kVectorWords; ++k) lane[k] = kIdle;
  }
  __device__ __forceinline__ void add(const Vector& v) {
#pragma unroll
    for (unsigned k = 0; k < kVectorWords; ++k) {
      const unsigned word = v.word[k] | kPadding;
      if constexpr (kOp == Op::Sum) lane[k] = static_cast<unsigned>(__dp4a(static_cast<int>(word), 0x01010101, static_cast<int>(lane[k])));
      else if constexpr (kOp == Op::Min) lane[k] = __vmins4(lane[k], word);
      else lane[k] = __vmaxs4(lane[k], word);
    }
  }
  __device__ __forceinline__ Accumulator total() const {
    Accumulator x = identity();
#pragma unroll
    for (unsigned k = 0; k < kVectorWords; ++k) {
      if constexpr (kOp == Op::Sum) {
        x = combine(x, static_cast<Accumulator>(lane[k]));
      } else {
#pragma unroll
        for (unsigned byte = 0; byte < 4; ++byte) x = combine(x, static_cast<signed char>(lane[k] >> 8 * byte));
      }
    }
    return x;
  }
};

template <bool Packed>
struct ChooseLanes {
  using Type = Lanes;
};
template <>
struct ChooseLanes<true> {
  using Type = PackedLanes;
};

// What this thread makes of its share of the input.
__device__ __forceinline__ Accumulator read_share(const Element* __restrict__ in, Index n) {
  // Elements before the first aligned vector, whole vectors, elements after the last.
  unsigned head = 0;
  if constexpr (kWidth > 1) {
    head = static_cast<unsigned>(-reinterpret_cast<Index>(in) & (kVectorBytes - 1)) / sizeof(Element);
    if (head > n) head = static_cast<unsigned>(n);
  }
  const Index vectors = (n - head) / kWidth;
  const unsigned ends = static_cast<unsigned>(n - vectors * kWidth);

  // `rest` vectors do not fill a tile; the one block whose turn it is takes them. In bytes, both pointers as this thread
  // sees them: a tile counter beside them would cost the registers of a load in flight.
  const unsigned rest = static_cast<unsigned>(vectors % kTile);
  const char* const start = reinterpret_cast<const char*>(in + head) + threadIdx.x * kVectorBytes;
  const char* const tiles_end = start + (vectors - rest) * kVectorBytes;
  const char* at = start + static_cast<Index>(blockIdx.x) * (kTile * kVectorBytes);

  Accumulator single = identity();
  if (ends != 0 && blockIdx.x == gridDim.x - 1 && threadIdx.x < ends)
    single = in[threadIdx.x < head ? threadIdx.x : n - ends + threadIdx.x];
  typename ChooseLanes<kBytes>::Type lanes(single);

#pragma unroll 1
  for (; at < tiles_end; at += static_cast<Index>(gridDim.x) * (kTile * kVectorBytes)) {
    Vector v[kItems];
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) v[k] = load_vector(at + k * (kBlock * kVectorBytes));
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) lanes.add(v[k]);
  }
  if (at == tiles_end) {
    asm volatile("" : "+l"(n));
    const unsigned rest = static_cast<unsigned>((n - head) / kWidth % kTile);
    Vector v[kItems];
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if (k * kBlock + threadIdx.x < rest) v[k] = load_vector(at + k * (kBlock * kVectorBytes));
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k)
      if (k * kBlock + threadIdx.x < rest) lanes.add(v[k]);
  }
  return lanes.total();
}

// ---- combining inside a block --------------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ T warp_combine(T x) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kInteger) {  // one instruction
    if constexpr (kOp == Op::Sum) return __reduce_add_sync(~0u, x);
    else if constexpr (kOp == Op::Min) return __reduce_min_sync(~0u, x);
    else return __reduce_max_sync(~0u, x);
  } else
#endif
  {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) x = combine(x, __shfl_xor_sync(~0u, x, offset));
    return x;
  }
}

// The block's result, valid in warp 0. One barrier, which also publishes what the caller stored in shared memory before.
// shuffle: every warp by shuffles, then the warps' results by shuffles. shared_tree: every thread's value goes through
// shared memory, each lane of warp 0 combines a column of them, then shuffles. `Stage` keeps the shared memory of two
// calls in one kernel apart.
template <unsigned Threads, unsigned Stage>
__device__ __forceinline__ Accumulator block_combine(Accumulator x) {
  constexpr unsigned kWarps = Threads / 32;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if constexpr (kShuffle) {
    __shared__ Accumulator results[kWarps];
    x = warp_combine(x);
    if (lane == 0) results[warp] = x;
    __syncthreads();
    if (warp == 0) x = warp_combine(lane < kWarps ? results[lane] : identity());
  } else {
    __shared__ Accumulator values[Threads];
    if (warp != 0) values[threadIdx.x] = x;
    __syncthreads();
    if (warp == 0) {
      constexpr unsigned kChains = kWarps < 4 ? kWarps : 4;
      Accumulator chain[kChains];
      chain[0] = x;
#pragma unroll
      for (unsigned k = 1; k < kChains; ++k) chain[k] = values[k * 32 + lane];
#pragma unroll
      for (unsigned k = kChains; k < kWarps; ++k) chain[k % kChains] = combine(chain[k % kChains], values[k * 32 + lane]);
#pragma unroll
      for (unsigned k = 1; k < kChains; ++k) chain[0] = combine(chain[0], chain[k]);
      x = warp_combine(chain[0]);
    }
  }
  return x;
}

// Combines `count` partial results with all threads of a block (with one warp when they are few, which saves the
// barrier), each thread's in index order. `fetch(first, step, count, x)` loads up to kGatherLoads of them and combines
// them into x. The result is valid in thread 0.
template <unsigned Threads, class Fetch>
__device__ __forceinline__ Accumulator gather(unsigned count, Fetch fetch) {
  const bool few = count <= 32 * kGatherLoads;
  const unsigned team = few ? 32 : Threads;
  Accumulator x = identity();
  if (threadIdx.x < team)
    for (unsigned first = threadIdx.x; first < count; first += kGatherLoads * team) x = fetch(first, team, count, x);
  if (!few) return block_combine<Threads, 1>(x);
  return threadIdx.x < 32 ? warp_combine(x) : x;
}

// ---- combining between blocks --------------------------------------------------------------------------------------

// A slot is kSlotWords words, each 32 bits of the value and a tag above them: value and "it is there" arrive together.
constexpr Word kTag = 1ull << 32;

__device__ __forceinline__ void fill_slot(Word* slots, unsigned slot, Accumulator x) {
#pragma unroll
  for (unsigned part = 0; part < kSlotWords; ++part)
    store_relaxed(slots + part * gridDim.x + slot, kTag | static_cast<unsigned>(static_cast<Word>(Math::bits(x)) >> 32 * part));
}

// Waits for the slots, empties them and combines them.
struct FetchSlots {
  Word* slots;
  __device__ __forceinline__ Accumulator operator()(unsigned first, unsigned step, unsigned count, Accumulator x) const {
    Word word[kGatherLoads][kSlotWords];
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k)
#pragma unroll
      for (unsigned part = 0; part < kSlotWords; ++part)
        if (first + k * step < count) word[k][part] = load_relaxed(slots + part * count + first + k * step);
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k) {
      if (first + k * step >= count) break;
      Word bits = 0;
#pragma unroll
      for (unsigned part = 0; part < kSlotWords; ++part) {
        Word* const at = slots + part * count + first + k * step;
        while (word[k][part] == 0) word[k][part] = load_relaxed(at);
        store_relaxed(at, Word{0});
        bits |= static_cast<Word>(static_cast<unsigned>(word[k][part])) << 32 * part;
      }
      x = combine(x, Math::value(static_cast<Bits>(bits)));
    }
    return x;
  }
};

struct FetchPartials {
  const Accumulator* partials;
  __device__ __forceinline__ Accumulator operator()(unsigned first, unsigned step, unsigned count, Accumulator x) const {
    Accumulator partial[kGatherLoads];
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k)
      partial[k] = first + k * step < count ? Math::value(load_relaxed(reinterpret_cast<const Bits*>(partials) + first + k * step))
                                            : identity();
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k) x = combine(x, partial[k]);
    return x;
  }
};

// Adds to an accumulator in global memory that is 0 when nothing was added.
__device__ __forceinline__ void accumulate(Word* accumulator, Accumulator x) {
  if constexpr (kOp == Op::Sum) {
    if constexpr (kInteger) atomicAdd(reinterpret_cast<unsigned*>(accumulator), Math::bits(x));
    else atomicAdd(reinterpret_cast<Accumulator*>(accumulator), x);
  } else {
    atomicMax(reinterpret_cast<Bits*>(accumulator), kOp == Op::Max ? Math::ordered(x) : ~Math::ordered(x));
  }
}

__device__ __forceinline__ Accumulator take_accumulated(Word* accumulator) {
  const Bits bits = atomicExch(reinterpret_cast<Bits*>(accumulator), Bits{0});
  if constexpr (kOp == Op::Sum) return Math::value(bits);
  else return Math::from_ordered(kOp == Op::Max ? bits : ~bits);
}

extern "C" __global__ void __launch_bounds__(kBlock)
    reduce_blocks(const Element* __restrict__ in, Index n, Accumulator* out, Accumulator* partials, Word* sync) {
  unsigned* const counter = reinterpret_cast<unsigned*>(sync);
  Word* const slots = sync + kSyncHeader;
  const unsigned block = blockIdx.x, blocks = gridDim.x;
  const bool first_thread = threadIdx.x == 0;
  __shared__ bool last;

  unsigned ticket = 0;
  if constexpr (kGridStage == GridStage::Ticket)
    if (first_thread && blocks > 1) ticket = atomicInc(counter, blocks - 1);

  Accumulator x = read_share(in, n);
  if constexpr (kGridStage == GridStage::Ticket)
    if (first_thread) last = ticket == blocks - 1;
  x = block_combine<kBlock, 0>(x);

  if (kGridStage == GridStage::SingleBlock || blocks == 1) {
    if (first_thread) *out = x;
  } else if constexpr (kGridStage == GridStage::TwoPass) {
    if (first_thread) partials[block] = x;
  } else if constexpr (kGridStage == GridStage::BlockAtomic) {
    if (first_thread) {
      accumulate(slots, x);
      if (arrive(counter, blocks - 1) == blocks - 1) *out = take_accumulated(slots);
    }
  } else if constexpr (kGridStage == GridStage::LastBlock) {
    if (first_thread) {
      store_relaxed(reinterpret_cast<Bits*>(partials) + block, Math::bits(x));
      last = arrive(counter, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    if (!last) return;
    x = gather<kBlock>(blocks, FetchPartials{partials});
    if (first_thread) *out = x;
  } else {
    if (first_thread) fill_slot(slots, block, x);
    if (!last) return;
    x = gather<kBlock>(blocks, FetchSlots{slots});
    if (first_thread) *out = x;
  }
}

#if ATTUNE_GRID_STAGE_TWO_PASS
extern "C" __global__ void __launch_bounds__(kFinishThreads)
    reduce_partials(const Accumulator* partials, unsigned count, Accumulator* out) {
  const Accumulator x = gather<kFinishThreads>(count, FetchPartials{partials});
  if (threadIdx.x == 0) *out = x;
}
#endif
