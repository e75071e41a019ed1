#include "tuner/report/size_cuts.hpp"

#include <algorithm>
#include <utility>

namespace attune::report {

std::vector<SizeCut> size_cuts(const std::map<std::size_t, Sizes>& problems) {
  std::map<std::pair<std::string, Sizes>, std::vector<std::size_t>> groups;
  for (const auto& [key, sizes] : problems) {
    if (sizes.size() < 2) continue;
    for (const auto& [axis, size] : sizes) {
      Sizes fixed = sizes;
      fixed.erase(axis);
      groups[{axis, fixed}].push_back(key);
    }
  }
  std::vector<SizeCut> cuts;
  for (auto& [key, group] : groups) {
    // Sizes are distinct, so two of a group differ in the axis.
    if (group.size() < 2) continue;
    const std::string& axis = key.first;
    std::sort(group.begin(), group.end(), [&](std::size_t a, std::size_t b) { return problems.at(a).at(axis) < problems.at(b).at(axis); });
    cuts.push_back({axis, key.second, std::move(group)});
  }
  return cuts;
}

std::size_t widest_cut(const std::vector<SizeCut>& cuts) {
  std::size_t widest = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const std::size_t most = cuts[widest].problems.size(), own = cuts[i].problems.size();
    if (own > most || (own == most && cuts[i].axis == cuts[widest].axis)) widest = i;
  }
  return widest;
}

}  // namespace attune::report
