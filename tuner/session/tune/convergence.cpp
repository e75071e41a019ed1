#include "tuner/session/tune/convergence.hpp"

#include <algorithm>
#include <numeric>

namespace attune::session {

std::size_t Convergence::looked_at(std::size_t found_at) { return std::max(found_at, kFewest); }

bool Convergence::is_reached(std::size_t found_at) const {
  const std::size_t last = looked_at(found_at);
  if (gains_.size() < last) return false;
  const double sum = std::accumulate(gains_.end() - static_cast<std::ptrdiff_t>(last), gains_.end(), 0.0);
  return sum < kLittleGain * static_cast<double>(last);
}

}  // namespace attune::session
