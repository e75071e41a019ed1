#include <doctest/doctest.h>

#include "tests/support/synthetic_recording.hpp"
#include "tuner/session/fleet/run_progress.hpp"

namespace test_run_progress {

using attune::session::ProblemResult;
using attune::session::Progress;
using attune::session::RunProgress;

namespace {

const attune::spec::Problem kProblem = attune::test::small_problem(1000);

Progress at(std::uint64_t done, std::uint64_t total, std::uint64_t reused = 0, std::uint64_t failed = 0) {
  Progress progress;
  progress.problem = &kProblem;
  progress.done = done;
  progress.total = total;
  progress.reused = reused;
  progress.failed = failed;
  progress.best_us = 7;
  return progress;
}

ProblemResult result(std::uint64_t measured, std::uint64_t reused = 0) {
  ProblemResult result;
  result.measured = measured;
  result.reused = reused;
  result.failed["crashed"] = 2;
  return result;
}

}  // namespace

TEST_CASE("the rate is of the last seconds, not of the whole run, and what was known before does not count") {
  RunProgress run(1, 1, std::nullopt);
  run.progress(0, at(500, 10000, 500), 0.5);
  CHECK(run.view(1).configurations_per_s == 0);
  for (int second = 1; second <= 100; ++second) run.progress(0, at(500 + 10 * static_cast<std::uint64_t>(second), 10000, 500), second);
  for (int second = 101; second <= 110; ++second)
    run.progress(0, at(1500 + 100 * static_cast<std::uint64_t>(second - 100), 10000, 500), second);
  CHECK(run.view(110).configurations_per_s == doctest::Approx(100));
  CHECK(run.view(110).reused == 500);
}

TEST_CASE("what is waited for is told while all devices at work wait, and no longer") {
  RunProgress run(3, 3, std::nullopt);
  CHECK(run.view(1).waits_for.empty());
  Progress waiting = at(0, 0);
  waiting.waits_for = "the reference";
  run.progress(1, waiting, 1);
  CHECK(run.view(1).waits_for == "the reference");
  run.progress(2, at(3, 100), 2);
  CHECK(run.view(2).waits_for.empty());
  run.progress(2, waiting, 3);
  run.progress(1, at(1, 100), 4);
  CHECK(run.view(4).waits_for.empty());
}

TEST_CASE("what limits is what takes the GPU's time in the last seconds, over all devices") {
  using Limit = RunProgress::Limit;
  RunProgress run(2, 2, std::nullopt);
  CHECK(run.view(1).limit == Limit::Unknown);
  Progress first = at(10, 100), second = at(10, 100);
  first.used.gpu_busy_s = 1;
  first.used.verifying_s = 0.6;
  first.used.compilations = 30;
  run.progress(0, first, 2);
  CHECK(run.view(2).limit == Limit::Verifying);
  CHECK(run.view(2).compilations_per_s == doctest::Approx(15));
  second.used.gpu_busy_s = 1;
  second.used.verifying_s = 0.1;
  run.progress(1, second, 3);
  CHECK(run.view(3).limit == Limit::Measuring);
  second.used.idle_waiting_compile_s = 1;  // of three seconds
  run.progress(1, second, 4);
  CHECK(run.view(4).limit == Limit::Compiling);
  first.used.gpu_busy_s = 9;  // and measured since
  run.progress(0, first, 12);
  CHECK(run.view(12).limit == Limit::Measuring);
}

TEST_CASE("a problem that has ended keeps its share of what limits") {
  RunProgress run(2, 1, std::nullopt);
  Progress first = at(10, 10);
  first.used.idle_waiting_compile_s = 1;
  run.progress(0, first, 1);
  ProblemResult ended = result(10);
  ended.utilisation = first.used;
  run.finished(0, ended, 2);
  CHECK(run.view(2).limit == RunProgress::Limit::Compiling);
}

TEST_CASE("the rate falls while nothing is decided") {
  RunProgress run(1, 1, std::nullopt);
  run.progress(0, at(100, 1000), 1);
  CHECK(run.view(1).configurations_per_s == doctest::Approx(100));
  CHECK(run.view(10).configurations_per_s == doctest::Approx(10));
}

TEST_CASE("the estimate is of the whole command: problems that have not begun are like those that have") {
  RunProgress run(4, 1, std::nullopt);
  CHECK_FALSE(run.view(1).eta_s.has_value());
  run.progress(0, at(100, 100), 10);
  run.finished(0, result(100), 10);
  run.progress(0, at(50, 100), 15);
  // 10 a second; 50 left here and two more problems of 100.
  CHECK(run.view(15).eta_s.value() == doctest::Approx(25));
  CHECK(run.view(15).problems_done == 1);
  CHECK(run.view(15).problem_count == 4);
}

TEST_CASE("a time budget bounds the estimate") {
  RunProgress run(1, 1, 60.0);
  CHECK(run.view(10).eta_s.value() == doctest::Approx(50));
  run.progress(0, at(10, 1000000), 10);
  CHECK(run.view(20).eta_s.value() == doctest::Approx(40));
  run.progress(0, at(999990, 1000000), 21);
  CHECK(run.view(21).eta_s.value() < 1);
  CHECK(run.view(70).eta_s.value() < 1);
}

TEST_CASE("one device shows its problem and its best, several show sums") {
  RunProgress one(2, 1, std::nullopt);
  one.progress(0, at(5, 24, 0, 1), 1);
  REQUIRE(one.view(1).problem.has_value());
  CHECK(*one.view(1).problem == kProblem);
  CHECK(one.view(1).best_us == 7);

  RunProgress many(5, 3, std::nullopt);
  many.progress(0, at(5, 24, 2, 1), 1);
  many.progress(2, at(7, 24, 0, 3), 1);
  const auto view = many.view(1);
  CHECK_FALSE(view.problem.has_value());
  CHECK(view.best_us == 0);
  CHECK(view.devices == 3);
  CHECK(view.devices_busy == 2);
  CHECK(view.done == 12);
  CHECK(view.total == 48);
  CHECK(view.failed == 4);
  CHECK(view.reused == 2);
}

TEST_CASE("failures of finished problems stay counted") {
  RunProgress run(2, 1, std::nullopt);
  run.finished(0, result(10), 1);
  run.progress(0, at(3, 24, 0, 1), 2);
  CHECK(run.view(2).failed == 3);
}

TEST_CASE("a problem that its device lost does not make the counts run backwards") {
  RunProgress run(2, 2, std::nullopt);
  run.progress(0, at(50, 100), 1);
  run.progress(1, at(10, 100), 1);
  run.lost(0);
  const auto view = run.view(2);
  CHECK(view.configurations_per_s >= 0);
  CHECK(view.devices_busy == 1);
  run.given_up();
  CHECK(run.view(2).problems_done == 1);
}

}  // namespace test_run_progress
