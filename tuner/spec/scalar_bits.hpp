#pragma once
#include <cstdint>
#include <optional>

#include "tuner/spec/value.hpp"

namespace attune::spec {

/// The little-endian bits of `value` as an element of `type`; nothing when the type cannot hold it (a string, a
/// fraction in an integer, out of range). Floats round to nearest even.
[[nodiscard]] std::optional<std::uint64_t> scalar_bits(const Value& value, ElementType type);

/// The whole number that `value` is, exactly; nothing of a string, a fraction and what passes 64 bits.
[[nodiscard]] std::optional<std::int64_t> whole_number(const Value& value);

}  // namespace attune::spec
