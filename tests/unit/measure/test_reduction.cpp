// The judging arithmetic of a built-in "reduce": what is right, how far off a result may be, and what is planted.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "attune/error.hpp"
#include "tuner/measure/reduce_reference.hpp"

namespace test_reduction {

using namespace attune;
using namespace attune::measure;
using spec::ElementType;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t f32(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }
std::uint64_t f64(double value) { return std::bit_cast<std::uint64_t>(value); }

Reduction reduction(ElementType in, ElementType out, std::int64_t count) {
  Reduction of;
  of.in = in;
  of.out = out;
  of.count = count;
  return of;
}

Reduction f32_sum(std::int64_t count) { return reduction(ElementType::F32, ElementType::F32, count); }

Totals summing_to(double sum, double magnitude) {
  Totals totals;
  totals.sum = sum;
  totals.magnitude = magnitude;
  totals.has_extremes = true;
  totals.minimum_bits = f64(-1);
  totals.maximum_bits = f64(1);
  return totals;
}

bool accepts(const Reduction& of, const Combined& right, double got) { return !judge(of, right, f32(got)).has_value(); }

Combined of_value(double value, double allowed = 0) {
  Combined right;
  right.value = value;
  right.allowed = allowed;
  return right;
}

}  // namespace

TEST_CASE("sums of small integers are exact wherever the accumulator holds them, and only there") {
  const auto exactly = [](const Reduction& of, double sum, double magnitude) {
    return combined(of, summing_to(sum, magnitude), DataSet::Integers).allowed == 0;
  };
  Reduction of = f32_sum(1 << 26);
  CHECK(exactly(of, 5000, 1.5 * (1 << 26)));  // random signs
  of.transform = Transform::Absolute;
  CHECK_FALSE(exactly(of, 1.5 * (1 << 26), 1.5 * (1 << 26)));  // beyond 2^24
  CHECK(exactly(of, 1 << 24, 1 << 24));
  of.transform = Transform::ShiftedSquare;
  of.shift.value = 0.5;
  CHECK_FALSE(exactly(of, 100, 100));
  of.shift.value = 1;
  CHECK(exactly(of, 100, 100));
  CHECK(combined(of, summing_to(100, 100), DataSet::Random).allowed > 0);
  CHECK_FALSE(exactly(reduction(ElementType::F16, ElementType::F16, 100), 10, 150));
  of = f32_sum(1000);
  of.accumulate = Accumulate::FixedPoint;
  of.resolution = 0.125;
  CHECK(exactly(of, 10, 1500));
  of.resolution = 0.1;
  CHECK_FALSE(exactly(of, 10, 1500));
}

TEST_CASE("a compensated sum is allowed a small part of what a plain one is") {
  Reduction of = f32_sum(1 << 20);
  const Totals totals = summing_to(100, 1 << 19);
  const double plain = combined(of, totals, DataSet::Random).allowed;
  of.accumulate = Accumulate::Compensated;
  const double compensated = combined(of, totals, DataSet::Random).allowed;
  CHECK(compensated < plain / 10000);
  CHECK(compensated >= 100 * std::exp2(-24));  // the rounding of the result itself
  of.transform = Transform::Times;             // whose products are rounded before
  CHECK(combined(of, totals, DataSet::Random).allowed >= std::exp2(-24) * (1 << 19));
  CHECK(combined(of, totals, DataSet::Random, 0.0).allowed == compensated);  // unless they are known to be exact
}

TEST_CASE("a sum in fixed point may be off by what rounding each element takes, and is NaN beyond its digits") {
  Reduction of = f32_sum(4);
  of.accumulate = Accumulate::FixedPoint;
  of.resolution = 1;
  CHECK(combined(of, summing_to(0, 2), DataSet::Random).allowed == 2);  // four halves
  of.count = 1 << 20;
  CHECK(combined(of, summing_to(0, 1 << 19), DataSet::Random).allowed < 0.01 * (1 << 19));
  of.resolution = std::exp2(-43);  // 2^62 of them over 2^20 elements: just below 1
  CHECK(std::isnan(combined(of, summing_to(0, 2), DataSet::Random).value));
  of.resolution = std::exp2(-42);
  CHECK(combined(of, summing_to(0, 2), DataSet::Random).value == 0);
  CHECK(std::isnan(combined(of, summing_to(kInfinity, kInfinity), DataSet::Random).value));
}

TEST_CASE("infinities and NaN must come out as themselves") {
  const Reduction of = f32_sum(10);
  CHECK(accepts(of, combined(of, summing_to(kInfinity, kInfinity), DataSet::Random), kInfinity));
  CHECK_FALSE(accepts(of, combined(of, summing_to(kInfinity, kInfinity), DataSet::Random), 3));
  CHECK_FALSE(accepts(of, combined(of, summing_to(kInfinity, kInfinity), DataSet::Random), kNan));
  CHECK(accepts(of, combined(of, summing_to(kNan, kNan), DataSet::Random), kNan));
  CHECK_FALSE(accepts(of, combined(of, summing_to(kNan, kNan), DataSet::Random), kInfinity));
  CHECK_FALSE(accepts(of, of_value(3, 1), kNan));
}

TEST_CASE("no element gives the identity; extremes of NaN alone as well") {
  Reduction of = reduction(ElementType::I8, ElementType::I32, 0);
  of.operation = ReduceOperation::Minimum;
  CHECK(combined(of, Totals{}, DataSet::Random).integer == 127);
  of.transform = Transform::Square;  // which the limits of i8 do not bound
  CHECK(combined(of, Totals{}, DataSet::Random).integer == 2147483647);
  of.transform = Transform::Identity;
  of.operation = ReduceOperation::And;
  CHECK_FALSE(judge(of, combined(of, Totals{}, DataSet::Random), 0xffffffff).has_value());
  of.operation = ReduceOperation::Product;
  CHECK(combined(of, Totals{}, DataSet::Random).integer == 1);
  of = f32_sum(0);
  of.finish = Finish::Mean;
  CHECK(accepts(of, combined(of, Totals{}, DataSet::Random), kNan));
  of = f32_sum(7);
  of.operation = ReduceOperation::Maximum;
  CHECK(accepts(of, combined(of, Totals{}, DataSet::Random), -kInfinity));
  of.finish = Finish::Root;
  CHECK(accepts(of, combined(of, Totals{}, DataSet::Random), kNan));
}

TEST_CASE("the allowed error goes through what finishes a result") {
  Reduction of = f32_sum(100);
  of.finish = Finish::Mean;
  CHECK(accepts(of, of_value(500, 10), 5.09));
  CHECK_FALSE(accepts(of, of_value(500, 10), 5.11));
  CHECK_FALSE(accepts(of, of_value(500, 10), 500));
  of.finish = Finish::Root;
  CHECK(accepts(of, of_value(100, 21), 11));
  CHECK_FALSE(accepts(of, of_value(100, 21), 11.2));
  CHECK(accepts(of, of_value(1e-9, 1e-6), kNan));  // rounding may have made it negative
  CHECK(accepts(of, of_value(1e-9, 1e-6), 0));
  CHECK_FALSE(accepts(of, of_value(100, 1), kNan));
  CHECK(accepts(of, of_value(-1), kNan));
  of.finish = Finish::ScaleBias;
  of.scale.value = -2;
  of.bias.value = 3;
  CHECK(accepts(of, of_value(10, 1), -15.5));
  CHECK_FALSE(accepts(of, of_value(10, 1), -14.5));
}

TEST_CASE("integers are finished modulo the output's width") {
  Reduction of = reduction(ElementType::U8, ElementType::U32, 5);
  of.finish = Finish::ScaleBias;
  of.scale.integer = 2;
  of.bias.integer = 3;
  Combined right;
  right.integer = 0x80000001;
  CHECK_FALSE(judge(of, right, 5).has_value());
  CHECK(judge(of, right, 0x80000001).value() == "the result is 2147483649 instead of 5");
}

TEST_CASE("terms are computed in the accumulator's width") {
  Reduction of = reduction(ElementType::I8, ElementType::I32, 5);
  of.transform = Transform::Square;
  CHECK(term_of(of, 0x80, 0).integer == 16384);
  of.transform = Transform::Absolute;
  CHECK(term_of(of, 0x80, 0).integer == 128);
  of.transform = Transform::Times;
  CHECK(term_of(of, 0x80, 0x03).integer == static_cast<std::uint64_t>(-384));
  of.transform = Transform::ShiftedSquare;
  of.shift.integer = static_cast<std::uint64_t>(-3);
  CHECK(term_of(of, 0x02, 0).integer == 25);
  of = reduction(ElementType::I32, ElementType::I32, 5);
  of.transform = Transform::Square;
  CHECK(term_of(of, 0x10001, 0).integer == 0x20001);  // modulo 2^32
}

TEST_CASE("a planted element decides the result, whatever the operation, transform and type") {
  Totals whole;
  whole.disjunction = 3;
  whole.conjunction = 3;
  for (const auto& [in, out] : {std::pair{ElementType::F16, ElementType::F32}, std::pair{ElementType::F64, ElementType::F64},
                                std::pair{ElementType::I8, ElementType::I32}, std::pair{ElementType::U8, ElementType::U32},
                                std::pair{ElementType::U64, ElementType::U64}}) {
    const std::uint64_t two = is_floating(in) ? spec::ElementType::F16 == in ? 0x4000 : f64(2) : 2;
    for (const auto operation : {ReduceOperation::Product, ReduceOperation::Minimum, ReduceOperation::Maximum}) {
      for (int code = 0; code < 5; ++code) {
        Reduction of = reduction(in, out, 100);
        of.operation = operation;
        of.transform = static_cast<Transform>(code);
        of.shift = {5, 5};
        CAPTURE(spec::name(in));
        CAPTURE(code);
        CAPTURE(static_cast<int>(operation));
        const auto planted = deciding_element(of, whole, two, two);
        REQUIRE(planted.has_value());
        Combined before = of_value(8);
        before.integer = 8;
        const Combined after = with_planted(of, before, two, *planted, two);
        CHECK((of.floating() ? after.value != 8 : after.integer != 8));
        const Term small = term_of(of, two, two), large = term_of(of, *planted, two);
        const bool signed_integers = is_signed(out);
        const bool below = of.floating()     ? large.value <= small.value
                           : signed_integers ? static_cast<std::int64_t>(large.integer) <= static_cast<std::int64_t>(small.integer)
                                             : large.integer <= small.integer;
        if (operation == ReduceOperation::Minimum) CHECK(below);
        if (operation == ReduceOperation::Maximum) CHECK_FALSE(below);
      }
    }
  }
  Reduction of = reduction(ElementType::U8, ElementType::U32, 100);
  of.operation = ReduceOperation::Or;
  CHECK(deciding_element(of, whole, 1, 0) == 5);
  of.operation = ReduceOperation::And;
  CHECK(deciding_element(of, whole, 7, 0) == 6);
  whole.disjunction = 0xff;
  of.operation = ReduceOperation::Or;
  CHECK_FALSE(deciding_element(of, whole, 1, 0).has_value());
}

TEST_CASE("a planted factor multiplies the product by what its term changes") {
  Reduction of = reduction(ElementType::F64, ElementType::F64, 100);
  of.operation = ReduceOperation::Product;
  of.transform = Transform::ShiftedSquare;
  of.shift.value = 1;
  const auto planted = deciding_element(of, Totals{}, f64(3), 0);
  REQUIRE(planted == f64(5));
  CHECK(with_planted(of, of_value(7), f64(3), *planted, 0).value == 28);  // (5 - 1)^2 instead of (3 - 1)^2
  of = reduction(ElementType::I8, ElementType::I32, 100);
  of.operation = ReduceOperation::Product;
  of.transform = Transform::Square;
  Combined right;
  right.integer = 7;
  CHECK(with_planted(of, right, 1, *deciding_element(of, Totals{}, 1, 0), 0).integer == 63);
}

TEST_CASE("every kind of reduction of floating-point numbers has its special cases, integers none") {
  const auto count = [](Reduction of, ReduceOperation operation, Accumulate accumulate) {
    of.operation = operation;
    of.accumulate = accumulate;
    of.resolution = std::exp2(-20);
    return special_cases(of, {}).size();
  };
  CHECK(count(f32_sum(100), ReduceOperation::Sum, Accumulate::Plain) == 3);
  CHECK(count(f32_sum(100), ReduceOperation::Sum, Accumulate::Compensated) == 4);
  CHECK(count(f32_sum(100), ReduceOperation::Sum, Accumulate::FixedPoint) == 3);
  CHECK(count(f32_sum(100), ReduceOperation::Product, Accumulate::Plain) == 2);
  CHECK(count(f32_sum(100), ReduceOperation::Minimum, Accumulate::Plain) == 3);
  CHECK(count(f32_sum(1), ReduceOperation::Sum, Accumulate::Compensated) == 2);
  CHECK(count(f32_sum(0), ReduceOperation::Sum, Accumulate::Plain) == 0);
  CHECK(count(reduction(ElementType::I32, ElementType::I32, 100), ReduceOperation::Minimum, Accumulate::Plain) == 0);
}

TEST_CASE("a result beyond the greatest number of its type is the infinity of its sign, and no other result is") {
  Reduction of = f32_sum(1);
  of.operation = ReduceOperation::Maximum;
  of.finish = Finish::ScaleBias;
  of.scale.value = 2;
  const double greatest = std::numeric_limits<float>::max();
  const auto wrong = [&](double largest, double got) {
    Totals totals = summing_to(largest, std::abs(largest));
    totals.minimum_bits = totals.maximum_bits = f64(largest);
    return judge(of, combined(of, totals, DataSet::Integers), f32(got)).has_value();
  };
  CHECK_FALSE(wrong(greatest, kInfinity));
  CHECK_FALSE(wrong(-greatest, -kInfinity));
  CHECK(wrong(greatest, -kInfinity));
  CHECK(wrong(greatest / 4, kInfinity));
  CHECK_FALSE(wrong(greatest / 4, greatest / 2));
  // The greatest number itself is no infinity: a kernel that reads one behind the input must not pass.
  for (const auto type : {ElementType::F32, ElementType::F64}) {
    Reduction plain = reduction(type, type, 1);
    plain.operation = ReduceOperation::Maximum;
    const double most = type == ElementType::F32 ? greatest : std::numeric_limits<double>::max();
    Totals totals = summing_to(most, most);
    totals.minimum_bits = totals.maximum_bits = f64(most);
    const auto right = combined(plain, totals, DataSet::Random);
    CHECK(judge(plain, right, type == ElementType::F32 ? f32(kInfinity) : f64(kInfinity)).has_value());
    CHECK_FALSE(judge(plain, right, type == ElementType::F32 ? f32(most) : f64(most)).has_value());
  }
}

TEST_CASE("what rounding took from the reference's own sum counts in finished results too") {
  Reduction of = reduction(ElementType::F64, ElementType::F64, 4);
  of.accumulate = Accumulate::Compensated;
  of.scale.value = 2;
  of.bias.value = 1;
  Totals totals = summing_to(0, std::exp2(60));  // large numbers that cancel: all of the sum is in what was lost
  totals.lost = 16;
  const auto wrong = [&](Finish finish, double got) {
    of.finish = finish;
    return judge(of, combined(of, totals, DataSet::Random), f64(got)).has_value();
  };
  CHECK_FALSE(wrong(Finish::None, 16));
  CHECK_FALSE(wrong(Finish::Mean, 4));
  CHECK_FALSE(wrong(Finish::Root, 4));
  CHECK_FALSE(wrong(Finish::ScaleBias, 33));
  CHECK(wrong(Finish::Mean, 0));
  CHECK(wrong(Finish::ScaleBias, 1));
}

TEST_CASE("the large numbers of a compensated sum cancel, whatever they are multiplied with") {
  Reduction of = reduction(ElementType::F32, ElementType::F32, 100);
  of.accumulate = Accumulate::Compensated;
  of.transform = Transform::Times;
  const SpecialNeighbours y{0.25, 1, -0.5};
  const auto cases = special_cases(of, y);
  REQUIRE(cases.size() == 4);
  const auto& elements = cases.back().elements;
  REQUIRE(elements.size() == 2);
  const double first = term_of(of, elements[0].bits, f32(y.first)).value;
  CHECK(first + term_of(of, elements[1].bits, f32(y.last)).value == 0);
  CHECK(std::abs(first) > std::exp2(24));  // numbers near 1 are rounded away beside it
}

TEST_CASE("products are of factors, bits stand alone, and other data are any") {
  Reduction of = f32_sum(4000);
  CHECK_FALSE(reduce_filling(of, ReduceInput::First, DataSet::Random).has_value());
  of.operation = ReduceOperation::Product;
  of.transform = Transform::ShiftedSquare;
  of.shift.value = 1;
  CHECK(reduce_filling(of, ReduceInput::First, DataSet::Integers)->kind == FillKind::Factors);
  CHECK(reduce_filling(of, ReduceInput::First, DataSet::Random)->kind == FillKind::WideFactors);
  CHECK(reduce_filling(of, ReduceInput::First, DataSet::Random)->offset == 1);
  of = reduction(ElementType::U8, ElementType::U32, 4000);
  of.operation = ReduceOperation::And;
  CHECK(reduce_filling(of, ReduceInput::First, DataSet::Random)->kind == FillKind::LoneGaps);
  CHECK_FALSE(reduce_filling(of, ReduceInput::Second, DataSet::Random).has_value());
}

}  // namespace test_reduction
