#pragma once
// Figures of configurations that ran off against each other.
#include <map>
#include <optional>
#include <string>

#include "tuner/session/source/backend.hpp"

namespace attune::bench {

/// All named configurations in one run-off that nobody leaves.
struct PairedRun {
  std::map<std::string, double> median_us;  ///< over the epochs, per call
  std::map<std::string, double> relative;   ///< median over the epochs of the time relative to its round's others
  /// Standard deviations of the paired ratio to the first configuration, medians over the others: of the epochs' medians
  /// (everything is loaded afresh between them), and of the rounds within an epoch.
  std::optional<double> epoch_sd, round_sd;  ///< nothing with a single configuration
};

/// Requires: samples of a run-off that nobody left.
[[nodiscard]] PairedRun summarise(const session::RunOffSamples& samples);

}  // namespace attune::bench
