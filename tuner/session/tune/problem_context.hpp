#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "db/database.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/space/launch_classes.hpp"
#include "tuner/space/search_space.hpp"

namespace attune::session {

/// One problem that is tuned: what stays the same from its first configuration to its best row, for all parts of ProblemTuner.
class ProblemContext {
 public:
  /// `number`: of the problem in the request. Requires: all that is passed outlives this. Builds the space. Throws: SpecError, UsageError,
  /// space::BuildStopped.
  ProblemContext(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend,
                 db::Database& database, const Observer& observer);
  ~ProblemContext();
  ProblemContext(const ProblemContext&) = delete;
  ProblemContext& operator=(const ProblemContext&) = delete;

  const spec::KernelTemplate& kernel;
  const TuneRequest& request;
  const spec::Problem& problem;
  Backend& backend;
  db::Database& database;
  const Observer& observer;
  space::SearchSpace space;       ///< the whole one
  space::LaunchClasses launches;  ///< of it
  RowContext rows;                ///< what all rows of this problem share
  db::Query query;                ///< finds them
  std::string default_text;       ///< the default configuration

  /// The problem, as rows and messages name it.
  [[nodiscard]] const std::string& name() const { return *query.problem; }
  /// The backend, which holds the problem from the first call on. Nothing is allocated on a device where every answer is known already.
  /// Throws: PreparingStopped, again at once where that was not before `prepare_by`'s end, which was told.
  [[nodiscard]] Backend& prepared_backend();
  /// Whether that has succeeded.
  [[nodiscard]] bool is_prepared() const noexcept { return prepared_; }
  /// What has to be compiled and computed before anything is measured, also anew where a worker is lost, is waited for until then;
  /// nothing: for as long as it takes. An interruption ends it in any case.
  void prepare_by(std::optional<std::chrono::steady_clock::time_point> end) { prepare_by_ = end; }
  /// Whether that was too early, so that nothing can be measured in this run.
  [[nodiscard]] bool out_of_time_to_prepare() const noexcept { return ended_while_.has_value(); }
  [[nodiscard]] std::string text(space::Ordinal ordinal) const { return spec::to_text(kernel, space.at(ordinal)); }
  /// Nothing where the space has no such configuration. Throws: UsageError where it names a parameter or a value that this version of the
  /// template does not declare.
  [[nodiscard]] std::optional<space::Ordinal> find(const std::string& configuration) const;

  /// The rules of this problem's run-offs. Under an objective of the template's own nobody leaves for being slower, so that there are no
  /// more epochs than it takes to decide.
  [[nodiscard]] Race::Options race() const;
  /// What the search makes small of a configuration whose call takes so long. Throws: SpecError (spec::cost_of).
  [[nodiscard]] double cost(const measure::Measurement& measurement, double time_us) const;
  /// The values of the template's metrics at such a time (spec::metrics_of).
  [[nodiscard]] std::map<std::string, double> metrics(const measure::Measurement& measurement, double time_us) const;

  /// Whether measurements are made here, on a GPU, and do not come from a recording.
  [[nodiscard]] bool is_live() const { return rows.origin == "measured"; }
  /// Whether a row of this origin answers here: a replayed one answers only another replay, a GPU measures for itself.
  [[nodiscard]] bool counts_here(const std::string& origin) const { return !is_live() || origin == "measured"; }
  /// Whether a row with this detail was measured with memory as fast as here, as far as is known. The key of the device does not say.
  [[nodiscard]] bool of_this_memory(const std::string& detail_json) const {
    return !spec::other_memory_clock(spec::memory_clock_of(detail_json), rows.memory_clock_khz);
  }
  /// Whether a row is of another driver or compiler than here, in a run that renews.
  [[nodiscard]] bool is_outdated(const std::string& driver, const std::string& nvrtc) const;

 private:
  [[nodiscard]] bool waits_on(const std::string& doing) const;

  bool prepared_ = false;
  std::optional<std::chrono::steady_clock::time_point> prepare_by_;
  std::optional<std::string> ended_while_;  ///< what was under way then
};

}  // namespace attune::session
