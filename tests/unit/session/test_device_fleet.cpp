// Several device processes over one database; the processes are real, their devices are made up (fake_device.hpp).
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "attune/error.hpp"
#include "tests/support/command.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/session/fake_device.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/fleet/device_fleet.hpp"

namespace test_device_fleet {

using namespace attune;
using nlohmann::json;
using session::DeviceFleet;

namespace {

struct Fixture {
  Fixture() { ::setenv("ATTUNE_TEST_FOLDER", folder.path().c_str(), 1); }

  /// Tunes problems of these sizes on these devices.
  session::RunResult tune(const std::vector<std::int64_t>& sizes, const std::vector<int>& ordinals) {
    request.problems.clear();
    for (const auto n : sizes) request.problems.push_back(test::small_problem(n));
    DeviceFleet fleet(kernel, request, options(ordinals));
    DeviceFleet::Events events;
    events.observer = [this](std::size_t device) { return observer(device); };
    events.lost = [this](std::size_t) { ++lost; };
    events.given_up = [this](const session::GivenUp&) { ++given_up_told; };
    events.notice = [this](const std::string& text) { notices.push_back(text); };
    events.interrupted = [this] { return interrupted(); };
    return fleet.run(database, events);
  }

  DeviceFleet::Options options(const std::vector<int>& ordinals) const {
    DeviceFleet::Options options{ATTUNE_FAKE_DEVICE, folder / "tune.db", {}};
    for (const int ordinal : ordinals) {
      options.devices.emplace_back();
      options.devices.back().ordinal = ordinal;
    }
    return options;
  }

  session::Observer observer(std::size_t device) {
    session::Observer observer;
    observer.started = [this, device](const spec::Problem& problem) { started.emplace(device, problem.sizes.at("n")); };
    observer.progress = [this](const session::Progress& progress) { progressed.insert(progress.problem->sizes.at("n")); };
    observer.recorded = [this](const measure::Measurement& measurement) {
      ++recorded;
      if (measurement.outcome != measure::Outcome::Ok) failed_details.insert(measurement.detail);
    };
    observer.notice = [this, device](const std::string& text) { device_notices.emplace(device, text); };
    observer.finished = [this](const session::ProblemResult& result) { finished.insert(result.problem.sizes.at("n")); };
    return observer;
  }

  test::TempFolder folder;
  spec::KernelTemplate kernel = test::small_template();
  db::Database database = db::Database::open(folder / "tune.db", db::OpenMode::ReadWrite);
  session::TuneRequest request;
  std::function<bool()> interrupted = [] { return false; };
  std::multimap<std::size_t, std::int64_t> started;
  std::multiset<std::int64_t> finished;
  std::set<std::int64_t> progressed;
  std::set<std::string> failed_details;
  std::vector<std::string> notices;
  std::multimap<std::size_t, std::string> device_notices;
  std::uint64_t recorded = 0;
  int lost = 0, given_up_told = 0;
};

std::multiset<std::int64_t> sizes_of(const std::vector<session::ProblemResult>& problems) {
  std::multiset<std::int64_t> sizes;
  for (const auto& problem : problems) sizes.insert(problem.problem.sizes.at("n"));
  return sizes;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "two equal devices tune every problem once, under one run, into one database") {
  request.run = "one-command";
  const auto result = tune({1000, 2000, 3000, 4000, 5000, 6000}, {0, 1});
  REQUIRE(result.groups.size() == 1);
  CHECK(result.groups[0].ordinals == std::vector<int>{0, 1});
  CHECK(result.groups[0].read_ceiling_bytes_per_s == 1e12);
  const std::multiset<std::int64_t> all = {1000, 2000, 3000, 4000, 5000, 6000};
  CHECK(sizes_of(result.groups[0].problems) == all);
  CHECK(finished == all);
  CHECK(progressed == std::set<std::int64_t>(all.begin(), all.end()));
  std::uint64_t measured = 0;
  for (const auto& problem : result.groups[0].problems) {
    measured += problem.measured;
    CHECK(problem.measured == problem.space_size);
    REQUIRE(problem.best.has_value());
    CHECK(problem.best->problem == spec::to_text(problem.problem));
    CHECK(problem.failed.at("wrong_result") == 1);
    CHECK(problem.failure_examples.at("wrong_result").detail == "made-up failure");
  }
  CHECK(recorded == measured);
  CHECK(failed_details == std::set<std::string>{"made-up failure"});
  CHECK(database.records({}).size() == measured);
  CHECK(database.best({}).size() == 6);
  CHECK(database.in_flight().empty());
  const auto sessions = database.sessions({});
  CHECK(sessions.size() == 6);
  for (const auto& row : sessions) {
    CHECK(row.state == "finished");
    CHECK(base::parse_json(row.summary_json).at("run") == "one-command");
  }
}

TEST_CASE_FIXTURE(Fixture, "what is so of a machine is told once of devices that are equal, and of each that differs") {
  (void)tune({1000, 2000, 3000, 4000}, {0, 1, test::kOtherKind});
  CHECK(started.count(2) == 4);
  REQUIRE(device_notices.size() == 2);
  CHECK(device_notices.begin()->first < 2);
  CHECK(device_notices.rbegin()->first == 2);
  for (const auto& [device, text] : device_notices) CHECK(text == "this machine is made up");
}

TEST_CASE_FIXTURE(Fixture, "every device takes part") {
  // The slow one holds its device; everything else must then come from the other.
  interrupted = [this] { return finished.size() == 3; };
  (void)tune({test::kSlow, 1000, 2000, 3000}, {0, 1});
  std::set<std::size_t> devices;
  for (const auto& [device, n] : started) devices.insert(device);
  CHECK(devices == std::set<std::size_t>{0, 1});
}

TEST_CASE_FIXTURE(Fixture, "devices that differ tune all problems each, in one command") {
  const auto result = tune({1000, 2000}, {0, 1, test::kOtherKind});
  REQUIRE(result.groups.size() == 2);
  CHECK(result.groups[0].ordinals == std::vector<int>{0, 1});
  CHECK(result.groups[1].ordinals == std::vector<int>{test::kOtherKind});
  for (const auto& group : result.groups) {
    CHECK(sizes_of(group.problems) == std::multiset<std::int64_t>{1000, 2000});
    for (const auto& problem : group.problems) {
      REQUIRE(problem.best.has_value());
      CHECK(problem.best->device_key == group.device.hard_key());
    }
  }
  CHECK(database.best({}).size() == 4);
}

TEST_CASE_FIXTURE(Fixture, "a problem whose process dies once is tuned to its end, from where it was") {
  const auto result = tune({test::kDiesOnce, 1000, 2000}, {0, 1});
  CHECK(result.given_up.empty());
  CHECK(lost == 1);
  CHECK(sizes_of(result.groups[0].problems) == std::multiset<std::int64_t>{test::kDiesOnce, 1000, 2000});
  for (const auto& problem : result.groups[0].problems) {
    CHECK(problem.measured + problem.reused == problem.space_size);
    if (problem.problem.sizes.at("n") == test::kDiesOnce) CHECK(problem.reused == 3);  // it died with the fourth in flight
  }
  const auto told = [&](const std::string& part) {
    return std::any_of(notices.begin(), notices.end(), [&](const auto& text) { return text.find(part) != std::string::npos; });
  };
  CHECK(told("exited with code 9"));
  CHECK(told("tried once more"));
}

TEST_CASE_FIXTURE(Fixture, "a problem whose process dies twice is given up with the reason, and the others are tuned") {
  const auto result = tune({test::kDies, 1000, 2000, 3000}, {0, 1});
  REQUIRE(result.given_up.size() == 1);
  CHECK(given_up_told == 1);
  CHECK(lost == 2);
  CHECK(result.given_up[0].problem == test::small_problem(test::kDies));
  CHECK(result.given_up[0].exit_code == ExitCode::Environment);
  CHECK(result.given_up[0].why.find("exited with code 9") != std::string::npos);
  CHECK(sizes_of(result.groups[0].problems) == std::multiset<std::int64_t>{1000, 2000, 3000});
  CHECK_FALSE(result.interrupted);
}

TEST_CASE_FIXTURE(Fixture, "a problem that cannot be prepared is given up at once with what was said about it") {
  const auto result = tune({test::kRefused, 1000}, {0});
  REQUIRE(result.given_up.size() == 1);
  CHECK(result.given_up[0].why == "needs 99 bytes, 7 are free");
  CHECK(result.given_up[0].exit_code == ExitCode::Environment);
  CHECK(sizes_of(result.groups[0].problems) == std::multiset<std::int64_t>{1000});
}

TEST_CASE_FIXTURE(Fixture, "a stop ends every device in an orderly way, keeps what was measured, and the next run goes on from there") {
  interrupted = [this] { return recorded >= 4; };
  const auto stopped = tune({test::kSlow, 1000}, {0});
  CHECK(stopped.interrupted);
  const std::size_t kept = database.records({}).size();
  CHECK(kept >= 4);
  CHECK(database.in_flight().empty());
  for (const auto& row : database.sessions({})) CHECK(row.state != "running");
  CHECK(sizes_of(stopped.groups[0].problems).count(test::kSlow) + finished.count(1000) >= 1);

  interrupted = [] { return false; };
  const auto rest = tune({1000, 2000}, {0, 1});
  CHECK(sizes_of(rest.groups[0].problems) == std::multiset<std::int64_t>{1000, 2000});
}

TEST_CASE_FIXTURE(Fixture, "a device that has used up its share of a time budget proposes nothing more") {
  request.budget = session::Budget::parse("0.05s");  // two or three configurations of 20 ms
  const auto result = tune({test::kSlow}, {0, 1});
  REQUIRE(result.groups[0].problems.size() == 1);
  CHECK(result.groups[0].problems[0].measured < result.groups[0].problems[0].space_size);
  CHECK(base::parse_json(database.sessions({}).front().summary_json).at("budget") == "0.05s");
}

TEST_CASE_FIXTURE(Fixture, "a device that is not there, or dies as it starts, is named before anything is tuned") {
  request.problems = {test::small_problem(1000)};
  CHECK_THROWS_WITH_AS(DeviceFleet(kernel, request, options({0, test::kNotThere})),
                       doctest::Contains("device 7: failed selecting device 7"), Error);
  CHECK_THROWS_WITH_AS(DeviceFleet(kernel, request, options({0, test::kDeadOnArrival})), doctest::Contains("device 8"), EnvironmentError);
  DeviceFleet::Options nowhere = options({0});
  nowhere.worker = "/nonexistent/attune";
  CHECK_THROWS_WITH_AS(DeviceFleet(kernel, request, nowhere), doctest::Contains("/nonexistent/attune"), EnvironmentError);
  CHECK(database.sessions({}).empty());
}

TEST_CASE("devices are counted by a process of their own") { CHECK(DeviceFleet::count_devices(ATTUNE_FAKE_DEVICE) == 3); }

TEST_CASE("when the command is killed, its device process and that one's workers die with it") {
  const test::TempFolder folder;
  const int parent = test::start({ATTUNE_FAKE_DEVICE, "parent"}, {{"ATTUNE_TEST_FOLDER", folder.path().string()}});
  for (int wait = 0; wait < 6000 && !std::filesystem::exists(folder / "pids"); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  int device_process = 0, grandchild = 0;
  std::ifstream(folder / "pids") >> device_process >> grandchild;
  REQUIRE(grandchild > 0);
  REQUIRE(::kill(grandchild, 0) == 0);
  ::kill(parent, SIGKILL);
  CHECK(test::wait_for(parent) == 128 + SIGKILL);
  /// Gone, or dead and waiting for a process 1 that does not reap.
  const auto dead = [](int pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(status)), {});
    return text.empty() || text.find(") Z") != std::string::npos;
  };
  for (int wait = 0; wait < 2000 && !(dead(device_process) && dead(grandchild)); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(dead(device_process));
  CHECK(dead(grandchild));
}

}  // namespace test_device_fleet
