#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/tune/part_search.hpp"
#include "tuner/session/tune/session_log.hpp"
#include "tuner/session/tune/winner_choice.hpp"

namespace attune::session {

/// One problem from its space to its best row, in the steps of which `tune` and the ladder are made. One stored session from `begin` to
/// `finish`. PartSearch searches, WinnerChoice decides, KnownResults and ProblemTally keep what both come to.
class ProblemTuner {
 public:
  using Clock = PartSearch::Clock;

  /// Requires: all that is passed outlives it. Builds the space. Throws: SpecError, UsageError, space::BuildStopped.
  ProblemTuner(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend, db::Database& database,
               const Observer& observer);

  /// All of the steps below, as `tune` does them. Returns false when the run was interrupted.
  [[nodiscard]] bool run(std::optional<Clock::time_point> deadline);

  /// Opens the session and reads what is known. False: the space is empty, which was told; nothing else may be called then.
  [[nodiscard]] bool begin();
  /// Builds a PartSearch in the place of the last one and runs it. False when it was interrupted. Throws: space::BuildStopped, after which
  /// there is no last search.
  [[nodiscard]] bool search(const SearchScope& scope);
  /// Requires: a search that did not throw.
  [[nodiscard]] PartSearch& last_search() { return *search_; }
  /// See WinnerChoice::limit_run_off. Requires: begin() has returned true.
  void limit_run_offs(double seconds) { choice_->limit_run_off(seconds); }
  /// See WinnerChoice::choose. Requires: begin() has returned true.
  [[nodiscard]] bool choose_best();
  /// Of a run that was stopped: WinnerChoice::choose_by_medians, where the request wants a best then.
  void choose_when_stopped();
  /// See ProblemContext::prepare_by.
  void prepare_by(std::optional<Clock::time_point> end) { context_.prepare_by(end); }
  /// See WinnerChoice::compare. Requires: begin() has returned true.
  [[nodiscard]] std::optional<RunOffSamples> compare(const std::vector<std::string>& configurations) {
    return choice_->compare(configurations);
  }
  /// Takes down how busy everything was; after the searches, before anything runs off.
  void account();
  /// Closes the session. `more` is added to its summary.
  void finish(bool complete, const nlohmann::json& more);
  /// After an error: the process lives on, so nobody else would find its session running.
  void abandon();

  [[nodiscard]] const ProblemResult& result() const noexcept { return tally_.result; }
  [[nodiscard]] ProblemResult take_result() { return std::move(tally_.result); }
  [[nodiscard]] const ProblemContext& context() const noexcept { return context_; }
  [[nodiscard]] const KnownResults& known() const noexcept { return known_; }
  /// Which configuration stands for all that make the same launches as this one of the space.
  [[nodiscard]] std::string name_of_launches(const std::string& configuration);

 private:
  void open_session();
  void keep_restricted_best();
  void add_engine_figures(nlohmann::json& summary) const;

  ProblemContext context_;
  SessionLog log_;
  KnownResults known_;
  ProblemTally tally_;
  std::optional<WinnerChoice> choice_;  ///< from begin() on
  std::optional<PartSearch> search_;
  bool opened_ = false;
  bool ever_restricted_ = false;
};

}  // namespace attune::session
