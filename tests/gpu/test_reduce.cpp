// The shipped reduction over its types, operations, odd sizes and a sample of its space.
#include <doctest/doctest.h>

#include <random>

#include "tests/gpu/lab.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

using namespace attune;
using measure::Outcome;

namespace {

const spec::KernelTemplate& reduce() {
  static const auto kernel = spec::TemplateLibrary().find("reduce");
  return kernel;
}

spec::Problem problem_of(const char* type, const char* op, std::int64_t n) {
  return {{{"T", type}, {"op", op}}, {{"n", n}}};
}

/// Compiles all first, so that the compile workers work side by side.
void check_sample(const spec::Problem& problem, std::uint64_t count, std::uint64_t seed) {
  auto& lab = test::Lab::get();
  const auto space = space::SearchSpace::build(reduce(), problem, lab.executor().device());
  REQUIRE(space.size() > 0);
  std::mt19937_64 random(seed);
  auto ordinals = space.sample(count, random);
  std::vector<spec::Configuration> configurations{spec::default_configuration(reduce())};
  for (const auto ordinal : ordinals) configurations.push_back(space.at(ordinal));
  for (const auto& configuration : configurations) {
    lab.compilers().submit({spec::make_source(reduce(), problem, configuration, lab.executor().device()), "reduce.cu",
                            lab.executor().device().architecture, reduce().options});
  }
  while (lab.compilers().pending() > 0) static_cast<void>(lab.compilers().collect(std::chrono::milliseconds(1000)));
  lab.prepare(lab.executor(), reduce(), problem);
  for (const auto& configuration : configurations) {
    if (!spec::satisfies(reduce(), problem, configuration, lab.executor().device())) continue;
    auto request = lab.request(reduce(), problem, configuration);
    request.max_samples = 1;
    const auto reply = test::Lab::visit(lab.executor(), request);
    INFO(spec::to_text(problem), " ", request.configuration, ": ", reply.detail);
    CHECK(reply.outcome == Outcome::Ok);
    CHECK(reply.verified);
  }
}

}  // namespace

TEST_CASE("reduce is right for every type and operation at odd sizes") {
  std::uint64_t seed = 1;
  for (const char* type : {"f32", "f64", "i32", "i8"}) {
    for (const char* op : {"sum", "min", "max"}) {
      for (const std::int64_t n : {1, 37, 100003, 3000017}) check_sample(problem_of(type, op, n), 6, seed++);
    }
  }
}

TEST_CASE("reduce of no elements gives the identity") {
  for (const char* op : {"sum", "min", "max"}) check_sample(problem_of("f32", op, 0), 4, 99);
}

TEST_CASE("reduce is right at 2^30 elements") { check_sample(problem_of("f32", "sum", std::int64_t{1} << 30), 2, 7); }
