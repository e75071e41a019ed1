// What the built-in reference "histogram" asks of a template.
#include <doctest/doctest.h>

#include "tests/support/histogram_template.hpp"
#include "tests/unit/spec/spec_support.hpp"

namespace test_histogram_template {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

/// The error of the template with one part replaced; `argument`: of its kernel, left out.
std::string error_with(const std::string& before, const std::string& after, const std::string& argument = "") {
  std::string text = attune::test::histogram_template();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace(before, after);
  if (!argument.empty()) replace("\"" + argument + "\", ", "");
  return error_of([&] { (void)KernelTemplate::parse(text, {{"kernel.cu", ""}}, "t.json"); });
}

constexpr const char* kEdges = R"s("edges": {"type": "T", "count": "(bins + 1) * (mapping == 'edges')"},)s";
constexpr const char* kWeights = R"s("weights": {"type": "f32", "count": "n * (Counter == 'f32')"},)s";

}  // namespace

TEST_CASE("a histogram of every type, mapping, weight and channel is a template") {
  CHECK(error_with(R"("attune": 1)", R"("attune": 1)").empty());
}

TEST_CASE("a built-in histogram needs its axes with words that it knows") {
  CHECK(contains(error_with(R"("T": {"type": ["u8",)", R"("T": {"type": ["i64", "u8",)"),
                 "'histogram' needs the type 'T' among i8, u8, i16, u16, i32, u32, f32 in \"problem\""));
  CHECK(contains(error_with(R"(["u32", "u64", "f32"])", R"(["u32", "i32", "f32"])"), "needs the type 'Counter' among u32, u64, f32"));
  CHECK(contains(error_with(R"(["unit", "shift", "scaled", "edges"])", R"(["unit", "shift", "scaled", "edges", "hashed"])"),
                 "needs the choice 'mapping' among unit, shift, scaled, edges"));
  CHECK(contains(error_with(R"({"choice": ["1", "2", "3", "4"],)", R"({"choice": ["1", "2", "3", "4", "5"],)"),
                 "needs the choice 'channels' among 1, 2, 3, 4 in \"problem\", or another name for it"));
  CHECK(
      contains(error_with(R"(["all", "1", "2", "3"])", R"(["all", "1", "2", "3", "4"])"), "needs the choice 'active' among all, 1, 2, 3"));
  CHECK(contains(error_with(R"("uniform", "zipf")", R"("uniform", "normal")"), "needs the choice 'skew' among uniform, zipf"));
}

TEST_CASE("a built-in histogram needs bins that f32 can count") {
  CHECK(contains(error_with(R"("max": 16777216)", R"("max": 16777217)"), "takes the size 'bins' from 1 to 16777216"));
  CHECK(contains(error_with(R"({"min": 1, "max": 16777216})", R"({"min": 0, "max": 16777216})"), "not 0 and 16777216"));
}

TEST_CASE("a built-in histogram needs its buffers in order and both bounds") {
  CHECK(contains(
      error_with(kEdges, "", "edges"),
      "needs the inputs samples of type T, edges of type T, weights of type f32, in this order, not samples of type T, weights of type f32"));
  CHECK(contains(error_with(kWeights, "", "weights"), "in this order, not samples of type T, edges of type T"));
  CHECK(contains(error_with(R"("counts": {"type": "Counter")", R"("counts": {"type": "u32")"),
                 "needs the output counts of type Counter, not counts of type u32"));
  CHECK(contains(error_with(R"("lower": {"type": "L",)", R"("least": {"type": "L",)", "lower"),
                 "computes with the scalar 'lower'; add it to \"scalars\""));
}

}  // namespace test_histogram_template
