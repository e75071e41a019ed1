#include <doctest/doctest.h>

#include "tests/unit/templates/reduce_fixture.hpp"

using namespace attune;
using namespace attune::templates::test;

namespace {

spec::LaunchPlan plan(const std::string& type, std::int64_t n, const std::map<std::string, spec::Value>& changes) {
  return spec::resolve(reduce_template(), problem(type, "sum", n), configuration(changes), device());
}

const spec::ResolvedLaunch& launch(const spec::LaunchPlan& plan, std::size_t step) {
  return std::get<spec::ResolvedLaunch>(plan.steps.at(step));
}

std::int64_t count(const spec::LaunchPlan& plan, const std::string& buffer) {
  for (const auto& candidate : plan.buffers) {
    if (candidate.name == buffer) return candidate.count;
  }
  FAIL("no buffer " << buffer);
  return -1;
}

const char* const kManyBlockStages[] = {"two_pass", "block_atomic", "last_block", "ticket"};

}  // namespace

TEST_CASE("the grid has a block for every begun tile, at least one, at most what blocks_per_sm allows") {
  // 128 threads x 2 vectors x 16 bytes are 4096 bytes.
  const std::map<std::string, spec::Value> changes = {
      {"block_size", number(128)}, {"items", number(2)}, {"blocks_per_sm", number(2)}};
  struct Case {
    const char* type;
    std::int64_t tile;
  };
  for (const auto& [type, tile] : {Case{"f64", 512}, Case{"f32", 1024}, Case{"i32", 1024}, Case{"i8", 4096}}) {
    CAPTURE(type);
    const auto blocks = [&, t = type](std::int64_t n) { return launch(plan(t, n, changes), 0).grid[0]; };
    CHECK(blocks(0) == 1);
    CHECK(blocks(1) == 1);
    CHECK(blocks(tile - 1) == 1);
    CHECK(blocks(tile) == 1);
    CHECK(blocks(tile + 1) == 2);
    CHECK(blocks(tile * 264) == 264);
    CHECK(blocks(tile * 264 + 1) == 264);
    CHECK(blocks(std::int64_t{1} << 40) == 264);
  }
}

TEST_CASE("a narrower vector makes a smaller tile") {
  const auto wide =
      plan("f32", 1 << 16, {{"block_size", number(64)}, {"items", number(1)}, {"vector_bytes", number(16)}});
  const auto narrow =
      plan("f32", 1 << 16, {{"block_size", number(64)}, {"items", number(1)}, {"vector_bytes", number(4)}});
  CHECK(launch(wide, 0).grid[0] == 256);
  CHECK(launch(narrow, 0).grid[0] == 528);  // 1024 tiles, capped at four blocks on each of 132 SMs
}

TEST_CASE("single_block is one block whatever the size") {
  const auto one = plan("f32", 131072, {{"grid_stage", text("single_block")}, {"blocks_per_sm", number(1)}});
  CHECK(launch(one, 0).grid[0] == 1);
  CHECK(one.steps.size() == 1);
}

TEST_CASE("only two_pass has a second launch, and only when there is more than one block") {
  for (const char* const stage : kManyBlockStages) {
    CAPTURE(stage);
    const bool two_pass = std::string(stage) == "two_pass";
    CHECK(plan("f32", 1 << 20, {{"grid_stage", text(stage)}}).steps.size() == (two_pass ? 2 : 1));
    CHECK(plan("f32", 1, {{"grid_stage", text(stage)}}).steps.size() == 1);
    CHECK(plan("f32", 0, {{"grid_stage", text(stage)}}).steps.size() == 1);
  }
}

TEST_CASE("one block needs no scratch, so that any stream may replay its captured launch") {
  for (const char* const stage : kManyBlockStages) {
    CAPTURE(stage);
    const auto one = plan("f32", 5, {{"grid_stage", text(stage)}});
    CHECK(count(one, "partials") == 0);
    CHECK(count(one, "sync") == 0);
  }
}

TEST_CASE("scratch has room for what each grid stage stores") {
  // 2^16 elements of 512 x 4 x 16 bytes: 8 blocks of f32, 16 of f64. Counters and accumulators stand in a header of 16
  // words; a slot is one word for every four bytes of the accumulator.
  struct Case {
    const char* stage;
    const char* type;
    std::int64_t partials;
    std::int64_t sync;
  };
  for (const auto& [stage, type, partials, sync] :
       {Case{"two_pass", "f32", 8, 0}, Case{"last_block", "f32", 8, 16}, Case{"block_atomic", "f32", 0, 17},
        Case{"ticket", "f32", 0, 16 + 8}, Case{"ticket", "f64", 0, 16 + 2 * 16}, Case{"ticket", "i8", 0, 16 + 2}}) {
    CAPTURE(stage);
    CAPTURE(type);
    const auto resolved = plan(type, 1 << 16, {{"grid_stage", text(stage)}});
    CHECK(count(resolved, "partials") == partials);
    CHECK(count(resolved, "sync") == sync);
  }
}

TEST_CASE("i8 accumulates into i32, the other types into themselves") {
  const auto type_of = [](const std::string& type, const std::string& buffer) {
    for (const auto& candidate : plan(type, 100000, {{"grid_stage", text("two_pass")}}).buffers) {
      if (candidate.name == buffer) return std::string(spec::name(candidate.type));
    }
    return std::string();
  };
  for (const std::string buffer : {"out", "partials"}) {
    CHECK(type_of("i8", buffer) == "i32");
    CHECK(type_of("f32", buffer) == "f32");
    CHECK(type_of("f64", buffer) == "f64");
    CHECK(type_of("i32", buffer) == "i32");
  }
}

TEST_CASE("the bytes that must move are those of the input") {
  CHECK(plan("f64", 1000, {}).work_bytes == 8000);
  CHECK(plan("i8", 1000, {}).work_bytes == 1000);
}
