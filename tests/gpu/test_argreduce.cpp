// The shipped argreduce over its types, operations and stages. Verification itself plants ties, NaN and infinities at the
// edges of tiles, and runs ragged, misaligned and empty inputs beside each size.
#include <doctest/doctest.h>

#include <random>

#include "tests/gpu/variants.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_argreduce {

using namespace attune;

namespace {

constexpr const char* kTypes[] = {"i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};

const spec::KernelTemplate& argreduce() {
  static const auto kernel = spec::TemplateLibrary().find("argreduce");
  return kernel;
}

spec::Problem problem_of(const char* type, const char* op, std::int64_t n) { return {{{"T", type}, {"op", op}}, {{"n", n}}}; }

void check_all(const spec::Problem& problem, const std::vector<spec::Configuration>& configurations) {
  test::check_all(argreduce(), problem, configurations);
}

/// The default and some others, the same ones at every size that they are valid at.
void check_sample(const spec::Problem& problem, std::uint64_t count, std::uint64_t seed) {
  const auto space = space::SearchSpace::build(argreduce(), problem, test::Lab::get().executor().device());
  REQUIRE(space.size() > 0);
  std::mt19937_64 random(seed);
  std::vector<spec::Configuration> configurations{spec::default_configuration(argreduce())};
  for (const auto ordinal : space.sample(count, random)) configurations.push_back(space.at(ordinal));
  check_all(problem, configurations);
}

}  // namespace

TEST_CASE("argreduce is right for every type and operation from one element on") {
  std::uint64_t seed = 1;
  for (const char* type : kTypes) {
    for (const char* op : {"max", "min"}) {
      check_sample(problem_of(type, op, 1), 1, seed);
      check_sample(problem_of(type, op, (1 << 20) + 3), 2, ++seed);
    }
  }
}

TEST_CASE("argreduce is right in every combination of stages, also specialised on n") {
  for (const char* type : {"u8", "f16", "f32", "i64"}) {
    for (const char* op : {"max", "min"}) {
      std::vector<spec::Configuration> configurations;
      for (const char* block : {"shuffle", "shared_tree"}) {
        for (const char* grid : {"two_pass", "last_block", "ticket", "single_block"}) {
          auto configuration = test::with(argreduce(), "block_stage", block);
          const auto put = [&](const char* parameter, const char* value) {
            const auto chosen = test::with(argreduce(), parameter, value);
            for (std::size_t i = 0; i < argreduce().parameters.size(); ++i)
              if (argreduce().parameters[i].name == parameter) configuration.index[i] = chosen.index[i];
          };
          put("grid_stage", grid);
          put("blocks_per_sm", "1");
          configurations.push_back(configuration);
          put("exact_n", "true");
          if (spec::satisfies(argreduce(), problem_of(type, op, 131072), configuration, test::Lab::get().executor().device()))
            configurations.push_back(configuration);
        }
      }
      check_all(problem_of(type, op, 131072), configurations);
    }
  }
}

TEST_CASE("argreduce of no elements gives the identity at index -1") {
  for (const char* op : {"max", "min"}) check_sample(problem_of("f32", op, 0), 4, 99);
}

TEST_CASE("argreduce finds an element beyond the 2^32nd") {
  check_all(problem_of("u8", "min", (std::int64_t{1} << 32) + 12345), {spec::default_configuration(argreduce())});
}

}  // namespace test_argreduce
