// A sample of each strategy of the shipped templates for compute-sanitizer, under which everything takes a hundred times as long: small problems, and
// nothing is timed. tools/sanitize.sh runs each of these beside the others.
#include <doctest/doctest.h>

#include <map>

#include "tests/gpu/variants.hpp"

namespace test_sanitizer_sample {

using namespace attune;

namespace {

void check_each(const char* name, std::map<std::string, std::string> choices, std::map<std::string, std::int64_t> sizes,
                const std::vector<std::vector<std::string>>& parameters) {
  const auto kernel = spec::TemplateLibrary().find(name);
  const auto problem = spec::canonical(kernel, {std::move(choices), std::move(sizes)});
  for (const auto& together : parameters) test::check_all(kernel, problem, test::one_of_each(kernel, problem, together), test::Timed::No);
}

}  // namespace

TEST_CASE("sanitizer sample: loads, block stages and grid stages of reduce" * doctest::skip()) {
  check_each("reduce", {{"T", "f32"}, {"op", "sum"}}, {{"n", 30001}}, {{"load"}, {"block_stage"}, {"grid_stage"}});
}
TEST_CASE("sanitizer sample: reduce specialised on n" * doctest::skip()) {
  check_each("reduce", {{"T", "f32"}, {"op", "sum"}}, {{"n", 65536}}, {{"exact_n", "grid_stage"}});
}
TEST_CASE("sanitizer sample: operators without an instruction, narrow and wide types" * doctest::skip()) {
  check_each("reduce", {{"T", "i32"}, {"op", "product"}}, {{"n", 30001}}, {{"grid_stage"}});
  check_each("reduce", {{"T", "i8"}, {"op", "max"}}, {{"n", 30001}}, {{"grid_stage"}});
  check_each("reduce", {{"T", "f64"}, {"op", "sum"}, {"transform", "times"}}, {{"n", 30001}}, {{"grid_stage"}});
}
TEST_CASE("sanitizer sample: reproducible sums" * doctest::skip()) {
  for (const char* accumulate : {"fixed_order", "compensated", "fixed_point"})
    check_each("reproducible_reduce", {{"T", "f32"}, {"op", "sum"}, {"accumulate", accumulate}}, {{"n", 30001}}, {{"grid_stage"}});
}
TEST_CASE("sanitizer sample: argreduce and segmented_reduce" * doctest::skip()) {
  check_each("argreduce", {{"T", "f32"}, {"op", "max"}}, {{"n", 65536}}, {{"grid_stage", "exact_n"}, {"block_stage"}});
  check_each("segmented_reduce", {{"T", "f32"}, {"op", "sum"}}, {{"rows", 50}, {"columns", 5001}}, {{"row_stage"}});
}
TEST_CASE("sanitizer sample: histogram strategies and aggregation" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 20001}, {"bins", 2500}}, {{"strategy"}, {"aggregate"}, {"counter_bits", "cluster_blocks"}});
}
TEST_CASE("sanitizer sample: histogram merging" * doctest::skip()) {
  check_each("histogram", {{"T", "i32"}, {"mapping", "unit"}}, {{"n", 20001}, {"bins", 500}}, {{"strategy", "merge"}});
  check_each("histogram", {{"T", "u8"}, {"mapping", "unit"}}, {{"n", 30001}, {"bins", 256}}, {{"merge"}, {"replicas", "replica_of"}});
}
TEST_CASE("sanitizer sample: histogram mappings, weights and channels" * doctest::skip()) {
  check_each("histogram", {{"T", "f32"}, {"mapping", "edges"}}, {{"n", 30001}, {"bins", 100}}, {{"search"}});
  check_each("histogram", {{"T", "i32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, {{"n", 30001}, {"bins", 100}}, {{"strategy"}});
  check_each("histogram", {{"T", "u8"}, {"mapping", "scaled"}, {"channels", "3"}, {"active", "2"}}, {{"n", 10001}, {"bins", 100}}, {{"strategy"}, {"merge"}});
}

}  // namespace test_sanitizer_sample
