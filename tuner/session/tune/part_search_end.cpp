// When a PartSearch ends: what is allowed is nearly used up, or more of it would not be worth measuring.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tuner/base/json.hpp"
#include "tuner/session/tune/former_winners.hpp"
#include "tuner/session/tune/part_search.hpp"

namespace attune::session {
namespace {

constexpr std::uint64_t kFewestForSeparation = 64;
constexpr std::uint64_t kSeparationStep = 32;
constexpr double kLastShare = 0.1;  // of a search, for the neighbours of its fastest

double seconds_since(PartSearch::Clock::time_point start) {
  return std::chrono::duration<double>(PartSearch::Clock::now() - start).count();
}

}  // namespace

/// Whether the last tenth of what is allowed begins.
bool PartSearch::nearly_over() const {
  if (static_cast<double>(limit_ - std::min(proposed_, limit_)) <= kLastShare * static_cast<double>(limit_)) return true;
  if (!scope_.deadline) return false;
  const double left_s = -seconds_since(*scope_.deadline), spent_s = seconds_since(start_);
  return left_s < kLastShare * (left_s + spent_s);
}

bool PartSearch::converged() {
  if (!context_.request.budget.until_converged) return false;
  if (had_converged_) return true;
  const std::size_t found_at = tally_.best_found_at(Convergence::kLittleGain);
  if (!convergence_.is_reached(found_at)) return false;
  part_.converged = true;
  if (!std::exchange(told_converged_, true) && scope_.label.empty()) {
    context_.observer.notice(
        fmt::format("converged on {}: {} configurations came within {} % of the best, and of each of the last {} less than "
                    "that was to be gained in the mean",
                    context_.name(), found_at, Convergence::kLittleGain * 100, Convergence::looked_at(found_at)));
  }
  return true;
}

/// Whether an earlier run ended that way, and all that it knew is known: the same command again has nothing to do. Its model would have to
/// be proved wrong anew each time, by as many measurements as take that.
bool PartSearch::had_converged() const {
  if (!context_.request.budget.until_converged || !scope_.where.empty() || !scope_.label.empty()) return false;
  if (const auto former = former_winner(context_); former && !named_[*former]) return false;  // told since then, and not tried yet
  for (const auto& session : context_.database.sessions(context_.query)) {
    const auto summary = base::try_parse_json(session.summary_json);
    if (session.state != "finished" || !summary.is_object()) continue;
    const std::int64_t known_then = base::member_or(summary, kConvergedAt, std::int64_t{0});
    if (known_then <= 0 || static_cast<std::int64_t>(part_.reused) < known_then) continue;
    context_.observer.notice(
        fmt::format("{} had converged when {} configurations were known: nothing is measured", context_.name(), known_then));
    return true;
  }
  return false;
}

/// Whether the interval of the best lies apart from every other's, and the best has stood for as many decisions as it
/// took to find it: the first few configurations are always apart from each other.
bool PartSearch::separated() {
  separation_check_ = decided_here() + kSeparationStep;
  const auto counts = [this](space::Ordinal ordinal) { return !restricted_ || restricted_->find(context_.space.at(ordinal)).has_value(); };
  return decided_here() >= kFewestForSeparation && tally_.evaluations() >= 2 * tally_.best_found_at() &&
         known_.memory().best_is_apart(counts);
}

}  // namespace attune::session
