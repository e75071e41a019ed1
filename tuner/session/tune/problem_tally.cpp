#include "tuner/session/tune/problem_tally.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace attune::session {

using measure::Outcome;

ProblemTally::ProblemTally(const ProblemContext& context, const KnownResults& known)
    : context_(context), known_(known), noted_(context.space.size(), false) {
  result.problem = context.problem;
  result.space_size = context.space.size();
}

double ProblemTally::elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void ProblemTally::begin_search() {
  if (evaluations_ == 0) start_ = Clock::now();
}

void ProblemTally::submitted() {
  if (!first_submit_) first_submit_ = Clock::now();
}

void ProblemTally::measured() { ++result.measured; }

void ProblemTally::reused(space::Ordinal ordinal) {
  if (!noted_[ordinal]) ++result.reused;
}

void ProblemTally::decided(space::Ordinal ordinal) {
  const bool first = !noted_[ordinal];
  noted_[ordinal] = true;
  ++evaluations_;
  const Known& known = known_[ordinal];
  if (known.outcome != Outcome::Ok) {
    if (first) count_failure(ordinal);
    return;
  }
  if (known.stage == measure::Stage::Screened || known.cost <= 0 || (best_cost_ > 0 && known.cost >= best_cost_)) return;
  best_cost_ = known.cost;
  convergence_.push_back({evaluations_, elapsed_s(), time_of(context_.kernel, known), best_cost_});
}

std::uint64_t ProblemTally::best_found_at(double share) const {
  const auto close = [&](const Point& point) { return point.cost <= best_cost_ * (1 + share); };
  const auto found = std::find_if(convergence_.begin(), convergence_.end(), close);
  return found == convergence_.end() ? 0 : found->evaluations;
}

void ProblemTally::count_failure(space::Ordinal ordinal) {
  const std::string outcome = measure::name(known_[ordinal].outcome);
  ++result.failed[outcome];
  if (result.failure_examples.contains(outcome)) return;
  const auto measurement = known_.stored(context_.text(ordinal));
  result.failure_examples.emplace(outcome, FailureExample{measurement.configuration, measurement.detail});
}

void ProblemTally::account(const Utilisation& of_backend) {
  auto& utilisation = result.utilisation;
  utilisation = of_backend;
  utilisation.searching_s = searching_s_;
  const auto now = Clock::now();
  utilisation.wall_s = std::chrono::duration<double>(now - first_submit_.value_or(now)).count();
  utilisation.idle_other_s =
      std::max(0.0, utilisation.wall_s - utilisation.gpu_busy_s - utilisation.idle_waiting_compile_s - utilisation.recovering_s);
}

void ProblemTally::finish() {
  result.elapsed_s = elapsed_s();
  if (!convergence_.empty()) convergence_.push_back({evaluations_, result.elapsed_s, convergence_.back().time_us, best_cost_});
}

nlohmann::json ProblemTally::convergence() const {
  auto points = nlohmann::json::array();
  for (const auto& point : convergence_) points.push_back({point.evaluations, point.elapsed_s, point.time_us});
  return points;
}

}  // namespace attune::session
