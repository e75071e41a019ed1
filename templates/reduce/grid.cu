// One value out of n elements.
//
// Loading (load), combining inside a block (block_stage) and between blocks (grid_stage) are parameters. The order of
// combination is fixed by n, the alignment and the configuration, except where values meet in an atomic: sums and products of
// floating-point values differ there in the last bits from run to run.
// `ticket` and `cluster` wait, but only for blocks that have started, whatever the order in which the device starts them;
// `grid_sync` waits for all blocks, which a cooperative launch starts together.
//
// Results: integers modulo 2^32 or 2^64. Minimum and maximum pass over NaN; all NaN counts as no element. The sign of a zero
// minimum or maximum is unspecified. No element gives the operator's identity, finished like any other value.
//
// Scratch: `sync` is zero before the first launch and zero again after each one; `partials` needs no initial value.
// Launches that may overlap need scratch of their own.

#include <attune/gather.cuh>
#include <attune/warp.cuh>

#define TWO_PASS (ATTUNE_GRID_STAGE_TWO_PASS || ATTUNE_GRID_STAGE_DEPENDENT_TWO_PASS)

template <unsigned Threads, class Fetch>
__device__ __forceinline__ Value gather(unsigned count, Fetch fetch) {
  return attune::gather<Op, Threads, kGatherLoads>(count, fetch, [](Value x) { return block_total<Threads, 1>(x); });
}

using FetchPartials = attune::FetchPartials<Op, kGatherLoads>;
using FetchSlots = attune::FetchSlots<Op, kGatherLoads>;

// Adds to an accumulator, in global or shared memory, that is 0 while nothing was added.
template <class V>
__device__ __forceinline__ void accumulate(Word* accumulator, V x) {
  Bits* const at = reinterpret_cast<Bits*>(accumulator);
#if ATTUNE_OP_SUM
  if constexpr (Op::kFloating) atomicAdd(reinterpret_cast<V*>(accumulator), x);
  else atomicAdd(at, attune::bits_of(x));
#elif ATTUNE_OP_MAX
  atomicMax(at, attune::ordered(x));  // 0 lies at or below what the identity becomes
#elif ATTUNE_OP_MIN
  atomicMax(at, static_cast<Bits>(~attune::ordered(x)));
#elif ATTUNE_OP_OR
  atomicOr(at, attune::bits_of(x));
#elif ATTUNE_OP_XOR
  atomicXor(at, attune::bits_of(x));
#elif ATTUNE_OP_AND
  atomicOr(at, static_cast<Bits>(~attune::bits_of(x)));
#else
  // No instruction does it: what is there is replaced until nobody came between. Kept as the difference from the identity.
  const Bits none = attune::bits_of(Op::identity());
  Bits before = 0, seen;  // a first guess: what the accumulator holds while nothing was added
  do {
    seen = before;
    before = atomicCAS(at, seen, attune::bits_of(Op::combine(attune::value_of<Value>(seen ^ none), x)) ^ none);
  } while (before != seen);
#endif
}

__device__ __forceinline__ Value accumulated(Bits bits) {
#if ATTUNE_OP_SUM || ATTUNE_OP_OR || ATTUNE_OP_XOR
  return attune::value_of<Value>(bits);
#elif ATTUNE_OP_MAX
  return attune::from_ordered<Value>(bits);
#elif ATTUNE_OP_MIN
  return attune::from_ordered<Value>(static_cast<Bits>(~bits));
#elif ATTUNE_OP_AND
  return attune::value_of<Value>(static_cast<Bits>(~bits));
#else
  return attune::value_of<Value>(bits ^ attune::bits_of(Op::identity()));
#endif
}

// After every thread of the block has added: the last block takes the result.
__device__ __forceinline__ void take_result(Word* sync, Index n, const Scalars& scalars, Value* out) {
  if (threadIdx.x != 0) return;
  if (attune::arrive(reinterpret_cast<unsigned*>(sync), gridDim.x - 1) != gridDim.x - 1) return;
  *out = finished(accumulated(atomicExch(reinterpret_cast<Bits*>(sync + kSyncHeader), Bits{0})), n, scalars);
}

// The threads' shares of the input, and how they are combined. `read(meanwhile)` gives this thread's share.
template <class Read>
__device__ __forceinline__ void reduce_shares(Read read, Index n, const Scalars& scalars, Value* out, Value* partials, Word* sync) {
  [[maybe_unused]] unsigned* const counter = reinterpret_cast<unsigned*>(sync);
  [[maybe_unused]] Word* const slots = sync + kSyncHeader;
  [[maybe_unused]] const unsigned block = blockIdx.x, blocks = gridDim.x;
  [[maybe_unused]] const bool first_thread = threadIdx.x == 0;
#if ATTUNE_GRID_STAGE_TICKET || ATTUNE_GRID_STAGE_CLUSTER || ATTUNE_GRID_STAGE_LAST_BLOCK
  __shared__ bool last;
#endif

#if ATTUNE_GRID_STAGE_TICKET
  unsigned ticket = 0;
  Value x = read([&] {
    if (first_thread && blocks > 1) ticket = attune::take_ticket(counter, blocks - 1);
  });
  if (first_thread) last = ticket == blocks - 1;
  x = block_total<kBlock, 0>(x);
  if (blocks > 1) {
    if (first_thread) attune::fill_slot_with<attune::PartsOf<Value>>(slots, block, blocks, x);
    if (!last) return;
    x = gather<kBlock>(blocks, FetchSlots{slots});
  }
  if (first_thread) *out = finished(x, n, scalars);
#elif ATTUNE_GRID_STAGE_CLUSTER
  const unsigned clusters = blocks / cluster_blocks();
  const bool leader = cluster_rank() == 0;
  __shared__ ClusterInbox inbox;
  cluster_begin(inbox);
  unsigned ticket = 0;
  Value x = read([&] {
    if (first_thread && leader && clusters > 1) ticket = attune::take_ticket(counter, clusters - 1);
  });
  if (first_thread) last = leader && ticket == clusters - 1;
  x = cluster_total(inbox, block_total<kBlock, 0>(x));
  if (!leader) return;
  if (clusters > 1) {
    if (first_thread) attune::fill_slot_with<attune::PartsOf<Value>>(slots, block / cluster_blocks(), clusters, x);
    if (!last) return;
    x = gather<kBlock>(clusters, FetchSlots{slots});
  }
  if (first_thread) *out = finished(x, n, scalars);
#elif ATTUNE_GRID_STAGE_THREAD_ATOMIC
  accumulate(slots, read([] {}));
  __syncthreads();  // and by it, every thread's atomic comes before thread 0's arrival
  take_result(sync, n, scalars, out);
#elif ATTUNE_GRID_STAGE_WARP_ATOMIC
  const Value x = attune::warp_combine<Op>(read([] {}));
  if (threadIdx.x % 32 == 0) accumulate(slots, x);
  __syncthreads();
  take_result(sync, n, scalars, out);
#elif ATTUNE_GRID_STAGE_SHARED_ATOMIC
  __shared__ Word accumulator;
  if (first_thread) accumulator = 0;
  __syncthreads();
  accumulate(&accumulator, read([] {}));
  __syncthreads();
  if (first_thread) accumulate(slots, accumulated(*reinterpret_cast<Bits*>(&accumulator)));
  take_result(sync, n, scalars, out);
#else
  Value x = block_total<kBlock, 0>(read([] {}));
#if ATTUNE_GRID_STAGE_BLOCK_ATOMIC
  if (first_thread) accumulate(slots, x);
  take_result(sync, n, scalars, out);
#elif ATTUNE_GRID_STAGE_SINGLE_BLOCK
  if (first_thread) *out = finished(x, n, scalars);
#else
  if (blocks == 1) {
    if (first_thread) *out = finished(x, n, scalars);
    return;
  }
#if TWO_PASS
  if (first_thread) partials[block] = x;
#if ATTUNE_GRID_STAGE_DEPENDENT_TWO_PASS
  // The second launch may start, which has its own way to wait until all of this one's is done.
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
#elif ATTUNE_GRID_STAGE_GRID_SYNC
  if (first_thread) partials[block] = x;
  wait_for_grid();
  if (block != 0) return;
  x = gather<kBlock>(blocks, FetchPartials{partials});
  if (first_thread) *out = finished(x, n, scalars);
#else
  if (first_thread) {
    attune::store_relaxed(reinterpret_cast<Bits*>(partials) + block, attune::bits_of(x));
    last = attune::arrive(counter, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  if (!last) return;
  x = gather<kBlock>(blocks, FetchPartials{partials});
  if (first_thread) *out = finished(x, n, scalars);
#endif
#endif
#endif
}

extern "C" __global__ void __launch_bounds__(kBlock, kResidentBlocks)
    reduce_blocks(const In* __restrict__ in, const In* __restrict__ other, Index given, Value shift, Value scale, Value bias, Value* out,
                  Value* partials, Word* sync) {
  const Index n = count_of(given);
  const Scalars scalars{shift, scale, bias};
#ifdef ATTUNE_N
  // Twice all of it, so that what runs lies together: a small reduction waits for instructions as well as for data.
  if constexpr (kWholeTiles) {
    if (has_one_tile_each(in)) {
      reduce_shares([&](auto meanwhile) { return read_one_tile(in, other, scalars, meanwhile); }, n, scalars, out, partials, sync);
      return;
    }
  }
#endif
  reduce_shares([&](auto meanwhile) { return read_share(in, other, n, scalars, meanwhile); }, n, scalars, out, partials, sync);
}

#if TWO_PASS
extern "C" __global__ void __launch_bounds__(kFinishThreads)
    reduce_partials(const Value* partials, unsigned count, Index n, Value scale, Value bias, Value* out) {
#if ATTUNE_GRID_STAGE_DEPENDENT_TWO_PASS
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const Value x = gather<kFinishThreads>(count, FetchPartials{partials});
  if (threadIdx.x == 0) *out = finished(x, n, Scalars{Value{0}, scale, bias});
}
#endif
