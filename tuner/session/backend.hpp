#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/measurement.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// A finalist that no longer works when it is verified or run again.
struct FailedFinalist {
  std::string configuration;
  measure::Outcome outcome = measure::Outcome::WrongResult;
  std::string detail;
};

/// Interleaved samples of the finalists: `rounds_us[round][i]` belongs to `configurations[i]`.
struct RunOffSamples {
  std::vector<std::string> configurations;
  std::vector<std::vector<double>> rounds_us;
  std::vector<FailedFinalist> failed;  ///< asked for and left out
};

/// The compiled code of a configuration, for the database.
struct CompiledCode {
  std::string cubin_key;
  std::string cubin;
  std::string source_key;  ///< content key of source and architecture: what dispatch can check without NVRTC
};

/// Where measurements come from: a GPU (LiveBackend) or a recording (ReplayBackend). Single-threaded; configurations
/// are evaluated asynchronously between `submit` and `collect`.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const spec::DeviceInfo& device() const = 0;
  [[nodiscard]] virtual std::string nvrtc_build() const = 0;
  /// "measured", or "recording:<file>".
  [[nodiscard]] virtual std::string origin() const = 0;
  /// When the measurements were made, for a recording; empty: as they come.
  [[nodiscard]] virtual std::string measured_at() const { return {}; }
  /// Units: bytes per second; 0 when unknown.
  [[nodiscard]] virtual double read_ceiling_bytes_per_s() = 0;
  /// Makes `problem` current. Requires: nothing in flight.
  virtual void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) = 0;
  /// How many configurations may be between `submit` and `collect`.
  [[nodiscard]] virtual std::size_t capacity() const = 0;
  virtual void submit(const spec::Configuration& configuration) = 0;
  /// What has been decided since the last call; waits up to `timeout` for the first. A replay leaves out what its
  /// recording does not hold.
  [[nodiscard]] virtual std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  /// Configurations that were asked for and that a recording does not hold.
  [[nodiscard]] virtual std::uint64_t missing() const { return 0; }
  /// Forgets everything in flight (interrupt, budget spent).
  virtual void abandon() = 0;
  /// Nothing when these configurations cannot be run off (a recording without them).
  [[nodiscard]] virtual std::optional<RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists, int rounds,
                                                             std::uint64_t seed) = 0;
  [[nodiscard]] virtual std::optional<CompiledCode> code(const spec::Configuration& configuration) = 0;
  /// Called with the configuration's text right before it is handed to a GPU worker.
  std::function<void(const std::string&)> on_hand_over = [](const std::string&) {};
};

}  // namespace attune::session
