#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/tune/budget.hpp"
#include "tuner/session/tune/finalists.hpp"
#include "tuner/space/build_watch.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/stated_work.hpp"

namespace attune::session {

struct TuneRequest {
  std::vector<spec::Problem> problems;
  search::StrategyKind strategy = search::StrategyKind::Exhaustive;
  std::uint64_t seed = 1;
  Budget budget;
  measure::Policy policy;
  FinalistRule finalists;
  Race::Options race;
  /// Further conditions: only configurations that satisfy them all are proposed. What is decided stays the best of everything
  /// known of the problem, so that a search of a part never replaces a better winner by a worse one.
  std::vector<spec::Constraint> where;
  /// Files that the strategies auto, portfolio and winners take further proposals from: winners of a database, good configurations of a
  /// recording (*.json, *.json.zst); and auto and model what to expect. They may be of another version of the template.
  std::vector<std::filesystem::path> also_try;
  bool retry_failed = false;  ///< records of failures do not answer a proposal: they are measured again
  bool renew = false;         ///< nor do records of another driver or NVRTC build than the backend's; what won under them is decided anew
  bool best_when_stopped = true;  ///< a run that is stopped stores a best by what it sampled, where there is none
  /// Names the command that these sessions belong to: several devices, one run. Kept in each session's summary.
  std::string run;
  /// What is left of `budget.seconds`, when part of it is spent before this call; nothing: all of it.
  std::optional<double> seconds_left;
};

/// Where one problem's tuning stands; sent often, cheap to ignore.
struct Progress {
  const spec::Problem* problem = nullptr;
  std::string part;                   ///< which part of its space is searched (a rung's name); empty: no named one
  std::uint64_t done = 0, total = 0;  ///< configurations of this problem: decided / allowed by the budget
  std::uint64_t reused = 0, failed = 0;
  double best_us = 0;     ///< 0: none yet
  Utilisation used;       ///< so far, for this problem
  std::string waits_for;  ///< before anything can be measured: "compiling the reference of ..."; empty: nothing
};

/// One configuration that failed in some way, for messages.
struct FailureExample {
  std::string configuration;
  std::string detail;
};

/// What one problem's tuning came to.
struct ProblemResult {
  spec::Problem problem;
  std::uint64_t space_size = 0, measured = 0, reused = 0;
  std::uint64_t different_launches = 0;         ///< configurations of the space that do not repeat the launches of another; 0: not counted
  std::uint64_t not_recorded = 0;               ///< of a replay: proposed, not in the recording and left out
  std::map<std::string, std::uint64_t> failed;  ///< by outcome name
  std::map<std::string, FailureExample> failure_examples;  ///< the first of each in `failed`
  bool nothing_left = false;                               ///< everything had been measured and decided before
  bool former_stays = false;  ///< of a renewal: the budget ended before what had won was measured again, so nothing takes its place
  /// What the conditions of a request leave, and the fastest known configuration that satisfies them, by the search.
  struct Restricted {
    std::uint64_t size = 0;
    std::string configuration;  ///< empty: none has worked
    double median_us = 0;
  };
  std::optional<Restricted> restricted;
  std::optional<db::BestRow> best;  ///< of everything known; nothing when no configuration was valid
  spec::StatedWork work;
  double elapsed_s = 0;
  Utilisation utilisation;
};

/// What a replay left out of all its problems, in one sentence; empty when that is nothing.
[[nodiscard]] std::string not_recorded_notice(const std::vector<const ProblemResult*>& problems);

/// Callbacks of a run; every one may be left as it is.
struct Observer {
  std::function<void(const spec::Problem&)> started = [](const spec::Problem&) {};
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  /// After a configuration's record is committed.
  std::function<void(const measure::Measurement&)> recorded = [](const measure::Measurement&) {};
  std::function<void(const ProblemResult&)> finished = [](const ProblemResult&) {};
  std::function<void(const std::string&)> notice = [](const std::string&) {};
  std::function<bool()> interrupted = [] { return false; };
  /// While the space of a problem, or of a part of it, is built; `interrupted` is asked as well.
  std::function<void(const spec::Problem&, const space::BuildProgress&)> building = [](const spec::Problem&, const space::BuildProgress&) {
  };

  /// Asks and tells both. Requires: this object and the problem outlive it.
  [[nodiscard]] space::BuildWatch watch(const spec::Problem& problem) const {
    return [this, &problem](const space::BuildProgress& so_far) {
      building(problem, so_far);
      return !interrupted();
    };
  }
};

/// A problem that could not be tuned to its end: its reference fails, it does not fit the device, its process died.
struct GivenUp {
  spec::Problem problem;
  std::string device_name;
  std::string why;
  ExitCode exit_code = ExitCode::Internal;
};

struct TuneResult {
  std::vector<ProblemResult> problems;
  std::vector<GivenUp> given_up;  ///< of several; a single one's error is thrown
  bool interrupted = false;
};

/// Throws: UsageError naming a size that is 0: there is nothing to tune then.
void refuse_nothing(const spec::Problem& problem);

/// The tuning loop: propose -> compile -> check -> measure -> record, for each problem in turn; every decided
/// configuration is one committed transaction, so that a killed run continues where it was. A record that is already
/// there (same template hash, problem, device and policy) answers a proposal without measuring.
/// Throws: UsageError (problem), SpecError, EnvironmentError, DatabaseError. An empty space is a result without a best
/// and a notice that names the condition.
[[nodiscard]] TuneResult tune(const spec::KernelTemplate& kernel, const TuneRequest& request, Backend& backend, db::Database& database,
                              const Observer& observer);

}  // namespace attune::session
