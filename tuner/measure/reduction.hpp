#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tuner/measure/element.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::measure {

/// Integers: small non-zero integers, which sum exactly in any order. Random: full-range values, or what the problem says of
/// its data; timing uses these. The others are of a built-in "histogram" only, in the asked case (histogram_reference.hpp).
enum class DataSet { Integers, Random, FirstBin, LastBin, TwoBins, Ascending, Hot, AtUpper, BelowLower };
inline constexpr std::size_t kDataSets = 9;

/// What a planted defect multiplies an integer by: odd, so that a product modulo 2^n changes.
inline constexpr std::uint64_t kMultiple = 3;

enum class ReduceOperation { Sum, Product, Minimum, Maximum, And, Or, Xor };
/// What an element contributes. Numbered as in support_reduce.cu.
enum class Transform : int { Identity, Absolute, Square, ShiftedSquare, Times };
enum class Finish { None, Mean, Root, ScaleBias };
/// Compensated: the error of a sum hardly depends on its length. FixedPoint: a sum of multiples of a resolution.
enum class Accumulate { Plain, Compensated, FixedPoint };

/// A scalar of the template, as arithmetic in double precision or modulo 2^64 takes it.
struct ReduceScalar {
  double value = 0;
  std::uint64_t integer = 0;
};

/// What a built-in "reduce" computes: the transformed elements combined, and the result finished. In integers modulo
/// 2^width of the output where input and output are integers, else in double precision.
struct Reduction {
  spec::ElementType in{};
  spec::ElementType out{};
  std::int64_t count = 0;
  ReduceOperation operation = ReduceOperation::Sum;
  Transform transform = Transform::Identity;
  Finish finish = Finish::None;
  Accumulate accumulate = Accumulate::Plain;
  ReduceScalar shift = {};
  ReduceScalar scale = {};
  ReduceScalar bias = {};
  double resolution = 0;  ///< of FixedPoint

  [[nodiscard]] bool floating() const { return is_floating(in) || is_floating(out); }
};

/// What a problem asks for; `in`, `out`: the types of its buffers, `count`: elements of the input.
/// Throws: SpecError (an operation, transform or finish that its types do not have, a scalar that its type cannot hold).
[[nodiscard]] Reduction reduction_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, spec::ElementType in,
                                     spec::ElementType out, std::int64_t count);

/// Everything that transformed elements combine to: doubles of a reduction that is floating(), else integers modulo 2^64. The
/// default: no elements, whose extremes are none.
struct Totals {
  double sum = 0;
  double lost = 0;       ///< what rounding took from `sum`
  double magnitude = 0;  ///< sum of |x|
  double product = 1;
  std::uint64_t integer_sum = 0;
  std::uint64_t integer_product = 1;
  std::uint64_t conjunction = ~std::uint64_t{0};
  std::uint64_t disjunction = 0;
  std::uint64_t parity = 0;
  bool has_extremes = false;       ///< whether there is an element that is no NaN
  std::uint64_t minimum_bits = 0;  ///< of a double for floating types, else extended to 64 bits
  std::uint64_t maximum_bits = 0;
};

/// The combined elements before they are finished.
struct Combined {
  double value = 0;
  double lost = 0;     ///< to be added, where one double is too few digits
  double allowed = 0;  ///< how far off a right accumulation may be
  std::uint64_t integer = 0;  ///< instead, modulo 2^64, where everything is integers
};

/// `rounded`: the magnitude of the elements whose transform may be rounded; all of them unless some are known to be exact.
[[nodiscard]] Combined combined(const Reduction& of, const Totals& totals, DataSet data, std::optional<double> rounded = {});
/// What is wrong with the output whose raw bits are `got`, or nothing.
[[nodiscard]] std::optional<std::string> judge(const Reduction& of, const Combined& right, std::uint64_t got);

/// An element's contribution; `y`: of the second input. Raw bits of the input's type.
struct Term {
  double value = 0;
  std::uint64_t integer = 0;  ///< wrapped to the output's width, then extended
};
[[nodiscard]] Term term_of(const Reduction& of, std::uint64_t x, std::uint64_t y);

/// What takes the place of the small integer or factor `x`, whose neighbour in the second input is `y`, so that a kernel
/// that drops or repeats it shows: an extreme, a multiple, a bit of its own. Nothing where no element does that.
/// `whole`: of the data before.
[[nodiscard]] std::optional<std::uint64_t> deciding_element(const Reduction& of, const Totals& whole, std::uint64_t x,
                                                            std::uint64_t y);
/// The answer after `planted` took the place of `x`, from that before.
[[nodiscard]] Combined with_planted(const Reduction& of, const Combined& before, std::uint64_t x, std::uint64_t planted,
                                    std::uint64_t y);

}  // namespace attune::measure
