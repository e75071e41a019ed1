// "stand_in" of an axis: problems whose results serve where a problem has none of its own.
#include <doctest/doctest.h>

#include <vector>

#include "spec_support.hpp"

namespace test_stand_in {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::string with_axes(const std::string& axes) {
  return replaced(sample_template(), R"("n": {"size": {"min": 1}})", axes + R"(, "n": {"size": {"min": 1}})");
}

std::string axis_error(const std::string& axis) {
  return error_of([&] { static_cast<void>(parse_sample(with_axes("\"skew\": " + axis))); });
}

/// In order of declaration: T, op, mode (stand-in: not its default), skew (stand-in: its default).
KernelTemplate relating_template() {
  return parse_sample(with_axes(R"("mode": {"choice": ["a", "b", "c"], "default": "a", "stand_in": "c"},
    "skew": {"choice": ["unknown", "hot"], "default": "unknown", "stand_in": "unknown"})"));
}

std::vector<std::string> related(const KernelTemplate& kernel, const Problem& problem) {
  validate(kernel, problem);
  std::vector<std::string> texts;
  for (const auto& stand_in : related_problems(kernel, problem)) {
    validate(kernel, stand_in);
    texts.push_back(to_text(stand_in));
  }
  return texts;
}

}  // namespace

TEST_CASE("stand-ins take the place of axes one after the other, the last declared first, in canonical form") {
  const KernelTemplate kernel = relating_template();
  const Problem problem{{{"T", "f32"}, {"op", "sum"}, {"mode", "b"}, {"skew", "hot"}}, {{"n", 7}}};
  CHECK(related(kernel, problem) ==
        std::vector<std::string>{R"({"T":"f32","mode":"b","n":7,"op":"sum"})", R"({"T":"f32","mode":"c","n":7,"op":"sum"})"});
}

TEST_CASE("only what is not at its stand-in is replaced, a default that is none among it") {
  const KernelTemplate kernel = relating_template();
  CHECK(related(kernel, {{{"T", "f32"}, {"op", "sum"}, {"mode", "c"}}, {{"n", 7}}}).empty());
  CHECK(related(kernel, {{{"T", "f32"}, {"op", "sum"}, {"mode", "c"}, {"skew", "hot"}}, {{"n", 7}}}) ==
        std::vector<std::string>{R"({"T":"f32","mode":"c","n":7,"op":"sum"})"});
  CHECK(related(kernel, {{{"T", "f32"}, {"op", "sum"}}, {{"n", 7}}}) ==
        std::vector<std::string>{R"({"T":"f32","mode":"c","n":7,"op":"sum"})"});
  CHECK(related(parse_sample(), sample_problem()).empty());
}

TEST_CASE("a type may have a stand-in, with or without a default") {
  const KernelTemplate kernel =
      parse_sample(replaced(sample_template(), R"(["f32", "f64", "i8"]})", R"(["f32", "f64", "i8"], "stand_in": "f32"})"));
  CHECK(kernel.axis("T")->stand_in == "f32");
  CHECK(kernel.axis("op")->stand_in.empty());
  CHECK(related(kernel, sample_problem("i8", 7)) == std::vector<std::string>{R"({"T":"f32","n":7,"op":"sum"})"});
}

TEST_CASE("a malformed stand-in is refused at its place") {
  CHECK(contains(axis_error(R"({"choice": ["a", "b"], "stand_in": "c"})"),
                 "t.json:8:48: the stand-in of 'skew' must be one of a, b, not 'c'"));
  CHECK(contains(axis_error(R"({"choice": ["a", "b"], "default": "a", "stand_in": 1})"), "the stand-in of 'skew' must be a string"));
  CHECK(contains(axis_error(R"({"size": {}, "stand_in": "c"})"), "'skew' is a size: results of other sizes serve without it"));
  CHECK(contains(axis_error(R"({"code": {"returns": "A"}, "default": "x", "stand_in": "x"})"),
                 "\"stand_in\" is of types and choices, and 'skew' is code"));
  CHECK(contains(axis_error(R"({"choice": ["a"], "type": ["f32"], "stand_in": "a"})"), "exactly one of"));
  CHECK(contains(axis_error(R"({"choice": ["a"], "standin": "a"})"), "did you mean 'stand_in'?"));
}

}  // namespace test_stand_in
