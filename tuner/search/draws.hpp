#pragma once
#include <random>
#include <utility>
#include <vector>

#include "tuner/space/permutation.hpp"

namespace attune::search {

// Draws that are the same on every platform: the distributions of the standard library and std::shuffle are not.

/// Uniform in [0, bound). Requires: bound > 0.
[[nodiscard]] inline std::size_t draw_index(std::mt19937_64& random, std::size_t bound) {
  return static_cast<std::size_t>(space::draw_below(random, bound));
}

/// Uniform in [0, 1), in steps of 2^-53.
[[nodiscard]] inline double draw_real(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Fisher and Yates.
template <typename T>
void shuffle(std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[draw_index(random, left)]);
}

}  // namespace attune::search
