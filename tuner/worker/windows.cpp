#include "tuner/worker/windows.hpp"

#include <algorithm>
#include <cmath>

namespace attune::worker {
namespace {

constexpr double kFastestBytesPerUs = 6e6;  // faster than any memory now; only sizes the pool
constexpr double kFastestCallUs = 1.0;

}  // namespace

int windows_wanted(measure::CachePolicy policy, std::size_t window_bytes) {
  if (policy == measure::CachePolicy::Hot) return 1;
  const double call_us = std::max(kFastestCallUs, static_cast<double>(window_bytes) / kFastestBytesPerUs);
  return static_cast<int>(std::clamp(std::ceil(measure::batch_target_us(call_us) / call_us), 1.0, static_cast<double>(kMostCalls)));
}

int WindowGroups::window_of(int group, int call, int calls, int first) const {
  const int base = group * each, others = each - 1;
  const bool last = call + 1 == calls;
  return last || others == 0 ? base : base + 1 + (first + call) % others;
}

WindowGroups window_groups(int groups, measure::CachePolicy policy, std::size_t window_bytes, std::size_t affordable_bytes) {
  const std::size_t affordable = affordable_bytes / std::max<std::size_t>(1, window_bytes) / static_cast<std::size_t>(groups);
  const auto wanted = static_cast<std::size_t>(windows_wanted(policy, window_bytes));
  return {groups, static_cast<int>(std::clamp<std::size_t>(affordable, 1, wanted))};
}

}  // namespace attune::worker
