#pragma once
// What the device code of a reference (reference.json, reference.cu) is written with: docs/references.md is the manual. Element types are
// numbers, ATTUNE_TYPE_<NAME>, which attune writes before it from its own list; elements are raw bits, so that a kernel is compiled once
// for all types, and in well under a second.
#include <attune/reference_types.cuh>

namespace attune::reference {

struct Half { unsigned short bits; };

// ---- element types ----------------------------------------------------------------------------------------------------

__device__ __forceinline__ bool is_small_float(int type) { return type == ATTUNE_TYPE_F8E4M3 || type == ATTUNE_TYPE_F8E5M2; }
__device__ __forceinline__ bool is_floating(int type) {
  return type == ATTUNE_TYPE_F16 || type == ATTUNE_TYPE_BF16 || type == ATTUNE_TYPE_F32 || type == ATTUNE_TYPE_F64 || is_small_float(type);
}
__device__ __forceinline__ bool is_signed(int type) {
  return is_floating(type) || type == ATTUNE_TYPE_I8 || type == ATTUNE_TYPE_I16 || type == ATTUNE_TYPE_I32 || type == ATTUNE_TYPE_I64;
}
__device__ __forceinline__ int bits_of_type(int type) {
  switch (type) {
    case ATTUNE_TYPE_I8: case ATTUNE_TYPE_U8: case ATTUNE_TYPE_F8E4M3: case ATTUNE_TYPE_F8E5M2: return 8;
    case ATTUNE_TYPE_I16: case ATTUNE_TYPE_U16: case ATTUNE_TYPE_F16: case ATTUNE_TYPE_BF16: return 16;
    case ATTUNE_TYPE_I32: case ATTUNE_TYPE_U32: case ATTUNE_TYPE_F32: return 32;
    default: return 64;
  }
}
__device__ __forceinline__ int mantissa_bits(int type) {
  switch (type) {
    case ATTUNE_TYPE_F8E4M3: return 3;
    case ATTUNE_TYPE_F8E5M2: return 2;
    case ATTUNE_TYPE_F16: return 10;
    case ATTUNE_TYPE_BF16: return 7;
    case ATTUNE_TYPE_F32: return 23;
    default: return 52;
  }
}

__device__ __forceinline__ double power_of_two(int exponent) { return __longlong_as_double(static_cast<long long>(static_cast<u64>(1023 + exponent) << 52)); }
/// Half the distance from 1 to the next number of a floating type.
__device__ __forceinline__ double unit_roundoff(int type) { return power_of_two(-mantissa_bits(type) - 1); }
__device__ __forceinline__ double not_a_number() { return __longlong_as_double(0x7ff8000000000000ll); }
__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
__device__ __forceinline__ bool is_finite(double x) { return fabs(x) < infinity(); }

// ---- raw bits of elements, zero-extended ------------------------------------------------------------------------------

__device__ __forceinline__ u64 load_bits(const void* from, int type, u64 i) {
  switch (bits_of_type(type)) {
    case 8: return static_cast<const unsigned char*>(from)[i];
    case 16: return static_cast<const unsigned short*>(from)[i];
    case 32: return static_cast<const u32*>(from)[i];
    default: return static_cast<const u64*>(from)[i];
  }
}
__device__ __forceinline__ void store_bits(void* to, int type, u64 i, u64 bits) {
  switch (bits_of_type(type)) {
    case 8: static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(bits); break;
    case 16: static_cast<unsigned short*>(to)[i] = static_cast<unsigned short>(bits); break;
    case 32: static_cast<u32*>(to)[i] = static_cast<u32>(bits); break;
    default: static_cast<u64*>(to)[i] = bits;
  }
}

/// All that the type has: of floating types a NaN.
__device__ __forceinline__ u64 all_bits(int type) { return ~0ull >> (64 - bits_of_type(type)); }
/// Integers: sign- or zero-extended to 64 bits.
__device__ __forceinline__ u64 extend(int type, u64 bits) {
  const int unused = 64 - bits_of_type(type);
  bits <<= unused;
  return is_signed(type) ? static_cast<u64>(static_cast<long long>(bits) >> unused) : bits >> unused;
}
/// f8e4m3 has no infinities: its largest number stands for them.
__device__ __forceinline__ u64 infinity_bits(int type) {
  return type == ATTUNE_TYPE_F8E4M3 ? 0x7e : (1ull << (bits_of_type(type) - 1)) - (1ull << mantissa_bits(type));
}
/// Infinities of floating types, the limits of integers.
__device__ __forceinline__ u64 highest_bits(int type) {
  return is_floating(type) ? infinity_bits(type) : all_bits(type) >> (is_signed(type) ? 1 : 0);
}
__device__ __forceinline__ u64 lowest_bits(int type) {
  const u64 sign = 1ull << (bits_of_type(type) - 1);
  return is_floating(type) ? infinity_bits(type) | sign : is_signed(type) ? sign : 0;
}
/// The same of the largest magnitudes that are no infinities.
__device__ __forceinline__ u64 highest_finite_bits(int type) {
  return is_floating(type) && type != ATTUNE_TYPE_F8E4M3 ? infinity_bits(type) - 1 : highest_bits(type);
}
__device__ __forceinline__ u64 lowest_finite_bits(int type) {
  return is_floating(type) ? highest_finite_bits(type) | 1ull << (bits_of_type(type) - 1) : lowest_bits(type);
}

__device__ __forceinline__ float f32_of_f16(Half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
__device__ __forceinline__ Half f16_of_f32(float x) {
  Half value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}

/// The number that the bits of a floating type of 8 bits stand for.
__device__ __forceinline__ double small_number(int type, u64 bits) {
  const bool is_e4m3 = type == ATTUNE_TYPE_F8E4M3;
  const int mantissa = mantissa_bits(type), bias = is_e4m3 ? 7 : 15;
  const u64 magnitude = bits & 0x7f;
  if (magnitude > (is_e4m3 ? 0x7eu : 0x7cu)) return not_a_number();
  const double sign = bits & 0x80 ? -1.0 : 1.0;
  if (!is_e4m3 && magnitude == 0x7c) return sign * infinity();
  const int exponent = static_cast<int>(magnitude >> mantissa), least = exponent == 0 ? 1 : exponent;
  const int steps = static_cast<int>(magnitude & ((1u << mantissa) - 1)) + (exponent == 0 ? 0 : 1 << mantissa);
  return sign * steps * power_of_two(least - bias - mantissa);
}
/// The bits of the nearest, ties to even, but no larger ones than the largest number's. Requires: finite.
__device__ __forceinline__ u64 small_bits(int type, double number) {
  const int mantissa = mantissa_bits(type), lowest = type == ATTUNE_TYPE_F8E4M3 ? -6 : -14;  // the exponent of the smallest normal number
  const u64 raw = static_cast<u64>(__double_as_longlong(number)), sign = raw >> 63 << 7;
  const int exponent = static_cast<int>(raw >> 52 & 0x7ff) - 1023, last = (exponent > lowest ? exponent : lowest) - mantissa;
  const u64 bits = (static_cast<u64>(last + mantissa - lowest) << mantissa) + static_cast<u64>(rint(fabs(number) * power_of_two(-last)));
  return sign | (exponent > 15 || bits > highest_finite_bits(type) ? highest_finite_bits(type) : bits);
}

/// The number that raw bits stand for; integers of more than 53 bits are rounded.
__device__ __forceinline__ double number_of(int type, u64 bits) {
  switch (type) {
    case ATTUNE_TYPE_F16: return f32_of_f16(Half{static_cast<unsigned short>(bits)});
    case ATTUNE_TYPE_BF16: return __int_as_float(static_cast<int>(static_cast<u32>(bits) << 16));
    case ATTUNE_TYPE_F32: return __int_as_float(static_cast<int>(static_cast<u32>(bits)));
    case ATTUNE_TYPE_F64: return __longlong_as_double(static_cast<long long>(bits));
    case ATTUNE_TYPE_F8E4M3: case ATTUNE_TYPE_F8E5M2: return small_number(type, bits);
    default: break;
  }
  return is_signed(type) ? static_cast<double>(static_cast<long long>(extend(type, bits))) : static_cast<double>(bits);
}
/// The bits of a number of a floating type of at most 32 bits, rounded to nearest; of f64 the number itself. Requires: finite.
__device__ __forceinline__ u64 floating_bits(int type, double number) {
  if (type == ATTUNE_TYPE_F64) return static_cast<u64>(__double_as_longlong(number));
  if (is_small_float(type)) return small_bits(type, number);
  const float x = static_cast<float>(number);
  if (type == ATTUNE_TYPE_F16) return f16_of_f32(x).bits;
  const u32 bits = static_cast<u32>(__float_as_int(x));
  return type == ATTUNE_TYPE_BF16 ? (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16 : bits;  // ties to even
}
/// The bits of a small integer in any type.
__device__ __forceinline__ u64 bits_of_integer(int type, long long x) {
  return is_floating(type) ? floating_bits(type, static_cast<double>(x)) : static_cast<u64>(x) & all_bits(type);
}

__device__ __forceinline__ bool is_nan(double x) { return x != x; }
/// Order-preserving images in unsigned 64 bits.
__device__ __forceinline__ u64 ordered(double x) {
  const u64 bits = static_cast<u64>(__double_as_longlong(x));
  return bits >> 63 ? ~bits : bits | (1ull << 63);
}
__device__ __forceinline__ u64 ordered_integer(int type, u64 extended) { return is_signed(type) ? extended ^ (1ull << 63) : extended; }

// ---- threads ----------------------------------------------------------------------------------------------------------
// Kernels stride over their work, so that any number of threads gives the same answer.

__device__ __forceinline__ u64 thread_index() { return blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x; }
__device__ __forceinline__ u64 thread_count() { return gridDim.x * static_cast<u64>(blockDim.x); }

// ---- data, as raw bits of a random number -----------------------------------------------------------------------------

__device__ __forceinline__ u64 hash(u64 index, u64 seed) {  // splitmix64's finaliser over a seeded index
  u64 z = (index + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1342543DE82EF95ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// 1 or 2, of signed types with either sign: they add up exactly in any order.
__device__ __forceinline__ u64 small_integer(int type, u64 h) {
  const long long magnitude = 1 + static_cast<long long>((h >> 32) & 1);
  return bits_of_integer(type, is_signed(type) && h >> 63 ? -magnitude : magnitude);
}

/// Floating types between -1 and 1, never 0; integers small.
__device__ __forceinline__ u64 uniform(int type, u64 h) {
  if (!is_floating(type)) return static_cast<u64>(static_cast<long long>((h >> 32) % 201) - (is_signed(type) ? 100 : 0)) & all_bits(type);
  if (type == ATTUNE_TYPE_F64)  // odd multiples of 2^-53: never 0, -1 or 1
    return floating_bits(type, static_cast<double>(static_cast<long long>(h) >> 11 | 1) * (1.0 / 4503599627370496.0));
  const u64 bits = floating_bits(type, static_cast<float>(static_cast<int>(h >> 32) >> 8 | 1) * (1.0f / 8388608.0f));
  return is_small_float(type) && (bits & 0x7f) == 0 ? bits | 1 : bits;  // the smallest number where that was rounded to 0
}

/// Floating types as `uniform`, integers of any bits.
__device__ __forceinline__ u64 full_range(int type, u64 h) { return is_floating(type) ? uniform(type, h) : h >> 16 & all_bits(type); }

/// What products are made of that neither vanish nor overflow. Integers: odd ones, whose product modulo 2^n depends on
/// every factor. Floating types: 1 and -1, and once in `rarity` elements a factor of 2 or 1/2 (wide: between 1/2 and 2).
/// All of them plus `offset`, which a transform takes away again.
__device__ __forceinline__ u64 factor(int type, u64 h, bool wide, u64 rarity, double offset) {
  const bool negative = is_signed(type) && h >> 63;
  if (!is_floating(type)) {
    const u64 added = static_cast<u64>(static_cast<long long>(offset));
    if (wide) return ((h >> 16 | 1) + added) & all_bits(type);
    const long long magnitude = h & 1 ? 3 : 1;
    return (static_cast<u64>(negative ? -magnitude : magnitude) + added) & all_bits(type);
  }
  float magnitude = 1.0f;
  if ((h >> 20 & 0xffffffffffull) % rarity == 0) {
    magnitude = wide ? 1.0f + static_cast<float>(static_cast<int>(h & 0xfffff)) * (1.0f / 1048576.0f) : 2.0f;
    if (h >> 62 & 1) magnitude = 1.0f / magnitude;
  }
  return floating_bits(type, (negative ? -magnitude : magnitude) + static_cast<float>(offset));
}
/// For a product of `count` factors: about 256 differ from 1 and -1 at most, so that its partial products, in whatever order, are far
/// from the limits of f32.
__device__ __forceinline__ u64 factor_rarity(u64 count) { return count / 256 > 4 ? count / 256 : 4; }

/// Atomically, on every architecture.
__device__ __forceinline__ void add_double(double* target, double value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
  u64* const bits = reinterpret_cast<u64*>(target);
  for (u64 seen = *bits, before = ~seen; before != seen;) {
    before = seen;
    seen = atomicCAS(bits, before, static_cast<u64>(__double_as_longlong(value + __longlong_as_double(static_cast<long long>(before)))));
  }
#else
  atomicAdd(target, value);
#endif
}

// ---- what the kernels of a reference are called with ------------------------------------------------------------------

__device__ __forceinline__ void report(Slot* slot, u64 index) {
  atomicAdd(&slot->count, 1ull);
  atomicMax(&slot->first_inverse, ~index);
}

/// Fills, or checks whether the buffer still holds what filling put there: `value(i)` are the raw bits of element i, in either case.
template <class F>
__device__ __forceinline__ void fill(const Filling& filling, F value) {
  const u64 first = thread_index(), stride = thread_count();
  const bool checks = filling.slot != nullptr;
  u64 found = checks && first < filling.count ? load_bits(filling.start, filling.type, first) : 0;
#pragma unroll 1
  for (u64 i = first; i < filling.count; i += stride) {
    // The next is on its way while this one's value is made.
    const u64 next = checks && i + stride < filling.count ? load_bits(filling.start, filling.type, i + stride) : 0;
    const u64 bits = value(i);
    if (!checks) store_bits(filling.start, filling.type, i, bits);
    else if (found != (bits & all_bits(filling.type))) report(filling.slot, i);
    found = next;
  }
}

/// These bits, as many as the output's type has.
__device__ __forceinline__ Expected exactly(u64 bits) { return Expected{bits, kExactMark}; }
/// NaN on either side: NaN.
__device__ __forceinline__ Expected between(double low, double high) {
  return Expected{static_cast<u64>(__double_as_longlong(low)), static_cast<u64>(__double_as_longlong(high))};
}
/// The same, or NaN. Requires: low < high.
__device__ __forceinline__ Expected between_or_nan(double low, double high) { return between(high, low); }
/// `value + lost`, which one double might not hold, and so much less or more; infinities and NaN themselves.
__device__ __forceinline__ Expected about(double value, double allowed, double lost = 0.0) {
  if (!is_finite(value)) return between(value, value);
  if (!(allowed > 0.0)) return between(value + lost, value + lost);
  return between(__dadd_rd(value, __dsub_rd(lost, allowed)), __dadd_ru(value, __dadd_ru(lost, allowed)));
}

}  // namespace attune::reference
