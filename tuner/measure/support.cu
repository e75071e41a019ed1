// attune's own device kernels: filling, poisoning, guarding, comparing, reducing in double precision, reading for the
// cache and for the bandwidth ceiling. Header-free, so that NVRTC compiles it in well under a second for any device.
// Element types are numbered as in spec::ElementType, fills as in measure::FillKind, both on the host's side.

typedef unsigned long long u64;
typedef unsigned int u32;

struct Half { unsigned short bits; };
struct Bfloat { unsigned short bits; };

/// One check's verdict; all bytes zero before the check.
struct Slot {
  u64 count;        // elements that failed
  u64 first_inverse;  // ~index of the first of them
};

enum Fill { kZeros, kOnes, kSmallIntegers, kUniform, kFullRange, kFactors, kWideFactors, kLoneBits, kLoneGaps };

// ---- element types ----------------------------------------------------------------------------------------------------

template <class T> struct Tag { typedef T Type; };

template <class F>
__device__ __forceinline__ void with_type(int type, F f) {
  switch (type) {
    case 0: f(Tag<signed char>()); break;
    case 1: f(Tag<unsigned char>()); break;
    case 2: f(Tag<short>()); break;
    case 3: f(Tag<unsigned short>()); break;
    case 4: f(Tag<int>()); break;
    case 5: f(Tag<unsigned int>()); break;
    case 6: f(Tag<long long>()); break;
    case 7: f(Tag<u64>()); break;
    case 8: f(Tag<Half>()); break;
    case 9: f(Tag<Bfloat>()); break;
    case 10: f(Tag<float>()); break;
    case 11: f(Tag<double>()); break;
  }
}

template <class T> struct Element {  // integers
  static constexpr bool kFloating = false;
  static constexpr bool kSigned = T(-1) < T(0);
  static __device__ double to_double(T x) { return static_cast<double>(x); }
  static __device__ T from_integer(long long x) { return static_cast<T>(x); }
};
template <> struct Element<float> {
  static constexpr bool kFloating = true, kSigned = true;
  static __device__ double to_double(float x) { return x; }
  static __device__ float from_integer(long long x) { return static_cast<float>(x); }
  static __device__ float from_float(float x) { return x; }
};
template <> struct Element<double> {
  static constexpr bool kFloating = true, kSigned = true;
  static __device__ double to_double(double x) { return x; }
  static __device__ double from_integer(long long x) { return static_cast<double>(x); }
  static __device__ double from_float(float x) { return x; }
};
template <> struct Element<Half> {
  static constexpr bool kFloating = true, kSigned = true;
  static __device__ double to_double(Half x) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
    return value;
  }
  static __device__ Half from_float(float x) {
    Half value;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
    return value;
  }
  static __device__ Half from_integer(long long x) { return from_float(static_cast<float>(x)); }
};
template <> struct Element<Bfloat> {
  static constexpr bool kFloating = true, kSigned = true;
  static __device__ double to_double(Bfloat x) { return __int_as_float(static_cast<int>(static_cast<u32>(x.bits) << 16)); }
  static __device__ Bfloat from_float(float x) {  // to nearest, ties to even; x is finite
    const u32 bits = static_cast<u32>(__float_as_int(x));
    Bfloat value;
    value.bits = static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    return value;
  }
  static __device__ Bfloat from_integer(long long x) { return from_float(static_cast<float>(x)); }
};

/// Raw bits, zero-extended.
template <class T>
__device__ __forceinline__ u64 bits_of(T x) {
  union { T value; u64 bits; } image;
  image.bits = 0;
  image.value = x;
  return image.bits;
}

/// An order-preserving image in unsigned 64-bit: floats by their double, integers by an offset.
template <class T>
__device__ __forceinline__ u64 ordered(T x) {
  if constexpr (Element<T>::kFloating) {
    const u64 bits = static_cast<u64>(__double_as_longlong(Element<T>::to_double(x)));
    return bits >> 63 ? ~bits : bits | (1ull << 63);
  } else if constexpr (Element<T>::kSigned) {
    return static_cast<u64>(static_cast<long long>(x)) ^ (1ull << 63);
  } else {
    return static_cast<u64>(x);
  }
}

// ---- data -------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ u64 hash(u64 index, u64 seed) {  // splitmix64's finaliser over a seeded index
  u64 z = (index + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1342543DE82EF95ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

template <class T>
__device__ __forceinline__ T small_integer(u64 h) {
  const long long magnitude = 1 + static_cast<long long>((h >> 32) & 1);
  if constexpr (Element<T>::kSigned) return Element<T>::from_integer(h >> 63 ? -magnitude : magnitude);
  else return Element<T>::from_integer(magnitude);
}

template <class T>
__device__ __forceinline__ T uniform(u64 h) {
  if constexpr (!Element<T>::kFloating) {
    return Element<T>::from_integer(static_cast<long long>((h >> 32) % 201) - (Element<T>::kSigned ? 100 : 0));
  } else if constexpr (sizeof(T) == 8) {  // odd multiples of 2^-53: never 0, -1 or 1
    return static_cast<double>(static_cast<long long>(h) >> 11 | 1) * (1.0 / 4503599627370496.0);
  } else {
    return Element<T>::from_float(static_cast<float>(static_cast<int>(h >> 32) >> 8 | 1) * (1.0f / 8388608.0f));
  }
}

/// What products are made of that neither vanish nor overflow. Integers: odd ones, whose product modulo 2^n depends on
/// every factor. Floating types: 1 and -1, and once in `rarity` elements a factor of 2 or 1/2 (wide: between 1/2 and 2).
/// All of them plus `offset`, which a transform takes away again.
template <class T>
__device__ __forceinline__ T factor(u64 h, bool wide, u64 rarity, double offset) {
  const bool negative = Element<T>::kSigned && h >> 63;
  if constexpr (!Element<T>::kFloating) {
    const u64 added = static_cast<u64>(static_cast<long long>(offset));
    if (wide) return static_cast<T>((h >> 16 | 1) + added);
    const long long magnitude = h & 1 ? 3 : 1;
    return static_cast<T>(static_cast<u64>(negative ? -magnitude : magnitude) + added);
  } else {
    float magnitude = 1.0f;
    if ((h >> 20 & 0xffffffffffull) % rarity == 0) {
      magnitude = wide ? 1.0f + static_cast<float>(static_cast<int>(h & 0xfffff)) * (1.0f / 1048576.0f) : 2.0f;
      if (h >> 62 & 1) magnitude = 1.0f / magnitude;
    }
    return Element<T>::from_float((negative ? -magnitude : magnitude) + static_cast<float>(offset));
  }
}

/// What bits combine of without saturating: once in `rarity` elements one bit is set, in the others none.
template <class T>
__device__ __forceinline__ T lone_bit(u64 h, u64 rarity) {
  if ((h >> 20 & 0xffffffffffull) % rarity != 0) return T(0);
  return static_cast<T>(1ull << (h % (8 * sizeof(T))));
}

template <class T>
__device__ __forceinline__ T make_value(int fill, u64 seed, u64 index, u64 rarity, double offset) {
  if (fill == kZeros) return Element<T>::from_integer(0);
  if (fill == kOnes) return Element<T>::from_integer(1);
  const u64 h = hash(index, seed);
  if (fill == kFactors || fill == kWideFactors) return factor<T>(h, fill == kWideFactors, rarity, offset);
  if (fill == kSmallIntegers) return small_integer<T>(h);
  if constexpr (!Element<T>::kFloating) {
    if (fill == kFullRange) return static_cast<T>(h >> 16);
    if (fill == kLoneBits) return lone_bit<T>(h, rarity);
    if (fill == kLoneGaps) return static_cast<T>(~lone_bit<T>(h, rarity));
  }
  return uniform<T>(h);
}

__device__ __forceinline__ u64 thread_index() { return blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x; }
__device__ __forceinline__ u64 thread_count() { return gridDim.x * static_cast<u64>(blockDim.x); }

__device__ __forceinline__ void report(Slot* slot, u64 index) {
  atomicAdd(&slot->count, 1ull);
  atomicMax(&slot->first_inverse, ~index);
}

extern "C" __global__ void attune_fill(void* target, u64 count, int type, int fill, u64 seed, u64 rarity, double offset) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    T* const out = static_cast<T*>(target);
    for (u64 i = thread_index(); i < count; i += thread_count()) out[i] = make_value<T>(fill, seed, i, rarity, offset);
  });
}

/// Whether a buffer still holds what attune_fill put there.
extern "C" __global__ void attune_check_fill(const void* source, u64 count, int type, int fill, u64 seed, u64 rarity,
                                             double offset, Slot* slot) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(source);
    for (u64 i = thread_index(); i < count; i += thread_count()) {
      if (bits_of(in[i]) != bits_of(make_value<T>(fill, seed, i, rarity, offset))) report(slot, i);
    }
  });
}

// ---- guards -----------------------------------------------------------------------------------------------------------

template <class F>
__device__ __forceinline__ void with_size(int element_bytes, F f) {
  switch (element_bytes) {
    case 1: f(Tag<unsigned char>()); break;
    case 2: f(Tag<unsigned short>()); break;
    case 4: f(Tag<u32>()); break;
    case 8: f(Tag<u64>()); break;
  }
}

/// One guard zone: elements alternate between two patterns.
struct Region {
  void* start;
  u64 count;
  u64 even;
  u64 odd;
  int element_bytes;
};

constexpr int kMostRegions = 32;

/// As many zones as one launch takes; one row of blocks each.
struct Regions {
  Region regions[kMostRegions];
};

extern "C" __global__ void attune_guard(Regions all) {
  const Region region = all.regions[blockIdx.y];
  with_size(region.element_bytes, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    T* const out = static_cast<T*>(region.start);
    for (u64 i = thread_index(); i < region.count; i += thread_count()) {
      out[i] = static_cast<T>(i & 1 ? region.odd : region.even);
    }
  });
}

/// The verdict on zone k goes to slots[k].
extern "C" __global__ void attune_check_guard(Regions all, Slot* slots) {
  const Region region = all.regions[blockIdx.y];
  with_size(region.element_bytes, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(region.start);
    for (u64 i = thread_index(); i < region.count; i += thread_count()) {
      if (in[i] != static_cast<T>(i & 1 ? region.odd : region.even)) report(slots + blockIdx.y, i);
    }
  });
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

// ---- references -------------------------------------------------------------------------------------------------------

/// |got - want| <= relative * (|want| + scale) for floating types, equality of bits for the others. A NaN matches a NaN.
extern "C" __global__ void attune_compare(const void* got_values, const void* want_values, u64 count, int type, double relative,
                                          double scale, Slot* slot) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const got = static_cast<const T*>(got_values);
    const T* const want = static_cast<const T*>(want_values);
    for (u64 i = thread_index(); i < count; i += thread_count()) {
      if constexpr (Element<T>::kFloating) {
        const double a = Element<T>::to_double(got[i]);
        const double b = Element<T>::to_double(want[i]);
        const bool both_nan = a != a && b != b;
        if (!(a == b || both_nan || fabs(a - b) <= relative * (fabs(b) + scale))) report(slot, i);
      } else {
        if (got[i] != want[i]) report(slot, i);
      }
    }
  });
}

// ---- extremes ---------------------------------------------------------------------------------------------------------

/// What a search for an extreme keeps; all bytes zero before it.
struct Extreme {
  u64 rank;
  u64 first_inverse;  // ~index of the first element of that rank
};

template <class T>
__device__ __forceinline__ bool is_nan(T x) {
  if constexpr (Element<T>::kFloating) return Element<T>::to_double(x) != Element<T>::to_double(x);
  else return false;
}

/// The greater the nearer to the extreme that is looked for; the same for equal values, so that -0 is +0. No NaN.
template <class T>
__device__ __forceinline__ u64 rank_of(T x, int least) {
  u64 image = 0;
  if constexpr (Element<T>::kFloating) image = ordered(Element<T>::to_double(x) + 0.0);
  else image = ordered(x);
  return least ? ~image : image;
}

/// The rank of the greatest element, of the least one with `least`. NaN is passed over.
extern "C" __global__ void attune_extreme(const void* source, u64 count, int type, int least, Extreme* extreme) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(source);
    u64 best = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
      const u64 rank = is_nan(in[i]) ? 0 : rank_of(in[i], least);
      best = rank > best ? rank : best;
    }
    atomicMax(&extreme->rank, best);
  });
}

/// Where the first element of the rank stands that attune_extreme found. NaN alone: first_inverse stays zero.
extern "C" __global__ void attune_find_extreme(const void* source, u64 count, int type, int least, Extreme* extreme) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(source);
    for (u64 i = thread_index(); i < count; i += thread_count()) {
      if (is_nan(in[i]) || rank_of(in[i], least) != extreme->rank) continue;
      atomicMax(&extreme->first_inverse, ~i);
      break;  // the thread's later ones have higher indices
    }
  });
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
