#pragma once
// One block combines the partial results of many.
#include <attune/bits.cuh>
#include <attune/memory.cuh>
#include <attune/slots.cuh>
#include <attune/warp.cuh>

namespace attune {

/// Combines `count` partial results with all threads of a block (with one warp when they are few, which saves the
/// barrier), each thread's in index order. `fetch(first, step, count, x)` loads up to Loads of them, first, first + step,
/// ... as far as they lie below count, combines them into x and returns that; `combine_block(x)` combines the values of a block's
/// threads. The result is valid in thread 0. Requires: all Threads threads call it.
template <class Op, unsigned Threads, unsigned Loads, class Fetch, class CombineBlock>
__device__ __forceinline__ typename Op::Value gather(unsigned count, Fetch fetch, CombineBlock combine_block) {
  const bool few = count <= 32 * Loads;
  const unsigned team = few ? 32 : Threads;
  typename Op::Value x = Op::identity();
  if (threadIdx.x < team)  // whole warps, also in the loop: fetch may wait
    for (unsigned first = 0; first < count; first += Loads * team) x = fetch(first + threadIdx.x, team, count, x);
  if (!few) return combine_block(x);
  return threadIdx.x < 32 ? warp_combine<Op>(x) : x;
}

/// How a value of 4 or 8 bytes travels through slots: by its 32-bit parts, the lower ones first.
template <class Value>
struct PartsOf {
  using Bits = typename Raw<Value>::Bits;
  static constexpr unsigned kCount = sizeof(Value) / 4;
  static __device__ __forceinline__ void pack(Value x, unsigned (&part)[kCount]) {
    const Word bits = bits_of(x);
#pragma unroll
    for (unsigned p = 0; p < kCount; ++p) part[p] = static_cast<unsigned>(bits >> 32 * p);
  }
  static __device__ __forceinline__ Value unpack(const Word (&word)[kCount]) {
    Word bits = 0;
#pragma unroll
    for (unsigned p = 0; p < kCount; ++p) bits |= static_cast<Word>(static_cast<unsigned>(word[p])) << 32 * p;
    return value_of<Value>(static_cast<Bits>(bits));
  }
};

/// Hands a block's value to the block that gathers.
template <class Parts, class Value>
__device__ __forceinline__ void fill_slot_with(Word* slots, unsigned slot, unsigned count, Value x) {
  unsigned part[Parts::kCount];
  Parts::pack(x, part);
  fill_slot(slots, slot, count, part);
}

/// For gather: waits for slots, empties them and combines their values.
template <class Op, unsigned Loads, class Parts = PartsOf<typename Op::Value>>
struct FetchSlots {
  Word* slots;
  __device__ __forceinline__ typename Op::Value operator()(unsigned first, unsigned step, unsigned count, typename Op::Value x) const {
    Word word[Loads][Parts::kCount];
    take_slots(slots, first, step, count, word);
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k)
      if (first + k * step < count) x = Op::combine(x, Parts::unpack(word[k]));
    return x;
  }
};

/// For gather: combines values of 4 or 8 bytes that other blocks of the same launch may have stored by store_relaxed.
template <class Op, unsigned Loads>
struct FetchPartials {
  using Value = typename Op::Value;
  const Value* partials;
  __device__ __forceinline__ Value operator()(unsigned first, unsigned step, unsigned count, Value x) const {
    const auto* const bits = reinterpret_cast<const typename Raw<Value>::Bits*>(partials);
    Value partial[Loads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k)
      partial[k] = first + k * step < count ? value_of<Value>(load_relaxed(bits + first + k * step)) : Op::identity();
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) x = Op::combine(x, partial[k]);
    return x;
  }
};

}  // namespace attune
