// The template reproducible_reduce: every type, operator and way of accumulating compiles; nothing that fixes the order of
// combination depends on the configuration.
#include <set>

#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/space/search_space.hpp"

namespace test_reproducible_reduce {

using namespace attune;
using namespace attune::templates::test;

namespace {

const spec::KernelTemplate& kernel() { return template_named("reproducible_reduce"); }

spec::Problem of(const std::map<std::string, std::string>& choices, std::int64_t n = 100000) { return problem_of(kernel(), choices, n); }

spec::LaunchPlan plan(const spec::Problem& problem, const std::map<std::string, std::string>& changes) {
  return spec::resolve(kernel(), problem, configuration_of(kernel(), changes), device());
}

const std::vector<std::string> kFloats = {"f32", "f64", "f16", "bf16"};
const std::vector<std::string> kAccumulate = {"fixed_order", "compensated", "fixed_point"};

}  // namespace

TEST_CASE("the default of reproducible_reduce is valid for all that is defined, and compensation and fixed point are of sums") {
  const auto chosen = spec::default_configuration(kernel());
  for (const auto& type : kFloats) {
    for (const auto& accumulate : kAccumulate) {
      for (const std::string op : {"sum", "product", "min", "max", "custom"}) {
        for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40}) {
          const auto problem = of({{"T", type}, {"accumulate", accumulate}, {"op", op}}, n);
          CHECK(spec::satisfies(kernel(), problem, chosen, device()) == (accumulate == "fixed_order" || op == "sum"));
        }
      }
    }
  }
  CHECK(spec::satisfies(kernel(), of({{"transform", "times"}}), chosen, device()));
}

TEST_CASE("the space of reproducible_reduce is that of widths, items, two grid stages and four grids") {
  for (const auto& [type, widths] : {std::pair{"f64", 2}, std::pair{"f32", 3}, std::pair{"f16", 4}}) {
    CHECK(space::SearchSpace::build(kernel(), of({{"T", type}}), device()).size() == static_cast<std::uint64_t>(widths) * 4 * 2 * 4);
    // Two inputs have at most four vectors each in flight.
    CHECK(space::SearchSpace::build(kernel(), of({{"T", type}, {"transform", "times"}}), device()).size() ==
          static_cast<std::uint64_t>(widths) * 3 * 2 * 4);
  }
}

TEST_CASE("every type of reproducible_reduce compiles with every way of accumulating") {
  for (const auto& type : kFloats) {
    for (const auto& accumulate : kAccumulate) {
      check_compiles(kernel(), of({{"T", type}, {"accumulate", accumulate}}), spec::default_configuration(kernel()));
      if (type != "f32" && type != "f64") continue;
      check_compiles(kernel(), of({{"T", type}, {"accumulate", accumulate}, {"finish", "mean"}}),
                     configuration_of(kernel(), {{"grid_stage", "two_pass"}, {"items", "1"}}), "sm_80");
    }
  }
}

TEST_CASE("every operator, transform and width of reproducible_reduce compiles") {
  for (const std::string op : {"product", "min", "max", "custom"})
    check_compiles(kernel(), of({{"op", op}}), spec::default_configuration(kernel()));
  for (const std::string transform : {"absolute", "square", "shifted_square", "times", "custom"}) {
    check_compiles(kernel(), of({{"transform", transform}}), spec::default_configuration(kernel()));
  }
  for (const char* const bytes : {"2", "4", "8"}) {
    check_compiles(kernel(), of({{"T", "f16"}}), configuration_of(kernel(), {{"vector_bytes", bytes}, {"items", "8"}}));
  }
}

TEST_CASE("into how many chunks an input is dealt depends on n and the type alone, whatever the configuration") {
  // 4096 bytes a chunk, at most 1024 chunks; a partial result of f32 takes 4 bytes, two of them a word.
  for (const auto& [n, words] : {std::pair{std::int64_t{0}, 1}, std::pair{std::int64_t{1024}, 1}, std::pair{std::int64_t{2049}, 2},
                                 std::pair{std::int64_t{1} << 30, 512}}) {
    const auto problem = of({}, n);
    const auto space = space::SearchSpace::build(kernel(), problem, device());
    std::set<std::int64_t> counts;
    for (std::uint64_t i = 0; i < space.size(); ++i)
      counts.insert(count(spec::resolve(kernel(), problem, space.at(i), device()), "partials"));
    CHECK(counts == std::set<std::int64_t>{words});
  }
}

TEST_CASE("no more blocks of reproducible_reduce than chunks, and no more than blocks_per_sm allows") {
  const auto blocks = [](std::int64_t n, const char* each) { return launches(plan(of({}, n), {{"blocks_per_sm", each}})).at(0).grid[0]; };
  CHECK(blocks(0, "4") == 1);
  CHECK(blocks(1025, "4") == 2);
  CHECK(blocks(1 << 30, "1") == 132);
  CHECK(blocks(1 << 30, "4") == 528);
  CHECK(blocks(1 << 30, "8") == 1024);
}

TEST_CASE("partial results of reproducible_reduce have room for what their way of accumulating carries along") {
  // Two chunks of either type: a sum; a sum and its error; a count of 64 bits.
  const auto words = [](const char* type, const char* accumulate, std::int64_t n) {
    return count(plan(of({{"T", type}, {"accumulate", accumulate}}, n), {}), "partials");
  };
  CHECK(words("f32", "fixed_order", 2048) == 1);
  CHECK(words("f32", "compensated", 2048) == 2);
  CHECK(words("f32", "fixed_point", 2048) == 2);
  CHECK(words("f64", "fixed_order", 1024) == 2);
  CHECK(words("f64", "compensated", 1024) == 4);
  CHECK(words("f64", "fixed_point", 1024) == 2);
}

TEST_CASE("reproducible_reduce in two passes has a second launch and no counter, with a last block the reverse") {
  const auto two = plan(of({}), {{"grid_stage", "two_pass"}}), one = plan(of({}), {{"grid_stage", "last_block"}});
  CHECK(launches(two).size() == 2);
  CHECK(count(two, "sync") == 0);
  CHECK(launches(one).size() == 1);
  CHECK(count(one, "sync") == 1);
}

}  // namespace test_reproducible_reduce
