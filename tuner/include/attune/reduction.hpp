#pragma once
#include <map>
#include <string>
#include <variant>

namespace attune {

/// What a front end combines elements with; a template that lacks one refuses it with UsageError. And, Or and Xor are of
/// integers, bit by bit.
enum class Op { Sum, Min, Max, Product, And, Or, Xor };

/// An operator of the caller's own: CUDA expressions of the accumulator type A, e.g. {"max(a, b)", "A(-1000)"}.
/// Requires: associative and commutative (the order of combination is not the order of the elements), and combining
/// `identity` with x gives x.
struct CustomOp {
  std::string combine;   ///< of the arguments a and b
  std::string identity;  ///< what no element gives
};

/// What an element x contributes; ShiftedSquare: (x - shift)^2, `shift` given at launch.
enum class Transform { Identity, Absolute, Square, ShiftedSquare };

/// A transform of the caller's own: a CUDA expression of the argument x, which has the accumulator type A, as its value.
struct CustomTransform {
  std::string map;
};

/// What becomes of the combined value x: x / n, the square root of x (both of floating-point types), or
/// scale * x + bias, both given at launch.
enum class Finish { None, Mean, Root, ScaleBias };

/// A reduction in full: {.op = Op::Sum, .transform = Transform::Square, .finish = Finish::Root} is the Euclidean norm.
/// Expressions are one line each, without ';'. What does not compile throws CompileError at the first launch of a size, with
/// the caller's text; the log calls the three expressions combine, start (the identity) and map. docs/reduction.md has
/// the results of every operator, and what a transform and a finish are computed in.
struct Reduction {
  std::variant<Op, CustomOp> op = Op::Sum;
  std::variant<Transform, CustomTransform> transform = Transform::Identity;
  Finish finish = Finish::None;
};

/// What is given at launch; a value that the reduction has no use for is ignored.
template <class Result>
struct ReductionValues {
  Result shift = 0;
  Result scale = 1;
  Result bias = 0;
};

/// How elements add up in reproducible_reduce. Compensated and FixedPoint are of sums.
/// FixedOrder   every operator, in one order for all launches
/// Compensated  that order, with what rounding takes away carried along: nearly twice the digits inside
/// FixedPoint   as multiples of the resolution; the order has no influence, so that the sum of any permutation of the
///              elements has the same bits
enum class Accumulate { FixedOrder, Compensated, FixedPoint };

struct Reproducible {
  Accumulate accumulate = Accumulate::FixedOrder;
  /// FixedPoint needs one: elements are rounded to its multiples, and one of more than 2^62 / n of them in
  /// magnitude (or NaN) makes the result NaN. A power of two adds no rounding of its own.
  double resolution = 0;
};

namespace detail {

using Choices = std::map<std::string, std::string>;
enum class Inputs { One, Two };

/// The word of the choice "op" of attune's templates.
[[nodiscard]] const char* name(Op op);
/// The choices of the template "reduce". `type`: TypeName of the elements.
/// Throws: UsageError, when the operator or the finish is not of these elements, or two inputs are to be transformed.
[[nodiscard]] Choices reduce_choices(const Reduction& reduction, const std::string& type, Inputs inputs);
/// Those of "reproducible_reduce". Throws: UsageError, also when `how` does not fit the operator, or its resolution is
/// none of the accumulator type.
[[nodiscard]] Choices reproducible_choices(const Reduction& reduction, const Reproducible& how, const std::string& type, Inputs inputs);

}  // namespace detail
}  // namespace attune
