// attune fleet: options that are refused before anything is written, as they were typed.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"

namespace test_fleet_options {

using namespace attune;
using test::Cli;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A folder for a plan of three problems in two shards.
struct PlannedFleet : Cli {
  [[nodiscard]] test::CommandResult plan_fleet(const std::string& shards, const std::string& overlap) const {
    return attune(
        {"fleet", "plan", kernel, "--T", "f32", "--size", "1000,2000,3000", "--shards", shards, "--overlap", overlap, "-o", plan});
  }
  const std::string plan = (folder / "plan").string();
};

}  // namespace

TEST_CASE_FIXTURE(PlannedFleet, "a negative number of shards, of control problems or of a shard is refused as what was typed") {
  REQUIRE(plan_fleet("2", "1").exit_code == 0);
  std::filesystem::remove_all(plan);
  const test::CommandResult refused[] = {plan_fleet("-1", "1"), plan_fleet("2", "-1"), attune({"fleet", "run", plan, "--shard", "-1"})};
  const char* const names[] = {"--shards", "--overlap", "--shard"};
  for (int i = 0; i < 3; ++i) {
    CAPTURE(refused[i].err);
    CHECK(refused[i].exit_code == 2);
    CHECK(has(refused[i].err, std::string(names[i]) + ": '-1' is no whole number"));
    CHECK_FALSE(has(refused[i].err, "18446744073709551615:"));
  }
  CHECK_FALSE(std::filesystem::exists(plan));
}

TEST_CASE_FIXTURE(PlannedFleet, "times and options that Slurm would not take or would pass over are wrong arguments, and print no script") {
  REQUIRE(plan_fleet("2", "1").exit_code == 0);
  CHECK(attune({"fleet", "sbatch", plan, "--time", "00:02:00", "--grace", "60", "--option=--account=abc"}).exit_code == 0);
  const std::vector<std::vector<std::string>> wrong = {
      {"--time", "foo"}, {"--time", "00:00:30", "--grace", "60"}, {"--option", "account=abc"}};
  const char* const told[] = {"--time 'foo'", "--grace 60", "--option=--account=abc"};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    std::vector<std::string> words = {"fleet", "sbatch", plan};
    words.insert(words.end(), wrong[i].begin(), wrong[i].end());
    const auto refused = attune(words);
    CAPTURE(refused.err);
    CHECK(refused.exit_code == 2);
    CHECK(refused.out.empty());
    CHECK(has(refused.err, told[i]));
  }
}

}  // namespace test_fleet_options
