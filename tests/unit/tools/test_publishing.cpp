// When a task of a fleet copies its results.
#include <doctest/doctest.h>

#include "tools/fleet/publishing.hpp"

namespace test_publishing {

using attune::tools::Publishing;
using Seconds = std::chrono::duration<double>;

/// A task whose time passes as a test says, and whose copies take `cost_s`.
struct Task {
  explicit Task(double every_s)
      : publishing(
            [this] {
              ++copies;
              copying_s += cost_s;
              pass(cost_s);
            },
            Seconds(every_s), [this] { return now; }) {}
  void pass(double seconds) { now += std::chrono::duration_cast<Publishing::Clock::duration>(Seconds(seconds)); }
  int after_problem(double seconds) {
    pass(seconds);
    publishing.after_problem();
    return copies;
  }
  int after_record(double seconds) {
    pass(seconds);
    publishing.after_record();
    return copies;
  }

  int copies = 0;
  double cost_s = 0.1, copying_s = 0;
  Publishing::Clock::time_point now{};
  Publishing publishing;
};

TEST_CASE("the first two problems are copied when they are done, later ones a hundred times a copy's time after the last of them") {
  Task task(60);
  CHECK(task.after_problem(0.01) == 1);
  CHECK(task.after_problem(0.01) == 2);
  CHECK(task.after_problem(9.9) == 2);
  CHECK(task.after_problem(0.2) == 3);
}

TEST_CASE("a copy that was slow for once puts the next off no longer than the one before it did; copies that stay slow do") {
  Task task(60);
  task.after_problem(0.01);
  task.after_problem(0.01);
  task.cost_s = 30;
  CHECK(task.after_problem(11) == 3);
  CHECK(task.after_problem(11) == 4);
  CHECK(task.after_problem(2999) == 4);
  CHECK(task.after_problem(2) == 5);
}

TEST_CASE("a long problem is copied within as often as was asked for, and as soon as it is done") {
  Task task(60);
  CHECK(task.after_record(59) == 0);
  CHECK(task.after_record(1) == 1);
  CHECK(task.after_record(59) == 1);
  CHECK(task.after_record(2) == 2);
  CHECK(task.after_problem(0.5) == 3);  // half a second behind a copy that does not say that it is done
}

TEST_CASE("however often copies are asked for, they take a hundredth of a problem's time") {
  Task task(0);
  task.cost_s = 0.5;
  for (int record = 0; record < 10'000; ++record) task.after_record(0.1);
  CHECK(task.copies >= 18);
  CHECK(task.copies <= 21);
}

TEST_CASE("a shard of many equal problems spends as little on copies as one of few, however large it grows") {
  Task task(60);
  constexpr double kProblem = 1.3, kCopyOfOne = 0.002;
  double tuning_s = 0;
  for (int problem = 1; problem <= 10'000; ++problem) {
    task.cost_s = kCopyOfOne * problem;
    for (int record = 0; record < 10; ++record) task.after_record(kProblem / 10);
    task.after_problem(0);
    tuning_s += kProblem;
  }
  CHECK(task.copying_s < 0.025 * tuning_s);
  CHECK(task.copies > 50);
}

}  // namespace test_publishing
