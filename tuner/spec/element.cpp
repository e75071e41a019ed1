#include "tuner/spec/element.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>

namespace attune::spec {
namespace {

std::uint64_t low_bits(int count) { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

/// Exponent and mantissa of the IEEE-like 16-bit formats.
double small_float(std::uint64_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent_mask = static_cast<int>(low_bits(exponent_bits));
  const int exponent = static_cast<int>(bits >> mantissa_bits) & exponent_mask;
  const auto mantissa = static_cast<double>(bits & low_bits(mantissa_bits));
  const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1.0 : 1.0;
  const int bias = exponent_mask / 2;
  if (exponent == exponent_mask) return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + std::ldexp(1.0, mantissa_bits), exponent - bias - mantissa_bits);
}

int mantissa_bits(ElementType type) {
  switch (type) {
    case ElementType::F16:
      return 10;
    case ElementType::BF16:
      return 7;
    case ElementType::F32:
      return 23;
    default:
      return 52;
  }
}

std::uint64_t infinity_bits(ElementType type) {
  const int width = 8 * size_bytes(type);
  return low_bits(width - 1) & ~low_bits(mantissa_bits(type));
}

std::uint64_t sign_bit(ElementType type) { return std::uint64_t{1} << (8 * size_bytes(type) - 1); }

}  // namespace

bool is_floating(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 || type == ElementType::F64;
}

bool is_signed(ElementType type) {
  return is_floating(type) || type == ElementType::I8 || type == ElementType::I16 || type == ElementType::I32 || type == ElementType::I64;
}

double unit_roundoff(ElementType type) { return std::ldexp(1.0, -mantissa_bits(type) - 1); }

std::uint64_t highest_bits(ElementType type) {
  if (is_floating(type)) return infinity_bits(type);
  const std::uint64_t all = low_bits(8 * size_bytes(type));
  return is_signed(type) ? all & ~sign_bit(type) : all;
}

std::uint64_t lowest_bits(ElementType type) {
  if (is_floating(type)) return infinity_bits(type) | sign_bit(type);
  return is_signed(type) ? sign_bit(type) : 0;
}

std::uint64_t highest_finite_bits(ElementType type) { return is_floating(type) ? infinity_bits(type) - 1 : highest_bits(type); }

std::uint64_t lowest_finite_bits(ElementType type) {
  return is_floating(type) ? (infinity_bits(type) - 1) | sign_bit(type) : lowest_bits(type);
}

std::uint64_t extend(ElementType type, std::uint64_t bits) {
  const int width = 8 * size_bytes(type);
  bits &= low_bits(width);
  return is_signed(type) && (bits & sign_bit(type)) != 0 ? bits | ~low_bits(width) : bits;
}

double to_double(ElementType type, std::uint64_t bits) {
  switch (type) {
    case ElementType::F16:
      return small_float(bits, 5, 10);
    case ElementType::BF16:
      return small_float(bits, 8, 7);
    case ElementType::F32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case ElementType::F64:
      return std::bit_cast<double>(bits);
    default:
      break;
  }
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
