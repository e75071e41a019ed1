// Results belong to the plan whose problems they are of: those of another, put or left in its folder, finish nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/fake_gpu/fleet_fixture.hpp"
#include "tests/support/conditions.hpp"
#include "tuner/base/files.hpp"

namespace test_fleet_plans {

using namespace attune;
using nlohmann::json;
using test::FleetWorld;
using test::mentions;
namespace fs = std::filesystem;

namespace {

/// Two plans: of the fixture's problems, and of three others.
struct TwoPlans : FleetWorld {
  [[nodiscard]] std::vector<std::string> other_plan_words() const {
    return {"fleet", "plan", template_folder, "--T", "i32", "--faults", "none", "--size", "7000,8000,9000", "--shards", "1", "-o", plan};
  }
  void plan_anew() const {
    fs::rename(plan, folder / "former plan");
    REQUIRE(attune(other_plan_words()).exit_code == 0);
  }
  /// How many problems of shard 0 are decided in the database of a node.
  [[nodiscard]] std::size_t finished_on_node(const std::string& name) const {
    for (const auto& entry : fs::recursive_directory_iterator(node(name))) {
      if (entry.path().filename() != "shard-0000.db") continue;
      const auto sessions = db::Database::open(entry.path(), db::OpenMode::ReadOnly).sessions({});
      return static_cast<std::size_t>(
          std::count_if(sessions.begin(), sessions.end(), [](const auto& one) { return one.state == "finished"; }));
    }
    FAIL("there is no database of shard 0");
    return 0;
  }
};

}  // namespace

TEST_CASE_FIXTURE(TwoPlans, "another plan's result in the place of a shard's finishes nothing: a merge says so, and a task sets it aside") {
  make_plan();
  run_shard(0);
  const fs::path stray = folder / "stray.db";
  fs::rename(result(0, ".db"), stray);
  plan_anew();
  fs::copy_file(stray, result(0, ".db"));
  const json merged = merge((folder / "all.db").string());
  CHECK(merged["complete"] == false);
  CHECK(merged["shards"][0]["state"] == "partial");
  CHECK(merged["shards"][0]["left"] == 3);
  CHECK(attune({"fleet", "merge", plan, "--db", (folder / "strict.db").string(), "--strict"}).exit_code == 1);
  const auto run = attune(run_words(0, {"--json"}));
  CAPTURE(run.err);
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, "no search of 3 of the plan's 3 problems"));
  CHECK(measured_by(run) == 3 * kSpace);
  CHECK(merge((folder / "again.db").string())["complete"] == true);
}

TEST_CASE_FIXTURE(TwoPlans, "a task of a plan that another has replaced meanwhile publishes nothing, stops and ends with 4") {
  make_plan();
  slow();
  const int pid = start(run_words(0, {"--scratch", node("kept")}));
  REQUIRE(test::wait_until([&] { return is_there(0, ".part.db"); }));
  plan_anew();
  CHECK(test::wait_for(pid) == 4);
  CHECK(finished_on_node("kept") < 3);
  CHECK_FALSE(mentions(base::read_file(output()), "same command continues"));
  CHECK_FALSE(is_there(0, ".db"));
  CHECK_FALSE(is_there(0, ".part.db"));
  fast();
  run_shard(0);
  CHECK(records_in(result(0, ".db")) == 3 * kSpace);
}

TEST_CASE_FIXTURE(FleetWorld, "a plan whose conditions leave no configuration is refused with the condition, and nothing is written") {
  auto words = plan_words({"--where", "block_size == 7"});
  const auto refused = attune(words);
  CHECK(refused.exit_code == 6);
  CHECK(mentions(refused.err, "block_size == 7"));
  CHECK_FALSE(fs::exists(plan));
}

TEST_CASE_FIXTURE(FleetWorld, "a plan is made where one size has configurations, however many before it have none") {
  auto words = plan_words({"--where", "n == 100"});
  *(std::find(words.begin(), words.end(), "--size") + 1) = "1..100:+1";
  const auto made = attune(words);
  CAPTURE(made.err);
  CHECK(made.exit_code == 0);
  CHECK(fs::exists(fs::path(plan) / "manifest.json"));
}

TEST_CASE_FIXTURE(FleetWorld, "a plan that cannot be looked at is the machine's fault, which another try may not have") {
  make_plan();
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(plan, fs::perms::none);
  const auto run = [&] {
    const test::Unprivileged user;
    return attune(run_words(0));
  }();
  fs::permissions(plan, fs::perms::owner_all);
  CAPTURE(run.err);
  CHECK(run.exit_code == 4);
  CHECK(mentions(run.err, "manifest.json"));
}

TEST_CASE_FIXTURE(FleetWorld, "what is no file in the place of a result does not pass by waiting") {
  make_plan();
  run_shard(1);
  fs::create_directory(result(0, ".db"));
  const json merged = merge((folder / "all.db").string());
  CHECK(merged["shards"][0]["state"] == "unreadable");
  CHECK(merged["shards"][0]["may_pass"] == false);
  CHECK(merged["shards"][1]["state"] == "finished");
}

}  // namespace test_fleet_plans
