#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/wait_until.hpp"
#include "tuner/runtime/online_tuner.hpp"

namespace test_online_tuner {

namespace test = attune::test;
using attune::runtime::OnlineTuner;
using attune::runtime::TuningAllowance;
using attune::runtime::TuningJob;
using attune::runtime::TuningOutcome;
using attune::runtime::TuningPriority;

namespace {

constexpr double kLong = 60;

TuningJob job(const std::string& key, TuningPriority priority = TuningPriority::Background) {
  TuningJob made;
  made.key = key;
  made.title = "kernel '" + key + "'";
  made.priority = priority;
  return made;
}

/// A tuner whose problems take the seconds that a test says, by a clock that only the test moves.
struct Bench {
  std::atomic<double> now_s{0};
  std::atomic<double> takes_s{0};
  std::atomic<bool> blocked{false};
  std::mutex mutex;
  std::vector<std::string> tuned, adopted;
  OnlineTuner::Hooks hooks;

  Bench() {
    hooks.still_missing = [](const TuningJob&) { return true; };
    hooks.tune = [this](const TuningJob& asked, const std::function<bool()>& stop) {
      TuningOutcome outcome;
      while (blocked) {
        if (stop()) {
          outcome.kind = TuningOutcome::Kind::Stopped;
          return outcome;
        }
        std::this_thread::yield();
      }
      now_s = now_s + takes_s;
      const std::lock_guard lock(mutex);
      tuned.push_back(asked.key);
      outcome.kind = asked.key == "hopeless" ? TuningOutcome::Kind::Failed : TuningOutcome::Kind::Tuned;
      outcome.why = asked.key == "hopeless" ? "nothing is valid" : "";
      return outcome;
    };
    hooks.adopt = [this](const TuningJob& asked, TuningOutcome&) {
      const std::lock_guard lock(mutex);
      adopted.push_back(asked.key);
    };
    hooks.elapsed_s = [this] { return now_s.load(); };
  }
  [[nodiscard]] std::size_t tuned_count() {
    const std::lock_guard lock(mutex);
    return tuned.size();
  }
};

}  // namespace

TEST_CASE("the allowance lets the first problem start at once, and the next when the share of time covers what was spent") {
  TuningAllowance allowance(0.1);
  CHECK(allowance.wait_s(0) == 0);
  allowance.spend(12);
  CHECK(allowance.wait_s(20) == doctest::Approx(100));
  CHECK(allowance.wait_s(120) == 0);
  allowance.spend(1);
  CHECK(allowance.wait_s(120) == doctest::Approx(10));
}

TEST_CASE("without a share one problem is tuned, and no other ever") {
  TuningAllowance allowance(0);
  CHECK(allowance.wait_s(0) == 0);
  allowance.spend(1);
  CHECK(allowance.wait_s(1e9) > 1e9);
}

TEST_CASE("a queued problem is tuned once, its result is adopted before anyone who waits goes on") {
  Bench bench;
  OnlineTuner tuner(bench.hooks, 1);
  tuner.tune_now(job("a", TuningPriority::Program));
  CHECK(bench.adopted == std::vector<std::string>{"a"});
  tuner.tune_now(job("a", TuningPriority::Program));
  tuner.enqueue(job("a"));
  CHECK(tuner.wait_idle(kLong));
  CHECK(bench.tuned == std::vector<std::string>{"a"});
  CHECK(tuner.counters().started == 1);
  CHECK(tuner.counters().finished == 1);
  CHECK(tuner.status("a").empty());
}

TEST_CASE("threads that want the same problem wait for one tuning of it") {
  Bench bench;
  bench.blocked = true;
  OnlineTuner tuner(bench.hooks, 1);
  std::atomic<int> back{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      tuner.tune_now(job("a", TuningPriority::Program));
      ++back;
    });
  }
  REQUIRE(test::wait_until([&] { return tuner.status("a") == "running"; }));
  CHECK(back == 0);
  CHECK_FALSE(tuner.wait_idle(0));
  bench.blocked = false;
  for (auto& thread : threads) thread.join();
  CHECK(bench.tuned.size() == 1);
}

TEST_CASE("a failed problem is told, keeps its reason and is not tried again") {
  Bench bench;
  OnlineTuner tuner(bench.hooks, 1);
  tuner.tune_now(job("hopeless", TuningPriority::Program));
  tuner.tune_now(job("hopeless", TuningPriority::Program));
  CHECK(bench.tuned.size() == 1);
  CHECK(bench.adopted.empty());
  CHECK(tuner.counters().failed == 1);
  CHECK(tuner.counters().finished == 0);
  CHECK(tuner.status("hopeless") == "failed: nothing is valid");
  REQUIRE(tuner.notices().size() == 1);
  CHECK(tuner.notices()[0] == "failed tuning kernel 'hopeless': nothing is valid; this Runtime does not try it again");
}

TEST_CASE("what a hook throws fails the problem, not the program") {
  Bench bench;
  bench.hooks.tune = [](const TuningJob&, const std::function<bool()>&) -> TuningOutcome {
    throw std::runtime_error("no process could be started");
  };
  OnlineTuner tuner(bench.hooks, 1);
  tuner.tune_now(job("a", TuningPriority::Program));
  CHECK(tuner.status("a") == "failed: no process could be started");
}

TEST_CASE("a problem that another process tuned while it was queued starts no tuning, and its result is adopted") {
  Bench bench;
  bench.hooks.still_missing = [](const TuningJob&) { return false; };
  OnlineTuner tuner(bench.hooks, 1);
  tuner.tune_now(job("a", TuningPriority::Program));
  CHECK(bench.tuned.empty());
  CHECK(bench.adopted == std::vector<std::string>{"a"});
  CHECK(tuner.counters().started == 0);
}

TEST_CASE("background tuning rests until its share of the time covers what it took") {
  Bench bench;
  bench.takes_s = 5;
  OnlineTuner tuner(bench.hooks, 0.1);
  tuner.enqueue(job("a"));
  REQUIRE(tuner.wait_idle(kLong));  // 5 s spent, at second 5
  tuner.enqueue(job("b"));
  CHECK_FALSE(tuner.wait_idle(0.05));
  CHECK(tuner.status("b") == "queued");
  bench.now_s = 49;
  tuner.enqueue(job("c"));  // it looks at the clock
  CHECK_FALSE(tuner.wait_idle(0.05));
  CHECK(bench.tuned_count() == 1);
  bench.now_s = 50;
  tuner.enqueue(job("d"));
  REQUIRE(test::wait_until([&] { return bench.tuned_count() == 2; }));
  CHECK_FALSE(tuner.wait_idle(0.05));  // the third waits for second 100
  CHECK(bench.tuned_count() == 2);
  CHECK(tuner.status("b").empty());
  CHECK(tuner.status("c") == "queued");
}

TEST_CASE("tuning that a launch waits for does not rest, and what it took is charged to the background") {
  Bench bench;
  bench.takes_s = 5;
  OnlineTuner tuner(bench.hooks, 0.1);
  tuner.tune_now(job("a", TuningPriority::Program));
  tuner.tune_now(job("b", TuningPriority::Program));
  CHECK(bench.tuned.size() == 2);
  tuner.enqueue(job("c"));
  bench.now_s = 99;
  tuner.enqueue(job("d"));  // it looks at the clock
  CHECK_FALSE(tuner.wait_idle(0.05));
  CHECK(bench.tuned_count() == 2);
  bench.now_s = 100;
  tuner.enqueue(job("e"));
  REQUIRE(test::wait_until([&] { return bench.tuned_count() == 3; }));
  CHECK_FALSE(tuner.wait_idle(0.05));
  CHECK(tuner.status("c").empty());
  CHECK(tuner.status("d") == "queued");
}

TEST_CASE("the end of a tuner stops what is being tuned and forgets what is queued") {
  Bench bench;
  bench.blocked = true;
  {
    OnlineTuner tuner(bench.hooks, 1);
    tuner.enqueue(job("a"));
    tuner.enqueue(job("b"));
    REQUIRE(test::wait_until([&] { return tuner.status("a") == "running"; }));
    CHECK(tuner.status("b") == "queued");
  }
  CHECK(bench.tuned.empty());
  CHECK(bench.adopted.empty());
}

}  // namespace test_online_tuner
