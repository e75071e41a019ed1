#pragma once
#include <map>
#include <string>
#include <vector>

#include "tuner/session/source/backend.hpp"
#include "tuner/session/source/recording.hpp"

namespace attune::session {

/// Answers from a recording instead of a GPU.
class ReplayBackend : public Backend {
 public:
  /// `path` names the recording in `origin`. Throws: UsageError when the recording was made with another version of
  /// the template (its hash differs): its times would be told of code that no longer exists; or was imported: rows that look measured
  /// would steer dispatch between sizes, and nobody verified them.
  ReplayBackend(Recording recording, const std::string& path, const spec::KernelTemplate& kernel);

  [[nodiscard]] const Recording& recording() const noexcept { return recording_; }
  [[nodiscard]] const spec::DeviceInfo& device() const override { return recording_.device; }
  [[nodiscard]] std::string nvrtc_build() const override { return recording_.nvrtc; }
  [[nodiscard]] std::string origin() const override { return origin_; }
  [[nodiscard]] std::string measured_at() const override { return recording_.date; }
  [[nodiscard]] double read_ceiling_bytes_per_s() override { return recording_.read_ceiling_bytes_per_s; }
  /// Throws: UsageError listing the recorded problems when this one is not among them.
  void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) override;
  [[nodiscard]] bool wants_more() const override { return true; }
  [[nodiscard]] bool has_of_recording(const spec::Configuration& configuration) const override {
    return by_configuration_.contains(configuration);
  }
  void submit(const spec::Configuration& configuration) override;
  [[nodiscard]] std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t in_flight() const override { return ready_.size(); }
  void abandon() override { ready_.clear(); }
  [[nodiscard]] std::optional<RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists, const Race::Options& race,
                                                     std::uint64_t seed) override;
  [[nodiscard]] std::optional<CompiledCode> code(const spec::Configuration&) override { return std::nullopt; }
  [[nodiscard]] std::uint64_t missing() const override { return missing_; }

 private:
  [[nodiscard]] spec::Configuration configuration_of(const measure::Measurement& measurement) const;

  Recording recording_;
  std::string path_;
  std::string origin_;
  const spec::KernelTemplate* kernel_;
  const RecordedProblem* current_ = nullptr;
  std::map<spec::Configuration, const measure::Measurement*> by_configuration_;
  std::vector<measure::Measurement> ready_;
  std::uint64_t missing_ = 0;
};

}  // namespace attune::session
