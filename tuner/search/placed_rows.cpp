#include "tuner/search/placed_rows.hpp"

#include <algorithm>
#include <numeric>

namespace attune::search {
PlacedRows::PlacedRows(const space::SearchSpace& space) : space_(space), width_(space.width()) {
  for (std::size_t parameter = 0; parameter < width_; ++parameter) {
    auto& places = by_value_.emplace_back(space.value_count(parameter));
    const auto& scale = space.scale(parameter);
    std::transform(scale.begin(), scale.end(), places.begin(), [](double place) { return static_cast<float>(place); });
    if (scale.empty()) std::iota(places.begin(), places.end(), 0.0F);
  }
}

void PlacedRows::add(space::Ordinal ordinal) {
  ++size_;
  const auto row = space_.row(ordinal);
  for (std::size_t parameter = 0; parameter < width_; ++parameter) places_.push_back(by_value_[parameter][row[parameter]]);
}

void PlacedRows::clear() {
  size_ = 0;
  places_.clear();
}

}  // namespace attune::search
