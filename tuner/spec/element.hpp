#pragma once
#include <cstdint>
#include <string>

#include "tuner/spec/value.hpp"

namespace attune::spec {

/// Half the distance from 1 to the next number. Requires: a floating type.
[[nodiscard]] double unit_roundoff(ElementType type);

/// Raw bits, zero-extended. Unbounded: infinities of floating types that have them; finite: the largest magnitudes. Others have only
/// their limits.
[[nodiscard]] std::uint64_t highest_bits(ElementType type);
[[nodiscard]] std::uint64_t lowest_bits(ElementType type);
[[nodiscard]] std::uint64_t highest_finite_bits(ElementType type);
[[nodiscard]] std::uint64_t lowest_finite_bits(ElementType type);

/// The largest number up to which the type has every whole number from 0 on; of u64 what an std::int64_t can be.
[[nodiscard]] std::int64_t highest_exact_whole(ElementType type);

/// The number that raw bits stand for; integers of more than 53 bits are rounded.
[[nodiscard]] double to_double(ElementType type, std::uint64_t bits);
/// Integer types: the value sign- or zero-extended to 64 bits.
[[nodiscard]] std::uint64_t extend(ElementType type, std::uint64_t bits);
/// For messages: exact for integers, 17 digits for floating types.
[[nodiscard]] std::string element_text(ElementType type, std::uint64_t bits);

}  // namespace attune::spec
