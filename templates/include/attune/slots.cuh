#pragma once
// Tagged slots: every block hands a value of some 32-bit parts to the block that gathers. A part travels with a tag above
// it in one 64-bit word, so that it and "it is there" arrive together, without a fence. Slots are zero before a kernel
// and, since the block that gathers empties them, zero after it. Whoever waits for a slot must know that the block that
// fills it has started: the block with the last ticket (memory.cuh) knows it of every other, in whatever order they start.
#include <attune/memory.cuh>

namespace attune {

constexpr Word kSlotTag = 1ull << 32;

/// Part p of slot s of `count` slots stands at slots[p * count + s]: neighbouring lanes read neighbouring words.
template <unsigned Parts>
__device__ __forceinline__ void fill_slot(Word* slots, unsigned slot, unsigned count, const unsigned (&part)[Parts]) {
#pragma unroll
  for (unsigned p = 0; p < Parts; ++p) store_relaxed(slots + p * count + slot, kSlotTag | part[p]);
}

/// Waits until `Slots` slots, first, first + step, ..., as far as they lie below `count`, are all there, empties them, and gives their parts
/// in the low halves of `word`. What is missing is asked for again all at once: waiting ends one way to memory after the last slot was
/// filled, not one for each slot that was. The lanes of a warp wait together: where each waits for its own slots they part, the
/// assembler lets them go on apart, and shuffles behind it then run one by one from code that nothing has fetched yet, for 0.5 to 2 us.
/// Requires: all 32 lanes of a warp call it.
template <unsigned Slots, unsigned Parts>
__device__ __forceinline__ void take_slots(Word* slots, unsigned first, unsigned step, unsigned count, Word (&word)[Slots][Parts]) {
#pragma unroll
  for (unsigned k = 0; k < Slots; ++k)
#pragma unroll
    for (unsigned p = 0; p < Parts; ++p) word[k][p] = first + k * step < count ? Word{0} : kSlotTag;
  bool missing;
#pragma unroll 1
  do {
    missing = false;
#pragma unroll
    for (unsigned k = 0; k < Slots; ++k)
#pragma unroll
      for (unsigned p = 0; p < Parts; ++p)
        if (word[k][p] == 0) word[k][p] = load_relaxed(slots + p * count + first + k * step);
#pragma unroll
    for (unsigned k = 0; k < Slots; ++k)
#pragma unroll
      for (unsigned p = 0; p < Parts; ++p) missing |= word[k][p] == 0;
  } while (__any_sync(~0u, missing));
#pragma unroll
  for (unsigned k = 0; k < Slots; ++k)
#pragma unroll
    for (unsigned p = 0; p < Parts; ++p)
      if (first + k * step < count) store_relaxed(slots + p * count + first + k * step, Word{0});
}

}  // namespace attune
