// Medians and deviations of configurations that ran off against each other.
#include "bench/support/paired_run.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "tuner/base/median.hpp"

namespace attune::bench {
namespace {

double deviation(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Consecutive groups of `group` values.
std::vector<std::vector<double>> epochs_of(const std::vector<double>& values, std::size_t group) {
  std::vector<std::vector<double>> epochs;
  for (std::size_t first = 0; first + group <= values.size(); first += group) {
    epochs.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(first + group));
  }
  return epochs;
}

}  // namespace

PairedRun summarise(const session::RunOffSamples& samples) {
  PairedRun paired;
  const auto group = static_cast<std::size_t>(samples.rounds_per_epoch);
  std::vector<double> epoch_sds, round_sds;
  std::vector<std::vector<double>> relative;
  for (const auto& round : samples.rounds_us) relative.push_back(session::relative_times(round));
  for (std::size_t i = 0; i < samples.configurations.size(); ++i) {
    std::vector<double> times, relatives, ratios;
    for (std::size_t round = 0; round < samples.rounds_us.size(); ++round) {
      times.push_back(samples.rounds_us[round][i]);
      ratios.push_back(samples.rounds_us[round][i] / samples.rounds_us[round][0]);
      relatives.push_back(relative[round][i]);
    }
    paired.median_us[samples.configurations[i]] = base::median(session::observations(times, group));
    paired.relative[samples.configurations[i]] = base::median(session::observations(relatives, group));
    if (i == 0) continue;
    for (const auto& epoch : epochs_of(ratios, group)) round_sds.push_back(deviation(epoch));
    epoch_sds.push_back(deviation(session::observations(ratios, group)));
  }
  if (epoch_sds.empty()) return paired;
  paired.epoch_sd = base::median(epoch_sds);
  paired.round_sd = base::median(round_sds);
  return paired;
}

}  // namespace attune::bench
