#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace attune::tools {

/// When a task copies its results into the plan's folder while it tunes. A copy is of the whole shard so far, and the task's GPU waits for
/// it: copying after every problem would take the square of their number. So copying takes about a fiftieth of the time at most, half of
/// it behind problems and half within them, and what a lost task costs is what it measured in a hundred times a copy's time. That is the
/// smaller of the last two: a file server that hung through one copy does not put the next off for an hour; one that hangs through every
/// other copy costs more than that fiftieth.
/// A problem that took longer than that is copied as soon as it is done: the mark that it is done spares the next task its whole search.
class Publishing {
 public:
  using Clock = std::chrono::steady_clock;

  /// `every`: within a problem no more often than that. `now`: another clock, for tests.
  Publishing(std::function<void()> copy, std::chrono::duration<double> every, std::function<Clock::time_point()> now = Clock::now)
      : copy_(std::move(copy)), every_(every), now_(std::move(now)), last_(now_()), last_behind_problem_(last_) {}

  void after_record() {
    if (now_() - last_ >= std::max(every_, kTimesItsCost * std::min(took_, took_before_))) copy();
  }
  void after_problem() {
    if (now_() - last_behind_problem_ < kTimesItsCost * std::min(took_, took_before_)) return;
    copy();
    last_behind_problem_ = last_;
  }

 private:
  static constexpr double kTimesItsCost = 100;

  void copy() {
    const auto begin = now_();
    copy_();
    last_ = now_();
    took_before_ = std::exchange(took_, last_ - begin);
  }

  std::function<void()> copy_;
  std::chrono::duration<double> every_, took_{0}, took_before_{0};
  std::function<Clock::time_point()> now_;
  Clock::time_point last_, last_behind_problem_;
};

}  // namespace attune::tools
