#include "tuner/session/tune/objective.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/metrics.hpp"

namespace attune::session {
namespace {

using measure::Measurement;
using nlohmann::json;

const Measurement& find(const std::vector<Measurement>& measurements, const std::string& configuration) {
  const auto found = std::find_if(measurements.begin(), measurements.end(),
                                  [&](const Measurement& measurement) { return measurement.configuration == configuration; });
  if (found == measurements.end()) throw Error(fmt::format("failed deciding the run-off: nothing is known of {}", configuration));
  return *found;
}

/// What is not known of the powers widens the intervals of the ratios; who may be as good as the first by that is tied with it.
void tie_within_resolution(Decided& decided, const std::vector<Measurement>& measurements) {
  const auto resolution_of = [&](const Placed& placed) { return find(measurements, placed.configuration).power.resolution; };
  const double best = resolution_of(decided.placed.front());
  for (std::size_t i = 1; i < decided.placed.size(); ++i) {
    Placed& placed = decided.placed[i];
    const bool to_the_end = std::any_of(measurements.begin(), measurements.end(),
                                        [&](const Measurement& one) { return one.configuration == placed.configuration; });
    if (!to_the_end) continue;  // it left, and is placed behind all that did not
    const double unknown = best + resolution_of(placed);
    placed.to_best.low *= 1 - unknown;
    placed.to_best.high *= 1 + unknown;
    placed.tied = placed.tied || placed.to_best.low <= 1;
    decided.placed.front().tied = decided.placed.front().tied || placed.tied;
  }
  decided.tie = std::count_if(decided.placed.begin(), decided.placed.end(), [](const Placed& placed) { return placed.tied; }) > 1;
}

}  // namespace

Decided decide_by_objective(const ProblemContext& context, const RunOffSamples& samples, const std::vector<Measurement>& measurements,
                            const std::string& default_configuration) {
  RunOffSamples costs = samples;
  for (auto& round : costs.rounds_us) {
    for (std::size_t i = 0; i < round.size(); ++i) round[i] = context.cost(find(measurements, samples.configurations[i]), round[i]);
  }
  const Decided by_time = decide(samples, measurements, default_configuration);
  Decided decided = decide(costs, measurements, default_configuration);
  if (context.kernel.objective->of_power) tie_within_resolution(decided, measurements);
  for (Placed& placed : decided.placed) {
    const auto time = std::find_if(by_time.placed.begin(), by_time.placed.end(),
                                   [&](const Placed& other) { return other.configuration == placed.configuration; });
    placed.median_us = time->median_us;
    placed.low_us = time->low_us;
    placed.high_us = time->high_us;
  }
  return decided;
}

void add_metrics(const ProblemContext& context, const Decided& decided, const std::vector<Measurement>& measurements,
                 const std::string& default_configuration, db::BestRow& best) {
  const spec::KernelTemplate& kernel = context.kernel;
  if (kernel.metrics.empty() && !kernel.objective) return;
  json detail = base::parse_json(best.detail_json);
  const Placed& winner = decided.placed.at(decided.winner);
  const Measurement& measured = find(measurements, winner.configuration);
  detail["metrics"] = context.metrics(measured, winner.median_us);
  if (measured.power.watts > 0) detail["power"] = {{"watts", measured.power.watts}, {"resolution", measured.power.resolution}};
  if (kernel.objective) {
    const double cost = context.cost(measured, winner.median_us);
    json objective = {{"of", kernel.objective->value.text()},
                      {"maximise", kernel.objective->maximise},
                      {"value", spec::objective_value(kernel, cost)},
                      {"cost", cost}};
    for (const Measurement& standard : measurements) {
      if (standard.configuration == default_configuration && best.default_us > 0)
        objective["default"] = spec::objective_value(kernel, context.cost(standard, best.default_us));
    }
    detail["objective"] = std::move(objective);
  }
  best.detail_json = base::dump_json(detail);
}

double cost_of_row(const db::BestRow& row) {
  if (row.detail_json.empty()) return row.median_us;
  const json detail = base::parse_json(row.detail_json);
  const auto found = detail.find("objective");
  return found == detail.end() || !found->is_object() ? row.median_us : base::member_or(*found, "cost", row.median_us);
}

}  // namespace attune::session
