#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/compile/compiler.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/source/search_end.hpp"

namespace attune::session {

/// The run-off on a GPU: finalists are verified, then raced against each other in epochs.
class LiveRunOff {
 public:
  using Compile = std::function<std::shared_ptr<const compile::CompileResult>(std::size_t finalist)>;
  using Clock = std::chrono::steady_clock;
  /// Called with the configurations that the GPU worker is about to hold.
  using HandOver = std::function<void(const std::vector<std::string>&)>;

  /// `compile`: compiles a finalist, by its place in what runs off; null: there was no time for that. `visit`: what verifying one takes, by
  /// the search. Requires: `gpu` outlives this.
  LiveRunOff(measure::GpuExecutor& gpu, Compile compile, HandOver hand_over, const VisitCost& visit)
      : gpu_(gpu), compile_(std::move(compile)), hand_over_(std::move(hand_over)), visit_(visit) {}

  /// See Backend::run_off. Requires: the worker is idle.
  [[nodiscard]] std::optional<RunOffSamples> run(const std::vector<std::string>& finalists, const Race::Options& options,
                                                 std::uint64_t seed);

 private:
  /// Ends the race, wherever it is.
  struct Stopped {};
  /// Throws: Stopped, once the options say so.
  static void require_going_on(const Race::Options& options) {
    if (!options.goes_on()) throw Stopped{};
  }
  /// Does it until then, or until a worker is lost that there is no time to replace; samples_ say whether it was stopped.
  template <class Work>
  void until_stopped(const Race::Options& options, const Work& work);
  /// Epochs as long as they decide something and there is time; who fails alone ends them. False when they fail only together.
  [[nodiscard]] bool run_epochs(Race& race, const std::vector<measure::VisitRequest>& visits, const Race::Options& options,
                                std::uint64_t seed);
  /// The race of those that were admitted, and who is left of it. False when they fail only together.
  [[nodiscard]] bool race(const std::vector<measure::VisitRequest>& visits, const Race::Options& options, std::uint64_t seed);
  /// Those that take part in the race; none where fewer than two of several are expected to be verified and to run an epoch in time.
  [[nodiscard]] std::vector<measure::VisitRequest> admit(const std::vector<std::string>& finalists, const Race::Options& options);
  [[nodiscard]] std::vector<measure::VisitRequest> admit_in_time(const std::vector<std::string>& finalists, const Race::Options& options);
  /// A finalist's visit once it is compiled, and verified where `again` says so. Nothing: it failed, or there was no time.
  [[nodiscard]] std::optional<measure::VisitRequest> ready(const std::string& configuration, std::size_t place, bool again,
                                                           const Race::Options& options);
  [[nodiscard]] bool verify(measure::VisitRequest visit, const Race::Options& options);
  /// One epoch; who fails alone is named in the samples. Empty when somebody did, or when they fail only together.
  [[nodiscard]] std::vector<std::vector<double>> run_epoch(std::vector<measure::VisitRequest> running, const Race::Options& options,
                                                           std::uint64_t seed);
  void keep(const Race& race, const std::vector<measure::VisitRequest>& visits);

  measure::GpuExecutor& gpu_;
  Compile compile_;
  HandOver hand_over_;
  VisitCost visit_;
  double expected_epoch_s_ = 0;  ///< of all that were admitted; 0: not known
  RunOffSamples samples_;
};

}  // namespace attune::session
