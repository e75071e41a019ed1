// What the constraints of the template reduce leave, counted by hand.
#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/condition.hpp"

namespace test_reduce_space {

using namespace attune;
using namespace attune::templates::test;

namespace {

std::uint64_t part_size(const spec::Problem& of, const std::string& where) {
  return space::SearchSpace::build(reduce_template(), of, device(), {spec::parse_condition(reduce_template(), where, {"test", 1, 1})})
      .size();
}

std::uint64_t sum_size(const std::string& type, std::int64_t n, const std::string& where) {
  return part_size(problem(type, "sum", n), where);
}

constexpr std::int64_t kLarge = 1 << 24;

// For f32: 4, 8 and 16 bytes with 1, 2, 4, 8 and 16 items, at most 128 bytes; of two halves at most 64 of each.
constexpr std::uint64_t kLoads = 5 + 5 + 4, kHalves = 5 + 4 + 3;
// blocks_per_sm 1 to 16 with 64, 128, 256 threads, to 8 with 512, to 4 with 1024: 4096 threads an SM.
constexpr std::uint64_t kFixedGrids = 3 * 5 + 4 + 3;
constexpr std::uint64_t kBlockSizes = 5;  // 64 to 1024
constexpr std::uint64_t kAnyLoad = (3 * kLoads + kHalves) * kFixedGrids;

}  // namespace

TEST_CASE("the default of reduce is valid for every type, operator and size that is defined, so that dispatch always has one") {
  const auto chosen = spec::default_configuration(reduce_template());
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      const bool bits = op == "and" || op == "or" || op == "xor";
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{131073}, std::int64_t{1} << 40}) {
        CAPTURE(type);
        CAPTURE(op);
        CAPTURE(n);
        CHECK(spec::satisfies(reduce_template(), problem(type, op, n), chosen, device()) == !(bits && is_floating(type)));
      }
    }
  }
}

TEST_CASE("a mean or root of integers is in no space") {
  for (const std::string finish : {"mean", "root"}) {
    CHECK(part_size(problem_of(reduce_template(), {{"T", "i32"}, {"finish", finish}}, 4096), "True") == 0);
    CHECK(part_size(problem_of(reduce_template(), {{"T", "f16"}, {"finish", finish}}, 4096), "grid_stage == 'ticket'") > 0);
  }
}

TEST_CASE(
    "the grid stages of reduce go with every schedule on a fixed grid, where partial results need no order also with a block a tile") {
  // Columns go with tiles alone.
  for (const auto& [block, loads] : {std::pair<std::string, std::uint64_t>{"shuffle", kAnyLoad}, {"column_tree", kLoads * kFixedGrids}}) {
    CAPTURE(block);
    const auto count = [&, name = block](const std::string& stage) {
      return sum_size("f32", kLarge, "block_stage == '" + name + "' and load != 'bulk' and grid_stage == '" + stage + "'");
    };
    for (const char* const stage : {"two_pass", "last_block", "block_atomic"}) CHECK(count(stage) == loads + kLoads * kBlockSizes);
    CHECK(count("ticket") == loads);
    CHECK(count("dependent_two_pass") == kLoads * kFixedGrids);
  }
  CHECK(sum_size("f32", kLarge, "grid_stage == 'warp_atomic'") == kAnyLoad + kLoads * kBlockSizes);
}

TEST_CASE("what others wrote is there in part: atomics of threads, trees, and the primitives of libraries") {
  // Blocks of 128, 256 and 512: 5, 5 and 4 fixed grids; tiles also with a block each.
  const std::uint64_t part = kLoads * (5 + 5 + 4) * 2 + kLoads * 3;
  for (const char* const stage : {"thread_atomic", "shared_atomic"}) {
    CHECK(sum_size("f32", kLarge, "grid_stage == '" + std::string(stage) + "'") == part);
    CHECK(sum_size("f32", (1 << 27) + 1, "grid_stage == '" + std::string(stage) + "'") == 0);
  }
  // Trees in two passes with up to 4 items of each of three widths.
  for (const std::string tree : {"interleaved_tree", "sequential_tree", "unrolled_tree", "shuffled_tree"}) {
    CHECK(sum_size("f32", kLarge, "block_stage == '" + tree + "'") == 3 * 3 * ((5 + 5 + 4) * 2 + 3));
  }
  // Two widths and numbers of items, 256 and 512 threads: tiles and two halves; in two passes also tiles with a block each.
  for (const std::string library : {"cooperative_groups", "cub_block", "cub_warp"}) {
    CHECK(sum_size("f32", kLarge, "block_stage == '" + library + "'") == 2 * (4 * 2 * (5 + 4)) + 4 * 2);
  }
}

TEST_CASE("bulk copies stay within the shared memory of an SM") {
  // Blocks of 128 to 1024 with 2, 4 and 8 items; 12288 vectors of 16 bytes fit at once.
  std::uint64_t fitting = 0;
  for (const int block : {128, 256, 512, 1024}) {
    for (const int blocks : {1, 2, 4, 8, 16}) {
      for (const int items : {2, 4, 8}) fitting += block * blocks <= 4096 && block * blocks * items <= 12288 ? 1 : 0;
    }
  }
  CHECK(sum_size("f32", kLarge, "load == 'bulk' and grid_stage == 'ticket' and block_stage == 'shuffle'") == fitting);
  CHECK(sum_size("f32", kLarge, "load == 'bulk'") == 4 * fitting);  // and the last block, and columns
}

TEST_CASE("clusters and the barrier of the grid have the spaces that the hardware leaves them") {
  // 16 bytes, 1 to 8 items; 128 to 1024 threads: 5 + 5 + 4 + 3 grids with clusters of 2, 4 and 8, those up to 512 with 16.
  CHECK(sum_size("f32", kLarge, "grid_stage == 'cluster' and block_stage == 'shuffle'") == 4 * (3 * 17 + 14));
  // 1024 threads an SM: 5 grids of 64 threads, 4, 3, 2 and 1 of 1024; two numbers of items.
  CHECK(sum_size("f32", kLarge, "grid_stage == 'grid_sync'") == 2 * (5 + 4 + 3 + 2 + 1));
}

TEST_CASE("one block is for small inputs, one thread for what it reads in some milliseconds") {
  CHECK(sum_size("f32", 131072, "grid_stage == 'single_block' and not exact_n") == 6 * kLoads * 2);  // 32 to 1024 threads, two block stages
  CHECK(sum_size("f32", 131072, "grid_stage == 'single_block' and exact_n") == 6 * 4 * 2);
  CHECK(sum_size("f32", 131073, "grid_stage == 'single_block'") == 0);
  CHECK(sum_size("f32", 1 << 25, "grid_stage == 'single_thread'") == 1);
  CHECK(sum_size("f32", (1 << 25) + 1, "grid_stage == 'single_thread'") == 0);
}

TEST_CASE("redux.sync is for integers of up to 32 bits and operators that it has") {
  for (const auto& type : kTypes) {
    const bool has = type == "i8" || type == "u8" || type == "i32" || type == "u32";
    CHECK((sum_size(type, kLarge, "block_stage == 'redux' and load == 'tiles' and items == 4") > 0) == has);
  }
  CHECK(part_size(problem("i32", "product", kLarge), "block_stage == 'redux'") == 0);
  CHECK(part_size(problem("i32", "xor", kLarge), "block_stage == 'redux' and items == 4") > 0);
}

TEST_CASE("a configuration of reduce on a fixed grid stays valid at every size, so that dispatch may use it between tuned sizes") {
  const auto wide = problem("f32", "sum", std::int64_t{1} << 31);
  const auto space = space::SearchSpace::build(reduce_template(), wide, device());
  for (std::uint64_t i = 0; i < space.size(); i += 97) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1000}, std::int64_t{3000017}}) {
      CHECK(spec::satisfies(reduce_template(), problem("f32", "sum", n), space.at(i), device()));
    }
  }
}

}  // namespace test_reduce_space
