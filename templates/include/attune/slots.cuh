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

/// A first look at a slot, which may still be empty: several slots' loads are under way together.
template <unsigned Parts>
__device__ __forceinline__ void load_slot(const Word* slots, unsigned slot, unsigned count, Word (&word)[Parts]) {
#pragma unroll
  for (unsigned p = 0; p < Parts; ++p) word[p] = load_relaxed(slots + p * count + slot);
}

/// Waits until every part of the slot is there, empties it, and leaves its parts in the low halves of `word`, which
/// load_slot filled.
template <unsigned Parts>
__device__ __forceinline__ void take_slot(Word* slots, unsigned slot, unsigned count, Word (&word)[Parts]) {
#pragma unroll
  for (unsigned p = 0; p < Parts; ++p) {
    Word* const at = slots + p * count + slot;
    while (word[p] == 0) word[p] = load_relaxed(at);
    store_relaxed(at, Word{0});
  }
}

}  // namespace attune
