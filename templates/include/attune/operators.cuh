#pragma once
// What values are combined with. An operator is a type with
//   Value            what it combines
//   identity()       combine(identity(), x) is x
//   combine(a, b)    associative; for floating-point sums and products but for rounding
//   neutral()        of those here: the bits of an element that changes nothing, whatever comes before or after it
//   kWholeWarp       whether warp(x) combines the values of all 32 lanes in fewer steps than five shuffles; valid in all
// warp.cuh, block.cuh and gather.cuh take any such type, a template's own as well; those here work on the accumulators
// of an element type T.
#include <attune/element.cuh>

namespace attune {

#if __CUDA_ARCH__ >= 800
constexpr bool kHasRedux = true;  // one instruction combines a 32-bit integer of every lane
#else
constexpr bool kHasRedux = false;
#endif

template <class T>
struct Operator {
  using Value = typename Element<T>::Value;
  using Bits = typename Element<T>::Bits;
  static constexpr bool kFloating = Element<T>::kFloating;
  static constexpr bool kRedux = kHasRedux && !kFloating && sizeof(Value) == 4;
};

/// Integers: modulo 2^32 or 2^64.
template <class T>
struct Sum : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = Operator<T>::kRedux;
  __device__ static Value identity() { return 0; }
  __device__ static Bits neutral() { return 0; }
  __device__ static Value combine(Value a, Value b) {
    if constexpr (Operator<T>::kFloating) return a + b;
    // Unsigned, because overflow of signed integers is undefined.
    else if constexpr (sizeof(Value) == 4) return static_cast<Value>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
    else return static_cast<Value>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
  }
  __device__ static Value warp(Value x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, x);
#else
    return x;
#endif
  }
};

/// Integers: modulo 2^32 or 2^64.
template <class T>
struct Product : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = false;
  __device__ static Value identity() { return 1; }
  __device__ static Bits neutral() { return Element<T>::narrow(Value{1}); }
  __device__ static Value combine(Value a, Value b) {
    if constexpr (Operator<T>::kFloating) return a * b;
    else if constexpr (sizeof(Value) == 4) return static_cast<Value>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
    else return static_cast<Value>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
  }
};

/// Passes over NaN. The sign of a zero result is unspecified.
template <class T>
struct Min : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = Operator<T>::kRedux;
  __device__ static Value identity() { return Element<T>::highest(); }
  // All ones: NaN, which is passed over.
  __device__ static Bits neutral() { return Operator<T>::kFloating ? static_cast<Bits>(~Bits{0}) : Element<T>::narrow(identity()); }
  /// `a` is no NaN: combining starts from the identity, and no result is one.
  __device__ static Value combine(Value a, Value b) {
    if constexpr (Operator<T>::kFloating && sizeof(Value) == 4) return fminf(a, b);
    else return b < a ? b : a;
  }
  __device__ static Value warp(Value x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(~0u, x);
#else
    return x;
#endif
  }
};

/// Passes over NaN. The sign of a zero result is unspecified.
template <class T>
struct Max : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = Operator<T>::kRedux;
  __device__ static Value identity() { return Element<T>::lowest(); }
  // All ones: NaN, which is passed over.
  __device__ static Bits neutral() { return Operator<T>::kFloating ? static_cast<Bits>(~Bits{0}) : Element<T>::narrow(identity()); }
  /// `a` is no NaN: combining starts from the identity, and no result is one.
  __device__ static Value combine(Value a, Value b) {
    if constexpr (Operator<T>::kFloating && sizeof(Value) == 4) return fmaxf(a, b);
    else return b > a ? b : a;
  }
  __device__ static Value warp(Value x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, x);
#else
    return x;
#endif
  }
};

/// Bit by bit, of integers.
template <class T>
struct And : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = Operator<T>::kRedux;
  __device__ static Value identity() {
    return Element<T>::widen(static_cast<typename Element<T>::Bits>(~typename Element<T>::Bits{0}));
  }
  __device__ static Bits neutral() { return static_cast<Bits>(~Bits{0}); }
  __device__ static Value combine(Value a, Value b) { return a & b; }
  __device__ static Value warp(Value x) {
#if __CUDA_ARCH__ >= 800
    return static_cast<Value>(__reduce_and_sync(~0u, static_cast<unsigned>(x)));
#else
    return x;
#endif
  }
};

/// Bit by bit, of integers.
template <class T>
struct Or : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = Operator<T>::kRedux;
  __device__ static Value identity() { return 0; }
  __device__ static Bits neutral() { return 0; }
  __device__ static Value combine(Value a, Value b) { return a | b; }
  __device__ static Value warp(Value x) {
#if __CUDA_ARCH__ >= 800
    return static_cast<Value>(__reduce_or_sync(~0u, static_cast<unsigned>(x)));
#else
    return x;
#endif
  }
};

/// Bit by bit, of integers.
template <class T>
struct Xor : Operator<T> {
  using typename Operator<T>::Value;
  using typename Operator<T>::Bits;
  static constexpr bool kWholeWarp = Operator<T>::kRedux;
  __device__ static Value identity() { return 0; }
  __device__ static Bits neutral() { return 0; }
  __device__ static Value combine(Value a, Value b) { return a ^ b; }
  __device__ static Value warp(Value x) {
#if __CUDA_ARCH__ >= 800
    return static_cast<Value>(__reduce_xor_sync(~0u, static_cast<unsigned>(x)));
#else
    return x;
#endif
  }
};

}  // namespace attune
