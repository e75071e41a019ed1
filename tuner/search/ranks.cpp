#include "tuner/search/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/search/draws.hpp"

namespace attune::search {

Ranks::Ranks(const space::SearchSpace& space) : space_(space) {
  for (std::size_t parameter = 0; parameter < space.width(); ++parameter) {
    const std::size_t count = space.value_count(parameter);
    std::vector<std::uint16_t> values(count), ranks(count);
    std::iota(values.begin(), values.end(), std::uint16_t{0});
    if (const auto& scale = space.scale(parameter); !scale.empty())
      std::stable_sort(values.begin(), values.end(), [&](std::uint16_t a, std::uint16_t b) { return scale[a] < scale[b]; });
    for (std::size_t rank = 0; rank < count; ++rank) ranks[values[rank]] = static_cast<std::uint16_t>(rank);
    values_.push_back(std::move(values));
    ranks_.push_back(std::move(ranks));
  }
}

std::vector<double> Ranks::point(space::Ordinal ordinal) const {
  const auto row = space_.row(ordinal);
  std::vector<double> point;
  for (std::size_t parameter = 0; parameter < row.size(); ++parameter) point.push_back(ranks_[parameter][row[parameter]]);
  return point;
}

space::Ordinal Ranks::configuration_at(std::span<const double> point, space::Ordinal inside, std::mt19937_64& random) const {
  spec::Configuration at = space_.at(inside);
  for (std::size_t parameter = 0; parameter < width(); ++parameter) {
    const double rank = std::clamp(std::floor(point[parameter] + 0.5), 0.0, static_cast<double>(value_count(parameter) - 1));
    at.index[parameter] = values_[parameter][static_cast<std::size_t>(rank)];
  }
  if (const auto found = space_.find(at)) return *found;
  if (const auto found = nearest_by_one(at, random)) return *found;
  std::vector<std::size_t> order(width());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  for (const std::size_t parameter : order) {
    at.index[parameter] = space_.row(inside)[parameter];
    if (const auto found = space_.find(at)) return *found;
  }
  return inside;
}

/// Of those that are as near one at random; a step is the longer the fewer values its parameter has.
std::optional<space::Ordinal> Ranks::nearest_by_one(spec::Configuration at, std::mt19937_64& random) const {
  std::optional<space::Ordinal> nearest;
  double least = 2;
  std::size_t as_near = 0;
  for (std::size_t parameter = 0; parameter < width(); ++parameter) {
    const std::uint16_t own = at.index[parameter];
    for (std::size_t value = 0; value < value_count(parameter); ++value) {
      const double steps = std::abs(static_cast<double>(ranks_[parameter][value]) - static_cast<double>(ranks_[parameter][own]));
      const double distance = steps / static_cast<double>(std::max<std::size_t>(value_count(parameter) - 1, 1));
      if (value == own || distance > least) continue;
      at.index[parameter] = static_cast<std::uint16_t>(value);
      const auto found = space_.find(at);
      if (!found) continue;
      as_near = distance < least ? 1 : as_near + 1;
      least = distance;
      if (draw_index(random, as_near) == 0) nearest = found;
    }
    at.index[parameter] = own;
  }
  return nearest;
}

}  // namespace attune::search
