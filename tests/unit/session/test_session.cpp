// The tuning loop over the real database and a replay of made-up recordings: what it stores, decides and takes up again.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/session/replay_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/space/search_space.hpp"

namespace test_session {

using namespace attune;
using test::kFast;
using test::times;
using Fixture = test::ReplayFixture;

TEST_CASE_FIXTURE(Fixture, "an exhaustive run stores every configuration and finds the fastest for each problem") {
  auto replay = backend();
  const auto result = session::tune(kernel, request(), replay, database, {});
  const auto space = space::SearchSpace::build(kernel, problems[0], replay.device());
  REQUIRE(result.problems.size() == 2);
  for (const auto& problem : result.problems) {
    CHECK(problem.measured == space.size());
    REQUIRE(problem.best.has_value());
    CHECK(problem.best->configuration == kFast);
    CHECK(problem.best->median_us == 2.0);
    CHECK_FALSE(problem.best->tie);
  }
  CHECK(database.records({}).size() == 2 * space.size());
  CHECK(result.problems[0].work.bytes == 2 * 1000 * 4);
  CHECK(database.in_flight().empty());
}

TEST_CASE_FIXTURE(Fixture, "every configuration is told after its record is stored, and every session names its run") {
  auto replay = backend(3);
  session::TuneRequest named = request();
  named.run = "one-command";
  std::size_t told = 0, unstored = 0, failed = 0;
  session::Observer observer;
  observer.recorded = [&](const measure::Measurement& measurement) {
    ++told;
    failed += measurement.outcome == measure::Outcome::WrongResult ? 1 : 0;
    if (database.records({}).size() != told) ++unstored;
  };
  const auto result = session::tune(kernel, named, replay, database, observer);
  CHECK(told == result.problems[0].measured + result.problems[1].measured);
  CHECK(unstored == 0);
  CHECK(failed == 2);
  const auto sessions = database.sessions({});
  CHECK(sessions.size() == 2);
  for (const auto& row : sessions) CHECK(base::parse_json(row.summary_json).at("run") == "one-command");
}

TEST_CASE_FIXTURE(Fixture, "a command's time that is spent before a problem begins leaves it none") {
  auto replay = backend();
  session::TuneRequest late = request();
  late.budget = session::Budget::parse("1h");
  late.seconds_left = -1.0;
  const auto result = session::tune(kernel, late, replay, database, {});
  // Nothing is proposed any more once the time is over: at most what the first look at the clock lets through.
  for (const auto& problem : result.problems) CHECK(problem.measured < problem.space_size);
}

TEST_CASE_FIXTURE(Fixture, "a best whose configuration fails by now is forgotten when nothing else works") {
  auto replay = backend();
  auto only = request();
  only.problems = {problems[0]};
  (void)session::tune(kernel, only, replay, database, {});
  const auto best = database.best({}).front();
  REQUIRE(best.configuration == kFast);
  for (auto row : database.records({})) {
    row.outcome = "wrong_result";
    row.verified = false;
    row.median_us = row.low_us = row.high_us = 0;
    row.samples = 0;
    row.recorded_at = "2026-02-02T03:04:05Z";
    auto detail = base::parse_json(row.detail_json);
    detail["outcome"] = "wrong_result";
    detail["verified"] = false;
    row.detail_json = base::dump_json(detail);
    database.put(row);
  }
  session::ReplayBackend again{test::synthetic_recording(kernel, problems, times(kFast)), "synthetic.json.zst", kernel};
  (void)session::tune(kernel, only, again, database, {});
  CHECK(database.best({}).empty());
}

TEST_CASE_FIXTURE(Fixture, "the same command again measures nothing and says that nothing is left") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  const auto again = session::tune(kernel, request(), replay, database, {});
  for (const auto& problem : again.problems) {
    CHECK(problem.measured == 0);
    CHECK(problem.reused == problem.space_size);
    CHECK(problem.nothing_left);
    REQUIRE(problem.best.has_value());
    CHECK(problem.best->configuration == kFast);
  }
}

TEST_CASE_FIXTURE(Fixture, "what a device with the same figures and other memory has measured is measured again, decided again, and told") {
  auto slow = backend();
  const auto space_size = space::SearchSpace::build(kernel, problems[0], slow.device()).size();
  CHECK(session::tune(kernel, request(), slow, database, {}).problems[0].measured == space_size);
  auto recording = synthetic_recording(kernel, problems, times(R"({"block_size":64,"items":1,"waves":1})"));
  recording.device.memory_clock_khz = 3201000;
  session::ReplayBackend fast(recording, "fast.json.zst", kernel);
  recording.device.memory_clock_khz = 2619000;
  recording.date = "2026-01-03T00:00:00Z";  // the newer row stays
  session::ReplayBackend other(recording, "other.json.zst", kernel);
  REQUIRE(fast.device().hard_key() == slow.device().hard_key());
  std::vector<std::string> notices;
  session::Observer observer;
  observer.notice = [&](const std::string& text) { notices.push_back(text); };
  // The first rows tell no memory clock, as those of older versions: they are taken for this device's.
  CHECK(session::tune(kernel, request(), fast, database, observer).problems[0].measured == 0);
  auto anew = request();
  db::Database fresh = db::Database::open_in_memory();
  CHECK(session::tune(kernel, anew, fast, fresh, observer).problems[0].measured == space_size);
  CHECK(session::tune(kernel, anew, fast, fresh, observer).problems[0].measured == 0);
  CHECK(notices.empty());
  CHECK(session::tune(kernel, anew, other, fresh, observer).problems[0].measured == space_size);
  REQUIRE(notices.size() == 2);  // one a problem
  CHECK(notices[0].find(std::to_string(space_size) + " records of") == 0);
  CHECK(notices[0].find("faster or slower memory than here (2619000 kHz); they are measured again") != std::string::npos);
  for (const auto& best : fresh.best({})) CHECK(spec::memory_clock_of(best.detail_json) == 2619000);
}

TEST_CASE_FIXTURE(Fixture, "an interrupted run keeps what it measured and the next one measures only the rest") {
  auto replay = backend();
  session::TuneRequest part = request();
  part.budget = session::Budget::parse("5");
  (void)session::tune(kernel, part, replay, database, {});
  const std::size_t kept = database.records({}).size();
  CHECK(kept == 10);

  int calls = 0;
  session::Observer stop;
  stop.interrupted = [&] { return ++calls > 1; };
  const auto interrupted = session::tune(kernel, request(), replay, database, stop);
  CHECK(interrupted.interrupted);
  const auto sessions = database.sessions({});
  CHECK(std::any_of(sessions.begin(), sessions.end(), [](const auto& s) { return s.state == "interrupted"; }));

  const auto rest = session::tune(kernel, request(), replay, database, {});
  const auto records = database.records({});
  CHECK(records.size() == rest.problems[0].space_size + rest.problems[1].space_size);
  CHECK(rest.problems[0].reused + rest.problems[0].measured == rest.problems[0].space_size);
  CHECK(rest.problems[0].reused >= 5);
}

TEST_CASE_FIXTURE(Fixture, "a failed configuration is a record with its outcome and is never the best") {
  auto replay = backend(3);
  const auto result = session::tune(kernel, request(), replay, database, {});
  CHECK(result.problems[0].failed.at("wrong_result") == 1);
  std::size_t failed = 0;
  for (const auto& row : database.records({})) failed += row.outcome == "wrong_result" ? 1 : 0;
  CHECK(failed == 2);
}

TEST_CASE_FIXTURE(Fixture, "a problem of which every configuration fails ends without a best") {
  session::ReplayBackend replay(test::synthetic_recording(kernel, problems, [](const std::string&, std::uint64_t) { return 0.0; }),
                                "synthetic.json.zst", kernel);
  const auto result = session::tune(kernel, request(), replay, database, {});
  CHECK_FALSE(result.problems[0].best.has_value());
  CHECK(database.best({}).empty());
}

TEST_CASE_FIXTURE(Fixture, "a run that a kill left open is closed by the next one, which names what was on the GPU") {
  db::SessionRow dead;
  dead.key = "dead";
  dead.template_hash = kernel.content_hash;
  dead.problem = spec::to_text(problems[0]);
  auto replay = backend();
  dead.device_key = replay.device().hard_key();
  dead.policy = "cold/graph";
  dead.strategy = "exhaustive";
  dead.state = "running";
  dead.started_at = "2026-01-01T00:00:00Z";
  database.put(db::DeviceRow{dead.device_key, replay.device().hard_json(), base::dump_json(replay.device().to_json())});
  database.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text});
  database.put(dead);
  database.set_in_flight("dead", kFast);
  std::vector<std::string> notices;
  session::Observer observer;
  observer.notice = [&](const std::string& text) { notices.push_back(text); };
  (void)session::tune(kernel, request(), replay, database, observer);
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].find(kFast) != std::string::npos);
  CHECK(database.in_flight().empty());
  for (const auto& row : database.sessions({})) CHECK(row.state != "running");
}

TEST_CASE_FIXTURE(Fixture, "an empty space is told with the condition that emptied it") {
  std::string text = test::small_template_json();
  const std::string from = "block_size * items <= 1024";
  text.replace(text.find(from), from.size(), "block_size > 4096");
  const auto empty = spec::KernelTemplate::parse(text, {{"double_it.cu", test::small_template_source()}}, "double_it/template.json");
  session::ReplayBackend replay(test::synthetic_recording(empty, problems, times(kFast)), "synthetic.json.zst", empty);
  std::vector<std::string> notices;
  session::Observer observer;
  observer.notice = [&](const std::string& notice) { notices.push_back(notice); };
  const auto result = session::tune(empty, request(), replay, database, observer);
  CHECK_FALSE(result.problems[0].best.has_value());
  REQUIRE(notices.size() == 2);
  CHECK(notices[0].find("block_size > 4096") != std::string::npos);
}

namespace {

/// Test double for a GPU (none is here): answers like the replay it is, but says "measured" and fails one finalist.
class FlakyFinalist : public session::ReplayBackend {
 public:
  FlakyFinalist(session::Recording recording, const spec::KernelTemplate& kernel, std::string failing)
      : ReplayBackend(std::move(recording), "synthetic.json.zst", kernel), kernel_(&kernel), failing_(std::move(failing)) {}
  [[nodiscard]] std::string origin() const override { return "measured"; }
  [[nodiscard]] std::optional<session::RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists,
                                                              const session::Race::Options&, std::uint64_t) override {
    session::RunOffSamples samples;
    samples.rounds_us.assign(9, {});
    for (const auto& finalist : finalists) {
      const std::string text = spec::to_text(*kernel_, finalist);
      if (text == failing_) {
        samples.failed.push_back({text, measure::Outcome::WrongResult, "made-up race"});
        continue;
      }
      samples.configurations.push_back(text);
      for (auto& round : samples.rounds_us) round.push_back(10.0 + static_cast<double>(samples.configurations.size()));
    }
    return samples;
  }

 private:
  const spec::KernelTemplate* kernel_;
  std::string failing_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a later run with a small budget keeps the better winner of the earlier one") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  session::TuneRequest small = request();
  small.strategy = search::StrategyKind::Random;
  small.seed = 99;
  small.budget = session::Budget::parse("2");
  const auto result = session::tune(kernel, small, replay, database, {});
  REQUIRE(result.problems[0].best.has_value());
  CHECK(result.problems[0].best->configuration == kFast);
  for (const auto& row : database.best({})) CHECK(row.configuration == kFast);
}

TEST_CASE_FIXTURE(Fixture, "measurements of a run that ended before its run-off are decided by the next run") {
  auto replay = backend();
  session::TuneRequest first = request();
  first.budget = session::Budget::parse("1");
  (void)session::tune(kernel, first, replay, database, {});
  CHECK(database.best({}).front().configuration != kFast);
  // Everything else is stored as the killed run would have left it: records without a decision.
  const auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  for (const auto& recorded : recording.problems) {
    const session::RowContext context{kernel.content_hash, kernel.name, recorded.problem, recording.device.hard_key(),
                                      "cold/graph",        "0.0",       "synthetic",      replay.origin(),
                                      recording.date};
    for (const auto& measurement : recorded.measurements) database.put(session::to_row(context, measurement));
  }
  const auto result = session::tune(kernel, request(), replay, database, {});
  CHECK(result.problems[0].measured == 0);
  CHECK_FALSE(result.problems[0].nothing_left);
  for (const auto& row : database.best({})) CHECK(row.configuration == kFast);
}

TEST_CASE_FIXTURE(Fixture, "a finalist that fails in the run-off becomes a failed record and the next best wins") {
  FlakyFinalist gpu(test::synthetic_recording(kernel, problems, times(kFast)), kernel, kFast);
  const auto result = session::tune(kernel, request(), gpu, database, {});
  for (const auto& problem : result.problems) {
    REQUIRE(problem.best.has_value());
    CHECK(problem.best->configuration != kFast);
    CHECK(problem.failed.at("wrong_result") == 1);
  }
  std::size_t failed = 0;
  for (const auto& row : database.records({})) {
    if (row.configuration != kFast) continue;
    CHECK(row.outcome == "wrong_result");
    CHECK(row.detail_json.find("made-up race") != std::string::npos);
    ++failed;
  }
  CHECK(failed == 2);
}

TEST_CASE_FIXTURE(Fixture, "a GPU measures again what only a recording had answered, and a replay leaves what a GPU decided") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  FlakyFinalist gpu(test::synthetic_recording(kernel, problems, times(kFast)), kernel, "none");
  const auto measured = session::tune(kernel, request(), gpu, database, {});
  CHECK(measured.problems[0].reused == 0);
  CHECK(measured.problems[0].measured == measured.problems[0].space_size);
  for (const auto& row : database.records({})) CHECK(row.origin == "measured");
  auto again = backend();
  (void)session::tune(kernel, request(), again, database, {});
  for (const auto& row : database.best({})) CHECK(base::parse_json(row.detail_json)["origin"] == "measured");
}

TEST_CASE_FIXTURE(Fixture, "an unverified configuration is stored but never becomes the best") {
  auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  for (auto& problem : recording.problems) {
    for (auto& measurement : problem.measurements) measurement.verified = measurement.configuration != kFast;
  }
  session::ReplayBackend replay(recording, "synthetic.json.zst", kernel);
  const auto result = session::tune(kernel, request(), replay, database, {});
  REQUIRE(result.problems[0].best.has_value());
  CHECK(result.problems[0].best->configuration != kFast);
}

TEST_CASE_FIXTURE(Fixture, "the run-off changes a record's stage and nothing else of it") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  const auto recording = test::synthetic_recording(kernel, problems, times(kFast));
  for (const auto& row : database.records({})) {
    if (row.configuration != kFast) continue;
    CHECK(row.stage == "run_off");
    CHECK(session::to_measurement(row).stage == measure::Stage::RunOff);
    CHECK(row.median_us == 2.0);
    CHECK(row.origin == replay.origin());
  }
}

}  // namespace test_session
