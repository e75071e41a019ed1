#pragma once
#include <cstdint>

#include "tuner/measure/visit.hpp"

namespace attune::session {

/// How a configuration of a search is sampled: in visits, with other configurations between them, so that drift between moments shows in
/// the interval; and when that is enough, which is asked after every visit, as nvbench asks its stopping criterion after every sample.
struct VisitRule {
  /// Six samples in three visits are the fewest whose range covers the median by 95 %.
  int samples = 2;
  int fewest = 3;
  int most = 6;
  /// Half width of the interval of the median, relative to it, with which no more visits are needed.
  double goal = 0.005;
  /// Who is slower than this many times the fastest gets the fewest visits: whether it is 5 or 5.2 % slower decides nothing. Where calls
  /// are costly, which are precise besides, that is one.
  double promising = 1.03;
  /// Visits of others between two of one configuration.
  std::uint64_t spacing = 12;

  /// `best_us`: of the fastest so far.
  [[nodiscard]] bool is_enough(const measure::Timing& timing, double best_us) const {
    const bool behind = timing.median_us > promising * best_us;
    if (behind && best_us >= measure::kCostly_us) return true;
    if (timing.visits < fewest) return false;
    const bool narrow = (timing.high_us - timing.low_us) / 2 <= goal * timing.median_us;
    return narrow || timing.visits >= most || behind;
  }
};

}  // namespace attune::session
