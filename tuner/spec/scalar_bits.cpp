#include "tuner/spec/scalar_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tuner/spec/element.hpp"

namespace attune::spec {
namespace {

/// IEEE half from double, round to nearest even; the caller has excluded overflow.
std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);                     // magnitude = [0.5, 1) * 2^exponent
  const int lowest_bit = std::max(exponent - 11, -24);  // 11 significant bits, or the subnormal step 2^-24
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -lowest_bit)));
  // A normal number is (1024 + mantissa) steps; a carry out of the mantissa runs into the exponent, as it should.
  const std::uint32_t bits = lowest_bit == -24 ? steps : (static_cast<std::uint32_t>(lowest_bit + 24) << 10) + steps;
  return static_cast<std::uint16_t>(sign | bits);
}

/// bfloat16 is the upper half of a float; rounding once from double needs the float's sticky bit, so it rounds to odd.
std::uint16_t bfloat_bits(double value) {
  auto single = static_cast<float>(value);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(single);
  if (static_cast<double>(single) != value) {
    if (std::fabs(static_cast<double>(single)) > std::fabs(value)) --bits;  // towards zero
    bits |= 1U;
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

std::optional<std::uint64_t> float_bits(double value, ElementType type) {
  if (type == ElementType::F64) return std::bit_cast<std::uint64_t>(value);
  const double largest = type == ElementType::F16 ? 65504.0 : type == ElementType::BF16 ? 3.3895313892515355e38 : 3.4028234663852886e38;
  if (!(std::fabs(value) <= largest)) return std::nullopt;
  if (type == ElementType::F16) return half_bits(value);
  if (type == ElementType::BF16) return bfloat_bits(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::optional<std::int64_t> as_integer(const Value& value) {
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  const double* real = std::get_if<double>(&value);
  if (real == nullptr || std::trunc(*real) != *real || !(std::fabs(*real) < 9223372036854775808.0)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
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

std::optional<std::uint64_t> scalar_bits(const Value& value, ElementType type) {
  if (std::holds_alternative<std::string>(value)) return std::nullopt;
  if (is_floating(type)) {
    if (const double* real = std::get_if<double>(&value)) return float_bits(*real, type);
    return float_bits(static_cast<double>(as_integer(value).value()), type);
  }
  const std::optional<std::int64_t> integer = as_integer(value);
  return integer ? integer_bits(*integer, type) : std::nullopt;
}

}  // namespace attune::spec
