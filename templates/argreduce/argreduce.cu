// The greatest or the least of n elements, and where it stands.
//
// Reading: from the first address that is aligned to a vector on, the input is dealt to the blocks in tiles of
// kBlock * kItems vectors, round-robin. A thread issues all kItems loads of a tile before it uses the first. What does
// not fill a tile goes to the block whose turn it is then, by whole vectors and single elements; the elements before the
// first aligned address go to the last block, which never has more tiles than another, and are loaded before its tiles.
//
// Combining: inside a block (block_stage) and between blocks (grid_stage). `ticket` waits, but only for blocks that have
// started, whatever the order in which the device starts them.
//
// Results: `value` and `index`, of the lowest index among equal elements, so that they do not depend on the
// configuration. NaN is passed over; no other element: index -1, and the operator's identity (-inf or the lowest value
// of T for max, +inf or the highest for min) as value. Infinities and limits are ordinary elements. -0 and +0 are
// equal, and the sign of a zero `value` is unspecified.
//
// Scratch: `sync` is zero before the first launch and zero again after each one; partial_values and partial_indices need
// no initial value. Launches that may overlap need scratch of their own.

__device__ __forceinline__ void put_result(Candidate x, ATTUNE_T* value, long long* index) {
  attune::store_element(value, x.value);
  *index = static_cast<long long>(x.index);  // kNone is -1
}

struct FetchPartials {
  const Value* values;
  const Index* indices;
  __device__ __forceinline__ Candidate operator()(unsigned first, unsigned step, unsigned count, Candidate x) const {
    const Bits* const bits = reinterpret_cast<const Bits*>(values);
    Candidate partial[kGatherLoads];
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k) {
      const unsigned i = first + k * step;
      partial[k] = Best::identity();
      if (i < count) partial[k] = {attune::value_of<Value>(attune::load_relaxed(bits + i)), attune::load_relaxed(indices + i)};
    }
#pragma unroll
    for (unsigned k = 0; k < kGatherLoads; ++k) x = Best::combine(x, partial[k]);
    return x;
  }
};

// How a candidate travels through slots: the value's 32-bit words, then those of the index, the lower ones first.
struct CandidateParts {
  static constexpr unsigned kCount = kValueWords + 2;
  static __device__ __forceinline__ void pack(Candidate x, unsigned (&part)[kCount]) {
    const Word bits = attune::bits_of(x.value);
#pragma unroll
    for (unsigned p = 0; p < kValueWords; ++p) part[p] = static_cast<unsigned>(bits >> 32 * p);
    part[kValueWords] = static_cast<unsigned>(x.index);
    part[kValueWords + 1] = static_cast<unsigned>(x.index >> 32);
  }
  static __device__ __forceinline__ Candidate unpack(const Word (&word)[kCount]) {
    Word bits = static_cast<unsigned>(word[0]);
    if constexpr (kValueWords == 2) bits |= word[1] << 32;
    const Index low = static_cast<unsigned>(word[kValueWords]);
    return {attune::value_of<Value>(static_cast<Bits>(bits)), low | word[kValueWords + 1] << 32};
  }
};

using FetchSlots = attune::FetchSlots<Best, kGatherLoads, CandidateParts>;

template <unsigned Threads, class Fetch>
__device__ __forceinline__ Candidate gather(unsigned count, Fetch fetch) {
  // Call 1: the block's own values were call 0.
  return attune::gather<Best, Threads, kGatherLoads>(count, fetch, [](Candidate x) { return attune::block_combine<Best, Threads, kBlockStage, 1>(x); });
}

// The threads' shares of the input, and how they are combined. `read(meanwhile)` gives this thread's share.
template <class Read>
__device__ __forceinline__ void combine_shares(Read read, ATTUNE_T* value, long long* index, Value* partial_values, Index* partial_indices,
                                               Word* sync) {
  unsigned* const counter = reinterpret_cast<unsigned*>(sync);
  Word* const slots = sync + kSyncHeader;
  const unsigned block = blockIdx.x, blocks = gridDim.x;
  const bool first_thread = threadIdx.x == 0;
  __shared__ bool last;

  unsigned ticket = 0;
  Candidate x = read([&] {
    if constexpr (kGridStage == GridStage::Ticket)
      if (first_thread && blocks > 1) ticket = attune::take_ticket(counter, blocks - 1);
  });
  if constexpr (kGridStage == GridStage::Ticket)
    if (first_thread) last = ticket == blocks - 1;
  x = attune::block_combine<Best, kBlock, kBlockStage>(x);

  if (kGridStage == GridStage::SingleBlock || blocks == 1) {
    if (first_thread) put_result(x, value, index);
  } else if constexpr (kGridStage == GridStage::TwoPass) {
    if (first_thread) {
      partial_values[block] = x.value;
      partial_indices[block] = x.index;
    }
  } else if constexpr (kGridStage == GridStage::LastBlock) {
    if (first_thread) {
      attune::store_relaxed(reinterpret_cast<Bits*>(partial_values) + block, attune::bits_of(x.value));
      attune::store_relaxed(partial_indices + block, x.index);
      last = attune::arrive(counter, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    if (!last) return;
    x = gather<kBlock>(blocks, FetchPartials{partial_values, partial_indices});
    if (first_thread) put_result(x, value, index);
  } else {
    if (first_thread) attune::fill_slot_with<CandidateParts>(slots, blockIdx.x, gridDim.x, x);
    if (!last) return;
    x = gather<kBlock>(blocks, FetchSlots{slots});
    if (first_thread) put_result(x, value, index);
  }
}

extern "C" __global__ void __launch_bounds__(kBlock, kResidentBlocks)
    argreduce_blocks(const ATTUNE_T* __restrict__ in, Index given, ATTUNE_T* value, long long* index, Value* partial_values,
                     Index* partial_indices, Word* sync) {
#ifdef ATTUNE_N
  const Index n = ATTUNE_N;
  // Twice all of it, so that what runs lies together: a small reduction waits for instructions as well as for data.
  if constexpr (kWholeTiles) {
    if (has_one_tile_each(in)) {
      combine_shares([&](auto meanwhile) { return read_one_tile(in, meanwhile); }, value, index, partial_values, partial_indices, sync);
      return;
    }
  }
#else
  const Index n = given;
#endif
  combine_shares([&](auto meanwhile) { return read_share(in, n, meanwhile); }, value, index, partial_values, partial_indices, sync);
}

#if ATTUNE_GRID_STAGE_TWO_PASS
extern "C" __global__ void __launch_bounds__(kFinishThreads)
    argreduce_partials(const Value* partial_values, const Index* partial_indices, unsigned count, ATTUNE_T* value,
                       long long* index) {
  const Candidate x = gather<kFinishThreads>(count, FetchPartials{partial_values, partial_indices});
  if (threadIdx.x == 0) put_result(x, value, index);
}
#endif
