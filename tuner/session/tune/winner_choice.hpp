#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/tune/problem_tally.hpp"

namespace attune::session {

/// Decides what is dispatched for a problem: finalists among everything known of it, their run-off, the best row.
class WinnerChoice {
 public:
  /// Reads whether there is a best row: to be made before the records are read, so that a row that another process stores meanwhile is kept
  /// or replaced by the order of rows and not unseen. Requires: all that is passed outlives this. Throws: DatabaseError.
  WinnerChoice(ProblemContext& context, KnownResults& known, ProblemTally& tally);
  WinnerChoice(const WinnerChoice&) = delete;
  WinnerChoice& operator=(const WinnerChoice&) = delete;

  /// What a call of `choose` or `compare` may take on a device; unless given, what it takes. `begin`: what the search leaves of its time
  /// until then comes on top of that.
  void limit_run_off(double seconds, std::chrono::steady_clock::time_point begin = {}) {
    run_off_s_ = seconds;
    run_off_begins_by_ = begin;
  }
  /// Decides among everything known of this problem, not only what this run proposed: neither a small budget nor a condition
  /// may replace a better winner of an earlier run. `of_a_part`: some search of this run was of a part of the space.
  /// False when it was interrupted. What the run-off had told until then decides, unless nothing is to be stored of a run that is stopped
  /// (TuneRequest::best_when_stopped); where that was nothing, nothing is decided.
  [[nodiscard]] bool choose(bool of_a_part);
  /// The same of a run that was stopped, without the device: by what the search measured, and only where nothing was decided before.
  void choose_by_medians();
  /// Interleaved samples of these configurations; nothing when the backend has none of all of them. Those that fail are failed
  /// configurations from now on: ask again without them.
  [[nodiscard]] std::optional<RunOffSamples> compare(const std::vector<std::string>& configurations);

 private:
  using End = std::optional<std::chrono::steady_clock::time_point>;

  [[nodiscard]] bool decided_before(const std::vector<std::string>& asked);
  [[nodiscard]] bool keeps_decision(const std::vector<std::string>& asked);
  [[nodiscard]] bool better_is_known(const db::BestRow& best);
  /// Whether, in a run that renews, what won under another version, driver or compiler was not measured here: nothing takes its place then.
  [[nodiscard]] bool keeps_outdated();
  /// Takes away the stored best row where its configuration is a failed one by now.
  void forget_what_fails();
  void tell_why_none() const;
  /// `former`: what had won before joins them.
  [[nodiscard]] std::vector<std::string> finalists_by(const FinalistRule& rule, const std::optional<space::Ordinal>& former);
  [[nodiscard]] std::size_t most_in_time() const;
  /// Backend::run_off under the request's rules; those that failed are stored as such. `end`: of this and further run-offs, set by the
  /// first where their time is limited.
  [[nodiscard]] std::optional<RunOffSamples> run_off(const std::vector<std::string>& finalists, End& end);
  /// Backend::run_off; samples that lacked the time also where the backend could not be prepared in time.
  [[nodiscard]] std::optional<RunOffSamples> run_off_on_device(const std::vector<spec::Configuration>& configurations,
                                                               const Race::Options& race);
  /// For finalists that were not run off: one "round" of the search's own medians.
  [[nodiscard]] RunOffSamples search_medians(const std::vector<std::string>& finalists) const;
  void store(const RunOffSamples& samples, const std::vector<std::string>& asked, bool ran_off, bool of_a_part);

  ProblemContext& context_;
  KnownResults& known_;
  ProblemTally& tally_;
  bool best_seen_;  ///< this run has seen a best row of the problem, or stored one
  std::optional<double> run_off_s_;
  std::chrono::steady_clock::time_point run_off_begins_by_{};  ///< see limit_run_off
};

}  // namespace attune::session
