#pragma once
// Figures of configurations that ran off against each other.
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tuner/measure/measurement.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/spec/kernel_template.hpp"

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

/// The time of each configuration over that of `base` in the same rounds; every epoch is one observation. Requires: as `summarise`, and
/// that `base` is among the configurations.
[[nodiscard]] std::map<std::string, measure::PairedComparison> ratios_to(const session::RunOffSamples& samples, const std::string& base);

/// Runs all named configurations off against each other on one device, under the policy of `attune tune`; nobody leaves.
/// `executable`: attune. Throws: Error when one of them does not work; what a configuration that is none of the template's throws.
[[nodiscard]] session::RunOffSamples run_off_all(const std::filesystem::path& executable, int device, const spec::KernelTemplate& kernel,
                                                 const spec::Problem& problem, const std::set<std::string>& named);

}  // namespace attune::bench
