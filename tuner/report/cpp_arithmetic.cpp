#include <fmt/core.h>

#include "tuner/report/cpp_condition.hpp"
#include "tuner/spec/value.hpp"

namespace attune::report {
namespace {

// Whole numbers have 64 bits; what does not fit, or has no value, clears `ok`. No function of <cmath> is constexpr in C++17.
constexpr const char* kFunctions = R"header(
inline constexpr std::int64_t kMost = 9223372036854775807, kLeast = -kMost - 1;

template <class Number>
constexpr Number failed(bool& ok) {
  ok = false;
  return 0;
}
constexpr std::int64_t add(std::int64_t a, std::int64_t b, bool& ok) {
  return (b > 0 ? a > kMost - b : a < kLeast - b) ? failed<std::int64_t>(ok) : a + b;
}
constexpr std::int64_t subtract(std::int64_t a, std::int64_t b, bool& ok) {
  return (b > 0 ? a < kLeast + b : a > kMost + b) ? failed<std::int64_t>(ok) : a - b;
}
constexpr std::int64_t multiply(std::int64_t a, std::int64_t b, bool& ok) {
  if (a == 0 || b == 0) return 0;
  const bool fits = a > 0 ? (b > 0 ? a <= kMost / b : b >= kLeast / a) : (b > 0 ? a >= kLeast / b : b >= kMost / a);
  return fits ? a * b : failed<std::int64_t>(ok);
}
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b, bool& ok) {
  if (b == 0 || (a == kLeast && b == -1)) return failed<std::int64_t>(ok);
  return a % b != 0 && (a < 0) != (b < 0) ? a / b - 1 : a / b;
}
constexpr std::int64_t modulo(std::int64_t a, std::int64_t b, bool& ok) {
  if (b == 0) return failed<std::int64_t>(ok);
  if (b == -1) return 0;
  return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b, bool& ok) {
  const std::int64_t down = floor_divide(a, b, ok);
  return ok && a % b != 0 ? down + 1 : down;
}
constexpr std::int64_t power(std::int64_t a, std::int64_t b, bool& ok) {
  if (b < 0) return failed<std::int64_t>(ok);
  if (b == 0 || a == 1) return 1;
  if (a == 0 || a == -1) return a == 0 || b % 2 != 0 ? a : 1;
  std::int64_t result = a;
  for (; b > 1 && ok; --b) result = multiply(result, a, ok);
  return result;
}
constexpr std::int64_t absolute(std::int64_t a, bool& ok) { return a < 0 ? subtract(0, a, ok) : a; }
constexpr std::int64_t clamp(std::int64_t x, std::int64_t low, std::int64_t high, bool& ok) {
  if (low > high) return failed<std::int64_t>(ok);
  return x < low ? low : x > high ? high : x;
}
template <class Number>
constexpr Number minimum(Number a, Number b) {
  return b < a ? b : a;
}
template <class Number>
constexpr Number maximum(Number a, Number b) {
  return b > a ? b : a;
}
constexpr double divide(double a, double b, bool& ok) { return b < 0 || b > 0 ? a / b : failed<double>(ok); }
constexpr std::int64_t truncate(double x, bool& ok) {
  return x > -9e18 && x < 9e18 ? static_cast<std::int64_t>(x) : failed<std::int64_t>(ok);
}
constexpr std::int64_t floor(double x, bool& ok) {
  const std::int64_t whole = truncate(x, ok);
  return static_cast<double>(whole) > x ? whole - 1 : whole;
}
constexpr std::int64_t ceil(double x, bool& ok) {
  const std::int64_t whole = truncate(x, ok);
  return static_cast<double>(whole) < x ? whole + 1 : whole;
}
/// One binary digit after the other; exact for powers of two.
constexpr double log2(double x, bool& ok) {
  if (!(x > 0 && x < 1e300)) return failed<double>(ok);
  double result = 0, digit = 0.5;
  for (; x >= 2; x /= 2) result += 1;
  for (; x < 1; x *= 2) result -= 1;
  for (int i = 0; i < 45 && x > 1; ++i, digit /= 2) {
    x *= x;
    if (x < 2) continue;
    x /= 2;
    result += digit;
  }
  return result;
}
)header";

/// `sizeof` of a type by its name.
std::string size_of() {
  std::string text = "constexpr std::int64_t size_of(std::string_view type, bool& ok) {\n";
  for (const std::string& name : spec::element_type_names())
    text += fmt::format("  if (type == \"{}\") return {};\n", name, spec::size_bytes(spec::element_type(name)));
  return text + "  return failed<std::int64_t>(ok);\n}\n";
}

}  // namespace

std::string cpp_arithmetic() { return kFunctions + size_of(); }

}  // namespace attune::report
