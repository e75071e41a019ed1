// The arithmetic of the reference "reduce": what is right, how far off a result may be, and what is planted. Its device code on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "tuner/spec/element.hpp"

namespace test_reduce_reference {

namespace {
namespace device {
#include "tests/support/device_on_host.inc"
}  // namespace device

using namespace device::attune::reference;
namespace spec = ::attune::spec;
using namespace device::of_reduce;
using namespace device::of_reduce::reduce_reference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kF16 = device::ATTUNE_TYPE_F16, kF32 = device::ATTUNE_TYPE_F32, kF64 = device::ATTUNE_TYPE_F64, kI8 = device::ATTUNE_TYPE_I8,
              kU8 = device::ATTUNE_TYPE_U8, kI32 = device::ATTUNE_TYPE_I32, kU32 = device::ATTUNE_TYPE_U32, kU64 = device::ATTUNE_TYPE_U64;

u64 f32(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }
u64 f64(double value) { return std::bit_cast<u64>(value); }

Reduction reduction(int in, int out, u64 count) {
  Reduction of{};
  of.in = in;
  of.out = out;
  of.count = count;
  return of;
}

Reduction f32_sum(u64 count) { return reduction(kF32, kF32, count); }

Totals summing_to(double sum, double magnitude) {
  Totals totals = no_elements();
  totals.sum = sum;
  totals.magnitude = magnitude;
  totals.minimum = ordered(-1.0);
  totals.maximum = ordered(1.0);
  return totals;
}

Combined combine_random(const Reduction& of, const Totals& totals) { return combined(of, totals, ATTUNE_DATA_RANDOM, totals.magnitude); }
Combined combine_integers(const Reduction& of, const Totals& totals) {
  return combined(of, totals, ATTUNE_DATA_INTEGERS, totals.magnitude);
}

bool accepts_bits(const Reduction& of, const Combined& right, u64 got) { return device::is_expected(of.out, got, finished(of, right)); }
bool accepts(const Reduction& of, const Combined& right, double got) { return accepts_bits(of, right, f32(got)); }

Combined of_value(double value, double allowed = 0) { return Combined{value, 0, allowed, 0}; }
Combined of_integer(u64 integer) { return Combined{0, 0, 0, integer}; }

struct Term {
  double value;
  u64 integer;
};
Term term_of(const Reduction& of, u64 x, u64 y) { return {term_number(of, x, number_of(of.in, y)), term_integer(of, x, y)}; }

/// What is planted in place of x; nothing where no element decides.
std::optional<u64> planted_element(const Reduction& of, const Totals& whole, u64 x, u64 y) {
  const u64 bits = deciding_element(of, whole, x, number_of(of.in, y));
  return bits == x ? std::nullopt : std::make_optional(bits);
}

}  // namespace

TEST_CASE("device code and host read and round floating types alike") {
  for (const auto type : {spec::ElementType::F8E4M3, spec::ElementType::F8E5M2, spec::ElementType::F16, spec::ElementType::BF16}) {
    CAPTURE(spec::name(type));
    const int number = static_cast<int>(type);
    CHECK(highest_bits(number) == spec::highest_bits(type));
    CHECK(lowest_finite_bits(number) == spec::lowest_finite_bits(type));
    CHECK(unit_roundoff(number) == spec::unit_roundoff(type));
    for (u64 bits = 0; bits < u64{1} << (8 * spec::size_bytes(type)); ++bits) {
      const double wanted = spec::to_double(type, bits), got = number_of(number, bits);
      REQUIRE((std::isnan(wanted) ? std::isnan(got) : got == wanted));
      if (!std::isfinite(wanted)) continue;
      REQUIRE(floating_bits(number, wanted) == bits);
      // A third of the way to the next is nearest to this one.
      const u64 next = bits + 1;
      if (const double beyond = spec::to_double(type, next); std::isfinite(beyond) && std::signbit(beyond) == std::signbit(wanted))
        REQUIRE(floating_bits(number, wanted + (beyond - wanted) / 3) == bits);
    }
  }
}

TEST_CASE("sums of small integers are exact wherever the accumulator holds them, and only there") {
  const auto exactly = [](const Reduction& of, double sum, double magnitude) {
    return combine_integers(of, summing_to(sum, magnitude)).allowed == 0;
  };
  Reduction of = f32_sum(1 << 26);
  CHECK(exactly(of, 5000, 1.5 * (1 << 26)));  // random signs
  of.transform = ATTUNE_TRANSFORM_ABSOLUTE;
  CHECK_FALSE(exactly(of, 1.5 * (1 << 26), 1.5 * (1 << 26)));  // beyond 2^24
  CHECK(exactly(of, 1 << 24, 1 << 24));
  of.transform = ATTUNE_TRANSFORM_SHIFTED_SQUARE;
  of.shift = 0.5;
  CHECK_FALSE(exactly(of, 100, 100));
  of.shift = 1;
  CHECK(exactly(of, 100, 100));
  CHECK(combine_random(of, summing_to(100, 100)).allowed > 0);
  CHECK_FALSE(exactly(reduction(kF16, kF16, 100), 10, 150));
  of = f32_sum(1000);
  of.accumulate = ATTUNE_ACCUMULATE_FIXED_POINT;
  of.resolution = 0.125;
  CHECK(exactly(of, 10, 1500));
  of.resolution = 0.1;
  CHECK_FALSE(exactly(of, 10, 1500));
}

TEST_CASE("a compensated sum is allowed a small part of what a plain one is") {
  Reduction of = f32_sum(1 << 20);
  const Totals totals = summing_to(100, 1 << 19);
  const double plain = combine_random(of, totals).allowed;
  of.accumulate = ATTUNE_ACCUMULATE_COMPENSATED;
  const double compensated = combine_random(of, totals).allowed;
  CHECK(compensated < plain / 10000);
  CHECK(compensated >= 100 * std::exp2(-24));  // the rounding of the result itself
  of.transform = ATTUNE_TRANSFORM_TIMES;       // whose products are rounded before
  CHECK(combine_random(of, totals).allowed >= std::exp2(-24) * (1 << 19));
  CHECK(combined(of, totals, ATTUNE_DATA_RANDOM, 0.0).allowed == compensated);  // unless they are known to be exact
}

TEST_CASE("a sum in fixed point may be off by what rounding each element takes, and is NaN beyond its digits") {
  Reduction of = f32_sum(4);
  of.accumulate = ATTUNE_ACCUMULATE_FIXED_POINT;
  of.resolution = 1;
  CHECK(combine_random(of, summing_to(0, 2)).allowed == 2);  // four halves
  of.count = 1 << 20;
  CHECK(combine_random(of, summing_to(0, 1 << 19)).allowed < 0.01 * (1 << 19));
  of.resolution = std::exp2(-43);  // 2^62 of them over 2^20 elements: just below 1
  CHECK(std::isnan(combine_random(of, summing_to(0, 2)).value));
  of.resolution = std::exp2(-42);
  CHECK(combine_random(of, summing_to(0, 2)).value == 0);
  CHECK(std::isnan(combine_random(of, summing_to(kInfinity, kInfinity)).value));
}

TEST_CASE("infinities and NaN must come out as themselves") {
  const Reduction of = f32_sum(10);
  CHECK(accepts(of, combine_random(of, summing_to(kInfinity, kInfinity)), kInfinity));
  CHECK_FALSE(accepts(of, combine_random(of, summing_to(kInfinity, kInfinity)), 3));
  CHECK_FALSE(accepts(of, combine_random(of, summing_to(kInfinity, kInfinity)), kNan));
  CHECK(accepts(of, combine_random(of, summing_to(kNan, kNan)), kNan));
  CHECK_FALSE(accepts(of, combine_random(of, summing_to(kNan, kNan)), kInfinity));
  CHECK_FALSE(accepts(of, of_value(3, 1), kNan));
}

TEST_CASE("no element gives the identity; extremes of NaN alone as well") {
  Reduction of = reduction(kI8, kI32, 0);
  of.op = ATTUNE_OP_MIN;
  CHECK(combine_random(of, no_elements()).integer == 127);
  of.transform = ATTUNE_TRANSFORM_SQUARE;  // which the limits of i8 do not bound
  CHECK(combine_random(of, no_elements()).integer == 2147483647);
  of.transform = ATTUNE_TRANSFORM_IDENTITY;
  of.op = ATTUNE_OP_AND;
  CHECK(accepts_bits(of, combine_random(of, no_elements()), 0xffffffff));
  of.op = ATTUNE_OP_PRODUCT;
  CHECK(combine_random(of, no_elements()).integer == 1);
  of = f32_sum(0);
  of.finish = ATTUNE_FINISH_MEAN;
  CHECK(accepts(of, combine_random(of, no_elements()), kNan));
  of = f32_sum(7);
  of.op = ATTUNE_OP_MAX;
  CHECK(accepts(of, combine_random(of, no_elements()), -kInfinity));
  of.finish = ATTUNE_FINISH_ROOT;
  CHECK(accepts(of, combine_random(of, no_elements()), kNan));
}

TEST_CASE("the allowed error goes through what finishes a result") {
  Reduction of = f32_sum(100);
  of.finish = ATTUNE_FINISH_MEAN;
  CHECK(accepts(of, of_value(500, 10), 5.09));
  CHECK_FALSE(accepts(of, of_value(500, 10), 5.11));
  CHECK_FALSE(accepts(of, of_value(500, 10), 500));
  of.finish = ATTUNE_FINISH_ROOT;
  CHECK(accepts(of, of_value(100, 21), 11));
  CHECK_FALSE(accepts(of, of_value(100, 21), 11.2));
  CHECK(accepts(of, of_value(1e-9, 1e-6), kNan));  // rounding may have made it negative
  CHECK(accepts(of, of_value(1e-9, 1e-6), 0));
  CHECK_FALSE(accepts(of, of_value(100, 1), kNan));
  CHECK(accepts(of, of_value(-1), kNan));
  of.finish = ATTUNE_FINISH_SCALE_BIAS;
  of.scale = -2;
  of.bias = 3;
  CHECK(accepts(of, of_value(10, 1), -15.5));
  CHECK_FALSE(accepts(of, of_value(10, 1), -14.5));
}

TEST_CASE("integers are finished modulo the output's width") {
  Reduction of = reduction(kU8, kU32, 5);
  of.finish = ATTUNE_FINISH_SCALE_BIAS;
  of.scale_integer = 2;
  of.bias_integer = 3;
  CHECK(accepts_bits(of, of_integer(0x80000001), 5));
  CHECK_FALSE(accepts_bits(of, of_integer(0x80000001), 0x80000001));
}

TEST_CASE("terms are computed in the accumulator's width") {
  Reduction of = reduction(kI8, kI32, 5);
  of.transform = ATTUNE_TRANSFORM_SQUARE;
  CHECK(term_of(of, 0x80, 0).integer == 16384);
  of.transform = ATTUNE_TRANSFORM_ABSOLUTE;
  CHECK(term_of(of, 0x80, 0).integer == 128);
  of.transform = ATTUNE_TRANSFORM_TIMES;
  CHECK(term_of(of, 0x80, 0x03).integer == static_cast<u64>(-384));
  of.transform = ATTUNE_TRANSFORM_SHIFTED_SQUARE;
  of.shift_integer = static_cast<u64>(-3);
  CHECK(term_of(of, 0x02, 0).integer == 25);
  of = reduction(kI32, kI32, 5);
  of.transform = ATTUNE_TRANSFORM_SQUARE;
  CHECK(term_of(of, 0x10001, 0).integer == 0x20001);  // modulo 2^32
}

TEST_CASE("a planted element decides the result, whatever the operation, transform and type") {
  Totals whole = no_elements();
  whole.disjunction = 3;
  whole.conjunction = 3;
  for (const auto& [in, out] :
       {std::pair{kF16, kF32}, std::pair{kF64, kF64}, std::pair{kI8, kI32}, std::pair{kU8, kU32}, std::pair{kU64, kU64}}) {
    const u64 two = is_floating(in) ? kF16 == in ? 0x4000 : f64(2) : 2;
    for (const int operation : {ATTUNE_OP_PRODUCT, ATTUNE_OP_MIN, ATTUNE_OP_MAX}) {
      for (int code = 0; code < 5; ++code) {
        Reduction of = reduction(in, out, 100);
        of.op = operation;
        of.transform = code;
        of.shift = 5;
        of.shift_integer = 5;
        CAPTURE(in);
        CAPTURE(code);
        CAPTURE(operation);
        const auto planted = planted_element(of, whole, two, two);
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
        if (operation == ATTUNE_OP_MIN) CHECK(below);
        if (operation == ATTUNE_OP_MAX) CHECK_FALSE(below);
      }
    }
  }
  Reduction of = reduction(kU8, kU32, 100);
  of.op = ATTUNE_OP_OR;
  CHECK(planted_element(of, whole, 1, 0) == 5);
  of.op = ATTUNE_OP_AND;
  CHECK(planted_element(of, whole, 7, 0) == 6);
  whole.disjunction = 0xff;
  of.op = ATTUNE_OP_OR;
  CHECK_FALSE(planted_element(of, whole, 1, 0).has_value());
}

TEST_CASE("a planted factor multiplies the product by what its term changes") {
  Reduction of = reduction(kF64, kF64, 100);
  of.op = ATTUNE_OP_PRODUCT;
  of.transform = ATTUNE_TRANSFORM_SHIFTED_SQUARE;
  of.shift = 1;
  const auto planted = planted_element(of, no_elements(), f64(3), 0);
  REQUIRE(planted == f64(5));
  CHECK(with_planted(of, of_value(7), f64(3), *planted, 0).value == 28);  // (5 - 1)^2 instead of (3 - 1)^2
  of = reduction(kI8, kI32, 100);
  of.op = ATTUNE_OP_PRODUCT;
  of.transform = ATTUNE_TRANSFORM_SQUARE;
  CHECK(with_planted(of, of_integer(7), 1, *planted_element(of, no_elements(), 1, 0), 0).integer == 63);
}

TEST_CASE("a result beyond the greatest number of its type is the infinity of its sign, and no other result is") {
  Reduction of = f32_sum(1);
  of.op = ATTUNE_OP_MAX;
  of.finish = ATTUNE_FINISH_SCALE_BIAS;
  of.scale = 2;
  const double greatest = std::numeric_limits<float>::max();
  const auto wrong = [&](double largest, double got) {
    Totals totals = summing_to(largest, std::abs(largest));
    totals.minimum = totals.maximum = ordered(largest);
    return !accepts(of, combine_integers(of, totals), got);
  };
  CHECK_FALSE(wrong(greatest, kInfinity));
  CHECK_FALSE(wrong(-greatest, -kInfinity));
  CHECK(wrong(greatest, -kInfinity));
  CHECK(wrong(greatest / 4, kInfinity));
  CHECK_FALSE(wrong(greatest / 4, greatest / 2));
  // The greatest number itself is no infinity: a kernel that reads one behind the input must not pass.
  for (const int type : {kF32, kF64}) {
    Reduction plain = reduction(type, type, 1);
    plain.op = ATTUNE_OP_MAX;
    const double most = type == kF32 ? greatest : std::numeric_limits<double>::max();
    Totals totals = summing_to(most, most);
    totals.minimum = totals.maximum = ordered(most);
    const auto right = combine_random(plain, totals);
    CHECK_FALSE(accepts_bits(plain, right, type == kF32 ? f32(kInfinity) : f64(kInfinity)));
    CHECK(accepts_bits(plain, right, type == kF32 ? f32(most) : f64(most)));
  }
}

TEST_CASE("what rounding took from the reference's own sum counts in finished results too") {
  Reduction of = reduction(kF64, kF64, 4);
  of.accumulate = ATTUNE_ACCUMULATE_COMPENSATED;
  of.scale = 2;
  of.bias = 1;
  Totals totals = summing_to(0, std::exp2(60));  // large numbers that cancel: all of the sum is in what was lost
  totals.lost = 16;
  const auto wrong = [&](int finish, double got) {
    of.finish = finish;
    return !accepts_bits(of, combine_random(of, totals), f64(got));
  };
  CHECK_FALSE(wrong(ATTUNE_FINISH_NONE, 16));
  CHECK_FALSE(wrong(ATTUNE_FINISH_MEAN, 4));
  CHECK_FALSE(wrong(ATTUNE_FINISH_ROOT, 4));
  CHECK_FALSE(wrong(ATTUNE_FINISH_SCALE_BIAS, 33));
  CHECK(wrong(ATTUNE_FINISH_MEAN, 0));
  CHECK(wrong(ATTUNE_FINISH_SCALE_BIAS, 1));
}

TEST_CASE("the large numbers of a compensated sum cancel, whatever they are multiplied with") {
  Reduction of = reduction(kF32, kF32, 100);
  of.accumulate = ATTUNE_ACCUMULATE_COMPENSATED;
  of.transform = ATTUNE_TRANSFORM_TIMES;
  const double y_first = 0.25, y_last = -0.5;
  Alteration altered{};
  alter_cancelling(&altered, of, y_first, y_last);
  REQUIRE(altered.count == 2);
  CHECK(altered.position[0] == 0);
  CHECK(altered.position[1] == 99);
  const double first = term_number(of, altered.bits[0], y_first);
  CHECK(first + term_number(of, altered.bits[1], y_last) == 0);
  CHECK(std::abs(first) > std::exp2(24));  // numbers near 1 are rounded away beside it
}

}  // namespace test_reduce_reference
