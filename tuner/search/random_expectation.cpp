#include "tuner/search/random_expectation.hpp"

#include <algorithm>

namespace attune::search {

double expected_best(std::span<const double> valid, std::size_t configurations, std::size_t draws) {
  constexpr double kNoChance = 1e-9;
  // The chance that none of the draws is among the first i + 1 follows from that of the first i; so the sum needs no binomials, and ends
  // where the rest has no weight.
  double left = 1, expected = 0;
  for (std::size_t i = 0; i < valid.size() && left >= kNoChance; ++i) {
    const auto among = static_cast<double>(configurations - i);
    const double after = std::max(0.0, left * (among - static_cast<double>(draws)) / among);
    expected += (left - after) * valid[i];
    left = after;
  }
  return expected + left * valid.back();
}

}  // namespace attune::search
