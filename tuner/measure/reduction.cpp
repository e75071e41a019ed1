#include "tuner/measure/reduction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::measure {
namespace {

using Operation = ReduceOperation;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostExponent = 14;  // of planted numbers: their products with small integers are exact in every type

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

constexpr Word<Operation> kOperations[] = {{"sum", Operation::Sum}, {"product", Operation::Product}, {"min", Operation::Minimum},
                                           {"max", Operation::Maximum}, {"and", Operation::And}, {"or", Operation::Or},
                                           {"xor", Operation::Xor}};
constexpr Word<Transform> kTransforms[] = {{"identity", Transform::Identity}, {"absolute", Transform::Absolute},
                                           {"square", Transform::Square}, {"shifted_square", Transform::ShiftedSquare},
                                           {"times", Transform::Times}};
constexpr Word<Finish> kFinishes[] = {
    {"none", Finish::None}, {"mean", Finish::Mean}, {"root", Finish::Root}, {"scale_bias", Finish::ScaleBias}};
constexpr Word<Accumulate> kAccumulates[] = {{"fixed_order", Accumulate::Plain},
                                             {"compensated", Accumulate::Compensated},
                                             {"fixed_point", Accumulate::FixedPoint}};

/// The value of a word; the first where a template has no such axis.
template <class Value, std::size_t count>
Value value_of(const Word<Value> (&words)[count], std::string_view text) {
  const auto found = std::find_if(std::begin(words), std::end(words), [&](const auto& word) { return word.text == text; });
  return found == std::end(words) ? words[0].value : found->value;
}

ReduceScalar scalar(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& name) {
  for (const auto& declared : kernel.scalars) {
    if (declared.name != name) continue;
    const auto resolved = spec::resolve_scalar(kernel, problem, declared);
    return {to_double(resolved.type, resolved.bits), is_floating(resolved.type) ? 0 : extend(resolved.type, resolved.bits)};
  }
  return {};
}

/// Sign- or zero-extended from the output's width.
std::uint64_t wrapped(const Reduction& of, std::uint64_t x) { return extend(of.out, x); }

double unit(const Reduction& of) { return is_floating(of.out) ? unit_roundoff(of.out) : 0.5; }

double growth(std::int64_t count) { return 8 + std::sqrt(static_cast<double>(count)); }

/// Roundings that a transformed element has had, in units of its last place.
double term_roundings(const Reduction& of) {
  switch (of.transform) {
    case Transform::Square:
    case Transform::Times:
      return 1;
    case Transform::ShiftedSquare:
      return 3;
    default:
      return 0;
  }
}

bool is_whole(double x) { return std::trunc(x) == x; }

/// Whether an accumulator of the output's type holds every partial result of this data exactly.
bool is_exact(const Reduction& of, const Totals& totals, DataSet data) {
  const bool wide = !is_floating(of.out) || of.out == spec::ElementType::F32 || of.out == spec::ElementType::F64;
  if (data != DataSet::Integers || !wide) return false;
  if (of.transform == Transform::ShiftedSquare && !is_whole(of.shift.value)) return false;
  if (of.operation == Operation::Product) return true;  // a power of two
  if (of.accumulate == Accumulate::FixedPoint) {
    int exponent = 0;
    if (std::frexp(of.resolution, &exponent) != 0.5 || of.resolution > 1) return false;
  }
  const double most = 1 / unit(of);
  if (!is_floating(of.out) || totals.magnitude <= most) return true;
  // A random walk of steps of at most 4, far below the limit for every count that fits a device.
  const bool random_signs = is_signed(of.in) && (of.transform == Transform::Identity || of.transform == Transform::Times);
  return random_signs && std::abs(totals.sum) <= most / 2;
}

double identity(const Reduction& of) {
  switch (of.operation) {
    case Operation::Product:
      return 1;
    case Operation::Minimum:
      return is_floating(of.in) ? kInfinity : to_double(of.in, highest_bits(of.in));
    case Operation::Maximum:
      return is_floating(of.in) ? -kInfinity : to_double(of.in, lowest_bits(of.in));
    default:
      return 0;
  }
}

/// Of transformed elements the limits are those of the output, which the elements' own do not bound.
std::uint64_t integer_identity(const Reduction& of) {
  const auto type = of.transform == Transform::Identity ? of.in : of.out;
  switch (of.operation) {
    case Operation::Product:
      return 1;
    case Operation::Minimum:
      return extend(type, highest_bits(type));
    case Operation::Maximum:
      return extend(type, lowest_bits(type));
    case Operation::And:
      return extend(type, ~std::uint64_t{0});
    default:
      return 0;
  }
}

std::uint64_t combined_integer(const Reduction& of, const Totals& totals) {
  if (of.count == 0) return integer_identity(of);
  switch (of.operation) {
    case Operation::Sum:
      return totals.integer_sum;
    case Operation::Product:
      return totals.integer_product;
    case Operation::Minimum:
      return totals.minimum_bits;
    case Operation::Maximum:
      return totals.maximum_bits;
    case Operation::And:
      return totals.conjunction;
    case Operation::Or:
      return totals.disjunction;
    case Operation::Xor:
      return totals.parity;
  }
  return 0;
}

/// The error that is allowed where sums are finite. The usual bound of recursive summation is n u sum|x|; rounding errors
/// of a fixed order behave like a random walk and trees are shorter still, so that sqrt(n) already is generous. With
/// compensation that bound has u^2, and what is left is the rounding of the elements and of the result.
double allowed_of_sum(const Reduction& of, const Totals& totals, double rounded) {
  const double u = unit(of);
  const double n = static_cast<double>(of.count);
  const double terms = term_roundings(of) * u * rounded;
  switch (of.accumulate) {
    case Accumulate::Plain:
      return u * growth(of.count) * totals.magnitude;
    case Accumulate::Compensated:
      return 4 * u * std::abs(totals.sum) + terms + 2 * u * u * growth(of.count) * totals.magnitude;
    case Accumulate::FixedPoint:  // each element is off by half the resolution at most, independently
      return 2 * u * std::abs(totals.sum) + terms + of.resolution * std::min(n / 2, 8 + 2 * std::sqrt(n));
  }
  return 0;
}

/// Whether an element is so large that multiples of the resolution might not add up in 64 bits.
bool leaves_fixed_point(const Reduction& of, const Totals& totals) {
  if (!totals.has_extremes) return true;
  const double greatest = std::max(std::abs(std::bit_cast<double>(totals.minimum_bits)), std::abs(std::bit_cast<double>(totals.maximum_bits)));
  return greatest > of.resolution * std::ldexp(1.0, 62) / static_cast<double>(of.count);
}

/// What the result must be, and how far off it may be.
struct Finished {
  double value = 0;
  double lost = 0;
  double allowed = 0;
  bool or_nan = false;
};

Finished finished(const Reduction& of, const Combined& right) {
  const double u = unit(of);
  switch (of.finish) {
    case Finish::None:
      break;
    case Finish::Mean: {
      const double n = static_cast<double>(of.count);
      const double value = right.value / n;
      return {value, right.lost / n, right.allowed / n + 2 * u * std::abs(value)};
    }
    case Finish::Root: {  // of a sum that rounding may have made negative
      const double sum = std::isfinite(right.value) ? right.value + right.lost : right.value;
      const double least = sum - right.allowed, most = sum + right.allowed;
      if (std::isnan(sum) || most < 0) return {kNan};
      const double value = std::sqrt(std::max(sum, 0.0));
      if (std::isinf(value)) return {value};
      const double off = std::max(std::sqrt(most) - value, value - std::sqrt(std::max(least, 0.0)));
      return {value, 0, off + 2 * u * value, least < 0};
    }
    case Finish::ScaleBias: {
      const double scaled = of.scale.value * right.value;
      return {scaled + of.bias.value, of.scale.value * right.lost,
              std::abs(of.scale.value) * right.allowed + 2 * u * (std::abs(scaled) + std::abs(of.bias.value))};
    }
  }
  return {right.value, right.lost, right.allowed};
}

std::string what(const Reduction& of) {
  return of.operation == Operation::Sum && of.finish == Finish::None ? "the sum" : "the result";
}

/// The nearest element, or nothing beyond the type's limits.
std::optional<std::uint64_t> nearest(spec::ElementType type, double value) {
  if (is_floating(type)) return spec::scalar_bits(spec::Value{value}, type);
  return spec::scalar_bits(spec::Value{static_cast<std::int64_t>(value)}, type);
}

/// What contributes more than any small integer, or less.
std::optional<std::uint64_t> extreme_element(const Reduction& of, std::uint64_t y) {
  const bool least = of.operation == Operation::Minimum;
  if (of.transform == Transform::Identity) return least ? lowest_finite_bits(of.in) : highest_finite_bits(of.in);
  if (least && of.transform == Transform::ShiftedSquare)
    return is_floating(of.in) ? nearest(of.in, of.shift.value) : of.shift.integer;
  if (least && (of.transform != Transform::Times || !is_signed(of.in))) return std::uint64_t{0};
  const int exponent = std::min({8 * spec::size_bytes(of.in) - 2, 4 * spec::size_bytes(of.out) - 2, kMostExponent});
  const bool negative = of.transform == Transform::Times && (least != (to_double(of.in, y) < 0));
  return nearest(of.in, std::ldexp(negative ? -1.0 : 1.0, exponent));
}

/// A multiple of the factor `x`; of x - shift where that is what is multiplied.
std::optional<std::uint64_t> multiple(const Reduction& of, std::uint64_t x) {
  const bool shifted = of.transform == Transform::ShiftedSquare;
  if (!is_floating(of.in)) {
    const std::uint64_t shift = shifted ? of.shift.integer : 0;
    return kMultiple * (x - shift) + shift;
  }
  const double shift = shifted ? of.shift.value : 0;
  return nearest(of.in, 2 * (to_double(of.in, x) - shift) + shift);
}

}  // namespace

Reduction reduction_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, spec::ElementType in,
                       spec::ElementType out, std::int64_t count) {
  const auto word = [&](const char* axis) { return spec::choice_of(kernel, problem, axis); };
  Reduction of{in, out, count};
  of.operation = value_of(kOperations, word("op"));
  of.transform = value_of(kTransforms, word("transform"));
  of.finish = value_of(kFinishes, word("finish"));
  of.accumulate = value_of(kAccumulates, word("accumulate"));
  of.shift = scalar(kernel, problem, "shift");
  of.scale = scalar(kernel, problem, "scale");
  of.bias = scalar(kernel, problem, "bias");
  of.resolution = scalar(kernel, problem, "resolution").value;
  const auto refuse = [&](const std::string& axis, const std::string& needs) {
    throw SpecError(kernel.spec_path, 0, 0,
                    fmt::format("failed preparing the reference: the {} '{}' needs {}, not {} and {}; exclude it by a constraint", axis,
                                word(axis.c_str()), needs, spec::name(in), spec::name(out)));
  };
  if (of.operation == Operation::Product && is_floating(in) != is_floating(out))
    refuse("op", "an input and an output that both are integers or both floating-point");
  const bool bits = of.operation == Operation::And || of.operation == Operation::Or || of.operation == Operation::Xor;
  if (bits && of.floating()) refuse("op", "an input and an output of integers");
  if ((of.finish == Finish::Mean || of.finish == Finish::Root) && !is_floating(out)) refuse("finish", "a floating-point output");
  if (of.accumulate != Accumulate::Plain && (of.operation != Operation::Sum || !is_floating(out)))
    refuse("accumulate", "the op 'sum' and a floating-point output");
  return of;
}

Combined combined(const Reduction& of, const Totals& totals, DataSet data, std::optional<double> rounded) {
  if (!of.floating()) return {0, 0, 0, combined_integer(of, totals)};
  if (of.count == 0) return {identity(of)};
  const bool exact = is_exact(of, totals, data);
  const auto relative = [&](double value, double units) -> Combined {
    return {value, 0, exact || !std::isfinite(value) ? 0 : units * unit(of) * std::abs(value)};
  };
  if (of.operation == Operation::Product) return relative(totals.product, (1 + term_roundings(of)) * growth(of.count));
  if (of.operation != Operation::Sum) {
    const bool least = of.operation == Operation::Minimum;
    if (!totals.has_extremes) return {identity(of)};
    return relative(std::bit_cast<double>(least ? totals.minimum_bits : totals.maximum_bits), term_roundings(of));
  }
  if (!std::isfinite(totals.sum)) return {of.accumulate == Accumulate::FixedPoint ? kNan : totals.sum};
  if (of.accumulate == Accumulate::FixedPoint && leaves_fixed_point(of, totals)) return {kNan};
  return {totals.sum, totals.lost, exact ? 0 : allowed_of_sum(of, totals, rounded.value_or(totals.magnitude))};
}

std::optional<std::string> judge(const Reduction& of, const Combined& right, std::uint64_t got) {
  if (!of.floating()) {  // modulo 2^width of the output
    const std::uint64_t integer =
        of.finish == Finish::ScaleBias ? of.scale.integer * right.integer + of.bias.integer : right.integer;
    if (extend(of.out, got) == wrapped(of, integer)) return std::nullopt;
    return fmt::format("{} is {} instead of {}", what(of), element_text(of.out, got), element_text(of.out, integer));
  }
  const Finished wanted = finished(of, right);
  const double value = to_double(of.out, got);
  const bool both_nan = std::isnan(value) && (std::isnan(wanted.value) || wanted.or_nan);
  const double right_value = std::isfinite(wanted.value) ? wanted.value + wanted.lost : wanted.value;
  if (both_nan || value == right_value) return std::nullopt;
  // Beyond the output's greatest number, or so near it that the error may lead there, an infinity is right.
  const double greatest = to_double(of.out, highest_finite_bits(of.out));
  if (std::isinf(value) && std::abs(right_value) + wanted.allowed > greatest && std::signbit(value) == std::signbit(right_value)) return std::nullopt;
  if (std::isfinite(wanted.value) && std::abs(value - wanted.value - wanted.lost) <= wanted.allowed) return std::nullopt;
  return fmt::format("{} is {} instead of {} (allowed error {:.3g})", what(of), element_text(of.out, got),
                     element_text(spec::ElementType::F64, std::bit_cast<std::uint64_t>(right_value)), wanted.allowed);
}

Term term_of(const Reduction& of, std::uint64_t x_bits, std::uint64_t y_bits) {
  const double x = to_double(of.in, x_bits), y = to_double(of.in, y_bits);
  if (of.floating()) {
    const double d = x - of.shift.value;
    switch (of.transform) {
      case Transform::Identity:
        return {x};
      case Transform::Absolute:
        return {std::abs(x)};
      case Transform::Square:
        return {x * x};
      case Transform::ShiftedSquare:
        return {d * d};
      case Transform::Times:
        return {x * y};
    }
  }
  const std::uint64_t a = extend(of.in, x_bits), b = extend(of.in, y_bits), d = a - of.shift.integer;
  switch (of.transform) {
    case Transform::Identity:
      break;
    case Transform::Absolute:
      return {0, wrapped(of, x < 0 ? 0 - a : a)};
    case Transform::Square:
      return {0, wrapped(of, a * a)};
    case Transform::ShiftedSquare:
      return {0, wrapped(of, d * d)};
    case Transform::Times:
      return {0, wrapped(of, a * b)};
  }
  return {0, wrapped(of, a)};
}

std::optional<std::uint64_t> deciding_element(const Reduction& of, const Totals& whole, std::uint64_t x, std::uint64_t y) {
  const bool plain = of.transform == Transform::Identity;
  const std::uint64_t all = extend(of.in, ~std::uint64_t{0});
  const std::uint64_t absent = ~whole.disjunction & all, common = whole.conjunction & all;
  switch (of.operation) {
    case Operation::Sum:
      return std::nullopt;
    case Operation::Product:
      return multiple(of, x);
    case Operation::Minimum:
    case Operation::Maximum:
      return extreme_element(of, y);
    case Operation::And:  // bits of transformed elements are nobody's own
      if (!plain || common == 0) return std::nullopt;
      return x & ~(std::uint64_t{1} << std::countr_zero(common));
    case Operation::Or:
      if (!plain || absent == 0) return std::nullopt;
      return x | std::uint64_t{1} << std::countr_zero(absent);
    case Operation::Xor:
      return x ^ 1;
  }
  return std::nullopt;
}

Combined with_planted(const Reduction& of, const Combined& before, std::uint64_t x, std::uint64_t planted, std::uint64_t y) {
  const Term old_term = term_of(of, x, y), new_term = term_of(of, planted, y);
  Combined after = before;
  switch (of.operation) {
    case Operation::Sum:
      break;
    case Operation::Product: {  // integers have no quotients, but deciding_element's multiples are known
      const double factor = new_term.value / old_term.value;
      after.value *= factor;
      after.allowed *= std::abs(factor);
      const bool squared = of.transform == Transform::Square || of.transform == Transform::ShiftedSquare;
      after.integer *= squared ? kMultiple * kMultiple : kMultiple;
      break;
    }
    case Operation::Minimum:
    case Operation::Maximum:
      after.value = new_term.value;
      after.integer = new_term.integer;
      break;
    case Operation::And:
      after.integer &= new_term.integer;
      break;
    case Operation::Or:
      after.integer |= new_term.integer;
      break;
    case Operation::Xor:
      after.integer ^= old_term.integer ^ new_term.integer;
      break;
  }
  return after;
}

}  // namespace attune::measure
