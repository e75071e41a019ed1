// The strategies that try what won elsewhere: portfolio, of other sizes, and winners, of every problem of the template.
#include <doctest/doctest.h>

#include "tests/unit/session/replay_fixture.hpp"
#include "tuner/session/tune/portfolio.hpp"

namespace test_portfolio {

using namespace attune;
using test::kFast;
using test::small_problem;
using Fixture = test::ReplayFixture;

namespace {

/// Its device and policy are those of a result that is there.
void put_winner_of_another_family(db::Database& database) {
  auto foreign = database.best({}).front();
  foreign.family = R"({"T":"f64"})";
  foreign.problem = R"({"T":"f64","n":1000})";
  foreign.configuration = R"({"block_size":64,"items":1,"waves":1})";
  database.put(foreign);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the portfolio strategy tries the default and what won at other sizes, and decides among them") {
  auto replay = backend();
  auto first = request();
  first.problems = {problems[0]};
  (void)session::tune(kernel, first, replay, database, {});
  put_winner_of_another_family(database);  // none of its business
  auto second = request();
  second.problems = {problems[1]};
  second.strategy = search::StrategyKind::Portfolio;
  const auto result = session::tune(kernel, second, replay, database, {});
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].measured == 2);
  REQUIRE(result.problems[0].best);
  CHECK(result.problems[0].best->configuration == kFast);
}

TEST_CASE_FIXTURE(Fixture, "the winners strategy tries what won for other types and choices of the template as well") {
  auto replay = backend();
  auto first = request();
  first.problems = {problems[0]};
  (void)session::tune(kernel, first, replay, database, {});
  put_winner_of_another_family(database);
  auto second = request();
  second.problems = {problems[1]};
  second.strategy = search::StrategyKind::Winners;
  const auto result = session::tune(kernel, second, replay, database, {});
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].measured == 3);
}

TEST_CASE_FIXTURE(
    Fixture, "what won in another database is tried as well, though under another version of the template; what is in no space is not") {
  {
    auto other = db::Database::open(folder / "other.db", db::OpenMode::ReadWrite);
    auto old = backend();
    auto first = request();
    first.problems = {problems[0]};
    (void)session::tune(kernel, first, old, other, {});
    auto row = other.best({}).front();
    row.template_hash = "of an older version";
    other.put(row);
    other.forget_best({kernel.content_hash, std::nullopt, row.problem, row.device_key, row.policy});
    row.problem = spec::to_text(small_problem(2000));
    row.configuration = R"({"block_size":256,"gone":1})";
    other.put(row);
    REQUIRE(other.best({}).size() == 2);
  }
  auto replay = backend();
  auto only = request();
  only.problems = {problems[1]};
  only.strategy = search::StrategyKind::Portfolio;
  only.also_try = {folder / "other.db"};
  const auto result = session::tune(kernel, only, replay, database, {});
  CHECK(result.problems[0].measured == 2);
  REQUIRE(result.problems[0].best);
  CHECK(result.problems[0].best->configuration == kFast);
}

TEST_CASE_FIXTURE(Fixture,
                  "what a recording has of the same problem is tried as well; what failed there, was far behind, or is of others is not") {
  const std::string slow = R"({"block_size":64,"items":1,"waves":1})", far = R"({"block_size":64,"items":2,"waves":1})";
  auto recording = test::synthetic_recording(kernel, problems, test::times(kFast));
  REQUIRE(recording.problems.size() == 2);
  auto& measured = recording.problems[1].measurements;
  std::erase_if(measured, [&](const auto& measurement) {
    return measurement.configuration != kFast && measurement.configuration != slow && measurement.configuration != far;
  });
  REQUIRE(measured.size() == 3);
  const double fastest_us =
      std::find_if(measured.begin(), measured.end(), [](const auto& m) { return m.configuration == kFast; })->timing.median_us;
  for (auto& measurement : measured) {
    if (measurement.configuration == far) measurement.timing.median_us = 1.26 * fastest_us;
    if (measurement.configuration != slow) continue;
    measurement.outcome = measure::Outcome::WrongResult;
  }
  recording.template_hash = "of an older version";
  recording.problems[1].finalists = {kFast};
  recording.problems[1].rounds_us = {{2.0}};
  recording.problems[1].left.clear();
  recording.save(folder / "old.json.zst");
  auto replay = backend();
  auto only = request();
  only.problems = {problems[1]};
  only.strategy = search::StrategyKind::Portfolio;
  only.also_try = {folder / "old.json.zst"};
  const auto result = session::tune(kernel, only, replay, database, {});
  CHECK(result.problems[0].measured == 2);  // the default and kFast
  REQUIRE(result.problems[0].best);
  CHECK(result.problems[0].best->configuration == kFast);
}

TEST_CASE_FIXTURE(Fixture, "the portfolio strategy says so when nothing was tuned that it could try") {
  auto replay = backend();
  auto only = request();
  only.strategy = search::StrategyKind::Portfolio;
  only.problems = {problems[0]};
  std::vector<std::string> notices;
  session::Observer observer;
  observer.notice = [&](const std::string& text) { notices.push_back(text); };
  const auto result = session::tune(kernel, only, replay, database, observer);
  CHECK(result.problems[0].measured == 1);
  REQUIRE(!notices.empty());
  CHECK(notices.front().find("no size of") != std::string::npos);
}

TEST_CASE("the portfolio of a problem holds what won for those that stand in for it, the problem's own first, and nothing of others") {
  const auto kernel = spec::KernelTemplate::parse(R"({
    "attune": 1, "name": "copy", "sources": ["copy.cu"],
    "problem": {"T": {"type": ["f32", "f64"]}, "data": {"choice": ["unknown", "sorted", "random"], "default": "unknown", "stand_in": "unknown"}, "n": {"size": {"min": 0}}},
    "parameters": {"block_size": {"values": [32, 64, 128, 256], "default": 32}},
    "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "T", "count": "n", "output": true}},
    "launches": [{"kernel": "copy", "grid": 1, "block": "block_size", "args": ["in", "out", "n"]}], "reference": "none"})",
                                                  {{"copy.cu", "// nothing"}}, "copy/template.json");
  const auto device = spec::DeviceInfo::of_architecture("sm_90");
  const test::TempFolder folder;
  auto database = db::Database::open(folder / "tune.db", db::OpenMode::ReadWrite);
  const auto won = [&](std::map<std::string, std::string> choices, int block_size) {
    const auto problem = spec::canonical(kernel, {std::move(choices), {{"n", 1000}}});
    db::BestRow row;
    row.template_hash = kernel.content_hash;
    row.template_name = kernel.name;
    row.family = spec::family_text(problem);
    row.problem = spec::to_text(problem);
    row.sizes_json = R"({"n":1000})";
    row.device_key = device.hard_key();
    row.policy = "cold/graph";
    row.configuration = "{\"block_size\":" + std::to_string(block_size) + "}";
    row.median_us = 1;
    row.recorded_at = "2026-01-01T00:00:00.000000Z";
    row.detail_json = "{}";
    database.put(row);
  };
  won({{"T", "f32"}, {"data", "unknown"}}, 64);
  won({{"T", "f32"}, {"data", "random"}}, 128);
  won({{"T", "f32"}, {"data", "sorted"}}, 256);
  const auto asked = spec::canonical(kernel, {{{"T", "f32"}, {"data", "sorted"}}, {{"n", 5000}}});
  const auto space = space::SearchSpace::build(kernel, asked, device);
  std::vector<std::string> proposed;
  for (const auto ordinal : session::portfolio_of(database, session::WinnersFrom::Family, kernel, asked, "cold/graph", space))
    proposed.push_back(spec::to_text(kernel, space.at(ordinal)));
  CHECK(proposed == std::vector<std::string>{R"({"block_size":256})", R"({"block_size":64})"});
}

}  // namespace test_portfolio
