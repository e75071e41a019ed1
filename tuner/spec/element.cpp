#include "tuner/spec/element.hpp"

#include <fmt/core.h>

#include <cmath>

namespace attune::spec {
namespace {

std::uint64_t low_bits(int count) { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

double number_of(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t exponents = low_bits(format.exponent_bits), mantissas = low_bits(format.mantissa_bits);
  const std::uint64_t exponent = bits >> format.mantissa_bits & exponents, mantissa = bits & mantissas;
  const double sign = bits >> (format.exponent_bits + format.mantissa_bits) & 1 ? -1.0 : 1.0;
  if (exponent == exponents) {
    if (format.infinities) return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
    if (mantissa == mantissas) return std::nan("");
  }
  const int lowest_bit = 1 - static_cast<int>(exponents / 2) - format.mantissa_bits;  // of the smallest normal number, and all below it
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), lowest_bit);
  return sign * std::ldexp(static_cast<double>(mantissa + mantissas + 1), static_cast<int>(exponent) - 1 + lowest_bit);
}

std::uint64_t sign_bit(ElementType type) { return std::uint64_t{1} << (8 * size_bytes(type) - 1); }
/// Without the sign: the bits of the largest magnitude, and of what stands above all numbers.
std::uint64_t largest_bits(ElementType type, const FloatFormat& format) {
  return format.infinities ? ((sign_bit(type) - 1) & ~low_bits(format.mantissa_bits)) - 1 : sign_bit(type) - 2;
}
std::uint64_t unbounded_bits(ElementType type, const FloatFormat& format) {
  return largest_bits(type, format) + (format.infinities ? 1 : 0);
}

}  // namespace

double unit_roundoff(ElementType type) { return std::ldexp(1.0, -float_format(type).value().mantissa_bits - 1); }

std::uint64_t highest_bits(ElementType type) {
  if (const auto format = float_format(type)) return unbounded_bits(type, *format);
  const std::uint64_t all = low_bits(8 * size_bytes(type));
  return is_signed(type) ? all & ~sign_bit(type) : all;
}

std::uint64_t lowest_bits(ElementType type) {
  if (const auto format = float_format(type)) return unbounded_bits(type, *format) | sign_bit(type);
  return is_signed(type) ? sign_bit(type) : 0;
}

std::uint64_t highest_finite_bits(ElementType type) {
  const auto format = float_format(type);
  return format ? largest_bits(type, *format) : highest_bits(type);
}

std::uint64_t lowest_finite_bits(ElementType type) {
  const auto format = float_format(type);
  return format ? largest_bits(type, *format) | sign_bit(type) : lowest_bits(type);
}

std::int64_t highest_exact_whole(ElementType type) {
  if (const auto format = float_format(type)) return std::int64_t{1} << (format->mantissa_bits + 1);
  return static_cast<std::int64_t>(highest_bits(type) & low_bits(63));
}

std::uint64_t extend(ElementType type, std::uint64_t bits) {
  const int width = 8 * size_bytes(type);
  bits &= low_bits(width);
  return is_signed(type) && (bits & sign_bit(type)) != 0 ? bits | ~low_bits(width) : bits;
}

double to_double(ElementType type, std::uint64_t bits) {
  if (const auto format = float_format(type)) return number_of(*format, bits);
  const std::uint64_t extended = extend(type, bits);
  return is_signed(type) ? static_cast<double>(static_cast<std::int64_t>(extended)) : static_cast<double>(extended);
}

std::string element_text(ElementType type, std::uint64_t bits) {
  if (is_floating(type)) {
    const double value = to_double(type, bits);
    return std::isnan(value) ? "nan" : fmt::format("{:.17g}", value);  // the sign of a NaN means nothing
  }
  const std::uint64_t extended = extend(type, bits);
  return is_signed(type) ? fmt::format("{}", static_cast<std::int64_t>(extended)) : fmt::format("{}", extended);
}

}  // namespace attune::spec
