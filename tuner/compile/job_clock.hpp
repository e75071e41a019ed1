#pragma once
#include <chrono>

namespace attune::compile {

/// How long a worker's job may last: `limit` of processor time, since others may hold the processors. A job that uses none of it hangs.
struct JobClock {
  using Clock = std::chrono::steady_clock;

  Clock::time_point since{};
  Clock::time_point deadline{};            ///< of a job that goes on: when it is looked at again
  std::chrono::nanoseconds used_before{};  ///< processor time, at the job's beginning
  std::chrono::nanoseconds used_at_look{};
  Clock::time_point look{};

  void begin(int pid, Clock::time_point now, std::chrono::nanoseconds limit);
  /// Nobody ran meanwhile: the whole job was stopped from the terminal, or the machine slept.
  void pass_over(Clock::duration pause, Clock::time_point now);
  /// A job that is due goes on while it has used less processor time than its limit, if it computes. True if so; `deadline` is then when to
  /// look again.
  [[nodiscard]] bool go_on(int pid, Clock::time_point now, std::chrono::nanoseconds limit);
};

}  // namespace attune::compile
