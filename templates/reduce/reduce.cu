// One value out of n elements: sum, minimum or maximum.
//
// Reading: from the first address that is aligned to a vector on, the input is dealt to the blocks in tiles of
// kBlock * kItems vectors, round-robin. A thread issues all kItems loads of a tile before it uses the first. What does not
// fill a tile goes to the block whose turn it is then, by whole vectors and single elements; the elements before the
// first aligned address go to the last block, which never has more tiles than another, and are loaded before its tiles.
// Offsets between tiles are 64-bit, those inside a tile 32-bit.
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
    const Bits* const bits = reinterpret_cast<const Bits*>(partials);
    Accumulator partial[kGatherLoads];
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k)
      partial[k] = first + k * step < count ? Math::value(load_relaxed(bits + first + k * step)) : identity();
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

extern "C" __global__ void __launch_bounds__(kBlock, kResidentBlocks)
    reduce_blocks(const Element* __restrict__ in, Index n, Accumulator* out, Accumulator* partials, Word* sync) {
  unsigned* const counter = reinterpret_cast<unsigned*>(sync);
  Word* const slots = sync + kSyncHeader;
  const unsigned block = blockIdx.x, blocks = gridDim.x;
  const bool first_thread = threadIdx.x == 0;
  __shared__ bool last;

  unsigned ticket = 0;
  Accumulator x = read_share(in, n, [&] {
    if constexpr (kGridStage == GridStage::Ticket)
      if (first_thread && blocks > 1) ticket = atomicInc(counter, blocks - 1);
  });
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
