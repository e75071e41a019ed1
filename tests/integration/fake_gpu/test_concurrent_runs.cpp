// Many whole commands on one database at once, sessions included.
#include <doctest/doctest.h>

#include <algorithm>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/figures.hpp"
#include "tuner/base/json.hpp"

namespace test_concurrent_runs {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

TEST_CASE_FIXTURE(FakeGpu,
                  "of many runs of the same problems on one new database every session is closed by its own run, and no record is lost") {
  const int runs = test::full_campaign() ? 200 : 12, at_once = test::full_campaign() ? 50 : 12;
  settings = {{"devices", json::array({json::object()})}};
  int failed = 0;
  for (int begin = 0; begin < runs; begin += at_once) {
    std::vector<int> running;
    for (int i = begin; i < std::min(runs, begin + at_once); ++i) {
      auto words = tune_words("none", {"--seed", std::to_string(i), "--budget", "4", "--strategy", "random"});
      for (auto& word : words) {
        if (word == "1000") word = "1024,4096";
      }
      running.push_back(start(words));
    }
    for (const int pid : running) failed += test::wait_for(pid) == 0 ? 0 : 1;
  }
  CHECK(failed == 0);
  const auto database_now = db::Database::open(database, db::OpenMode::ReadOnly);
  CHECK(database_now.check().ok);
  std::size_t finished = 0, without_summary = 0;
  const auto sessions = database_now.sessions({});
  for (const auto& session : sessions) {
    finished += session.state == "finished" ? 1 : 0;
    without_summary += base::parse_json(session.summary_json).contains("measured") ? 0 : 1;
  }
  CHECK(sessions.size() == static_cast<std::size_t>(2 * runs));
  CHECK(finished == sessions.size());
  CHECK(without_summary == 0);
  CHECK(database_now.in_flight().empty());
  CHECK(database_now.best({}).size() == 2);
  test::record_figures(3, "concurrent_commands",
                       {{"commands", runs},
                        {"at_once", at_once},
                        {"failed", failed},
                        {"sessions", sessions.size()},
                        {"finished", finished},
                        {"summaries_lost", without_summary}});
}

}  // namespace test_concurrent_runs
