// Medians and deviations of configurations that ran off against each other.
#include "bench/support/paired_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/median.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/session/source/live_backend.hpp"

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

std::map<std::string, measure::PairedComparison> ratios_to(const session::RunOffSamples& samples, const std::string& base) {
  const auto found = std::find(samples.configurations.begin(), samples.configurations.end(), base);
  const auto base_at = static_cast<std::size_t>(found - samples.configurations.begin());
  const auto group = static_cast<std::size_t>(samples.rounds_per_epoch);
  std::map<std::string, measure::PairedComparison> result;
  for (std::size_t i = 0; i < samples.configurations.size(); ++i) {
    std::vector<double> ratios;
    for (const auto& round : samples.rounds_us) ratios.push_back(round[i] / round[base_at]);
    result[samples.configurations[i]] = measure::compare_paired(session::observations(ratios, group));
  }
  return result;
}

session::RunOffSamples run_off_all(const std::filesystem::path& executable, int device, const spec::KernelTemplate& kernel,
                                   const spec::Problem& problem, const std::set<std::string>& named) {
  measure::GpuExecutor::Options gpu;
  gpu.worker = executable;
  gpu.device = device;
  session::LiveBackend::Options options;
  options.worker = executable;
  session::LiveBackend backend(options, std::make_unique<measure::GpuExecutor>(gpu));
  backend.prepare(kernel, problem);
  std::vector<spec::Configuration> configurations;
  for (const auto& text : named) configurations.push_back(spec::configuration_from_text(kernel, text));
  session::Race::Options race;
  race.most = 41;
  race.all_stay = true;
  auto samples = backend.run_off(configurations, race, 7);
  if (!samples || !samples->failed.empty()) throw Error("failed running off the winners: one of them does not work any more");
  return std::move(*samples);
}

}  // namespace attune::bench
