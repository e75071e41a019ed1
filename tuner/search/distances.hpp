#pragma once
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// How far a parameter's values lie apart: squared differences of their places on its scale and of how often two divides them, or 0 and 1
/// of choices.
struct ParameterDistances {
  std::size_t parameter;  ///< of the space
  std::size_t values;
  std::vector<std::vector<double>> features;  ///< [feature][value * values + other value], squared
};

/// Of those parameters of which the space has more than one value.
[[nodiscard]] std::vector<ParameterDistances> distances_of(const space::SearchSpace& space);

}  // namespace attune::search
