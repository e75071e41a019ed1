#pragma once
// Element types: their raw bits, and the wider types that arithmetic on them is done in.

// Enough to name the types in templates that do not use them: attune includes CUDA's headers for those that do.
struct __half;
struct __nv_bfloat16;

namespace attune {

/// Of an element type T:
///   Bits            the unsigned integer of its size: what memory holds
///   Value           its accumulator: f32 for f16 and bf16, i32 for i8 and i16, u32 for u8 and u16, else T
///   widen(Bits)     exact
///   narrow(Value)   the nearest element, ties to even; integers modulo 2^bits
///   lowest, highest -inf and +inf, the limits of an integer type
template <class T>
struct Element;

template <class T, class B, class V>
struct IntegerElement {
  using Bits = B;
  using Value = V;
  static constexpr bool kFloating = false;
  static constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
  __device__ static Value widen(Bits b) { return static_cast<Value>(static_cast<T>(b)); }
  __device__ static Bits narrow(Value v) { return static_cast<Bits>(v); }
  __device__ static constexpr Value lowest() { return kSigned ? static_cast<Value>(static_cast<T>(kTop)) : Value{0}; }
  __device__ static constexpr Value highest() {
    return static_cast<Value>(static_cast<T>(static_cast<Bits>(kSigned ? ~kTop : ~Bits{0})));
  }

 private:
  static constexpr Bits kTop = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
};

template <>
struct Element<signed char> : IntegerElement<signed char, unsigned char, int> {};
template <>
struct Element<unsigned char> : IntegerElement<unsigned char, unsigned char, unsigned> {};
template <>
struct Element<short> : IntegerElement<short, unsigned short, int> {};
template <>
struct Element<unsigned short> : IntegerElement<unsigned short, unsigned short, unsigned> {};
template <>
struct Element<int> : IntegerElement<int, unsigned, int> {};
template <>
struct Element<unsigned> : IntegerElement<unsigned, unsigned, unsigned> {};
template <>
struct Element<long long> : IntegerElement<long long, unsigned long long, long long> {};
template <>
struct Element<unsigned long long> : IntegerElement<unsigned long long, unsigned long long, unsigned long long> {};

template <>
struct Element<float> {
  using Bits = unsigned;
  using Value = float;
  static constexpr bool kFloating = true;
  static constexpr bool kSigned = true;
  __device__ static Value widen(Bits b) { return __uint_as_float(b); }
  __device__ static Bits narrow(Value v) { return __float_as_uint(v); }
  __device__ static Value lowest() { return __uint_as_float(0xff800000u); }
  __device__ static Value highest() { return __uint_as_float(0x7f800000u); }
};

template <>
struct Element<double> {
  using Bits = unsigned long long;
  using Value = double;
  static constexpr bool kFloating = true;
  static constexpr bool kSigned = true;
  __device__ static Value widen(Bits b) { return __longlong_as_double(static_cast<long long>(b)); }
  __device__ static Bits narrow(Value v) { return static_cast<Bits>(__double_as_longlong(v)); }
  __device__ static Value lowest() { return widen(0xfff0000000000000ull); }
  __device__ static Value highest() { return widen(0x7ff0000000000000ull); }
};

// By instruction, not by CUDA's functions, so that this header does without their headers.
template <>
struct Element<__half> {
  using Bits = unsigned short;
  using Value = float;
  static constexpr bool kFloating = true;
  static constexpr bool kSigned = true;
  __device__ static Value widen(Bits b) {
    Value v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(b));
    return v;
  }
  __device__ static Bits narrow(Value v) {
    Bits b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(v));
    return b;
  }
  __device__ static Value lowest() { return Element<float>::lowest(); }
  __device__ static Value highest() { return Element<float>::highest(); }
};

template <>
struct Element<__nv_bfloat16> {
  using Bits = unsigned short;
  using Value = float;
  static constexpr bool kFloating = true;
  static constexpr bool kSigned = true;
  __device__ static Value widen(Bits b) { return __uint_as_float(static_cast<unsigned>(b) << 16); }
  __device__ static Bits narrow(Value v) {
    const unsigned b = __float_as_uint(v);
    if (v != v) return static_cast<Bits>(b >> 16 | 0x40u);  // rounding could carry a NaN into an infinity
    return static_cast<Bits>((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
  }
  __device__ static Value lowest() { return Element<float>::lowest(); }
  __device__ static Value highest() { return Element<float>::highest(); }
};

}  // namespace attune
