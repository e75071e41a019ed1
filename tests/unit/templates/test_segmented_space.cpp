#include <doctest/doctest.h>

#include "tests/support/row_stages.hpp"
#include "tests/unit/templates/segmented_fixture.hpp"
#include "tuner/space/search_space.hpp"

namespace test_segmented_space {

using namespace attune;
using namespace attune::templates::segmented;

namespace {

constexpr std::int64_t kManySizes[] = {0, 1, 31, 1000, 65537, std::int64_t{1} << 28};

spec::LaunchPlan plan(const std::string& type, std::int64_t rows, std::int64_t columns, const std::map<std::string, std::string>& changes) {
  return spec::resolve(kernel(), problem(type, "sum", rows, columns), configuration(changes), device());
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

std::uint64_t space_size(const std::string& type, std::int64_t rows, std::int64_t columns) {
  return space::SearchSpace::build(kernel(), problem(type, "sum", rows, columns), device()).size();
}

/// A number that the sources give to a constant.
std::int64_t constant(const std::string& name) {
  const std::string& values = kernel().files.at("values.cu");
  const auto at = values.find(name + " = ");
  REQUIRE(at != std::string::npos);
  return std::stoll(values.substr(at + name.size() + 3));
}

}  // namespace

TEST_CASE("the default of segmented_reduce is valid and has a launch for every type, operator and shape") {
  const auto chosen = spec::default_configuration(kernel());
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      for (const std::int64_t rows : kManySizes) {
        for (const std::int64_t columns : kManySizes) {
          if (rows * columns > std::int64_t{1} << 44) continue;  // beyond what a buffer may hold
          const auto of = problem(type, op, rows, columns);
          CAPTURE(spec::to_text(of));
          CHECK(spec::satisfies(kernel(), of, chosen, device()));
          CHECK(spec::resolve(kernel(), of, chosen, device()).steps.size() == 1);
        }
      }
    }
  }
}

TEST_CASE("the space of segmented_reduce has the size that its parameters and constraints give") {
  // Pairs of block size and blocks per SM: 6, 6, 5, 4, 3 of the five block sizes, 24 in all. Pairs of items and
  // rows_in_flight multiply to 8 at most, and two and four rows leave out blocks of 1024, eight those of 512 too: 83 ways
  // with 1 item, 66 with 2, 45 with 4, 24 with 8, 218 in all. `adaptive` has 24 * 4 configurations everywhere.
  // One row: no lanes and no block takes it alone. Three stages, three widths, four items.
  CHECK(space_size("f32", 1, std::int64_t{1} << 28) == 3 * 24 * 3 * 4 + 96);
  // 4000 bytes a row, too many rows for several blocks each. Six ways of lanes, three widths; a block whose tile is below
  // 8000 bytes: 35 ways with 16 bytes, 56 with 8, 74 with 4.
  CHECK(space_size("f32", 65537, 1000) == 6 * 3 * 218 + 35 + 56 + 74 + 96);
  // 256 bytes a row: the lanes' loads stay below 512 bytes. Six blocks of 64 threads with 4 bytes each.
  const std::uint64_t of_16_bytes = 5 * 83 + 4 * 66 + 3 * 45 + 2 * 24;
  const std::uint64_t of_8_bytes = 6 * 83 + 5 * 66 + 4 * 45 + 3 * 24;
  const std::uint64_t of_4_bytes = 6 * 83 + 6 * 66 + 5 * 45 + 4 * 24;
  CHECK(space_size("f32", 1 << 22, 64) == of_16_bytes + of_8_bytes + of_4_bytes + 6 + 96);
}

TEST_CASE("a row of a single element is left to one thread, which loads no more than it") {
  const auto space = space::SearchSpace::build(kernel(), problem("f32", "sum", 100000, 1), device());
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const auto plan = spec::resolve(kernel(), problem("f32", "sum", 100000, 1), space.at(i), device());
    CHECK(launch(plan, 0).kernel == "segmented_by_lanes");
    CHECK(launch(plan, 0).arguments.at(4).bits == 1);  // lanes
  }
}

TEST_CASE("adaptive takes lanes, a block or several blocks by the shape") {
  struct Case {
    std::int64_t rows;
    std::int64_t columns;
    const char* kernel;
    std::uint64_t lanes;  // of a row, where lanes take it
  };
  for (const auto& [rows, columns, name, lanes] :
       {Case{1, std::int64_t{1} << 28, "segmented_by_blocks", 0}, Case{500, 1 << 20, "segmented_by_blocks", 0},
        Case{7, 1000, "segmented_by_block", 0}, Case{65537, 100000, "segmented_by_block", 0}, Case{65537, 1000, "segmented_by_lanes", 32},
        Case{1 << 22, 64, "segmented_by_lanes", 4}, Case{1 << 22, 3, "segmented_by_lanes", 1}, Case{1 << 22, 33, "segmented_by_lanes", 16},
        Case{1000, 0, "segmented_by_lanes", 1}, Case{0, 1 << 28, "segmented_by_block", 0}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const auto resolved = plan("f32", rows, columns, {});
    CHECK(launch(resolved, 0).kernel == name);
    if (lanes > 0) CHECK(launch(resolved, 0).arguments.at(4).bits == lanes);
  }
}

TEST_CASE("no shape makes a grid that exceeds blocks_per_sm blocks on each SM, except that a row has a block at least") {
  constexpr std::int64_t kMost = 132 * 8;
  for (const auto& stage : attune::test::kRowStages) {
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, std::int64_t{1} << 24}) {
      const auto of = problem("f32", "sum", rows, 30000);
      if (!spec::satisfies(kernel(), of, configuration(stage), device())) continue;
      CAPTURE(stage.at("row_stage"));
      CAPTURE(rows);
      const auto blocks = launch(plan("f32", rows, 30000, stage), 0).grid[0];
      CHECK(blocks >= 1);
      CHECK(blocks <= kMost + rows);
      if (rows == std::int64_t{1} << 24) CHECK(blocks == kMost);
    }
  }
}

TEST_CASE("scratch of segmented_reduce has room for what each stage stores, and most need none") {
  // 100 rows of 2^20 f32: 11 blocks a row of 256 threads, 4 items, 16 bytes, to have 8 on each of 132 SMs.
  struct Case {
    const char* stage;
    const char* type;
    std::int64_t partials;
    std::int64_t sync;
  };
  for (const auto& [stage, type, partials, sync] :
       {Case{"two_pass", "f32", 1100, 0}, Case{"last_block", "f32", 1100, 1600}, Case{"ticket", "f32", 0, 1600 + 1100},
        Case{"ticket", "f64", 0, 1600 + 2200}, Case{"adaptive", "f32", 0, 1600 + 1100}, Case{"block", "f32", 0, 0}}) {
    CAPTURE(stage);
    CAPTURE(type);
    const auto resolved = plan(type, 100, 1 << 20, {{"row_stage", stage}});
    CHECK(buffer(resolved, "partials").count == partials);
    CHECK(buffer(resolved, "sync").count == sync);
  }
  for (const auto& [rows, columns] : {std::pair{7, 1000}, std::pair{1 << 20, 3}, std::pair{0, 1 << 20}, std::pair{5, 0}})
    CHECK(buffer(plan("f32", rows, columns, {}), "sync").count == 0);
}

TEST_CASE("results are wider where elements are narrow, and matrices may pass 2^32 elements") {
  struct Case {
    const char* type;
    const char* result;
  };
  for (const auto& [type, result] : {Case{"i8", "i32"}, Case{"u8", "u32"}, Case{"f16", "f32"}, Case{"bf16", "f32"}, Case{"u64", "u64"}}) {
    const auto resolved = plan(type, 3, std::int64_t{1} << 33, {});
    CHECK(std::string(spec::name(buffer(resolved, "out").type)) == result);
    CHECK(buffer(resolved, "in").count == 3 * (std::int64_t{1} << 33));
    CHECK(buffer(resolved, "out").count == 3);
  }
  CHECK(plan("f16", 10, 100, {}).work_bytes == 10 * (100 * 2 + 4));
}

TEST_CASE("constants that stand in the sources of segmented_reduce and in template.json agree") {
  const auto two_pass = plan("f32", 3, 1 << 20, {{"row_stage", "two_pass"}});
  CHECK(launch(two_pass, 1).block[0] == constant("kFinishThreads"));
  CHECK(buffer(plan("f32", 3, 1 << 20, {{"row_stage", "last_block"}}), "sync").count == 3 * constant("kSyncWords"));
}

}  // namespace test_segmented_space
