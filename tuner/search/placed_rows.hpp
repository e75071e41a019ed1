#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// Configurations as places on their parameters' scales, one after another, so that many are compared quickly. Two that differ
/// in a parameter are 1 apart in it where it is a choice, 1/2 to 1 by their distance on the scale where it is a number.
class PlacedRows {
 public:
  explicit PlacedRows(const space::SearchSpace& space);

  void add(space::Ordinal ordinal);
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Valid until the next change.
  [[nodiscard]] std::span<const float> row(std::size_t number) const { return std::span(places_).subspan(number * width_, width_); }

 private:
  const space::SearchSpace& space_;
  std::size_t width_, size_ = 0;
  std::vector<std::vector<float>> by_value_;  ///< [parameter][value]; of choices their number
  std::vector<float> places_;
};

/// How far two rows of the same space are apart; `most` where that is more.
[[nodiscard]] inline float distance(std::span<const float> a, std::span<const float> b, float most) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size() && sum < most; ++i)
    if (a[i] != b[i]) sum += 0.5F + 0.5F * std::min(std::abs(a[i] - b[i]), 1.0F);
  return std::min(sum, most);
}

}  // namespace attune::search
