#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/session/source/backend.hpp"

namespace attune::test {

/// Stands for a GPU (none is here): what a configuration measures as is the test's choice. Decides one configuration a
/// call, in the order in which they were submitted, and holds few, so that a search can end anywhere.
class MadeUpGpu : public session::Backend {
 public:
  using Measure = std::function<measure::Measurement(const std::string& configuration)>;
  explicit MadeUpGpu(Measure measure) : measure_(std::move(measure)), device_(spec::DeviceInfo::of_architecture("sm_90")) {
    device_.name = "Made-up GPU";
  }

  [[nodiscard]] const spec::DeviceInfo& device() const override { return device_; }
  [[nodiscard]] std::string nvrtc_build() const override { return "0.0"; }
  [[nodiscard]] std::string origin() const override { return "measured"; }
  [[nodiscard]] double read_ceiling_bytes_per_s() override { return 0; }
  void prepare(const spec::KernelTemplate& kernel, const spec::Problem&) override { kernel_ = &kernel; }
  [[nodiscard]] bool wants_more() const override { return waiting_.size() < kHeld; }
  void submit(const spec::Configuration& configuration) override {
    waiting_.push_back(spec::to_text(*kernel_, configuration));
    on_hand_over({waiting_.back()});
    submitted.push_back(waiting_.back());
  }
  [[nodiscard]] std::vector<measure::Measurement> collect(std::chrono::milliseconds) override {
    if (waiting_.empty()) return {};
    const std::string configuration = waiting_.front();
    waiting_.pop_front();
    return {measure_(configuration)};
  }
  [[nodiscard]] std::size_t in_flight() const override { return waiting_.size(); }
  void abandon() override { waiting_.clear(); }
  [[nodiscard]] std::optional<session::RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists,
                                                              const session::Race::Options& options, std::uint64_t) override {
    run_offs.push_back({finalists.size(), options.most});
    if (finalists.size() > most_together) return std::nullopt;
    session::RunOffSamples samples;
    samples.rounds_us.assign(static_cast<std::size_t>(session::Race::most_epochs(finalists.size(), options)), {});  // nobody leaves
    for (const auto& finalist : finalists) {
      samples.configurations.push_back(spec::to_text(*kernel_, finalist));
      for (auto& round : samples.rounds_us) round.push_back(measure_(samples.configurations.back()).timing.median_us);
    }
    return samples;
  }
  [[nodiscard]] session::Sentinel sentinel() const override { return its_sentinel; }
  [[nodiscard]] std::optional<session::CompiledCode> code(const spec::Configuration&) override { return std::nullopt; }

  static constexpr std::size_t kHeld = 4;
  std::vector<std::string> submitted;    ///< in order, since the start
  std::size_t most_together = SIZE_MAX;  ///< more finalists do not work together
  struct RunOff {
    std::size_t finalists = 0;
    int epochs = 0;  ///< that were allowed
  };
  std::vector<RunOff> run_offs;  ///< that were asked for
  session::Sentinel its_sentinel;

 private:
  Measure measure_;
  spec::DeviceInfo device_;
  const spec::KernelTemplate* kernel_ = nullptr;
  std::deque<std::string> waiting_;
};

/// A configuration that works and was measured to the end; `half_interval_us` to both sides.
inline measure::Measurement works(const std::string& configuration, double median_us, double half_interval_us) {
  measure::Measurement measurement;
  measurement.configuration = configuration;
  measurement.stage = measure::Stage::Measured;
  measurement.verified = true;
  measurement.timing = {median_us, median_us - half_interval_us, median_us + half_interval_us, median_us - half_interval_us, 0, 0, 6, 3,
                        10};
  return measurement;
}

inline measure::Measurement fails(const std::string& configuration, measure::Outcome outcome, const std::string& detail) {
  measure::Measurement measurement;
  measurement.configuration = configuration;
  measurement.outcome = outcome;
  measurement.detail = detail;
  return measurement;
}

}  // namespace attune::test
