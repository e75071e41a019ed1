// What must not end a run, or must not stay for ever.
#include <doctest/doctest.h>

#include <algorithm>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"

namespace test_robustness {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr std::size_t kGood = 4 * 3 * 4;

std::vector<json> events_named(const std::string& out, const std::string& name) {
  std::vector<json> found;
  for (const auto& event : test::json_lines(out)) {
    if (event["event"] == name) found.push_back(event);
  }
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "finalists that fail only together are decided by the search's medians, with a notice") {
  // Every process crashes at its 300th launch: a visit fits in between, a run-off of many does not.
  settings = {{"devices", json::array({json::object()})},
              {"faults", json::array({{{"kernel", "synthetic"}, {"launch", 300}, {"fault", "illegal_address"}}})}};
  const auto result = attune(tune_words("none", {"--json"}));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(records().size() == kGood);
  CHECK(db::Database::open(database, db::OpenMode::ReadOnly).best({}).size() == 1);
  const auto notices = events_named(result.out, "notice");
  CHECK(std::any_of(notices.begin(), notices.end(), [](const json& notice) {
    return notice["text"].get<std::string>().find("could not be run off against each other") != std::string::npos;
  }));
  const auto again = attune(tune_words("none", {"--json"}));  // that was a decision: nothing was cut short by time
  CHECK(events_named(again.out, "problem").at(0)["nothing_left"] == true);
}

TEST_CASE_FIXTURE(FakeGpu, "failures answer a later run unless it asks to measure them again, and only they are") {
  REQUIRE(attune(tune_words("quick")).exit_code == 0);
  const auto measured = [&](const std::vector<std::string>& more) {
    auto words = more;
    words.push_back("--json");
    return events_named(attune(tune_words("quick", words)).out, "problem").at(0)["measured"].get<int>();
  };
  CHECK(measured({}) == 0);
  CHECK(measured({"--retry-failed"}) == 2);
  CHECK(records().size() == kGood + 2);
}

TEST_CASE_FIXTURE(FakeGpu, "on one GPU too, a problem that does not fit is given up with its reason and the others are tuned") {
  settings = {{"devices", json::array({{{"memory_bytes", std::int64_t{1} << 30}}})}};
  auto words = tune_words("none", {"--json"});
  for (auto& word : words) {
    if (word == "1000") word = "1000,900000000,2000";
  }
  const auto result = attune(words);
  CHECK(result.exit_code == 4);
  CHECK(records().size() == 2 * kGood);
  const auto given_up = events_named(result.out, "given_up");
  REQUIRE(given_up.size() == 1);
  CHECK(given_up[0]["problem"]["n"] == 900000000);
  CHECK(events_named(result.out, "end").size() == 1);
  for (const auto& session : db::Database::open(database, db::OpenMode::ReadOnly).sessions({})) CHECK(session.state != "running");
}

TEST_CASE_FIXTURE(FakeGpu, "two runs of one problem in the same second are two sessions") {
  const auto first = start(tune_words("none"));
  const auto second = attune(tune_words("none"));
  CHECK(test::wait_for(first) == 0);
  CHECK(second.exit_code == 0);
  CHECK(db::Database::open(database, db::OpenMode::ReadOnly).sessions({}).size() == 2);
  CHECK(records().size() == kGood);
}

}  // namespace test_robustness
