#pragma once
#include <cstdint>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// How far a parameter's values lie apart: squared differences of their places on its scale and of how often two divides them, or 0 and 1
/// of choices.
struct ParameterDistances {
  std::size_t parameter;                      ///< of the space
  std::size_t bins;                           ///< one for each value, or for several that lie beside each other where there are very many
  std::vector<std::uint16_t> bin_of;          ///< by value
  std::vector<std::vector<double>> features;  ///< [feature][bin * bins + other bin], squared

  /// Where the tables have two values. Requires: value indices of the parameter.
  [[nodiscard]] std::size_t cell(std::uint16_t value, std::uint16_t other) const { return bin_of[value] * bins + bin_of[other]; }
};

/// Of those parameters of which the space has more than one value.
[[nodiscard]] std::vector<ParameterDistances> distances_of(const space::SearchSpace& space);

}  // namespace attune::search
