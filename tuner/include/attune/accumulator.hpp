#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "attune/type_name.hpp"

namespace attune::detail {

/// What T is combined in and stored as: 8-bit integers in 32 bits, 16-bit floating types in f32, others in themselves.
template <class T>
struct Accumulator {
  using Type = T;
};
template <std::integral T>
requires(sizeof(T) == 1) struct Accumulator<T> {
  using Type = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
};
template <>
struct Accumulator<__half> {
  using Type = float;
};
template <>
struct Accumulator<__nv_bfloat16> {
  using Type = float;
};

/// What has means, roots and rounding.
template <class T>
concept FloatingElement = std::floating_point<typename Accumulator<T>::Type>;

}  // namespace attune::detail
