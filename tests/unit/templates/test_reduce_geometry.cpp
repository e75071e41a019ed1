// Grids, launches and scratch of the template reduce.
#include "tests/unit/templates/reduce_fixture.hpp"

namespace test_reduce_geometry {

using namespace attune;
using namespace attune::templates::test;

namespace {

using Changes = std::map<std::string, std::string>;

spec::LaunchPlan plan(const std::string& type, std::int64_t n, const Changes& changes) {
  return spec::resolve(reduce_template(), problem(type, "sum", n), configuration(changes), device());
}

std::uint32_t blocks(const std::string& type, std::int64_t n, const Changes& changes) {
  return launches(plan(type, n, changes)).at(0).grid[0];
}

constexpr const char* kOneLaunch[] = {"ticket", "last_block", "block_atomic", "warp_atomic", "thread_atomic", "shared_atomic"};

}  // namespace

TEST_CASE("the grid has a block for every begun tile, at least one, at most what blocks_per_sm allows") {
  // 128 threads x 2 vectors x 16 bytes are 4096 bytes.
  const Changes changes = {{"block_size", "128"}, {"items", "2"}, {"blocks_per_sm", "2"}};
  struct Case {
    const char* type;
    std::int64_t tile;
  };
  for (const auto& [type, tile] : {Case{"f64", 512}, Case{"f32", 1024}, Case{"i32", 1024}, Case{"f16", 2048}, Case{"i8", 4096}}) {
    CAPTURE(type);
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, tile - 1, tile}) CHECK(blocks(type, n, changes) == 1);
    CHECK(blocks(type, tile + 1, changes) == 2);
    CHECK(blocks(type, tile * 264, changes) == 264);
    CHECK(blocks(type, tile * 264 + 1, changes) == 264);
    CHECK(blocks(type, std::int64_t{1} << 40, changes) == 264);
  }
}

TEST_CASE("without a limit there is a block for every tile, however many") {
  const Changes changes = {
      {"block_size", "128"}, {"items", "1"}, {"vector_bytes", "4"}, {"blocks_per_sm", "0"}, {"grid_stage", "two_pass"}};
  CHECK(blocks("f32", 1 << 25, changes) == (1 << 25) / 128);
  CHECK(blocks("f32", (1 << 25) + 1, changes) == (1 << 25) / 128 + 1);
  CHECK(blocks("f32", 0, changes) == 1);
}

TEST_CASE("a narrower vector makes a smaller tile, two halves of the input a larger one") {
  const auto with = [](const char* bytes, const char* load) {
    return blocks("f32", 1 << 14, {{"block_size", "64"}, {"items", "1"}, {"vector_bytes", bytes}, {"load", load}});
  };
  CHECK(with("16", "tiles") == 64);
  CHECK(with("4", "tiles") == 256);
  CHECK(with("16", "two_halves") == 32);
}

TEST_CASE("one block is one block whatever the size, and so is one thread") {
  const auto block = launches(plan("f32", 131072, {{"grid_stage", "single_block"}, {"blocks_per_sm", "1"}}));
  REQUIRE(block.size() == 1);
  CHECK(block[0].grid[0] == 1);
  const auto thread = launches(plan("f32", 1 << 20, {{"grid_stage", "single_thread"}, {"blocks_per_sm", "1"}, {"block_stage", "none"}}));
  REQUIRE(thread.size() == 1);
  CHECK(thread[0].kernel == "reduce_thread");
  CHECK(thread[0].grid[0] * thread[0].block[0] == 1);
}

TEST_CASE("only two passes have a second launch, and only when there is more than one block") {
  for (const std::string stage : kOneLaunch) {
    CAPTURE(stage);
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 20})
      CHECK(launches(plan("f32", n, {{"grid_stage", stage}})).size() == 1);
  }
  for (const std::string stage : {"two_pass", "dependent_two_pass"}) {
    CAPTURE(stage);
    const auto both = launches(plan("f32", 1 << 20, {{"grid_stage", stage}}));
    REQUIRE(both.size() == 2);
    CHECK(both[1].grid[0] == 1);
    CHECK_FALSE(both[0].dependent);
    CHECK(both[1].dependent == (stage == "dependent_two_pass"));
    CHECK(launches(plan("f32", 1, {{"grid_stage", stage}})).size() == 1);
    CHECK(launches(plan("f32", 0, {{"grid_stage", stage}})).size() == 1);
  }
}

TEST_CASE("a grid of clusters is a multiple of the cluster, a grid that meets at a barrier is launched cooperatively") {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{100000}, std::int64_t{1} << 24}) {
    const auto clustered = launches(plan("f32", n, {{"grid_stage", "cluster"}, {"cluster_blocks", "8"}})).at(0);
    CHECK(clustered.cluster[0] == 8);
    CHECK(clustered.grid[0] % 8 == 0);
    CHECK(clustered.grid[0] >= 8);
    CHECK(clustered.grid[0] <= 4 * 132);
  }
  CHECK(launches(plan("f32", 1 << 20, {{"grid_stage", "grid_sync"}, {"block_size", "256"}})).at(0).cooperative);
  CHECK_FALSE(launches(plan("f32", 1 << 20, {})).at(0).cooperative);
}

TEST_CASE("bulk copies have a tile of shared memory, other loads none") {
  CHECK(launches(plan("f32", 1 << 20, {{"load", "bulk"}, {"block_size", "256"}, {"items", "2"}})).at(0).shared_bytes == 256 * 2 * 16);
  CHECK(launches(plan("f32", 1 << 20, {})).at(0).shared_bytes == 0);
}

TEST_CASE("one block needs no partial results and no slots, so that any stream may replay its captured launch") {
  for (const std::string stage : {"two_pass", "dependent_two_pass", "last_block", "ticket"}) {
    CAPTURE(stage);
    const auto one = plan("f32", 5, {{"grid_stage", stage}});
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
       {Case{"two_pass", "f32", 8, 0}, Case{"dependent_two_pass", "f32", 8, 0}, Case{"last_block", "f32", 8, 16},
        Case{"grid_sync", "f32", 8, 0}, Case{"block_atomic", "f32", 0, 17}, Case{"warp_atomic", "f64", 0, 17},
        Case{"ticket", "f32", 0, 16 + 8}, Case{"ticket", "f64", 0, 16 + 2 * 16}, Case{"ticket", "i8", 0, 16 + 2},
        Case{"ticket", "f16", 0, 16 + 4}}) {
    CAPTURE(stage);
    CAPTURE(type);
    const auto resolved = plan(type, 1 << 16, {{"grid_stage", stage}});
    CHECK(count(resolved, "partials") == partials);
    CHECK(count(resolved, "sync") == sync);
  }
}

TEST_CASE("narrow types accumulate into 32 bits, the other types into themselves") {
  const std::map<std::string, std::string> accumulators = {{"i8", "i32"}, {"u8", "u32"}, {"f16", "f32"}, {"bf16", "f32"}};
  for (const auto& type : kTypes) {
    const auto wanted = accumulators.contains(type) ? accumulators.at(type) : type;
    for (const auto& buffer : plan(type, 100000, {{"grid_stage", "two_pass"}}).buffers) {
      if (buffer.name == "out" || buffer.name == "partials") CHECK(std::string(spec::name(buffer.type)) == wanted);
    }
  }
}

TEST_CASE("the bytes that must move are those of the input, or of both inputs") {
  CHECK(plan("f64", 1000, {}).work_bytes == 8000);
  CHECK(plan("i8", 1000, {}).work_bytes == 1000);
  const auto dot =
      spec::resolve(reduce_template(), problem_of(reduce_template(), {{"transform", "times"}}, 1000), configuration({}), device());
  CHECK(dot.work_bytes == 8000);
  CHECK(count(dot, "other") == 1000);
  CHECK(count(plan("f32", 1000, {}), "other") == 0);
}

}  // namespace test_reduce_geometry
