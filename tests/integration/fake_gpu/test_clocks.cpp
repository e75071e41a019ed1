// Clocks that are ahead, behind, or set while a run is at work: what a run measures because of what it has seen replaces that.
#include <doctest/doctest.h>

#include <algorithm>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/skip.hpp"

namespace test_clocks {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr const char* kTwoYears = "63072000";
constexpr const char* kTwoYearsBehind = "-63072000";

struct Clocks : FakeGpu {
  /// Tunes six configurations by this clock; crashing ones crash at their first launch.
  test::CommandResult run(const std::string& clock, bool crashing, const std::vector<std::string>& more = {}) {
    settings = {{"devices", json::array({json::object()})}};
    if (crashing) settings["faults"] = json::array({{{"kernel", "synthetic"}, {"launch", 0}, {"fault", "illegal_address"}}});
    environment["LD_PRELOAD"] = ATTUNE_SHIFTED_CLOCK;
    environment["ATTUNE_TEST_CLOCK"] = clock;
    std::vector<std::string> words{"--budget", "6", "--strategy", "random", "--seed", "3"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(tune_words("none", words));
  }

  [[nodiscard]] db::Database opened() const { return db::Database::open(database, db::OpenMode::ReadOnly); }

  /// All six work, and the best row is one of them.
  void check_all_work() const {
    const auto rows = records();
    CHECK(rows.size() == 6);
    CHECK(std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.outcome == "ok"; }));
    const auto best = opened().best({});
    REQUIRE(best.size() == 1);
    CHECK(
        std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.configuration == best[0].configuration && row.verified; }));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Clocks, "failures that were recorded by a clock two years ahead are replaced by a run that retries them by a right one") {
  if (test::kSanitized) return test::skip("a sanitizer's library has to be the first that is loaded");
  REQUIRE(run(kTwoYears, true).exit_code == 6);
  const auto failed = records();
  REQUIRE(failed.size() == 6);
  REQUIRE(failed[0].recorded_at > "2028");  // the clock was believed
  REQUIRE(run("0", false, {"--retry-failed"}).exit_code == 0);
  check_all_work();
  for (const auto& row : records()) CHECK(row.recorded_at < "2028");
}

TEST_CASE_FIXTURE(Clocks, "failures that were recorded by a right clock are replaced by a run whose clock is two years behind") {
  if (test::kSanitized) return test::skip("a sanitizer's library has to be the first that is loaded");
  REQUIRE(run("0", true).exit_code == 6);
  REQUIRE(run(kTwoYearsBehind, false, {"--retry-failed"}).exit_code == 0);
  check_all_work();
}

TEST_CASE_FIXTURE(Clocks, "a clock that is set back or forward while a run is at work costs it nothing") {
  if (test::kSanitized) return test::skip("a sanitizer's library has to be the first that is loaded");
  for (const char* clock : {"0,40,-63072000", "0,40,63072000", "63072000,15,-63072000"}) {
    CAPTURE(clock);
    std::filesystem::remove(database);
    REQUIRE(run("0", true).exit_code == 6);
    REQUIRE(run(clock, false, {"--retry-failed"}).exit_code == 0);
    check_all_work();
    for (const auto& session : opened().sessions({})) CHECK(session.state == "finished");
  }
}

TEST_CASE_FIXTURE(Clocks, "the best of a later run stands, whatever clocks dated both, and an export of it is imported") {
  if (test::kSanitized) return test::skip("a sanitizer's library has to be the first that is loaded");
  REQUIRE(run(kTwoYears, false).exit_code == 0);
  // All configurations now: the finalists are others, so the best is decided anew.
  settings = {{"devices", json::array({json::object()})}};
  environment["ATTUNE_TEST_CLOCK"] = "0";
  REQUIRE(attune(tune_words("none")).exit_code == 0);
  const auto best = opened().best({});
  REQUIRE(best.size() == 1);
  CHECK(best[0].recorded_at < "2028");
  const std::string file = (folder / "rows.jsonl").string(), other = (folder / "other.db").string();
  REQUIRE(attune({"db", "export", file, "--db", database}).exit_code == 0);
  const auto imported = attune({"db", "import", file, "--db", other});
  CAPTURE(imported.err);
  CHECK(imported.exit_code == 0);
  CHECK(db::Database::open(other, db::OpenMode::ReadOnly).records({}).size() == records().size());
}

}  // namespace test_clocks
