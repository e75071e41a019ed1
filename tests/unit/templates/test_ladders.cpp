// The ladders of the built-in templates: no rung is empty where its variant exists, and a problem takes few configurations.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tuner/session/ladder_plan.hpp"
#include "tuner/space/search_space.hpp"

using namespace attune;

namespace {

struct Climbed {
  spec::KernelTemplate kernel;
  spec::VariantLadder ladder;

  explicit Climbed(const std::string& name)
      : kernel(spec::KernelTemplate::load(std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates" / name)), ladder(spec::VariantLadder::of(kernel).value()) {}

  [[nodiscard]] std::uint64_t size(const spec::Rung& rung, const spec::Problem& problem) const {
    return space::SearchSpace::build(kernel, problem, device(), {rung.where}).size();
  }
  /// Names of the rungs that hold nothing in any of these problems.
  [[nodiscard]] std::set<std::string> empty(const std::vector<spec::Problem>& problems) const {
    std::set<std::string> names;
    for (const auto& rung : ladder.rungs) {
      bool any = false;
      for (const auto& problem : problems) any = any || size(rung, problem) > 0;
      if (!any) names.insert(rung.name);
    }
    return names;
  }
  [[nodiscard]] std::uint64_t planned(const spec::Problem& problem) const {
    return session::planned_configurations(kernel, ladder, session::LadderEffort::AsTheLadderSays, {}, problem, device());
  }
  static spec::DeviceInfo device() { return spec::DeviceInfo::of_architecture("sm_90"); }
};

spec::Problem sum_of(const std::string& type, std::int64_t n) { return {{{"T", type}, {"op", "sum"}}, {{"n", n}}}; }

constexpr std::int64_t kSmall = 1 << 16, kLarge = 1 << 25;
using Names = std::set<std::string>;

}  // namespace

TEST_CASE("no rung of reduce is empty both at 64K and at 32M elements, but what the type does not have") {
  const Climbed reduce("reduce");
  CHECK(reduce.empty({sum_of("i8", kSmall), sum_of("i8", kLarge)}) == Names{});
  CHECK(reduce.empty({sum_of("i32", kSmall), sum_of("i32", kLarge)}) == Names{"loads of eight", "loads of sixteen"});
  CHECK(reduce.empty({sum_of("f32", kSmall), sum_of("f32", kLarge)}) == Names{"redux.sync", "loads of eight", "loads of sixteen"});
}

TEST_CASE("a rung that names a block stage, a schedule or a grid stage is there for every one that the template has") {
  const Climbed reduce("reduce");
  for (const char* const parameter : {"load", "block_stage", "grid_stage"}) {
    for (const auto& value : reduce.kernel.parameter(parameter)->values) {
      const std::string wanted = "'" + std::get<std::string>(value) + "'";
      bool named = false;
      for (const auto& rung : reduce.ladder.rungs) named = named || rung.where.expression.text().find(wanted) != std::string::npos;
      CAPTURE(parameter);
      CHECK_MESSAGE(named, wanted);
    }
  }
}

TEST_CASE("a ladder of the built-in templates takes at most 400 configurations a problem") {
  const Climbed reduce("reduce");
  for (const auto& problem : {sum_of("f32", kSmall), sum_of("i32", kSmall), sum_of("i32", kLarge)}) CHECK(reduce.planned(problem) <= 400);
  const Climbed rows("segmented_reduce");
  CHECK(rows.planned({{{"T", "f32"}, {"op", "sum"}}, {{"rows", 100}, {"columns", 1000}}}) <= 400);
  const Climbed arg("argreduce");
  CHECK(arg.planned({{{"T", "f32"}, {"op", "max"}}, {{"n", kSmall}}}) <= 400);
}

TEST_CASE("no rung of argreduce is empty for a small input, and a large one lacks only the single block") {
  const Climbed arg("argreduce");
  for (const char* const type : {"i8", "f32", "f64"}) {
    CHECK(arg.empty({{{{"T", type}, {"op", "max"}}, {{"n", kSmall}}}}) == Names{});
    CHECK(arg.empty({{{{"T", type}, {"op", "max"}}, {{"n", kLarge}}}}) == Names{"single block"});
  }
}

TEST_CASE("the rungs of segmented_reduce that hold something follow from the shape") {
  const Climbed rows("segmented_reduce");
  const auto shape = [](std::int64_t count, std::int64_t columns) { return spec::Problem{{{"T", "f32"}, {"op", "sum"}}, {{"rows", count}, {"columns", columns}}}; };
  CHECK(rows.empty({shape(2, 10000000)}) == Names{"thread", "sub-warp", "warp"});                       // rows that few threads cannot read
  CHECK(rows.empty({shape(1000000, 64)}) == Names{"block", "two launches", "last block done", "ticket"});  // more rows than blocks, and short ones
  CHECK(rows.empty({shape(2, 10000000), shape(1000000, 64), shape(100, 4096)}) == Names{});
}

TEST_CASE("what several rungs try whole is counted once, a sample in full, and never more than the space") {
  const Climbed reduce("reduce");
  const auto problem = sum_of("f32", kLarge);
  const auto plan = [&](const std::string& rungs) {
    const auto ladder = spec::VariantLadder::parse(reduce.kernel, R"({"attune_ladder": 1, "rungs": [)" + rungs + "]}", "l.json");
    return session::planned_configurations(reduce.kernel, ladder, session::LadderEffort::AsTheLadderSays, {}, problem, Climbed::device());
  };
  // 128 to 512 threads, one element a thread and a block a tile: three configurations, of which the second rung has one.
  const std::string three = R"({"name": "a", "why": "w", "where": "grid_stage == 'thread_atomic' and vector_bytes == 4 and items == 1 and load == 'tiles' and blocks_per_sm == 0"})";
  const std::string one = R"(, {"name": "b", "why": "w", "where": "grid_stage == 'thread_atomic' and vector_bytes == 4 and items == 1 and load == 'tiles' and blocks_per_sm == 0 and block_size == 256"})";
  CHECK(plan(three) == 3);
  CHECK(plan(three + one) == 3);
  CHECK(plan(three + one + R"(, {"name": "c", "why": "w", "where": "True", "sample": 7})") == 10);
  CHECK(plan(R"({"name": "c", "why": "w", "where": "True"})") == session::kRungSample);
  CHECK(plan(R"({"name": "c", "why": "w", "where": "True", "sample": 10000000})") == space::SearchSpace::build(reduce.kernel, problem, Climbed::device()).size());
}

TEST_CASE("a budget of the request holds for every rung, samples or not") {
  const Climbed arg("argreduce");
  session::Budget budget;
  budget.configurations = 2;
  const auto planned = session::planned_configurations(arg.kernel, arg.ladder, session::LadderEffort::AsTheRequestSays, budget, {{{"T", "f32"}, {"op", "max"}}, {{"n", kSmall}}}, Climbed::device());
  CHECK(planned == 2 * arg.ladder.rungs.size());
}
