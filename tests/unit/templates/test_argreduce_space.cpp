#include <doctest/doctest.h>

#include "tests/unit/templates/argreduce_fixture.hpp"
#include "tuner/space/search_space.hpp"

namespace test_argreduce_space {

using namespace attune;
using namespace attune::templates::argreduce;

namespace {

spec::LaunchPlan plan(const std::string& type, std::int64_t n, const std::map<std::string, std::string>& changes) {
  return spec::resolve(kernel(), problem(type, "max", n), configuration(changes), device());
}

const spec::ResolvedLaunch& launch(const spec::LaunchPlan& plan, std::size_t step) {
  return std::get<spec::ResolvedLaunch>(plan.steps.at(step));
}

const spec::ResolvedBuffer& buffer(const spec::LaunchPlan& plan, const std::string& name) {
  for (const auto& candidate : plan.buffers) {
    if (candidate.name == name) return candidate;
  }
  FAIL("no buffer " << name);
  return plan.buffers.front();
}

/// A number that the sources give to a constant.
std::int64_t constant(const std::string& name) {
  const std::string& values = kernel().files.at("values.cu");
  const auto at = values.find(name + " = ");
  REQUIRE(at != std::string::npos);
  return std::stoll(values.substr(at + name.size() + 3));
}

}  // namespace

TEST_CASE("the default of argreduce is valid for every type, operator and size, so that dispatch always has one") {
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{131073}, std::int64_t{1} << 40}) {
        CAPTURE(type);
        CAPTURE(n);
        CHECK(spec::satisfies(kernel(), problem(type, op, n), spec::default_configuration(kernel()), device()));
      }
    }
  }
}

TEST_CASE("the space of argreduce has the size that its parameters and constraints give") {
  // Block size and blocks per SM: all 5 for 64, 128 and 256 threads, 4 for 512, 3 for 1024 make 22 pairs, with three
  // grid stages; single_block has one pair per block size. Two block stages.
  const std::uint64_t many_blocks = 22 * 3 * 2;
  const std::uint64_t single_block = 5 * 2;
  struct Case {
    const char* type;
    std::uint64_t loads;  // pairs of items and vector_bytes: five of each, without 16 items of 16 bytes
    bool narrow;          // 1024 threads cannot have 8 items of 16 bytes: 3 pairs with many blocks, 1 with a single one
  };
  for (const auto& [type, loads, narrow] : {Case{"f64", 9, false}, Case{"u32", 14, false}, Case{"bf16", 19, true}, Case{"u8", 24, true}}) {
    CAPTURE(type);
    const auto size = [&, t = type](std::int64_t n) { return space::SearchSpace::build(kernel(), problem(t, "max", n), device()).size(); };
    const std::uint64_t less_many = narrow ? 3 * 3 * 2 : 0, less_single = narrow ? 2 : 0;
    // Specialised on n, up to 2^20: the four loads of 16 bytes of one grid stage with many blocks and of the single block.
    const std::uint64_t exact_many = 4 * 22 * 2 - less_many / 3, exact_single = 4 * 5 * 2 - less_single;
    CHECK(size(131072) == loads * (many_blocks + single_block) - less_many - less_single + exact_many + exact_single);
    CHECK(size(1 << 20) == loads * many_blocks - less_many + exact_many);
    CHECK(size((1 << 20) + 1) == loads * many_blocks - less_many);
  }
}

TEST_CASE("argreduce has a block for every begun tile, at least one, at most what blocks_per_sm allows") {
  // 128 threads x 2 vectors x 16 bytes are 4096 bytes.
  const std::map<std::string, std::string> changes = {{"block_size", "128"}, {"items", "2"}, {"blocks_per_sm", "2"}};
  struct Case {
    const char* type;
    std::int64_t tile;
  };
  for (const auto& [type, tile] : {Case{"i64", 512}, Case{"f32", 1024}, Case{"f16", 2048}, Case{"u8", 4096}}) {
    CAPTURE(type);
    const auto blocks = [&, t = type](std::int64_t n) { return launch(plan(t, n, changes), 0).grid[0]; };
    CHECK(blocks(0) == 1);
    CHECK(blocks(tile) == 1);
    CHECK(blocks(tile + 1) == 2);
    CHECK(blocks(tile * 264 + 1) == 264);
    CHECK(blocks(std::int64_t{1} << 40) == 264);
  }
}

TEST_CASE("scratch of argreduce has room for what each grid stage stores, and one block needs none") {
  // 2^16 elements of 512 x 4 x 16 bytes: 8 blocks of f32, 16 of f64, 4 of f16. A slot holds two words of the index and
  // one for every four bytes of the value's accumulator.
  struct Case {
    const char* stage;
    const char* type;
    std::int64_t partials;
    std::int64_t sync;
  };
  for (const auto& [stage, type, partials, sync] :
       {Case{"two_pass", "f32", 8, 0}, Case{"last_block", "f32", 8, 16}, Case{"ticket", "f32", 0, 16 + 8 * 3},
        Case{"ticket", "f64", 0, 16 + 16 * 4}, Case{"ticket", "f16", 0, 16 + 4 * 3}, Case{"ticket", "i8", 0, 16 + 2 * 3}}) {
    CAPTURE(stage);
    CAPTURE(type);
    const auto resolved = plan(type, 1 << 16, {{"grid_stage", stage}});
    CHECK(buffer(resolved, "partial_values").count == partials);
    CHECK(buffer(resolved, "partial_indices").count == partials);
    CHECK(buffer(resolved, "sync").count == sync);
    const auto one = plan(type, 5, {{"grid_stage", stage}});
    CHECK(buffer(one, "partial_values").count == 0);
    CHECK(buffer(one, "sync").count == 0);
    CHECK(one.steps.size() == 1);
  }
}

TEST_CASE("the value of argreduce is of the element's type, its partial results are wider where elements are narrow") {
  struct Case {
    const char* type;
    const char* accumulator;
  };
  for (const auto& [type, accumulator] :
       {Case{"i8", "i32"}, Case{"u8", "u32"}, Case{"f16", "f32"}, Case{"bf16", "f32"}, Case{"i64", "i64"}}) {
    const auto resolved = plan(type, 100000, {{"grid_stage", "two_pass"}});
    CHECK(std::string(spec::name(buffer(resolved, "value").type)) == type);
    CHECK(std::string(spec::name(buffer(resolved, "partial_values").type)) == accumulator);
    CHECK(std::string(spec::name(buffer(resolved, "index").type)) == "i64");
  }
}

TEST_CASE("constants that stand in the sources of argreduce and in template.json agree") {
  const auto two_pass = plan("f32", 1 << 20, {{"grid_stage", "two_pass"}});
  CHECK(launch(two_pass, 1).block[0] == constant("kFinishThreads"));
  CHECK(buffer(plan("f32", 1 << 20, {{"grid_stage", "last_block"}}), "sync").count == constant("kSyncHeader"));
}

}  // namespace test_argreduce_space
