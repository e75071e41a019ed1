// Tuning runs that a recording answers: what their rows say, what is refused, and recordings and layers that are made of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "attune/error.hpp"
#include "tests/unit/session/replay_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/layer.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/session/tune/store.hpp"

namespace test_replay {

using namespace attune;
using test::kFast;
using test::times;
using Fixture = test::ReplayFixture;

TEST_CASE("what a replay left out is one sentence that names a single problem and counts several") {
  session::ProblemResult none, three, five;
  three.problem = test::small_problem(1000);
  three.not_recorded = 3;
  five.not_recorded = 5;
  CHECK(session::not_recorded_notice({}).empty());
  CHECK(session::not_recorded_notice({&none}).empty());
  CHECK(session::not_recorded_notice({&none, &three}) ==
        "3 configurations of {\"T\":\"f32\",\"n\":1000} are not in the recording and were left out");
  CHECK(session::not_recorded_notice({&three, &none, &five}) ==
        "8 configurations of 2 problems (3 to 5 of each) are not in the recording and were left out");
  CHECK(session::not_recorded_notice({&five, &five}) ==
        "10 configurations of 2 problems (5 of each) are not in the recording and were left out");
}

TEST_CASE_FIXTURE(Fixture, "replayed rows carry the date of their measurement, not of the replay") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  for (const auto& row : database.records({})) CHECK(row.recorded_at == "2026-01-02T03:04:05Z");
  for (const auto& row : database.best({})) CHECK(row.recorded_at == "2026-01-02T03:04:05Z");
}

TEST_CASE_FIXTURE(Fixture, "a replay takes hardly any time, so that within a budget of it the default strategy tries all, at random") {
  const auto order_of = [&](search::StrategyKind strategy, const std::string& budget) {
    auto replay = backend();
    auto fresh = db::Database::open_in_memory();
    auto asked = request();
    asked.strategy = strategy;
    asked.budget = session::Budget::parse(budget);
    std::vector<std::string> order;
    session::Observer observer;
    observer.recorded = [&](const measure::Measurement& measurement) { order.push_back(measurement.configuration); };
    (void)session::tune(kernel, asked, replay, fresh, observer);
    return order;
  };
  const auto whole = order_of(search::StrategyKind::Random, "60s");
  CHECK(whole.size() == order_of(search::StrategyKind::Exhaustive, "100%").size());
  CHECK(order_of(search::StrategyKind::Auto, "60s") == whole);
  CHECK(order_of(search::StrategyKind::Auto, "8").size() == 16);  // of each problem
}

TEST_CASE_FIXTURE(Fixture, "a layer's best rows are those that tuning from the same recording decides") {
  const auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  session::ReplayBackend replay(recording, "synthetic.json.zst", kernel);
  (void)session::tune(kernel, request(), replay, database, {});
  const auto layer = session::layer_rows({{recording, "synthetic.json.zst", kernel}});
  REQUIRE(layer.best.size() == 1);
  const auto& rows = layer.best.front();
  const auto tuned = database.best({});
  REQUIRE(rows.size() == tuned.size());
  for (const auto& row : rows) {
    const auto same = std::find_if(tuned.begin(), tuned.end(), [&](const auto& best) { return best.problem == row.problem; });
    REQUIRE(same != tuned.end());
    CHECK(row.configuration == same->configuration);
    CHECK(row.median_us == same->median_us);
    CHECK(row.default_us == same->default_us);
    CHECK(row.recorded_at == "2026-01-02T03:04:05Z");
  }
  // How each winner and the default did at every size goes along, and nothing else.
  std::set<std::string> names{spec::to_text(kernel, spec::default_configuration(kernel))};
  for (const auto& row : rows) names.insert(row.configuration);
  CHECK(layer.records.size() == names.size() * rows.size());
  for (const auto& record : layer.records) CHECK(names.contains(record.configuration));
}

TEST_CASE_FIXTURE(Fixture, "a recording without a run-off makes no layer") {
  auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  recording.problems[1].rounds_us.clear();
  CHECK_THROWS_WITH_AS((void)session::layer_rows({{recording, "bare.json.zst", kernel}}), doctest::Contains("bare.json.zst"), Error);
}

TEST_CASE_FIXTURE(Fixture, "replaying a recording of other sources is refused with both versions named") {
  auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  recording.template_hash = "0123456789abcdef0123456789abcdef";
  CHECK_THROWS_WITH_AS(session::ReplayBackend(recording, "old.json.zst", kernel), doctest::Contains("0123456789ab"), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "a problem that the recording lacks is refused and the recorded ones are listed") {
  auto replay = backend();
  session::TuneRequest other = request();
  other.problems = {test::small_problem(77)};
  CHECK_THROWS_WITH_AS((void)session::tune(kernel, other, replay, database, {}), doctest::Contains(R"("n":100000)"), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "a recording extracted from the database replays to the same winner") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  auto recording = session::extract_recording(database, kernel, problems, replay.device().hard_key(), "cold/graph", replay.origin());
  CHECK(recording.coverage == "whole space");
  CHECK(recording.read_ceiling_bytes_per_s == 4e12);
  session::ReplayBackend second(recording, "extracted.json.zst", kernel);
  auto fresh = db::Database::open(folder / "second.db", db::OpenMode::ReadWrite);
  const auto result = session::tune(kernel, request(), second, fresh, {});
  for (const auto& problem : result.problems) {
    REQUIRE(problem.best.has_value());
    CHECK(problem.best->configuration == kFast);
  }
}

TEST_CASE_FIXTURE(Fixture, "a recording holds the problems that have a measurement, and is refused only where none has") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  const auto extract = [&](const std::vector<spec::Problem>& asked) {
    return session::extract_recording(database, kernel, asked, replay.device().hard_key(), "cold/graph", replay.origin());
  };
  const auto unmeasured = test::small_problem(77);
  const auto recording = extract({unmeasured, problems[0]});
  REQUIRE(recording.problems.size() == 1);
  CHECK(recording.problems[0].problem == problems[0]);
  CHECK(recording.coverage == "whole space");
  CHECK_THROWS_WITH_AS((void)extract({unmeasured}), doctest::Contains("none of the 1 problems"), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "a run whose finalists the recording never ran off says so and goes by the search's medians") {
  auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  for (auto& problem : recording.problems) {
    problem.finalists.clear();
    problem.rounds_us.clear();
  }
  session::ReplayBackend replay(recording, "synthetic.json.zst", kernel);
  std::vector<std::string> notices;
  session::Observer observer;
  observer.notice = [&](const std::string& notice) { notices.push_back(notice); };
  const auto result = session::tune(kernel, request(), replay, database, observer);
  CHECK(notices.size() == 2);
  REQUIRE(result.problems[0].best.has_value());
  CHECK(result.problems[0].best->configuration == kFast);
  CHECK(base::parse_json(result.problems[0].best->detail_json)["rounds"] == 1);
}

}  // namespace test_replay
