#include <doctest/doctest.h>

#include <string>

#include "attune/error.hpp"
#include "tests/unit/space/space_fixtures.hpp"

namespace test_template_space {

using namespace attune;
using namespace attune::space;
using namespace attune::space::test;

namespace {

/// A template as the parser would give it: type T, choice op, size n, and what the test adds.
spec::KernelTemplate make_template() {
  spec::KernelTemplate kernel;
  kernel.name = "sample";
  kernel.problem = {
      {"T", spec::AxisKind::Type, {"f32", "f64"}}, {"op", spec::AxisKind::Choice, {"sum", "max"}}, {"n", spec::AxisKind::Size, {}}};
  return kernel;
}

void add_let(spec::KernelTemplate& kernel, const std::string& name, const std::string& text) {
  kernel.lets.emplace_back(name, spec::Expression::parse(text, {"template.json", 50, 1}));
}

spec::Problem problem_of(const std::string& type, std::int64_t n) { return {{{"T", type}, {"op", "sum"}}, {{"n", n}}}; }

const spec::DeviceInfo kDevice = spec::DeviceInfo::of_architecture("sm_90");

}  // namespace

TEST_CASE("conditions see types, choices, sizes and the device") {
  auto kernel = make_template();
  kernel.parameters = {integers("width", {1, 2, 4, 8}), texts("stage", {"plain", "cluster"})};
  kernel.constraints =
      conditions({"width * sizeof(T) <= 16", "width <= n", "op == 'sum'", "stage != 'cluster' or device.compute_capability >= 90"});
  CHECK(SearchSpace::build(kernel, problem_of("f32", 1000), kDevice).size() == 3 * 2);
  CHECK(SearchSpace::build(kernel, problem_of("f64", 1000), kDevice).size() == 2 * 2);
  CHECK(SearchSpace::build(kernel, problem_of("f32", 1), kDevice).size() == 1 * 2);
  CHECK(SearchSpace::build(kernel, problem_of("f32", 1000), spec::DeviceInfo::of_architecture("sm_80")).size() == 3);
}

TEST_CASE("a condition on a let is checked once all parameters that the let depends on are bound") {
  auto kernel = make_template();
  kernel.parameters = {integers("block", {1, 2, 3}), integers("items", {1, 2}), integers("other", {1, 2})};
  add_let(kernel, "tile", "block * items");
  add_let(kernel, "tiles_and_one", "tile + 1");
  kernel.constraints = conditions({"tiles_and_one <= n"});
  const auto space = SearchSpace::build(kernel, problem_of("f32", 4), kDevice);
  // block * items <= 3: (1,1) (1,2) (2,1) (3,1), each with both values of `other`.
  CHECK(rows(space) == Rows{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {1, 0, 0}, {1, 0, 1}, {2, 0, 0}, {2, 0, 1}});
}

TEST_CASE("a let that depends on no parameter acts as a constant") {
  auto kernel = make_template();
  kernel.parameters = {integers("block", {1, 2, 3})};
  add_let(kernel, "half", "n // 2");
  SUBCASE("next to a parameter") {
    kernel.constraints = conditions({"block <= half"});
    CHECK(SearchSpace::build(kernel, problem_of("f32", 5), kDevice).size() == 2);
  }
  SUBCASE("alone") {
    kernel.constraints = conditions({"half > 2"});
    const auto space = SearchSpace::build(kernel, problem_of("f32", 5), kDevice);
    CHECK(space.size() == 0);
    CHECK(space.emptied_by() == "half > 2");
    CHECK(SearchSpace::build(kernel, problem_of("f32", 6), kDevice).size() == 3);
  }
}

TEST_CASE("a let is evaluated only where the condition reaches it") {
  auto kernel = make_template();
  kernel.parameters = {integers("items", {0, 4, 8})};
  add_let(kernel, "share", "64 // items");
  kernel.constraints = conditions({"items == 0 or share > 8"});
  CHECK(rows(SearchSpace::build(kernel, problem_of("f32", 1), kDevice)) == Rows{{0}, {1}});
}

TEST_CASE("a let that fails where its condition needs it throws at the let's place") {
  auto kernel = make_template();
  kernel.parameters = {integers("items", {0, 4})};
  add_let(kernel, "share", "64 // items");
  kernel.constraints = conditions({"share > 8"});
  try {
    static_cast<void>(SearchSpace::build(kernel, problem_of("f32", 1), kDevice));
    FAIL("must throw");
  } catch (const SpecError& error) {
    CHECK(error.file() == "template.json");
    CHECK(error.line() == 50);
  }
}

TEST_CASE("a misspelled let is refused with a suggestion") {
  auto kernel = make_template();
  kernel.parameters = {integers("items", {1})};
  add_let(kernel, "share", "64 // items");
  kernel.constraints = conditions({"shere > 8"});
  CHECK_THROWS_WITH_AS(static_cast<void>(SearchSpace::build(kernel, problem_of("f32", 1), kDevice)),
                       doctest::Contains("did you mean 'share'"), SpecError);
}

}  // namespace test_template_space
