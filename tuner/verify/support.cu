// attune's own device kernels: filling, guarding, planting, comparing, reading for the cache and for the bandwidth ceiling.
// Header-free but for attune's own, so that NVRTC compiles it in well under a second for any device.
#include <attune/reference.cuh>

#include "tuner/verify/support_types.cuh"

using namespace attune::reference;

/// `values`: a spec::DataValues.
__device__ __forceinline__ u64 make_value(int type, int values, u64 h) {
  switch (values) {
    case ATTUNE_VALUES_ZEROS:
      return 0;
    case ATTUNE_VALUES_ONES:
      return bits_of_integer(type, 1);
    case ATTUNE_VALUES_ALL_BITS:
      return all_bits(type);
    case ATTUNE_VALUES_SMALL_INTEGERS:
      return small_integer(type, h);
    case ATTUNE_VALUES_RANDOM:
      return full_range(type, h);
    default:
      return uniform(type, h);
  }
}

/// Fills with the type as a constant, so that the type is not asked for again at every element.
template <int type = 0>
__device__ __forceinline__ void fill_typed(Filling filling, int values) {
  if (filling.type == type) {
    filling.type = type;
    fill(filling, [&](u64 i) { return make_value(type, values, hash(i, filling.seed)); });
  } else if constexpr (type + 1 < ATTUNE_TYPES) {
    fill_typed<type + 1>(filling, values);
  }
}

/// Or checks what it filled: Filling::slot.
extern "C" __global__ void attune_fill(Filling filling, int values) { fill_typed(filling, values); }

// ---- guards -----------------------------------------------------------------------------------------------------------

extern "C" __global__ void attune_guard(Regions all) {
  const Region region = all.regions[blockIdx.y];
  for (u64 i = thread_index(); i < region.count; i += thread_count())
    store_bits(region.start, region.type, i, i & 1 ? region.odd : region.even);
}

/// The verdict on zone k goes to slots[k].
extern "C" __global__ void attune_check_guard(Regions all, Slot* slots) {
  const Region region = all.regions[blockIdx.y];
  for (u64 i = thread_index(); i < region.count; i += thread_count()) {
    if (load_bits(region.start, region.type, i) != (i & 1 ? region.odd : region.even)) report(slots + blockIdx.y, i);
  }
}

/// Whether `bytes` bytes are zero. Requires: `source` aligned to 8.
extern "C" __global__ void attune_check_zero(const void* source, u64 bytes, Slot* slot) {
  const u64* const words = static_cast<const u64*>(source);
  for (u64 i = thread_index(); i < bytes / 8; i += thread_count()) {
    if (words[i] != 0) report(slot, i * 8);
  }
  const u64 tail = bytes / 8 * 8 + thread_index();
  if (tail < bytes && static_cast<const unsigned char*>(source)[tail] != 0) report(slot, tail);
}

// ---- comparing --------------------------------------------------------------------------------------------------------

/// Whether a reference has said what is expected of every element.
extern "C" __global__ void attune_check_said(const Expected* expected, u64 count, Slot* slot) {
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    if (expected[i].low == kUnsaid && expected[i].high == kUnsaid) report(slot, i);
  }
}

/// The same of values. A value may be as its memory was before, so they are computed twice: what is kUnsaid is marked, a bit for each element,
/// and what is kUnsaidAgain after `again` and was marked has not been said.
extern "C" __global__ void attune_check_values_said(const void* values, u64 count, int type, u32* marks, int again, Slot* slot) {
  const u64 unsaid = (again ? kUnsaidAgain : kUnsaid) & all_bits(type);
  for (u64 word = thread_index(); word * kMarksPerWord < count; word += thread_count()) {
    const u64 first = word * kMarksPerWord, left = count - first;
    const u32 before = again ? marks[word] : ~0u;
    u32 found = 0;
    for (u64 k = 0; k < kMarksPerWord && k < left; ++k) {
      if ((before >> k & 1u) == 0 || load_bits(values, type, first + k) != unsaid) continue;
      found |= 1u << k;
      report(slot, first + k);
    }
    marks[word] = found;
  }
}

/// The bits that are expected of element i, for a message.
__device__ __forceinline__ void note(const void* got, int type, const Wanted& wanted, Slot* slot) {
  if (slot->count == 0) return;
  const u64 i = ~slot->first_inverse;
  slot->got = load_bits(got, type, i);
  if (wanted.intervals) {
    const Expected expected = static_cast<const Expected*>(wanted.start)[i];
    slot->wanted[0] = expected.low;
    slot->wanted[1] = expected.high;
  } else {
    slot->wanted[0] = load_bits(wanted.start, type, i);
    slot->wanted[1] = kExactMark;
  }
}

/// The same bits, or where an error is allowed a number within it; a NaN matches a NaN then.
__device__ __forceinline__ bool is_near(int type, u64 got, u64 want, const Wanted& wanted) {
  if (wanted.relative == 0.0 && wanted.absolute == 0.0) return got == want;
  const double a = number_of(type, got), b = number_of(type, want);
  if (!is_finite(a) || !is_finite(b)) return a == b || (is_nan(a) && is_nan(b));
  return fabs(a - b) <= wanted.relative * (fabs(b) + wanted.scale) + wanted.absolute;
}

__device__ __forceinline__ bool is_expected(int type, u64 got, const Expected& expected) {
  if (expected.high == kExactMark) return got == (expected.low & all_bits(type));
  const double value = number_of(type, got);
  double low = __longlong_as_double(static_cast<long long>(expected.low)),
         high = __longlong_as_double(static_cast<long long>(expected.high));
  if (is_nan(low) || is_nan(high)) return is_nan(value);
  const bool or_nan = low > high;
  if (or_nan) {
    const double least = high;
    high = low;
    low = least;
  }
  if (is_nan(value)) return or_nan;
  if (low <= value && value <= high) return true;
  // Beyond the type's greatest number, or so near it that the error may lead there, an infinity is right.
  if (!is_floating(type) || is_finite(value)) return false;
  const double greatest = number_of(type, highest_finite_bits(type));
  return value > 0.0 ? high > greatest : low < -greatest;
}

/// Notes what it found itself where it is a single thread.
extern "C" __global__ void attune_compare(const void* got, u64 count, int type, Wanted wanted, Slot* slot) {
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const u64 bits = load_bits(got, type, i);
    const bool right = wanted.intervals ? is_expected(type, bits, static_cast<const Expected*>(wanted.start)[i])
                                        : is_near(type, bits, load_bits(wanted.start, type, i), wanted);
    if (!right) report(slot, i);
  }
  if (thread_count() == 1) note(got, type, wanted, slot);
}

extern "C" __global__ void attune_note(const void* got, int type, Wanted wanted, Slot* slot) {
  if (thread_index() == 0) note(got, type, wanted, slot);
}

/// Adds |x| of all elements to `sum`, which is zero before.
extern "C" __global__ void attune_magnitude(const void* source, u64 count, int type, double* sum) {
  double mine = 0.0;
  for (u64 i = thread_index(); i < count; i += thread_count()) mine += fabs(number_of(type, load_bits(source, type, i)));
  add_double(sum, mine);
}

// ---- elements that are replaced for a call ----------------------------------------------------------------------------

/// What stands where something will be planted.
extern "C" __global__ void attune_read_plants(Plant* plants, u64 count, const void* input, int type) {
  for (u64 i = thread_index(); i < count; i += thread_count())
    plants[i].before = plants[i].bits = load_bits(input, type, plants[i].position);
}

/// Exchanges the expectations that a plant changes: the second time they are as before.
__device__ __forceinline__ void exchange_expected(Plant* plant, const Outputs& outputs) {
  for (u64 k = 0; k < plant->changes; ++k) {
    Expected& wanted = outputs.wanted[plant->output[k]][plant->element[k]];
    const Expected before = wanted;
    wanted = plant->expected[k];
    plant->expected[k] = before;
  }
}

/// Takes back the plant before and plants the next, either of which may be null, and poisons outputs: a launch of each would take three times
/// as long. Where planted elements stay, only what is expected is as before.
extern "C" __global__ void attune_plant(Plant* back, Plant* plant, void* input, int type, Outputs outputs, int elements_stay) {
  if (thread_index() != 0) return;
  if (back != nullptr) {
    if (!elements_stay) store_bits(input, type, back->position, back->before);
    exchange_expected(back, outputs);
  }
  if (plant != nullptr) {
    store_bits(input, type, plant->position, plant->bits);
    exchange_expected(plant, outputs);
  }
  for (int k = 0; k < 4; ++k) {
    for (unsigned i = 0; i < outputs.bytes[k]; ++i) outputs.poisoned[k][i] = outputs.poison[k];
  }
}

/// Puts back all elements that were there before.
extern "C" __global__ void attune_unplant(const Plant* plants, u64 count, void* input, int type) {
  for (u64 i = thread_index(); i < count; i += thread_count()) store_bits(input, type, plants[i].position, plants[i].before);
}

/// Exchanges the elements that are altered: the second time, backwards, they are as before.
extern "C" __global__ void attune_alter(Alteration* alteration, void* input, int type, int backwards) {
  if (thread_index() != 0) return;
  for (u64 k = 0; k < alteration->count; ++k) {
    const u64 i = backwards ? alteration->count - 1 - k : k;
    const u64 before = load_bits(input, type, alteration->position[i]);
    store_bits(input, type, alteration->position[i], alteration->bits[i]);
    alteration->bits[i] = before;
  }
}

// ---- reading ----------------------------------------------------------------------------------------------------------

/// Reads every 16-byte vector once, in tiles dealt to the blocks round-robin, eight loads of a thread in flight. Evicts
/// the L2 by reading: unlike a memset it leaves no dirty lines that later reads would have to write back.
extern "C" __global__ void attune_read(const uint4* vectors, u64 count, u32* sink) {
  constexpr u32 kLoads = 8;
  u32 mixed = 0;
  const u64 tile = static_cast<u64>(blockDim.x) * kLoads;
  for (u64 start = blockIdx.x * tile; start < count; start += gridDim.x * tile) {
    uint4 loaded[kLoads];
    const u64 first = start + threadIdx.x;
    if (start + tile <= count) {
#pragma unroll
      for (u32 k = 0; k < kLoads; ++k) loaded[k] = vectors[first + k * blockDim.x];
#pragma unroll
      for (u32 k = 0; k < kLoads; ++k) mixed ^= loaded[k].x ^ loaded[k].y ^ loaded[k].z ^ loaded[k].w;
    } else {
      for (u64 i = first; i < count; i += blockDim.x) mixed ^= vectors[i].x ^ vectors[i].y ^ vectors[i].z ^ vectors[i].w;
    }
  }
  if (mixed == 0x9E3779B9u) *sink = mixed;  // keeps the loads; the value never matters
}
