#pragma once
#include <algorithm>
#include <chrono>

namespace attune::tools {

/// When a task copies its results into the plan's folder. A copy is of the whole shard so far, and the task's GPU waits for it: copying
/// after every problem would take longer with each, the square of the problems in all.
class PublishRule {
 public:
  using Seconds = std::chrono::duration<double>;

  /// `every`: the longest time without a copy while something is measured.
  explicit PublishRule(Seconds every) : every_(every) {}

  /// Whether to copy while a problem is tuned, so long after the last copy.
  [[nodiscard]] bool due_within_problem(Seconds since) const { return since >= every_; }
  /// Whether to copy now that a problem is done: its results are worth most, but where the last copy took more than a fiftieth of the time
  /// since, the next problem comes first.
  [[nodiscard]] bool due_after_problem(Seconds since) const { return since >= std::min(every_, kTimesItsCost * took_); }
  void copied(Seconds took) { took_ = took; }

 private:
  static constexpr double kTimesItsCost = 50;
  Seconds every_, took_{0};
};

}  // namespace attune::tools
