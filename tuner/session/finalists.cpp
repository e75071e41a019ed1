#include "tuner/session/finalists.hpp"

#include <algorithm>
#include <tuple>

#include "attune/error.hpp"

namespace attune::session {
namespace {

bool qualifies(const measure::Measurement& measurement) {
  return measurement.outcome == measure::Outcome::Ok && measurement.verified && measurement.timing.samples > 0 &&
         measurement.stage != measure::Stage::Screened && measurement.stage != measure::Stage::None;
}

const measure::Measurement& measurement_of(const std::vector<measure::Measurement>& all, const std::string& configuration) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.configuration == configuration; });
  if (found == all.end()) throw Error("failed deciding the run-off: no measurement of finalist " + configuration);
  return *found;
}

}  // namespace

std::vector<const measure::Measurement*> choose_finalists(const std::vector<measure::Measurement>& measurements,
                                                          const std::string& default_configuration, std::size_t count) {
  std::vector<const measure::Measurement*> qualified;
  for (const auto& measurement : measurements) {
    if (qualifies(measurement)) qualified.push_back(&measurement);
  }
  std::sort(qualified.begin(), qualified.end(), [](const auto* a, const auto* b) {
    return std::tie(a->timing.median_us, a->configuration) < std::tie(b->timing.median_us, b->configuration);
  });
  std::vector<const measure::Measurement*> chosen(qualified.begin(),
                                                  qualified.begin() + static_cast<std::ptrdiff_t>(std::min(count, qualified.size())));
  const auto is_default = [&](const auto* m) { return m->configuration == default_configuration; };
  if (std::none_of(chosen.begin(), chosen.end(), is_default)) {
    // The default joins even when screening dropped it: its time in the same run-off is what the speed-up is told against.
    const auto found = std::find_if(measurements.begin(), measurements.end(), [&](const auto& m) {
      return m.configuration == default_configuration && m.outcome == measure::Outcome::Ok && m.verified;
    });
    if (found != measurements.end() && !chosen.empty()) chosen.push_back(&*found);
  }
  return chosen;
}

Decided decide(const RunOffSamples& samples, const std::vector<measure::Measurement>& resources,
               const std::string& default_configuration) {
  const std::size_t count = samples.configurations.size();
  if (count == 0 || samples.rounds_us.empty()) throw Error("failed deciding the run-off: no rounds");
  std::vector<std::vector<double>> columns(count);
  for (const auto& round : samples.rounds_us) {
    for (std::size_t i = 0; i < count; ++i) columns[i].push_back(round.at(i));
  }
  std::vector<measure::Timing> timings;
  for (const auto& column : columns) timings.push_back(measure::summarise({column}, 1));
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(timings[a].median_us, samples.configurations[a]) < std::tie(timings[b].median_us, samples.configurations[b]);
  });

  Decided decided;
  const std::size_t fastest = order.front();
  for (const std::size_t i : order) {
    std::vector<double> ratios;
    for (const auto& round : samples.rounds_us) ratios.push_back(round[i] / round[fastest]);
    Placed placed{samples.configurations[i], timings[i].median_us, timings[i].low_us, timings[i].high_us,
                  measure::compare_paired(ratios), false};
    placed.tied = i == fastest || placed.to_best.tie();
    decided.placed.push_back(std::move(placed));
  }
  const auto rank = [&](const Placed& placed) {
    const auto& used = measurement_of(resources, placed.configuration).resources;
    return std::make_tuple(placed.configuration != default_configuration, used.registers, used.shared_bytes, placed.configuration);
  };
  for (std::size_t i = 0; i < decided.placed.size(); ++i) {
    if (decided.placed[i].tied && rank(decided.placed[i]) < rank(decided.placed[decided.winner])) decided.winner = i;
  }
  const auto tied = std::count_if(decided.placed.begin(), decided.placed.end(), [](const Placed& p) { return p.tied; });
  decided.tie = tied > 1;
  return decided;
}

}  // namespace attune::session
