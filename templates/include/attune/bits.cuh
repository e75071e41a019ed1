#pragma once
// Values and their raw bits: float, double and the 32- and 64-bit integers.

namespace attune {

/// `Bits`: the unsigned integer of the same size.
template <class V>
struct Raw;

template <>
struct Raw<float> {
  using Bits = unsigned;
  __device__ static Bits bits(float v) { return __float_as_uint(v); }
  __device__ static float value(Bits b) { return __uint_as_float(b); }
};
template <>
struct Raw<double> {
  using Bits = unsigned long long;
  __device__ static Bits bits(double v) { return static_cast<Bits>(__double_as_longlong(v)); }
  __device__ static double value(Bits b) { return __longlong_as_double(static_cast<long long>(b)); }
};

template <class V, class B>
struct RawInteger {
  using Bits = B;
  __device__ static Bits bits(V v) { return static_cast<Bits>(v); }
  __device__ static V value(Bits b) { return static_cast<V>(b); }
};
template <>
struct Raw<int> : RawInteger<int, unsigned> {};
template <>
struct Raw<unsigned> : RawInteger<unsigned, unsigned> {};
template <>
struct Raw<long long> : RawInteger<long long, unsigned long long> {};
template <>
struct Raw<unsigned long long> : RawInteger<unsigned long long, unsigned long long> {};

template <class V>
__device__ __forceinline__ typename Raw<V>::Bits bits_of(V v) {
  return Raw<V>::bits(v);
}
template <class V>
__device__ __forceinline__ V value_of(typename Raw<V>::Bits b) {
  return Raw<V>::value(b);
}

/// An unsigned integer that compares like the value: for atomics and for the warp's integer instructions. Floating-point
/// values follow their sign bit: -0 lies just below +0, and NaN beyond the infinity of its sign.
template <class V>
__device__ __forceinline__ typename Raw<V>::Bits ordered(V v) {
  using Bits = typename Raw<V>::Bits;
  constexpr Bits kTop = Bits{1} << (8 * sizeof(V) - 1);
  constexpr bool kFloating = static_cast<V>(0.5) != static_cast<V>(0);
  const Bits b = bits_of(v);
  if constexpr (kFloating) return b & kTop ? ~b : b | kTop;
  else if constexpr (static_cast<V>(-1) < static_cast<V>(0)) return b ^ kTop;
  else return b;
}

/// The value that `ordered` made `b` of.
template <class V>
__device__ __forceinline__ V from_ordered(typename Raw<V>::Bits b) {
  using Bits = typename Raw<V>::Bits;
  constexpr Bits kTop = Bits{1} << (8 * sizeof(V) - 1);
  constexpr bool kFloating = static_cast<V>(0.5) != static_cast<V>(0);
  if constexpr (kFloating) return value_of<V>(b & kTop ? b & ~kTop : ~b);
  else if constexpr (static_cast<V>(-1) < static_cast<V>(0)) return value_of<V>(b ^ kTop);
  else return value_of<V>(b);
}

}  // namespace attune
