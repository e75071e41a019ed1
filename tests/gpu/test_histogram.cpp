// The shipped histogram in every strategy. Verification itself compares every bin with counts of its own, over samples outside
// the bins, all samples in one bin, sorted ones and ragged, misaligned and empty inputs beside each size.
#include <doctest/doctest.h>

#include <random>

#include "tests/gpu/lab.hpp"
#include "tests/gpu/variants.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_histogram {

using namespace attune;

namespace {

constexpr std::int64_t kLarge = (1 << 20) + 3;
/// Together they are the strategies; the other parameters are mixed in.
const std::vector<std::string> kStrategy = {"strategy", "merge", "aggregate", "counter_bits"};

const spec::KernelTemplate& histogram() {
  static const auto kernel = spec::TemplateLibrary().find("histogram");
  return kernel;
}

spec::Problem problem_of(std::map<std::string, std::string> choices, std::int64_t n, std::int64_t bins) {
  return spec::canonical(histogram(), {std::move(choices), {{"n", n}, {"bins", bins}}});
}

/// The default and some others.
void check_sample(const spec::Problem& problem, std::uint64_t count) {
  const auto space = space::SearchSpace::build(histogram(), problem, test::Lab::get().executor().device());
  REQUIRE(space.size() > 0);
  std::mt19937_64 random(static_cast<std::uint64_t>(problem.sizes.at("n") * 31 + problem.sizes.at("bins")));
  std::vector<spec::Configuration> configurations{spec::default_configuration(histogram())};
  for (const auto ordinal : space.sample(count, random)) configurations.push_back(space.at(ordinal));
  test::check_all(histogram(), problem, configurations);
}

void check_each(const spec::Problem& problem, const std::vector<std::string>& parameters) {
  test::check_all(histogram(), problem, test::one_of_each(histogram(), problem, parameters));
}

std::uint32_t blocks_of(const spec::Problem& problem, const spec::Configuration& configuration) {
  const auto plan = spec::resolve(histogram(), problem, configuration, test::Lab::get().executor().device());
  const auto launches = spec::launches_of(plan);
  REQUIRE(launches.size() == 1);
  return launches[0]->grid[0];
}

/// Every type with every mapping that it has.
void check_types(const std::vector<std::int64_t>& numbers_of_bins, std::uint64_t count) {
  for (const std::int64_t bins : numbers_of_bins) {
    for (const char* type : {"u8", "u16", "i32", "u32"}) {
      for (const char* mapping : {"unit", "shift", "scaled"})
        check_sample(problem_of({{"T", type}, {"mapping", mapping}}, 100003, bins), count);
    }
    for (const char* type : {"u8", "u16", "i32", "u32", "f32"})
      check_each(problem_of({{"T", type}, {"mapping", "edges"}}, 100003, bins), {"strategy", "search"});
  }
}

}  // namespace

TEST_CASE("histogram counts right in every strategy, way of merging, aggregation and width of counters") {
  check_each(problem_of({{"T", "u8"}, {"mapping", "unit"}}, kLarge, 256), kStrategy);
  for (const std::int64_t bins : {256, 65536}) check_each(problem_of({{"T", "i32"}, {"mapping", "unit"}}, kLarge, bins), kStrategy);
}

TEST_CASE("histogram counts right in every layout of counters, cluster and number of ranges") {
  check_each(problem_of({{"T", "i32"}, {"mapping", "unit"}}, kLarge, 257), {"replicas", "replica_of", "schedule", "prefetch"});
  check_each(problem_of({{"T", "u8"}, {"mapping", "unit"}}, kLarge, 256), {"replicas", "replica_of", "cluster_blocks"});
  for (const std::int64_t bins : {4096, 65536}) {
    check_each(problem_of({{"T", "i32"}, {"mapping", "unit"}}, kLarge, bins), {"strategy", "ranges", "cluster_blocks", "counter_bits"});
  }
}

TEST_CASE("counts are clear in time whoever clears them: the only block, the first of several, or those that take shares") {
  const std::string ticket =
      "merge == 'atomic_ticket' and strategy == 'shared' and vector_bytes == 16 and items == 1 and cluster_blocks == ";
  for (const char* threads : {"256", "512", "1024"}) {  // of 1024 none is left to clear beside those that count
    const auto check = [&](std::int64_t n, std::int64_t bins, const char* cluster_blocks, bool alone) {
      const auto problem = problem_of({{"T", "i32"}, {"mapping", "unit"}}, n, bins);
      const auto chosen =
          test::first_where(histogram(), problem, ticket + cluster_blocks + " and block_size == " + threads + " and ranges == 1");
      REQUIRE(chosen.size() == 1);
      CHECK((blocks_of(problem, chosen[0]) == 1) == alone);
      test::check_all(histogram(), problem, chosen);
    };
    for (const std::int64_t bins : {1, 500, 2500, 20000}) check(389, bins, "1", true);
    for (const std::int64_t bins : {1, 2048, 2049, 20000}) check(100003, bins, "1", false);
    for (const std::int64_t bins : {500, 2500}) check(100003, bins, "2", false);
  }
}

TEST_CASE("histogram counts right for every type of samples, mapping and search") {
  check_types({100}, 3);
  for (const std::int64_t bins : {256, 4096})
    check_each(problem_of({{"T", "f32"}, {"mapping", "scaled"}}, kLarge, bins), {"strategy", "merge"});
}

TEST_CASE("histogram counts right for any number of samples and bins") {
  for (const std::int64_t n : {0, 100003}) {
    for (const std::int64_t bins : {1, 255, 65536, 1000000}) check_sample(problem_of({{"T", "i32"}, {"mapping", "unit"}}, n, bins), 3);
    for (const std::int64_t bins : {2, 257}) check_sample(problem_of({{"T", "u8"}, {"mapping", "unit"}}, n, bins), 3);
  }
  check_sample(problem_of({{"T", "i32"}, {"mapping", "unit"}}, 31, 256), 3);
  check_sample(problem_of({{"T", "f32"}, {"mapping", "scaled"}}, kLarge, 1 << 24), 3);
}

TEST_CASE("every hard size of a histogram: counts are right at all of them" * doctest::skip()) {
  check_types({1, 300, 3000}, 6);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{33}, kLarge}) {
    for (const std::int64_t bins : {1, 2, 255, 256, 257, 65536, 1000000})
      check_sample(problem_of({{"T", "i32"}, {"mapping", "unit"}}, n, bins), 6);
    for (const std::int64_t bins : {1, 2, 255, 256, 257, 1000}) check_sample(problem_of({{"T", "u8"}, {"mapping", "unit"}}, n, bins), 6);
  }
}

TEST_CASE("histogram counts right in 64-bit counters, in sums of weights and for interleaved channels") {
  check_each(problem_of({{"T", "i32"}, {"mapping", "unit"}, {"Counter", "u64"}}, 2 * kLarge, 2501), {"strategy", "merge", "counter_bits"});
  check_each(problem_of({{"T", "i32"}, {"mapping", "unit"}, {"Counter", "f32"}}, kLarge, 3000), {"strategy", "merge"});
  check_each(problem_of({{"T", "f32"}, {"mapping", "edges"}, {"Counter", "f32"}}, kLarge, 100), {"strategy", "search"});
  for (const char* channels : {"2", "3", "4"}) {
    check_each(problem_of({{"T", "u8"}, {"mapping", "unit"}, {"channels", channels}}, 100003, 256), {"strategy", "merge"});
    check_each(problem_of({{"T", "i32"}, {"mapping", "scaled"}, {"channels", channels}, {"active", "1"}}, 100003, 2100),
               {"strategy", "merge"});
  }
  check_sample(problem_of({{"T", "u8"}, {"mapping", "scaled"}, {"channels", "4"}, {"active", "3"}}, 100003, 100), 10);
  // Weights and channels of equal samples put together.
  for (const char* strategy : {"shared", "global"}) {
    const std::string match = std::string("aggregate == 'match' and strategy == '") + strategy + "'";
    for (const auto& choices :
         {std::map<std::string, std::string>{{"Counter", "f32"}}, {{"channels", "3"}}, {{"channels", "4"}, {"active", "3"}}}) {
      for (const char* type : {"i32", "u8"}) {
        auto all = choices;
        all.insert({{"T", type}, {"mapping", "unit"}});
        const auto problem = problem_of(all, 100003, 100);
        test::check_all(histogram(), problem, test::first_where(histogram(), problem, match));
      }
    }
  }
}

TEST_CASE("histogram counts right beyond 2^32 samples") {
  constexpr std::int64_t n = (std::int64_t{1} << 32) + 5;
  check_each(problem_of({{"T", "u8"}, {"mapping", "unit"}, {"Counter", "u64"}}, n, 256), {"merge"});
}

}  // namespace test_histogram
