#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/measure/noise.hpp"
#include "tuner/session/tune/finalists.hpp"

namespace attune::test {

/// How much times differ from what a kernel takes, as docs/measurement.md found it on a device. Standard deviations.
struct Disturbance {
  double epoch = 0.006;   ///< where code and data lie: one draw for each finalist and epoch
  double sample = 0.004;  ///< one draw for each sample
  double drift = 0.03;    ///< of what all samples of one round share; not random
};

/// A device that is asked for epochs of a run-off.
class MadeUpDevice {
 public:
  MadeUpDevice(std::vector<double> true_us, std::uint64_t seed, Disturbance disturbance = {})
      : true_us_(std::move(true_us)), noise_(seed), disturbance_(disturbance) {}

  /// [round][k], of running[k].
  std::vector<std::vector<double>> epoch(const std::vector<std::size_t>& running, int rounds) {
    std::vector<double> usual_us;
    for (const std::size_t i : running) usual_us.push_back(true_us_[i] * (1 + disturbance_.epoch * noise_.normal()));
    std::vector<std::vector<double>> rounds_us;
    for (int round = 0; round < rounds; ++round, ++rounds_made_) {
      const double shared = 1 + disturbance_.drift * std::sin(0.1 * rounds_made_);
      rounds_us.emplace_back();
      for (const double us : usual_us) rounds_us.back().push_back(us * shared * (1 + disturbance_.sample * noise_.normal()));
    }
    return rounds_us;
  }
  [[nodiscard]] std::size_t finalists() const { return true_us_.size(); }
  [[nodiscard]] const std::vector<double>& true_us() const { return true_us_; }

 private:
  std::vector<double> true_us_;
  Noise noise_;
  Disturbance disturbance_;
  int rounds_made_ = 0;
};

/// A two-digit name, so that texts sort as numbers do.
inline std::string finalist_name(std::size_t i) { return fmt::format("{:02}", i); }

/// A race over such a device to its end, and what a backend hands on of it.
struct MadeUpRunOff {
  session::Race race;
  session::RunOffSamples samples;

  MadeUpRunOff(MadeUpDevice& device, const session::Race::Options& options) : race(device.finalists(), options) {
    std::vector<std::vector<double>> rounds_us(device.finalists());  // [finalist][round]
    for (auto running = race.running(); !running.empty(); running = race.running()) {
      const auto epoch = device.epoch(running, options.rounds);
      race.add_epoch(epoch);
      for (const auto& round : epoch) {
        for (std::size_t k = 0; k < running.size(); ++k) rounds_us[running[k]].push_back(round[k]);
      }
    }
    samples.rounds_per_epoch = options.rounds;
    samples.rounds_us.resize(static_cast<std::size_t>(race.epochs() * options.rounds));
    for (std::size_t i = 0; i < device.finalists(); ++i) {
      if (!race.still_runs(i)) {
        const auto ratios = race.ratios(i, race.leader());
        samples.left.push_back({finalist_name(i), measure::compare_paired(ratios, session::Race::kConfidence), ratios.size()});
        continue;
      }
      samples.configurations.push_back(finalist_name(i));
      for (std::size_t round = 0; round < samples.rounds_us.size(); ++round) samples.rounds_us[round].push_back(rounds_us[i][round]);
    }
  }

  /// Every finalist with the same resources; nobody is the default.
  [[nodiscard]] session::Decided decide() const {
    std::vector<measure::Measurement> resources;
    for (const auto& configuration : samples.configurations) {
      resources.emplace_back();
      resources.back().configuration = configuration;
    }
    return session::decide(samples, resources, "none");
  }
};

}  // namespace attune::test
