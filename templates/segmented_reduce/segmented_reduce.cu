// Each row of a row-major matrix to one value: sum, product, minimum or maximum.
//
// Who reduces a row (row_stage): a thread, some lanes of a warp or a whole warp (segmented_by_lanes, several rows at once), a
// block (segmented_by_block), or several blocks (segmented_by_blocks), where rows are fewer than blocks and long. `adaptive`
// holds all three and takes the one that suits the shape.
//
// Reading: rows may start at any address. A thread reads whole vectors from the first one in the row on; what stands
// before and after them is read element by element. Where every row starts and ends between vectors, which the launch
// decides once, none of that is done.
//
// Combining: in an order that shape, alignment and configuration fix. `ticket` waits, but only for blocks of the row that
// have started, whatever the order in which the device starts them.
//
// Results: i8 and u8 accumulate into i32 and u32, f16 and bf16 into f32. Integers are modulo 2^32 or 2^64. Minimum and
// maximum pass over NaN; all NaN counts as no element. The sign of a zero minimum or maximum is unspecified. No element
// gives the identity: 0, 1, +inf or the largest value of T, -inf or the lowest value of T.
//
// Scratch: `sync` is zero before the first launch and zero again after each one; `partials` needs no initial value.
// Launches that may overlap need scratch of their own.
#include <attune/bits.cuh>
#include <attune/block.cuh>
#include <attune/gather.cuh>
#include <attune/memory.cuh>
#include <attune/warp.cuh>

using attune::BlockStage;
using attune::Word;
using Bits = attune::Raw<Accumulator>::Bits;
using SlotParts = attune::PartsOf<Accumulator>;

constexpr unsigned kGatherLoads = 16 / sizeof(Accumulator);  // partial results that a thread loads at once

// ---- several rows a warp -----------------------------------------------------------------------------------------------

// Valid in the first of a row's lanes. All lanes of the warp call it.
__device__ __forceinline__ Accumulator combine_lanes(Accumulator x, unsigned lanes) {
  if constexpr (kLanes == 32) {
    return attune::warp_combine<Op>(x);
  } else {
#pragma unroll
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      if (offset >= lanes) continue;
      x = Op::combine(x, __shfl_xor_sync(~0u, x, offset));
    }
    return x;
  }
}

// A block's rows are neighbours: of each kRowsInFlight of them that a group of lanes reads at once, the next group's lie
// beside them.
template <bool Aligned>
__device__ __forceinline__ void reduce_groups(const Item* __restrict__ in, Accumulator* out, Index rows, unsigned columns,
                                              unsigned lanes) {
  const unsigned shift = 31 - __clz(static_cast<int>(lanes));  // a power of two
  const unsigned lane = threadIdx.x & (lanes - 1), group = threadIdx.x >> shift, groups = kBlock >> shift;
  const unsigned block_rows = groups * kRowsInFlight;
#pragma unroll 1
  for (Index first = static_cast<Index>(blockIdx.x) * block_rows; first < rows;
       first += static_cast<Index>(gridDim.x) * block_rows) {
    const Item* const begin = in + first * columns;
    const unsigned left = rows - first < block_rows ? static_cast<unsigned>(rows - first) : block_rows;
    Row row[kRowsInFlight];
    unsigned count[kRowsInFlight];
    Accumulator x[kRowsInFlight];
#pragma unroll
    for (unsigned j = 0; j < kRowsInFlight; ++j) {
      const unsigned mine = j * groups + group;
      count[j] = mine < left ? columns : 0;
      row[j] = find_row<Aligned>(begin + static_cast<Index>(mine) * columns, count[j], lane);
    }
    read_rows<Aligned>(row, x, count, lane, lanes);
#pragma unroll
    for (unsigned j = 0; j < kRowsInFlight; ++j) {
      const unsigned mine = j * groups + group;
      x[j] = combine_lanes(x[j], lanes);
      if (lane == 0 && mine < left) out[first + mine] = x[j];
    }
  }
}

#if ATTUNE_ROW_STAGE_THREAD || ATTUNE_ROW_STAGE_SUB_WARP || ATTUNE_ROW_STAGE_WARP || ATTUNE_ROW_STAGE_ADAPTIVE
extern "C" __global__ void __launch_bounds__(kBlock, kResidentBlocks)
    segmented_by_lanes(const Item* __restrict__ in, Accumulator* out, Index rows, unsigned columns, unsigned row_lanes) {
  const unsigned lanes = kLanes == 0 ? row_lanes : kLanes;
  const unsigned misaligned = static_cast<unsigned>(attune::address_of(in)) | columns * static_cast<unsigned>(sizeof(Item));
  if (kWidth == 1 || misaligned % kVectorBytes == 0) reduce_groups<true>(in, out, rows, columns, lanes);
  else reduce_groups<false>(in, out, rows, columns, lanes);
}
#endif

// ---- a block a row -----------------------------------------------------------------------------------------------------

#if ATTUNE_ROW_STAGE_BLOCK || ATTUNE_ROW_STAGE_ADAPTIVE
extern "C" __global__ void __launch_bounds__(kBlock, kResidentBlocks)
    segmented_by_block(const Item* __restrict__ in, Accumulator* out, Index rows, Index columns) {
  bool odd = false;
#pragma unroll 1
  for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
    Accumulator x = read_part(in + row * columns, columns, 0, 1, [] {});
    // Two places in shared memory in turn, so that one barrier a row is enough.
    if (odd) x = attune::block_combine<Op, kBlock, BlockStage::Shuffle, 1>(x);
    else x = attune::block_combine<Op, kBlock, BlockStage::Shuffle, 0>(x);
    if (threadIdx.x == 0) out[row] = x;
    odd = !odd;
  }
}
#endif

// ---- several blocks a row ----------------------------------------------------------------------------------------------

using FetchPartials = attune::FetchPartials<Op, kGatherLoads>;

template <unsigned Threads, class Fetch>
__device__ __forceinline__ Accumulator gather(unsigned count, Fetch fetch) {
  // Call 1: the block's own values were call 0.
  return attune::gather<Op, Threads, kGatherLoads>(count, fetch, [](Accumulator x) { return attune::block_combine<Op, Threads, BlockStage::Shuffle, 1>(x); });
}

#if ATTUNE_ROW_STAGE_TWO_PASS || ATTUNE_ROW_STAGE_LAST_BLOCK || ATTUNE_ROW_STAGE_TICKET || ATTUNE_ROW_STAGE_ADAPTIVE
// The blocks of a row are neighbours. Counters stand first in `sync`, the slots of row after row behind them.
extern "C" __global__ void __launch_bounds__(kBlock, kResidentBlocks)
    segmented_by_blocks(const Item* __restrict__ in, Accumulator* out, Index rows, Index columns, unsigned parts,
                     Accumulator* partials, Word* sync) {
  const unsigned row = blockIdx.x / parts, part = blockIdx.x % parts;
  if (row >= rows) return;  // no rows, and yet a grid of one block
  unsigned* const counter = reinterpret_cast<unsigned*>(sync + static_cast<Index>(row) * kSyncWords);
  Word* const slots = sync + rows * kSyncWords + static_cast<Index>(row) * parts * SlotParts::kCount;
  Accumulator* const mine = partials + static_cast<Index>(row) * parts;
  const bool first_thread = threadIdx.x == 0;
  __shared__ bool last;

  unsigned ticket = 0;
  Accumulator x = read_part(in + row * columns, columns, part, parts, [&] {
    if constexpr (kTicket)
      if (first_thread && parts > 1) ticket = attune::take_ticket(counter, parts - 1);
  });
  if constexpr (kTicket)
    if (first_thread) last = ticket == parts - 1;
  x = attune::block_combine<Op, kBlock, BlockStage::Shuffle>(x);

  if (parts == 1) {
    if (first_thread) out[row] = x;
  } else if constexpr (kTicket) {
    if (first_thread) attune::fill_slot_with<SlotParts>(slots, part, parts, x);
    if (!last) return;
    x = gather<kBlock>(parts, attune::FetchSlots<Op, kGatherLoads>{slots});
    if (first_thread) out[row] = x;
  } else if constexpr (ATTUNE_ROW_STAGE_LAST_BLOCK) {
    if (first_thread) {
      attune::store_relaxed(reinterpret_cast<Bits*>(mine) + part, attune::bits_of(x));
      last = attune::arrive(counter, parts - 1) == parts - 1;
    }
    __syncthreads();
    if (!last) return;
    x = gather<kBlock>(parts, FetchPartials{mine});
    if (first_thread) out[row] = x;
  } else {
    if (first_thread) mine[part] = x;
  }
}
#endif

#if ATTUNE_ROW_STAGE_TWO_PASS
extern "C" __global__ void __launch_bounds__(kFinishThreads)
    segmented_partials(const Accumulator* partials, unsigned parts, Accumulator* out) {
  const FetchPartials fetch{partials + static_cast<Index>(blockIdx.x) * parts};
  const Accumulator x = gather<kFinishThreads>(parts, fetch);
  if (threadIdx.x == 0) out[blockIdx.x] = x;
}
#endif
