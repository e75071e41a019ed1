#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/t1_import.hpp"

namespace test_t1_import {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

/// In the dialect of files in the wild: keys outside the schema, values as Python text, null, a missing default.
const std::string kSample = R"json({
  "General": {"BenchmarkName": "blur", "OutputFormat": "JSON"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "bx", "Type": "int", "Values": "[16, 32] + [64*i for i in range(1, 3)]", "Default": 32},
      {"Name": "by", "Type": "int", "Values": "list(range(1, 4))"},
      {"Name": "pad", "Type": "bool", "Values": [true, false], "Default": false}
    ],
    "Conditions": [
      {"Expression": "32 <= bx*by < 200", "Parameters": ["bx", "by"]},
      {"Expression": "not pad or bx % 32 == 0", "Parameters": ["pad", "bx"]}
    ]
  },
  "KernelSpecification": {"Stream": null, "GridDivX": ["bx"], "ProblemSize": [4096, 4096]}
})json";

std::string failure(const std::string& from, const std::string& to) {
  return error_of([&] { (void)parse_t1(replaced(kSample, from, to), "t1.json"); });
}

/// Brute force over the cartesian product, to count what the conditions leave.
int count_valid(const T1Space& space) {
  int valid = 0;
  for (const Value& bx : space.parameters[0].values) {
    for (const Value& by : space.parameters[1].values) {
      for (const Value& pad : space.parameters[2].values) {
        const Scope scope = scope_of({{"bx", bx}, {"by", by}, {"pad", pad}});
        valid += space.constraints[0].expression.truth(scope) && space.constraints[1].expression.truth(scope) ? 1 : 0;
      }
    }
  }
  return valid;
}

}  // namespace

TEST_CASE("a T1 file gives its parameters, defaults and conditions") {
  const T1Space space = parse_t1(kSample, "t1.json");
  CHECK(space.name == "blur");
  REQUIRE(space.parameters.size() == 3);
  CHECK(space.parameters[0].values.size() == 4);
  CHECK(space.parameters[0].values[3] == Value(std::int64_t{128}));
  CHECK(space.parameters[0].default_index == 1);
  CHECK(space.parameters[1].default_index == 0);
  CHECK(space.parameters[2].default_index == 1);
  CHECK(space.constraints.size() == 2);
}

TEST_CASE("T1 conditions leave exactly the configurations that Python would") {
  // 32 <= bx*by < 200: bx=16 with by 2, 3; bx=32 with 1, 2, 3; bx=64 with 1, 2, 3; bx=128 with 1: 9 pairs.
  // pad needs bx % 32 == 0, which fails for the two pairs of bx=16 only: 9 without padding and 7 with it.
  CHECK(count_valid(parse_t1(kSample, "t1.json")) == 16);
}

TEST_CASE("errors inside T1 strings point into the file") {
  CHECK(contains(failure("bx*by < 200", "bx*bz < 200"),
                 "t1.json:10:32: the condition \"32 <= bx*bz < 200\" names the unknown parameter 'bz'; did you mean"));
  CHECK(contains(failure("range(1, 4)", "range(1, 4"), "t1.json:6:64: "));
  CHECK(contains(failure(R"("Default": 32)", R"("Default": 33)"), "t1.json:5:100: the default 33 of 'bx' is not among its values"));
}

TEST_CASE("T1 files that lack what a space needs are refused") {
  CHECK(contains(failure(R"("ConfigurationSpace")", R"("Configurations")"), "lacks \"ConfigurationSpace\""));
  CHECK(contains(failure(R"("TuningParameters")", R"("Parameters")"), "lacks \"TuningParameters\""));
  CHECK(contains(failure(R"("Name": "by", )", ""), "a tuning parameter lacks \"Name\""));
  CHECK(contains(failure(R"json("Values": "list(range(1, 4))")json", R"("Value": 1)"), "the parameter 'by' lacks \"Values\""));
  CHECK(contains(failure(R"("Name": "by")", R"("Name": "bx")"), "the parameter 'bx' is given twice"));
  CHECK(contains(failure("list(range(1, 4))", "[]"), "\"Values\" of 'by' are empty"));
  CHECK(contains(failure("list(range(1, 4))", "[1, 2, 1]"), "hold 1 twice"));
  CHECK(contains(failure(R"("Expression": "32 <= bx*by < 200", )", ""), "a condition lacks \"Expression\""));
  CHECK(contains(error_of([] { (void)parse_t1(R"({"ConfigurationSpace": {"TuningParameters": []}})", "t1.json"); }), "has no parameters"));
  CHECK(contains(error_of([] { (void)parse_t1("[]", "t1.json"); }), "the file must be an object, not a list"));
  CHECK(contains(error_of([] { (void)parse_t1("{", "t1.json"); }), "malformed JSON"));
}

}  // namespace test_t1_import
