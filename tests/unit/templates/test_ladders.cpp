// The ladders of the built-in templates: no rung is empty where its variant exists, and a problem takes few configurations.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tuner/session/variants/ladder_plan.hpp"
#include "tuner/space/search_space.hpp"

namespace test_ladders {

using namespace attune;

namespace {

struct Climbed {
  spec::KernelTemplate kernel;
  spec::VariantLadder ladder;

  explicit Climbed(const std::string& name)
      : kernel(spec::KernelTemplate::load(std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates" / name)),
        ladder(spec::VariantLadder::of(kernel).value()) {}

  [[nodiscard]] session::LadderPlan plan(const spec::Problem& problem) const {
    return session::plan_ladder(kernel, ladder, session::LadderEffort::AsTheLadderSays, {}, problem, device());
  }
  /// Names of the rungs that hold nothing by this plan.
  [[nodiscard]] std::set<std::string> empty(const session::LadderPlan& of) const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
      if (of.rung_sizes[i] == 0) names.insert(ladder.rungs[i].name);
    }
    return names;
  }
  static spec::DeviceInfo device() { return spec::DeviceInfo::of_architecture("sm_90"); }
};

spec::Problem sum_of(const std::string& type, std::int64_t n) { return {{{"T", type}, {"op", "sum"}}, {{"n", n}}}; }

constexpr std::int64_t kSmall = 1 << 16, kLarge = 1 << 25;
using Names = std::set<std::string>;

Names joined(Names a, const Names& b) {
  a.insert(b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE(
    "no rung of reduce is empty but what the type or so large an input does not have, and a problem takes at most 400 configurations") {
  const Climbed reduce("reduce");
  const auto small = reduce.plan(sum_of("f32", kSmall)), integers = reduce.plan(sum_of("i32", kSmall)),
             large = reduce.plan(sum_of("i32", kLarge));
  const Names wide = {"loads of eight", "loads of sixteen"};  // for elements of two bytes and of one
  CHECK(reduce.empty(integers) == wide);
  CHECK(reduce.empty(small) == joined(wide, {"redux.sync"}));
  CHECK(reduce.empty(large) == joined(wide, {"single block", "single block, exact n", "ticket, exact n"}));
  for (const auto& plan : {small, integers, large}) CHECK(plan.configurations <= 400);
  for (const auto& rung : reduce.ladder.rungs) {
    if (wide.contains(rung.name))
      CHECK(space::SearchSpace::build(reduce.kernel, sum_of("i8", kSmall), Climbed::device(), {rung.where}).size() > 0);
  }
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

TEST_CASE("no rung of argreduce is empty for a small input, and a large one lacks only the single block") {
  const Climbed arg("argreduce");
  for (const char* const type : {"i8", "f32", "f64"}) {
    const auto small = arg.plan({{{"T", type}, {"op", "max"}}, {{"n", kSmall}}}),
               large = arg.plan({{{"T", type}, {"op", "max"}}, {{"n", kLarge}}});
    CHECK(arg.empty(small) == Names{});
    CHECK(arg.empty(large) == Names{"single block"});
    CHECK(small.configurations <= 400);
  }
}

TEST_CASE("the rungs of segmented_reduce that hold something follow from the shape") {
  const Climbed rows("segmented_reduce");
  const auto plan = [&](std::int64_t count, std::int64_t columns) {
    return rows.plan({{{"T", "f32"}, {"op", "sum"}}, {{"rows", count}, {"columns", columns}}});
  };
  const auto long_rows = plan(2, 3000000), short_rows = plan(1000000, 32), both = plan(100, 4096);
  CHECK(rows.empty(long_rows) == Names{"thread", "sub-warp", "warp"});                           // so few threads would take for ever
  CHECK(rows.empty(short_rows) == Names{"block", "two launches", "last block done", "ticket"});  // most threads would have nothing to do
  CHECK(rows.empty(both) == Names{});
  for (const auto& one : {long_rows, short_rows, both}) CHECK(one.configurations <= 400);
}

TEST_CASE("what several rungs try whole is counted once, a sample in full, and never more than the space") {
  const Climbed reduce("reduce");
  const auto problem = sum_of("f32", kLarge);
  const auto plan = [&](const std::string& rungs) {
    const auto ladder = spec::VariantLadder::parse(reduce.kernel, R"({"attune_ladder": 1, "rungs": [)" + rungs + "]}", "l.json");
    return session::plan_ladder(reduce.kernel, ladder, session::LadderEffort::AsTheLadderSays, {}, problem, Climbed::device())
        .configurations;
  };
  // 128 to 512 threads, one element a thread and a block a tile: three configurations, of which the second rung has one.
  const std::string three =
      R"({"name": "a", "why": "w", "where": "grid_stage == 'thread_atomic' and vector_bytes == 4 and items == 1 and load == 'tiles' and blocks_per_sm == 0"})";
  const std::string one =
      R"(, {"name": "b", "why": "w", "where": "grid_stage == 'thread_atomic' and vector_bytes == 4 and items == 1 and load == 'tiles' and blocks_per_sm == 0 and block_size == 256"})";
  CHECK(plan(three) == 3);
  CHECK(plan(three + one) == 3);
  CHECK(plan(three + one + R"(, {"name": "c", "why": "w", "where": "True", "sample": 7})") == 10);
  CHECK(plan(R"({"name": "c", "why": "w", "where": "True"})") == session::kRungSample);
  CHECK(plan(R"({"name": "c", "why": "w", "where": "True", "sample": 10000000})") ==
        space::SearchSpace::build(reduce.kernel, problem, Climbed::device()).size());
}

TEST_CASE("a budget of the request holds for every rung, samples or not") {
  const Climbed arg("argreduce");
  session::Budget budget;
  budget.configurations = 2;
  const auto plan = session::plan_ladder(arg.kernel, arg.ladder, session::LadderEffort::AsTheRequestSays, budget,
                                         {{{"T", "f32"}, {"op", "max"}}, {{"n", kSmall}}}, Climbed::device());
  CHECK(plan.configurations == 2 * arg.ladder.rungs.size());
}

}  // namespace test_ladders
