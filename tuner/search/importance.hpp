#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// How much of the variance of the logarithms of the times is lost to who does not know one parameter: 0 for a parameter that does not
/// matter, 1 for the only one that does. What two parameters do together counts for both, so that the shares may add up to more than 1;
/// where little was measured they add up to less.
struct ParameterImportance {
  std::size_t parameter;  ///< of the space
  double share;           ///< the mean over the trees of a forest, not below 0
  double low, high;       ///< between which eight of ten trees lie: low <= share <= high, and 0 <= low
};

/// Which parameters matter, by a random forest of what was measured: the share by which each tree errs more in what it did not learn from
/// once the parameter's values are mixed. One entry for each parameter of the space, the most important first; all are 0 where there is
/// too little to tell (fewer than ten times, or all of them the same). The same arguments give the same answer.
/// Requires: ordinals of the space; finite logarithms.
/// Source: Breiman, Random forests; docs/decisions/0020-forest.md
[[nodiscard]] std::vector<ParameterImportance> importance_of(const space::SearchSpace& space,
                                                             const std::vector<std::pair<space::Ordinal, double>>& log_times,
                                                             std::uint64_t seed);

}  // namespace attune::search
