#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/session/source/backend.hpp"

namespace attune::session {

/// The run-off on a GPU: finalists are verified, then raced against each other in epochs.
class LiveRunOff {
 public:
  struct Finalist {
    std::string configuration;
    std::shared_ptr<const compile::CompileResult> compiled;
  };
  /// `hand_over`: called with the configurations that the GPU worker is about to hold. Requires: all that is passed outlives this, and the
  /// worker is idle.
  LiveRunOff(measure::GpuExecutor& gpu, const std::function<void(const std::vector<std::string>&)>& hand_over)
      : gpu_(gpu), hand_over_(hand_over) {}

  /// See Backend::run_off.
  [[nodiscard]] std::optional<RunOffSamples> run(const std::vector<Finalist>& finalists, const Race::Options& options, std::uint64_t seed);

 private:
  [[nodiscard]] std::optional<measure::VisitRequest> verify(const Finalist& finalist);
  /// One epoch; who fails alone is named in the samples. Empty when somebody did, or when they fail only together.
  [[nodiscard]] std::vector<std::vector<double>> run_epoch(std::vector<measure::VisitRequest> running, int rounds, std::uint64_t seed);
  void keep(const Race& race, const std::vector<measure::VisitRequest>& visits);

  measure::GpuExecutor& gpu_;
  const std::function<void(const std::vector<std::string>&)>& hand_over_;
  RunOffSamples samples_;
};

}  // namespace attune::session
