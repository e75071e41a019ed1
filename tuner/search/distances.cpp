#include "tuner/search/distances.hpp"

#include <algorithm>

namespace attune::search {
namespace {

bool varies(const space::SearchSpace& space, std::size_t parameter) {
  for (space::Ordinal ordinal = 1; ordinal < space.size(); ++ordinal)
    if (space.row(ordinal)[parameter] != space.row(0)[parameter]) return true;
  return false;
}

}  // namespace

std::vector<ParameterDistances> distances_of(const space::SearchSpace& space) {
  std::vector<ParameterDistances> all;
  for (std::size_t parameter = 0; parameter < space.width(); ++parameter) {
    if (!varies(space, parameter)) continue;
    const std::size_t values = space.value_count(parameter);
    ParameterDistances one{parameter, values, {}};
    const auto add = [&](auto&& apart) {
      auto& squared = one.features.emplace_back(values * values);
      for (std::size_t a = 0; a < values; ++a)
        for (std::size_t b = 0; b < values; ++b) squared[a * values + b] = apart(a, b) * apart(a, b);
    };
    const auto& scale = space.scale(parameter);
    const auto& twos = space.twos(parameter);
    if (scale.empty()) {
      add([](std::size_t a, std::size_t b) { return a == b ? 0.0 : 1.0; });
    } else {
      add([&](std::size_t a, std::size_t b) { return scale[a] - scale[b]; });
      if (!twos.empty()) add([&](std::size_t a, std::size_t b) { return twos[a] - twos[b]; });
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace attune::search
