#include "tuner/measure/windows.hpp"

#include <algorithm>

#include "tuner/measure/cases.hpp"

namespace attune::measure {

int WindowGroups::window_of(int group, int call, int calls, int first) const {
  const int base = group * each, others = each - 1;
  const bool last = call + 1 == calls;
  return last || others == 0 ? base : base + 1 + (first + call) % others;
}

WindowGroups window_groups(int groups, CachePolicy policy, std::size_t window_bytes, std::size_t affordable_bytes) {
  const std::size_t affordable = affordable_bytes / std::max<std::size_t>(1, window_bytes) / static_cast<std::size_t>(groups);
  const auto wanted = static_cast<std::size_t>(windows_wanted(policy, window_bytes));
  return {groups, static_cast<int>(std::clamp<std::size_t>(affordable, 1, wanted))};
}

}  // namespace attune::measure
