#include "tuner/session/backend.hpp"

#include <algorithm>
#include <array>

namespace attune::session {

double Sentinel::drift() const {
  constexpr std::size_t kTogether = 5;
  double least_us = 0, most_us = 0;
  for (std::size_t first = 0; first + kTogether <= points.size(); ++first) {
    std::array<double, kTogether> window{};
    for (std::size_t i = 0; i < kTogether; ++i) window[i] = points[first + i].median_us;
    std::nth_element(window.begin(), window.begin() + kTogether / 2, window.end());
    const double median_us = window[kTogether / 2];
    least_us = least_us == 0 ? median_us : std::min(least_us, median_us);
    most_us = std::max(most_us, median_us);
  }
  return least_us > 0 ? most_us / least_us : 1;
}

}  // namespace attune::session
