// A sample of each strategy of the shipped templates for compute-sanitizer, under which everything takes a hundred times as long: small
// problems, and nothing is timed. tools/sanitize.sh runs each of these beside the others.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <utility>

#include "tests/gpu/variants.hpp"

namespace test_sanitizer_sample {

using namespace attune;

namespace {

/// Small tiles, so that few elements are many blocks'.
constexpr const char* kSmallTiles = "block_size <= 256 and items <= 4";
/// The strategy adaptive has one configuration alone.
constexpr const char* kSmallSteps = "(block_size <= 256 and items <= 2 and cluster_blocks <= 8 or strategy == 'adaptive')";

/// Configurations that satisfy `condition`: together every combination of values of each group of parameters that occurs where `where`
/// holds, or anywhere. That the condition loses none is checked.
void check_each(const char* name, std::map<std::string, std::string> choices, std::map<std::string, std::int64_t> sizes,
                const std::vector<std::vector<std::string>>& groups, const std::string& condition = kSmallTiles,
                const std::string& where = {}) {
  const auto kernel = spec::TemplateLibrary().find(name);
  const auto problem = spec::canonical(kernel, {std::move(choices), std::move(sizes)});
  for (const auto& group : groups) {
    const auto sample = test::one_of_each(kernel, problem, group, condition);
    INFO(spec::to_text(problem), ": combinations of ", fmt::format("{}", fmt::join(group, ", ")), " in the sample, and all");
    CHECK(sample.size() == test::one_of_each(kernel, problem, group, where).size());
    test::check_all(kernel, problem, sample, test::Timed::No);
  }
}

/// The first that satisfies the condition; there must be one.
void check_where(const char* name, std::map<std::string, std::string> choices, std::map<std::string, std::int64_t> sizes,
                 const std::string& condition) {
  const auto kernel = spec::TemplateLibrary().find(name);
  const auto problem = spec::canonical(kernel, {std::move(choices), std::move(sizes)});
  test::check_all(kernel, problem, test::first_where(kernel, problem, condition), test::Timed::No);
}

}  // namespace

TEST_CASE("sanitizer sample: loads and block stages of reduce" * doctest::skip()) {
  check_each("reduce", {{"T", "f32"}, {"op", "sum"}}, {{"n", 9001}}, {{"load"}, {"block_stage"}});
}
TEST_CASE("sanitizer sample: grid stages of reduce" * doctest::skip()) {
  check_each("reduce", {{"T", "f32"}, {"op", "sum"}}, {{"n", 9001}}, {{"grid_stage"}});
}
TEST_CASE("sanitizer sample: reduce specialised on n" * doctest::skip()) {
  check_each("reduce", {{"T", "f32"}, {"op", "sum"}}, {{"n", 16384}}, {{"grid_stage", "load", "items"}},
             std::string(kSmallTiles) + " and exact_n", "exact_n and items <= 4");
}
TEST_CASE("sanitizer sample: operators without an instruction and types of other sizes" * doctest::skip()) {
  check_each("reduce", {{"T", "i32"}, {"op", "product"}}, {{"n", 9001}}, {{"grid_stage"}});
  check_each("reduce", {{"T", "i8"}, {"op", "max"}}, {{"n", 9001}}, {{"load"}, {"grid_stage"}});
  check_each("reduce", {{"T", "f64"}, {"op", "sum"}, {"transform", "times"}}, {{"n", 9001}}, {{"load"}, {"grid_stage"}});
}
TEST_CASE("sanitizer sample: reproducible sums" * doctest::skip()) {
  for (const char* accumulate : {"fixed_order", "compensated", "fixed_point"})
    check_each("reproducible_reduce", {{"T", "f32"}, {"op", "sum"}, {"accumulate", accumulate}}, {{"n", 9001}}, {{"grid_stage"}},
               "items <= 4");
}
TEST_CASE("sanitizer sample: waiting for many blocks" * doctest::skip()) {
  // With blocks as small as they come, so that more of them hand over partial results than a warp can fetch at one go.
  const std::string small = "block_size == 64 and items == 1 and blocks_per_sm == 4 and grid_stage == 'ticket'",
                    tiles = small + " and load == 'tiles'";
  for (const char* type : {"f32", "i32"})
    check_where("reduce", {{"T", type}, {"op", "sum"}}, {{"n", 30001}}, tiles + " and vector_bytes == 4");  // 469 blocks
  check_where("reduce", {{"T", "f64"}, {"op", "sum"}}, {{"n", 30001}}, tiles + " and vector_bytes == 8");
  check_where("argreduce", {{"T", "f32"}, {"op", "max"}}, {{"n", 30001}}, small + " and vector_bytes == 4");
}
TEST_CASE("sanitizer sample: waiting for many clusters and in rows" * doctest::skip()) {
  check_where(
      "reduce", {{"T", "f32"}, {"op", "sum"}}, {{"n", 140001}},
      "block_size == 128 and vector_bytes == 16 and items == 1 and load == 'tiles' and blocks_per_sm == 4 and grid_stage == 'cluster' and cluster_blocks == 2");
  check_where("segmented_reduce", {{"T", "f32"}, {"op", "sum"}}, {{"rows", 3}, {"columns", 30001}},
              "block_size == 64 and vector_bytes == 4 and items == 1 and blocks_per_sm == 32 and row_stage == 'ticket'");
}
TEST_CASE("sanitizer sample: argreduce" * doctest::skip()) {
  check_each("argreduce", {{"T", "f32"}, {"op", "max"}}, {{"n", 8192}}, {{"grid_stage", "exact_n"}, {"block_stage"}});
}
TEST_CASE("sanitizer sample: segmented_reduce" * doctest::skip()) {
  check_each("segmented_reduce", {{"T", "f32"}, {"op", "sum"}}, {{"rows", 5}, {"columns", 2001}}, {{"row_stage"}});
}
TEST_CASE("sanitizer sample: transpose" * doctest::skip()) {
  for (const char* type : {"u8", "f32"})
    check_each("transpose", {{"T", type}}, {{"rows", 131}, {"columns", 67}}, {{"variant", "staging"}}, "block_size <= 256");
}
TEST_CASE("sanitizer sample: histogram strategies and aggregation" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 2500}}, {{"strategy"}, {"aggregate"}}, kSmallSteps);
}
TEST_CASE("sanitizer sample: histogram clusters and narrow counters" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 2500}}, {{"counter_bits", "cluster_blocks"}},
             kSmallSteps, "cluster_blocks <= 8");
}
TEST_CASE("sanitizer sample: histogram clusters of 16" * doctest::skip()) {
  check_where(
      "histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 2500}},
      "block_size == 256 and items == 1 and cluster_blocks == 16 and vector_bytes == 16 and merge == 'atomic_ticket' and strategy == 'shared'");
}
TEST_CASE("sanitizer sample: histogram merging" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 500}}, {{"strategy", "merge"}}, kSmallSteps);
}
TEST_CASE("sanitizer sample: histogram tickets" * doctest::skip()) {
  for (const char* threads : {"512", "1024"}) {  // a lone block, the first block's counts, and shares
    for (const auto& [n, bins] : {std::pair{389, 500}, std::pair{5001, 500}, std::pair{5001, 2500}}) {
      check_where(
          "histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", n}, {"bins", bins}},
          std::string(
              "merge == 'atomic_ticket' and strategy == 'shared' and cluster_blocks == 1 and vector_bytes == 16 and items == 1 and ranges == 1 and block_size == ") +
              threads);
    }
  }
}
TEST_CASE("sanitizer sample: histogram tickets of clusters, of frequent samples and of edges" * doctest::skip()) {
  const std::string ticket = "merge == 'atomic_ticket' and strategy == 'shared' and vector_bytes == 16 and items == 1 and ranges == 1 and ";
  for (const char* threads : {"256", "1024"}) {  // with a warp on duty and without
    const std::string block = ticket + "block_size == " + threads + " and ";
    for (const char* more : {"cluster_blocks == 2", "aggregate == 'frequent' and cluster_blocks == 1"})
      check_where("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 2500}}, block + more);
    check_where("histogram", {{"T", "f32"}, {"mapping", "edges"}}, {{"n", 5001}, {"bins", 1500}},
                block + "search == 'table' and cluster_blocks == 1");
  }
}
TEST_CASE("sanitizer sample: histogram merging of bins shared by a cluster" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 2500}}, {{"merge"}},
             std::string(kSmallSteps) + " and strategy == 'cluster'", "strategy == 'cluster'");
}
TEST_CASE("sanitizer sample: histogram merging of bytes" * doctest::skip()) {
  check_each("histogram", {{"T", "u8"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 256}}, {{"strategy", "merge"}}, kSmallSteps);
}
TEST_CASE("sanitizer sample: histogram copies of counters" * doctest::skip()) {
  check_each("histogram", {{"T", "u8"}, {"mapping", "unit"}}, {{"n", 5001}, {"bins", 256}}, {{"replicas", "replica_of"}},
             "items <= 2 and cluster_blocks == 1");
}
TEST_CASE("sanitizer sample: histogram mappings" * doctest::skip()) {
  check_each("histogram", {{"T", "f32"}, {"mapping", "edges"}}, {{"n", 5001}, {"bins", 100}}, {{"search"}}, kSmallSteps);
}
TEST_CASE("sanitizer sample: histogram weights and channels" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, {{"n", 5001}, {"bins", 100}}, {{"strategy"}},
             kSmallSteps);
  check_each("histogram", {{"T", "u8"}, {"mapping", "scaled"}, {"channels", "3"}, {"active", "2"}}, {{"n", 2001}, {"bins", 100}},
             {{"strategy"}}, kSmallSteps);
}

}  // namespace test_sanitizer_sample
