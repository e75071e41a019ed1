#pragma once
#include <algorithm>
#include <vector>

namespace attune::bench {

/// The value below which about `share` of the values lie: one of them, the nearest by rank. Requires: not empty.
[[nodiscard]] inline double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace attune::bench
