#pragma once
#include <concepts>
#include <type_traits>

// CUDA's 16-bit floating-point types by name alone: who has values of them includes CUDA's headers.
struct __half;
struct __nv_bfloat16;

namespace attune::detail {

/// The element type that templates call a C++ type by: "f32" of float. Integers by their size and sign, so that it does
/// not matter which of long and long long std::int64_t is.
template <class T>
struct TypeName;

template <>
struct TypeName<__half> {
  static constexpr const char* value = "f16";
};
template <>
struct TypeName<__nv_bfloat16> {
  static constexpr const char* value = "bf16";
};
template <>
struct TypeName<float> {
  static constexpr const char* value = "f32";
};
template <>
struct TypeName<double> {
  static constexpr const char* value = "f64";
};
template <std::integral T>
requires(!std::is_same_v<T, bool> && (sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8)) struct TypeName<T> {
  static constexpr bool kSigned = std::is_signed_v<T>;
  static constexpr const char* value = sizeof(T) == 1   ? (kSigned ? "i8" : "u8")
                                       : sizeof(T) == 4 ? (kSigned ? "i32" : "u32")
                                                        : (kSigned ? "i64" : "u64");
};

}  // namespace attune::detail
