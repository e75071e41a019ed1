#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/database.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/backend.hpp"
#include "tuner/session/renewal.hpp"
#include "tuner/session/search_memory.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/session_log.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/launch_classes.hpp"
#include "tuner/space/search_space.hpp"

namespace attune::session {

/// One problem from its space to its best row, in the steps of which `tune` and the ladder are made. One stored session from
/// `begin` to `finish`. problem_tuner.cpp searches, problem_best.cpp decides.
class ProblemTuner {
 public:
  using Clock = std::chrono::steady_clock;

  /// One search: the whole space or the part of it that satisfies `where`.
  struct Search {
    std::vector<spec::Constraint> where;  ///< of TuneRequest or a rung; none: the whole space
    /// A part of at most so many configurations is tried whole, whatever the request's strategy and budget; 0: none is.
    std::uint64_t whole_up_to = 0;
    std::optional<Clock::time_point> deadline;
    std::string label;  ///< of the part, for progress
    /// Of a larger part so many are tried at random, whatever the request's strategy and budget; 0: as the request says.
    std::uint64_t sample = 0;
  };

  /// Requires: all that is passed outlives it. Builds the space. Throws: SpecError, UsageError, space::BuildStopped.
  ProblemTuner(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend,
               db::Database& database, const Observer& observer);

  /// All of the steps below, as `tune` does them. Returns false when the run was interrupted.
  [[nodiscard]] bool run(std::optional<Clock::time_point> deadline);

  /// Opens the session and reads what is known. False: the space is empty, which was told; nothing else may be called then.
  [[nodiscard]] bool begin();
  /// Tries what is not known yet. False when it was interrupted. A part without configurations is told and is no error.
  /// Throws: space::BuildStopped when that was while the part's space was built.
  [[nodiscard]] bool search(const Search& what);
  /// Of the last search.
  struct Part {
    std::uint64_t size = 0;     ///< configurations that satisfy its conditions
    std::uint64_t decided = 0;  ///< of them, those that have an outcome by now
    std::uint64_t failed = 0;
    std::uint64_t measured = 0; ///< by this search
    std::uint64_t reused = 0;   ///< proposals that were known
    bool complete = false;      ///< the strategy or the budget had no more
    std::string emptied_by;     ///< the condition that left nothing, when size is 0
    std::optional<measure::Measurement> fastest;  ///< verified; perhaps only screened, that is, of few samples
  };
  [[nodiscard]] const Part& part() const noexcept { return part_; }
  /// Calls `visit` with the configuration and what is known of it, for each decided one of the last search's part, also where another
  /// configuration of the same launches was measured.
  void for_each_of_part(const std::function<void(const spec::Configuration&, const Known&)>& visit);

  /// Decides among everything known of this problem, not only what this run proposed: neither a small budget nor a condition
  /// may replace a better winner of an earlier run.
  void choose_best();
  /// By which name the default is known: its own, unless only another one of its launches was measured, as before the table of defaults
  /// changed.
  [[nodiscard]] std::string default_name();
  /// Interleaved samples of these configurations; nothing when the backend has none of all of them. Those that fail are failed
  /// configurations from now on: ask again without them.
  [[nodiscard]] std::optional<RunOffSamples> compare(const std::vector<std::string>& configurations);
  /// Takes down how busy everything was; after the searches, before anything runs off.
  void account();
  /// Closes the session. `more` is added to its summary.
  void finish(bool complete, const nlohmann::json& more);
  /// After an error: the process lives on, so nobody else would find its session running.
  void abandon();

  [[nodiscard]] const ProblemResult& result() const noexcept { return result_; }
  [[nodiscard]] ProblemResult take_result() { return std::move(result_); }
  [[nodiscard]] const db::Query& query() const noexcept { return query_; }
  /// Which configuration stands for all that make the same launches as this one of the space.
  [[nodiscard]] std::string name_of_launches(const std::string& configuration);
  /// The record of a configuration. Throws: Error when there is none.
  [[nodiscard]] measure::Measurement stored(const std::string& configuration) const { return to_measurement(stored_row(configuration)); }
  /// Whether a row is of another driver or compiler than here, in a run that renews.
  [[nodiscard]] bool is_outdated(const std::string& driver, const std::string& nvrtc) const {
    return request_.renew && (is_another(driver, context_.driver) || is_another(nvrtc, context_.nvrtc));
  }
  /// Whether a row of this origin answers here: a replayed one answers only another replay, a GPU measures for itself.
  [[nodiscard]] bool counts_here(const std::string& origin) const { return context_.origin != "measured" || origin == "measured"; }
  /// Whether a row with this detail was measured with memory as fast as here, as far as is known. The key of the device does not say.
  [[nodiscard]] bool of_this_memory(const std::string& detail_json) const {
    return !spec::other_memory_clock(spec::memory_clock_of(detail_json), context_.memory_clock_khz);
  }

 private:
  /// A configuration of the searched part, and the one of the whole space by whose name it is known: another one where that makes the same
  /// launches.
  struct Pending {
    space::Ordinal whole, part;
  };
  struct Point {
    std::uint64_t evaluations;
    double elapsed_s;
    double best_us;
  };

  void open_session();
  void load_records();
  void start_search(const Search& what);
  void tell_empty_part(const Search& what) const;
  [[nodiscard]] const space::SearchSpace& searched() const { return restricted_ ? *restricted_ : space_; }
  [[nodiscard]] space::LaunchClasses& searched_launches() { return restricted_launches_ ? *restricted_launches_ : launches_; }
  [[nodiscard]] space::Ordinal in_whole(space::Ordinal part) const;
  [[nodiscard]] std::optional<Pending> place_of(space::Ordinal part);
  [[nodiscard]] bool any_of_same_code_is_there(space::Ordinal part);
  [[nodiscard]] std::optional<space::Ordinal> decided_as(space::Ordinal part);
  [[nodiscard]] std::uint64_t different_launches(bool may_try_all);
  [[nodiscard]] bool search_on();
  [[nodiscard]] bool propose();
  void accept(measure::Measurement measurement);
  void note_outcome(const Pending& place);
  [[nodiscard]] bool separated();
  void describe_part(bool complete);
  void keep_restricted_best();
  void count_failure(space::Ordinal ordinal);
  void report_progress() const;
  void prepare_backend();
  void add_engine_figures(nlohmann::json& summary) const;

  [[nodiscard]] bool decided_before(const std::vector<std::string>& asked);
  [[nodiscard]] bool better_is_known(const db::BestRow& best);
  /// What won at this very problem, under whatever version, driver and compiler, the latest first.
  [[nodiscard]] std::vector<db::BestRow> own_winners() const;
  void put_own_winners_first(std::vector<space::Ordinal>& ordinals) const;
  /// Whether, in a run that renews, what won under another version, driver or compiler was not measured here: nothing takes its place then.
  [[nodiscard]] bool keeps_outdated();
  void tell_why_none() const;
  void store_failed(const RunOffSamples& samples);
  [[nodiscard]] db::RecordRow stored_row(const std::string& configuration) const;
  void store_best(const RunOffSamples& samples, const std::vector<std::string>& asked, bool ran_off);
  void mark_run_off(const std::string& configuration);
  /// Backend::run_off under the request's rules; those that failed are stored as such.
  [[nodiscard]] std::optional<RunOffSamples> run_off(const std::vector<std::string>& finalists);
  [[nodiscard]] RunOffSamples search_medians(const std::vector<std::string>& finalists) const;

  const spec::KernelTemplate& kernel_;
  const TuneRequest& request_;
  std::size_t number_;
  const spec::Problem& problem_;
  Backend& backend_;
  db::Database& database_;
  const Observer& observer_;
  space::SearchSpace space_;
  space::LaunchClasses launches_;  ///< of the whole space
  RowContext context_;
  db::Query query_;
  SessionLog log_;
  std::string default_text_;
  ProblemResult result_;
  bool opened_ = false;
  bool backend_ready_ = false;
  bool ever_restricted_ = false;
  Clock::time_point start_ = Clock::now();
  SearchMemory known_;              ///< by ordinal of the whole space
  std::unordered_set<std::string> to_replace_;  ///< configurations whose stored records this run has seen and measures again
  bool best_seen_ = false;                      ///< this run has seen a best row of the problem, or stored one
  std::vector<bool> noted_;         ///< by ordinal of the whole space: counted in `result_`
  bool submitted_ = false;
  Clock::time_point first_submit_;
  Clock::time_point last_commit_;
  std::uint64_t decided_ = 0;       ///< proposals of this run that have an outcome, measured or known
  std::vector<Point> convergence_;
  double best_us_ = 0;

  // Of the search in work.
  std::optional<space::SearchSpace> restricted_;  ///< nothing: the whole space is searched
  std::optional<space::LaunchClasses> restricted_launches_;  ///< of it
  std::vector<bool> named_;                            ///< by ordinal of what is searched: proposed, or another of the same launches was
  std::unique_ptr<search::Strategy> strategy_;
  Clock::time_point search_start_ = Clock::now();
  std::optional<Clock::time_point> deadline_;     ///< of the search; building the space counts too
  std::string label_;
  std::uint64_t limit_ = 0;
  std::uint64_t proposed_ = 0;
  std::uint64_t decided_before_ = 0;              ///< of `decided_`, by earlier searches
  double part_best_us_ = 0;
  std::unordered_map<std::string, Pending> pending_;
  std::uint64_t separation_check_ = 0;            ///< decisions at which separation is looked at next
  Part part_;
};

}  // namespace attune::session
