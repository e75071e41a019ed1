#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/session/backend.hpp"
#include "tuner/session/budget.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

struct TuneRequest {
  std::vector<spec::Problem> problems;
  std::string strategy = "exhaustive";
  std::uint64_t seed = 1;
  Budget budget;
  measure::Policy policy;
  std::size_t finalists = 6;
  int run_off_rounds = 31;
};

/// Where one problem's tuning stands; sent often, cheap to ignore.
struct Progress {
  const spec::Problem* problem = nullptr;
  std::size_t problem_number = 0, problem_count = 0;
  std::uint64_t done = 0, total = 0;      ///< configurations of this problem: decided / allowed by the budget
  std::uint64_t reused = 0, failed = 0;
  double best_us = 0;                     ///< 0: none yet
  double configurations_per_s = 0;        ///< freshly decided ones, over this problem
  std::optional<double> eta_s;            ///< of this problem
};

/// What one problem's tuning came to.
struct ProblemResult {
  spec::Problem problem;
  std::uint64_t space_size = 0, measured = 0, reused = 0;
  std::map<std::string, std::uint64_t> failed;  ///< by outcome name
  bool nothing_left = false;                    ///< everything had been measured and decided before
  std::optional<db::BestRow> best;              ///< nothing when no configuration was valid
  std::int64_t work_bytes = 0;
  double elapsed_s = 0;
};

/// Callbacks of a run; every one may be left as it is.
struct Observer {
  std::function<void(const Progress&)> progress = [](const Progress&) {};
  /// After a configuration's record is committed.
  std::function<void(const measure::Measurement&)> recorded = [](const measure::Measurement&) {};
  std::function<void(const ProblemResult&)> finished = [](const ProblemResult&) {};
  std::function<void(const std::string&)> notice = [](const std::string&) {};
  std::function<bool()> interrupted = [] { return false; };
};

struct TuneResult {
  std::vector<ProblemResult> problems;
  bool interrupted = false;
};

/// The tuning loop: propose -> compile -> check -> measure -> record, for each problem in turn; every decided
/// configuration is one committed transaction, so that a killed run continues where it was. A record that is already
/// there (same template hash, problem, device and policy) answers a proposal without measuring.
/// Throws: UsageError (problem), SpecError, EnvironmentError, DatabaseError. An empty space is a result without a best
/// and a notice that names the condition.
[[nodiscard]] TuneResult tune(const spec::KernelTemplate& kernel, const TuneRequest& request, Backend& backend,
                              db::Database& database, const Observer& observer);

}  // namespace attune::session
