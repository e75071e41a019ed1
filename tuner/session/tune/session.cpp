#include "tuner/session/tune/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "attune/error.hpp"
#include "db/row_check.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/tune/problem_tuner.hpp"

namespace attune::session {
namespace {

using Clock = std::chrono::steady_clock;

bool run_or_abandon(ProblemTuner& tuner, std::optional<Clock::time_point> deadline) {
  try {
    return tuner.run(deadline);
  } catch (const DatabaseError&) {
    throw;  // nothing more can be written
  } catch (...) {
    tuner.abandon();
    throw;
  }
}

/// What is stored can be exported, and what is exported can be imported: a template that could not is refused before anything of
/// it is measured.
void refuse_what_cannot_travel(const db::TemplateRow& row) {
  try {
    db::RowCheck().take(row);
  } catch (const Error& error) {
    throw SpecError("template '" + row.name + "'", 0, 0, error.what());
  }
}

}  // namespace

void refuse_nothing(const spec::Problem& problem) {
  for (const auto& [name, size] : problem.sizes) {
    if (size == 0) throw UsageError(fmt::format("there is nothing to tune at {} = 0; dispatch answers it without tuning", name));
  }
}

std::string not_recorded_notice(const std::vector<const ProblemResult*>& problems) {
  std::uint64_t all = 0, most = 0, fewest = std::numeric_limits<std::uint64_t>::max();
  std::vector<const ProblemResult*> incomplete;
  for (const ProblemResult* problem : problems) {
    if (problem->not_recorded == 0) continue;
    incomplete.push_back(problem);
    all += problem->not_recorded;
    most = std::max(most, problem->not_recorded);
    fewest = std::min(fewest, problem->not_recorded);
  }
  if (incomplete.empty()) return "";
  std::string of = spec::to_text(incomplete.front()->problem);
  if (incomplete.size() > 1) {
    of = fmt::format("{} problems ({} of each)", incomplete.size(),
                     fewest == most ? fmt::to_string(most) : fmt::format("{} to {}", fewest, most));
  }
  return fmt::format("{} configurations of {} are not in the recording and were left out", all, of);
}

TuneResult tune(const spec::KernelTemplate& kernel, const TuneRequest& request, Backend& backend, db::Database& database,
                const Observer& observer) {
  for (const auto& problem : request.problems) spec::validate(kernel, problem);
  const auto& device = backend.device();
  database.put(db::DeviceRow{device.hard_key(), device.hard_json(), base::dump_json(device.to_json())});
  const db::TemplateRow row{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files};
  refuse_what_cannot_travel(row);
  database.put(row);
  const auto start = Clock::now();
  TuneResult result;
  for (std::size_t i = 0; i < request.problems.size() && !result.interrupted; ++i) {
    std::optional<Clock::time_point> deadline;
    if (request.budget.seconds) {
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      const double left = std::max(0.0, request.seconds_left.value_or(*request.budget.seconds) - spent);
      const std::chrono::duration<double> share(left / static_cast<double>(request.problems.size() - i));
      deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
    }
    observer.started(request.problems[i]);
    try {
      ProblemTuner tuner(kernel, request, i, backend, database, observer);
      result.interrupted = !run_or_abandon(tuner, deadline);
      result.problems.push_back(tuner.take_result());
    } catch (const DatabaseError&) {
      throw;
    } catch (const UnusableDevice&) {
      throw;
    } catch (const space::BuildStopped&) {
      result.interrupted = true;
      result.problems.emplace_back().problem = request.problems[i];
    } catch (const Error& error) {  // this problem cannot be tuned; others can
      if (request.problems.size() == 1 || error.exit_code() == ExitCode::Interrupted) throw;
      result.given_up.push_back({request.problems[i], device.name, error.what(), error.exit_code()});
      continue;
    }
    if (!result.interrupted) observer.finished(result.problems.back());
  }
  std::vector<const ProblemResult*> tuned;
  for (const auto& problem : result.problems) tuned.push_back(&problem);
  if (const std::string notice = not_recorded_notice(tuned); !notice.empty()) observer.notice(notice);
  return result;
}

}  // namespace attune::session
