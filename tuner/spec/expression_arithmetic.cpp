#include "tuner/spec/expression_arithmetic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tuner/spec/failure.hpp"

namespace attune::spec {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

const char* symbol(Opcode opcode) {
  switch (opcode) {
    case Opcode::Negate:
    case Opcode::Subtract:
      return "-";
    case Opcode::Plus:
    case Opcode::Add:
      return "+";
    case Opcode::Multiply:
      return "*";
    case Opcode::Divide:
      return "/";
    case Opcode::FloorDivide:
      return "//";
    case Opcode::Modulo:
      return "%";
    case Opcode::Power:
      return "**";
    case Opcode::Minimum:
      return "min";
    case Opcode::Maximum:
      return "max";
    case Opcode::CeilDivide:
      return "ceil_div";
    case Opcode::Clamp:
      return "clamp";
    case Opcode::Absolute:
      return "abs";
    case Opcode::SizeOf:
      return "sizeof";
    case Opcode::Round:
      return "round";
    case Opcode::Floor:
      return "floor";
    case Opcode::Ceil:
      return "ceil";
    case Opcode::Log2:
      return "log2";
    case Opcode::ToInteger:
      return "int";
    default:
      return "comparison";
  }
}

[[noreturn]] void overflow(Opcode opcode, const Site& site) {
  site.error(fmt::format("the result of '{}' exceeds 64-bit integers", symbol(opcode)));
}
[[noreturn]] void zero_division(Opcode opcode, const Site& site) { site.error(fmt::format("'{}' divides by zero", symbol(opcode))); }

void require_number(Opcode opcode, const Slot& slot, const Site& site) {
  if (slot.kind == Slot::Kind::Text) {
    site.error(fmt::format("'{}' needs numbers, not the string '{}'", symbol(opcode), *slot.text));
  }
}

double real(const Slot& slot) { return slot.kind == Slot::Kind::Real ? slot.real : static_cast<double>(slot.integer); }

/// Exact for integers and doubles alike: the x86 and Arm long double hold 64 bits of mantissa.
long double exact(const Slot& slot) {
  return slot.kind == Slot::Kind::Real ? static_cast<long double>(slot.real) : static_cast<long double>(slot.integer);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;  // the lowest integer % -1 traps on x86
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Slot integer_power(std::int64_t base, std::int64_t exponent, const Site& site) {
  if (exponent < 0) {
    if (base == 0) zero_division(Opcode::Power, site);
    return Slot::of(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  std::int64_t result = 1;
  for (;;) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow(Opcode::Power, site);
    exponent >>= 1;
    if (exponent == 0) return Slot::of(result);
    if (__builtin_mul_overflow(base, base, &base)) overflow(Opcode::Power, site);
  }
}

Slot integer_arithmetic(Opcode opcode, std::int64_t a, std::int64_t b, const Site& site) {
  std::int64_t result = 0;
  switch (opcode) {
    case Opcode::Add:
      if (__builtin_add_overflow(a, b, &result)) overflow(opcode, site);
      return Slot::of(result);
    case Opcode::Subtract:
      if (__builtin_sub_overflow(a, b, &result)) overflow(opcode, site);
      return Slot::of(result);
    case Opcode::Multiply:
      if (__builtin_mul_overflow(a, b, &result)) overflow(opcode, site);
      return Slot::of(result);
    case Opcode::Power:
      return integer_power(a, b, site);
    default:
      break;
  }
  if (b == 0) zero_division(opcode, site);
  if (opcode == Opcode::Divide) return Slot::of(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
  if (opcode == Opcode::Modulo) return Slot::of(floor_remainder(a, b));
  if (a == kLowest && b == -1) overflow(opcode, site);
  const std::int64_t quotient = floor_quotient(a, b);
  const bool round_up = opcode == Opcode::CeilDivide && floor_remainder(a, b) != 0;
  return Slot::of(round_up ? quotient + 1 : quotient);
}

Slot real_arithmetic(Opcode opcode, double a, double b, const Site& site) {
  switch (opcode) {
    case Opcode::Add:
      return Slot::of(a + b);
    case Opcode::Subtract:
      return Slot::of(a - b);
    case Opcode::Multiply:
      return Slot::of(a * b);
    case Opcode::Power: {
      if (a == 0 && b < 0) zero_division(opcode, site);
      const double power = std::pow(a, b);
      if (!std::isfinite(power)) site.error("the result of '**' is no finite number");
      return Slot::of(power);
    }
    case Opcode::CeilDivide:
      site.error("ceil_div needs integers");
    default:
      break;
  }
  if (b == 0) zero_division(opcode, site);
  if (opcode == Opcode::Divide) return Slot::of(a / b);
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  return Slot::of(opcode == Opcode::Modulo ? remainder : std::round((a - remainder) / b));
}

template <class T>
bool ordered(Opcode opcode, const T& a, const T& b) {
  switch (opcode) {
    case Opcode::Less:
      return a < b;
    case Opcode::LessEqual:
      return a <= b;
    case Opcode::Greater:
      return a > b;
    case Opcode::GreaterEqual:
      return a >= b;
    case Opcode::NotEqual:
      return a != b;
    default:
      return a == b;
  }
}

Slot to_integer(Opcode opcode, double value, const Site& site) {
  // 2^63 itself is no int64; every double below it is after rounding.
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) overflow(opcode, site);
  return Slot::of(static_cast<std::int64_t>(value));
}

}  // namespace

void Site::error(const std::string& message) const {
  fail(advance(program.position, program.text, instruction.offset),
       fmt::format("failed evaluating the expression \"{}\": {}", program.text, message));
}

Slot Slot::of(const Value& value) {
  if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return of(*i);
  if (const bool* b = std::get_if<bool>(&value)) return of(*b);
  if (const double* d = std::get_if<double>(&value)) return of(*d);
  Slot slot;
  slot.kind = Kind::Text;
  slot.text = &std::get<std::string>(value);
  return slot;
}

Value Slot::value() const {
  switch (kind) {
    case Kind::Bool:
      return integer != 0;
    case Kind::Integer:
      return integer;
    case Kind::Real:
      return real;
    case Kind::Text:
      break;
  }
  return *text;
}

bool Slot::truth() const {
  if (is_integral()) return integer != 0;
  return kind == Kind::Real ? real != 0 : !text->empty();
}

Slot arithmetic(Opcode opcode, const Slot& a, const Slot& b, const Site& site) {
  if (opcode == Opcode::Minimum) return compare(Opcode::Less, b, a, site) ? b : a;
  if (opcode == Opcode::Maximum) return compare(Opcode::Greater, b, a, site) ? b : a;
  if (a.is_integral() && b.is_integral()) return integer_arithmetic(opcode, a.integer, b.integer, site);
  require_number(opcode, a, site);
  require_number(opcode, b, site);
  return real_arithmetic(opcode, real(a), real(b), site);
}

bool compare(Opcode opcode, const Slot& a, const Slot& b, const Site& site) {
  if (a.is_integral() && b.is_integral()) return ordered(opcode, a.integer, b.integer);
  const bool text_a = a.kind == Slot::Kind::Text;
  const bool text_b = b.kind == Slot::Kind::Text;
  if (text_a && text_b) return ordered(opcode, *a.text, *b.text);
  if (!text_a && !text_b) return ordered(opcode, exact(a), exact(b));
  if (opcode == Opcode::Equal) return false;
  if (opcode == Opcode::NotEqual) return true;
  site.error(fmt::format("the string '{}' cannot be ordered against a number", text_a ? *a.text : *b.text));
}

Slot unary(Opcode opcode, const Slot& a, const Site& site) {
  if (opcode == Opcode::SizeOf) {
    const auto type = a.kind == Slot::Kind::Text ? find_element_type(*a.text) : std::nullopt;
    if (!type) site.error(fmt::format("sizeof needs an element type, not '{}'", to_text(a.value())));
    return Slot::of(std::int64_t{size_bytes(*type)});
  }
  require_number(opcode, a, site);
  if (opcode == Opcode::Log2) {
    if (!(real(a) > 0)) site.error("log2 needs a positive number");
    return Slot::of(std::log2(real(a)));
  }
  if (a.is_integral()) {
    const bool negative = opcode == Opcode::Negate || (opcode == Opcode::Absolute && a.integer < 0);
    if (negative && a.integer == kLowest) overflow(opcode, site);
    return Slot::of(negative ? -a.integer : a.integer);
  }
  switch (opcode) {
    case Opcode::Negate:
      return Slot::of(-a.real);
    case Opcode::Absolute:
      return Slot::of(std::fabs(a.real));
    case Opcode::Floor:
      return to_integer(opcode, std::floor(a.real), site);
    case Opcode::Ceil:
      return to_integer(opcode, std::ceil(a.real), site);
    case Opcode::Round:
      return to_integer(opcode, std::nearbyint(a.real), site);  // halves to even, as Python
    case Opcode::ToInteger:
      return to_integer(opcode, std::trunc(a.real), site);
    default:
      return a;
  }
}

Slot clamp(const Slot& value, const Slot& low, const Slot& high, const Site& site) {
  if (compare(Opcode::Greater, low, high, site)) {
    site.error(fmt::format("clamp's lower bound {} exceeds its upper bound {}", to_text(low.value()), to_text(high.value())));
  }
  if (compare(Opcode::Less, value, low, site)) return low;
  return compare(Opcode::Greater, value, high, site) ? high : value;
}

}  // namespace attune::spec
