#pragma once
#include <cstdint>

#include "tuner/measure/measurement.hpp"

namespace attune::session {

/// When a configuration of a search has been sampled enough. Asked after every visit, as nvbench asks its stopping criterion after every
/// sample; here samples come in visits, with other configurations between them, so that drift between moments shows in the interval.
struct StoppingRule {
  int samples_per_visit = 2;  ///< six samples in three visits are the fewest whose range covers the median by 95 %
  int fewest = 3;             ///< visits
  int most = 6;
  double goal = 0.005;  ///< half width of the interval of the median, relative to it, with which no more are needed
  double promising =
      1.03;  ///< slower ones than this many times the fastest get the fewest visits: whether they are 5 or 5.2 % slower decides nothing
  std::uint64_t spacing = 12;  ///< visits of others between two of one configuration

  /// `best_us`: of the fastest so far.
  [[nodiscard]] bool is_enough(const measure::Timing& timing, double best_us) const {
    if (timing.visits < fewest) return false;
    const bool narrow = (timing.high_us - timing.low_us) / 2 <= goal * timing.median_us;
    return narrow || timing.visits >= most || timing.median_us > promising * best_us;
  }
};

}  // namespace attune::session
