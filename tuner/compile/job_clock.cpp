#include "tuner/compile/job_clock.hpp"

#include <time.h>

#include <algorithm>
#include <optional>

namespace attune::compile {
namespace {

constexpr int kMostDeadlines = 20;  // that a compilation may last where others hold the processors
constexpr int kLeastShare = 1000;   // one part in so many of a processor, or it does not compute but hangs

/// Processor time that a process has used; nothing when it cannot be told.
std::optional<std::chrono::nanoseconds> processor_time(int pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return std::nullopt;
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

void JobClock::begin(int pid, Clock::time_point now, std::chrono::nanoseconds limit) {
  since = look = now;
  deadline = now + limit;
  used_before = used_at_look = processor_time(pid).value_or(std::chrono::nanoseconds::zero());
}

void JobClock::pass_over(Clock::duration pause, Clock::time_point now) {
  pause = std::min(pause, now - look);  // it may have begun within
  since += pause;
  look += pause;
  deadline += pause;
}

bool JobClock::go_on(int pid, Clock::time_point now, std::chrono::nanoseconds limit) {
  const auto total = processor_time(pid);
  if (!total || now - since >= kMostDeadlines * limit) return false;
  const bool computes = kLeastShare * (*total - used_at_look) >= now - look;
  const auto left = limit - (*total - used_before);
  used_at_look = *total;
  look = now;
  deadline = now + std::clamp(left, limit / 50, limit / 4);
  return computes && left > std::chrono::nanoseconds::zero();
}

}  // namespace attune::compile
