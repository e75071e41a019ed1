#include "tuner/spec/scalar_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tuner/spec/element.hpp"

namespace attune::spec {
namespace {

/// Rounds to nearest, ties to even, once. Requires: no larger than the format's largest.
std::uint64_t rounded_bits(double value, const FloatFormat& format) {
  const int width = format.exponent_bits + format.mantissa_bits;
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << width : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);                                                        // magnitude = [0.5, 1) * 2^exponent
  const int subnormal_bit = 2 - (1 << (format.exponent_bits - 1)) - format.mantissa_bits;  // what the last bit of those is worth
  const int last_bit = std::max(exponent - 1 - format.mantissa_bits, subnormal_bit);
  const auto steps = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, -last_bit)));
  // A normal number is (2^mantissa_bits + mantissa) steps; a carry out of the mantissa runs into the exponent, as it should.
  return sign | ((static_cast<std::uint64_t>(last_bit - subnormal_bit) << format.mantissa_bits) + steps);
}

std::optional<std::uint64_t> float_bits(double value, ElementType type) {
  if (type == ElementType::F64) return std::bit_cast<std::uint64_t>(value);
  const double largest = to_double(type, highest_finite_bits(type));
  return std::fabs(value) <= largest ? std::optional(rounded_bits(value, float_format(type).value())) : std::nullopt;
}

std::optional<std::uint64_t> integer_bits(std::int64_t value, ElementType type) {
  const int bits = 8 * size_bytes(type);
  const bool negative = is_signed(type);
  if (!negative && value < 0) return std::nullopt;
  if (bits == 64) return static_cast<std::uint64_t>(value);
  const std::int64_t limit = std::int64_t{1} << (negative ? bits - 1 : bits);
  if (value >= limit || (negative && value < -limit)) return std::nullopt;
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

std::optional<std::int64_t> whole_number(const Value& value) {
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  const double* real = std::get_if<double>(&value);  // NaN is no whole number either
  if (real == nullptr || std::trunc(*real) != *real || !(std::fabs(*real) < 9223372036854775808.0)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<std::uint64_t> scalar_bits(const Value& value, ElementType type) {
  if (std::holds_alternative<std::string>(value)) return std::nullopt;
  if (is_floating(type)) {
    if (const double* real = std::get_if<double>(&value)) return float_bits(*real, type);
    return float_bits(static_cast<double>(whole_number(value).value()), type);
  }
  const std::optional<std::int64_t> integer = whole_number(value);
  return integer ? integer_bits(*integer, type) : std::nullopt;
}

}  // namespace attune::spec
