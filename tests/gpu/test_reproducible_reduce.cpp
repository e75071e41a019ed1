// The template reproducible_reduce is right; that its bits are the same every time is in test_reduce_runtime.cpp.
#include <doctest/doctest.h>

#include <map>

#include "tests/gpu/variants.hpp"
#include "tuner/space/search_space.hpp"

namespace test_reproducible_reduce {

using namespace attune;

namespace {

const spec::KernelTemplate& kernel() {
  static const auto found = spec::TemplateLibrary().find("reproducible_reduce");
  return found;
}

spec::Problem of(std::map<std::string, std::string> choices, std::int64_t n) {
  choices.emplace("T", "f32");
  choices.emplace("op", "sum");
  return spec::canonical(kernel(), {std::move(choices), {{"n", n}}});
}

/// Every `step`-th configuration of the space.
void check_space(const spec::Problem& problem, std::uint64_t step) {
  const auto space = space::SearchSpace::build(kernel(), problem, test::Lab::get().executor().device());
  REQUIRE(space.size() > 0);
  std::vector<spec::Configuration> chosen;
  for (std::uint64_t i = 0; i < space.size(); i += step) chosen.push_back(space.at(i));
  test::check_all(kernel(), problem, chosen);
}

}  // namespace

TEST_CASE("reproducible_reduce is right in every accumulation, type and operator at sizes that are hard") {
  for (const char* type : {"f32", "f64", "f16", "bf16"}) {
    for (const char* accumulate : {"fixed_order", "compensated", "fixed_point"}) {
      for (const std::int64_t n : {0, 1, 31, 33, 1023, 5000011}) check_space(of({{"T", type}, {"accumulate", accumulate}}, n), 29);
    }
    for (const char* op : {"product", "min", "max", "custom"}) check_space(of({{"T", type}, {"op", op}}, 100003), 29);
  }
}

TEST_CASE("reproducible_reduce applies transforms and finishes") {
  for (const char* accumulate : {"fixed_order", "compensated", "fixed_point"}) {
    check_space(of({{"accumulate", accumulate}, {"transform", "times"}}, 100003), 17);
    check_space(of({{"accumulate", accumulate}, {"transform", "square"}, {"finish", "root"}}, 100003), 31);
    check_space(of({{"accumulate", accumulate}, {"finish", "mean"}}, 100003), 31);
    for (const char* finish : {"mean", "scale_bias"})
      check_space(of({{"T", "f64"}, {"accumulate", accumulate}, {"finish", finish}}, 20001), 47);
  }
}

}  // namespace test_reproducible_reduce
