#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/measurement.hpp"
#include "tuner/session/backend.hpp"

namespace attune::session {

/// Who goes into the run-off: the `count` fastest verified measurements in the order of their medians, then the default
/// when it runs and is not among them. Screened-out and unverified configurations never qualify: what wins is dispatched.
[[nodiscard]] std::vector<const measure::Measurement*> choose_finalists(const std::vector<measure::Measurement>& measurements,
                                                                        const std::string& default_configuration,
                                                                        std::size_t count);
/// The result points into `measurements`.
std::vector<const measure::Measurement*> choose_finalists(std::vector<measure::Measurement>&&, const std::string&, std::size_t) = delete;

/// One finalist after the run-off.
struct Placed {
  std::string configuration;
  double median_us = 0;               ///< over the rounds
  double low_us = 0, high_us = 0;     ///< order-statistic interval of that median
  measure::PairedComparison to_best;  ///< paired ratio: this / the fastest
  bool tied = false;                  ///< the ratio's interval reaches 1
};

struct Decided {
  std::size_t winner = 0;      ///< into `placed`
  bool tie = false;            ///< another finalist cannot be told from the winner
  std::vector<Placed> placed;  ///< ascending by median
};

/// The published winner. Among those that tie with the fastest the default wins, else the one with the fewest registers,
/// then least shared memory, then the smallest text: a choice that repeats when times do not.
/// Requires: at least one round; `resources` holds a measurement of every configuration in `samples`.
[[nodiscard]] Decided decide(const RunOffSamples& samples, const std::vector<measure::Measurement>& resources,
                             const std::string& default_configuration);

}  // namespace attune::session
