#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/progress_line.hpp"
#include "tuner/session/fleet/run_progress.hpp"
#include "tuner/session/fleet/run_result.hpp"

namespace attune::tools {

/// Everything that a tuning command says while it runs: progress on standard error and, when asked, one JSON object a
/// line on standard output (docs/cli.md lists the events). One for a command, whatever the number of devices.
class TuningEvents {
 public:
  TuningEvents(bool json_output, std::size_t problem_count, std::size_t devices, std::optional<double> budget_s);

  /// The callbacks for one device's tuning. Requires: this object outlives them.
  [[nodiscard]] session::Observer observer(std::size_t device, std::function<bool()> interrupted);

  /// `fields`: whatever else the command knows; "event" is added.
  void start(nlohmann::json fields) const;
  /// A device lost its problem; some device begins it anew.
  void lost(std::size_t device);
  void given_up(const session::GivenUp& given_up);
  void notice(const std::string& text);
  /// A named part of a problem's space is searched: progress counts it as a problem of its own.
  void part_finished(std::size_t device, const session::ProblemResult& part);
  /// Another event than those of `tune`; without --json only makes room for what the caller prints.
  void tell(const char* name, nlohmann::json fields);
  void end(const session::RunResult& result);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] double now_s() const;
  void progressed(std::size_t device, const session::Progress& progress);
  void recorded(const spec::Problem& problem, const measure::Measurement& measurement) const;
  void finished(std::size_t device, const session::ProblemResult& result);

  bool json_;
  Clock::time_point start_ = Clock::now();
  double last_event_s_ = -1;  ///< the first progress is told at once
  session::RunProgress progress_;
  ProgressLine line_;
};

}  // namespace attune::tools
