// Values of scalars that follow from the problem.
#include <doctest/doctest.h>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_scalar_values {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

KernelTemplate with_value(const std::string& value) {
  std::string text = sample_template();
  const std::string before = R"("value": 3)";
  text.replace(text.find(before), before.size(), R"("value": )" + value);
  return KernelTemplate::parse(text, {{"sample.cu", ""}}, "t.json");
}

std::string parse_error(const std::string& value) {
  return error_of([&] { (void)with_value(value); });
}

ResolvedScalar resolved(const std::string& value, const std::string& type, std::int64_t n) {
  const KernelTemplate kernel = with_value(value);
  return resolve_scalar(kernel, {{{"T", type}, {"op", "sum"}}, {{"n", n}}}, kernel.scalars.front());
}

}  // namespace

TEST_CASE("a scalar's value may be an expression over types, choices, aliases and sizes") {
  CHECK(resolved(R"("n * 2 - 1")", "i8", 60).bits == 119);
  CHECK(resolved(R"("n * 2 - 1")", "i8", 60).type == ElementType::I8);
  CHECK(resolved(R"("n / 2")", "f32", 5).bits == 0x40200000U);
  CHECK(resolved(R"s("min(7, n) * (T == 'f32') + (A == 'i32')")s", "i8", 5).bits == 1);
  CHECK(resolved(R"s("sizeof(T) * (op == 'sum')")s", "f64", 5).bits == 0x4020000000000000U);
}

TEST_CASE("a constant value is the same for every problem, as a number or in a string") {
  CHECK(resolved("3", "f32", 1).bits == 0x40400000U);
  CHECK(resolved("-3", "i8", 1).bits == 0xFDU);
  CHECK(resolved(R"("2 + 1")", "f32", 1).bits == 0x40400000U);
  CHECK(contains(parse_error(R"("100 + 200")"), "the value 300 of the scalar 'alpha' is no i8"));
  CHECK(contains(parse_error(R"("'word'")"), "of the scalar 'alpha' is no f32"));
}

TEST_CASE("an expression whose value its type cannot hold is an error at its place, with the problem and the expression") {
  CHECK(resolved(R"("n * 100")", "i8", 1).bits == 100);
  const std::string error = error_of([] { (void)resolved(R"("n * 100")", "i8", 2); });
  CHECK(contains(error, "t.json:"));
  CHECK(contains(error, R"(the value of the scalar 'alpha' is 200 for {"T":"i8","n":2,"op":"sum"}, which is no i8 ("n * 100"))"));
  CHECK(contains(error_of([] { (void)resolved(R"("n / 2")", "i8", 3); }), "is 1.5 for"));
}

TEST_CASE("a scalar's value sees no parameter, no let, no device and no other scalar") {
  CHECK(contains(parse_error(R"("block_size")"), "'block_size' is a parameter"));
  CHECK(contains(parse_error(R"("block_size")"), "which a scalar's value cannot use"));
  CHECK(contains(parse_error(R"("grid")"), "which a scalar's value cannot use"));
  CHECK(contains(parse_error(R"("device.sm_count")"), "'device.sm_count' belongs to the device, which a scalar's value cannot use"));
  CHECK(contains(parse_error(R"("m + 1")"), "unknown variable 'm'"));
  CHECK(contains(parse_error(R"("n +")"), "t.json:"));
}

}  // namespace test_scalar_values
