#include "tuner/session/tune/finalists.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/base/median.hpp"

namespace attune::session {
namespace {

bool qualifies(const Candidate& candidate) {
  return candidate.outcome == measure::Outcome::Ok && candidate.may_win && candidate.cost > 0 &&
         candidate.stage != measure::Stage::Screened && candidate.stage != measure::Stage::None;
}

const measure::Measurement& measurement_of(const std::vector<measure::Measurement>& all, const std::string& configuration) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.configuration == configuration; });
  if (found == all.end()) throw Error("failed deciding the run-off: no measurement of finalist " + configuration);
  return *found;
}

/// Those that ran to the end, ascending by relative time, with their ratios to the fastest.
std::vector<Placed> place_all(const RunOffSamples& samples) {
  const std::size_t count = samples.configurations.size();
  const auto group = static_cast<std::size_t>(std::max(1, samples.rounds_per_epoch));
  std::vector<std::vector<double>> columns(count);
  std::vector<std::vector<double>> relative(count);
  for (const auto& round : samples.rounds_us) {
    const auto relative_round = relative_times(round);
    for (std::size_t i = 0; i < count; ++i) {
      columns[i].push_back(round.at(i));
      relative[i].push_back(relative_round.at(i));
    }
  }
  std::vector<measure::Timing> timings;
  std::vector<double> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    timings.push_back(measure::summarise({observations(columns[i], group)}, 1));
    ranks.push_back(base::median(observations(relative[i], group)));
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(ranks[a], samples.configurations[a]) < std::tie(ranks[b], samples.configurations[b]);
  });
  std::vector<Placed> placed;
  const std::size_t fastest = order.front();
  for (const std::size_t i : order) {
    std::vector<double> ratios;
    for (const auto& round : samples.rounds_us) ratios.push_back(round[i] / round[fastest]);
    const auto observed = observations(ratios, group);
    Placed mine{samples.configurations[i],
                timings[i].median_us,
                timings[i].low_us,
                timings[i].high_us,
                measure::compare_paired(observed, Race::kConfidence),
                false,
                observed.size()};
    const bool close = mine.to_best.low <= 1 && mine.to_best.median_ratio <= kFarthestTie;
    mine.tied = i == fastest || (close && placed.size() < Race::kFew);
    placed.push_back(std::move(mine));
  }
  return placed;
}

}  // namespace

FinalistRule FinalistRule::of_at_most(std::size_t most) {
  FinalistRule rule;
  rule.most = most;
  rule.fewest = std::min(rule.fewest, most);
  rule.grows = false;
  return rule;
}

FinalistRule FinalistRule::for_search_of(std::size_t configurations) const {
  FinalistRule rule = *this;
  if (grows) rule.most = std::max(most, std::min(configurations / kTriedForEach, kMostGrown));
  return rule;
}

std::vector<std::string> choose_finalists(std::vector<Candidate> candidates, const std::vector<std::string>& joining,
                                          const FinalistRule& rule) {
  // They join even when screening dropped them: their time in the same run-off is what the winner is told against.
  std::vector<std::string> running;
  for (const auto& name : joining) {
    const bool runs = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
      return candidate.configuration == name && candidate.outcome == measure::Outcome::Ok && candidate.may_win;
    });
    if (runs) running.push_back(name);
  }
  std::erase_if(candidates, [](const Candidate& candidate) { return !qualifies(candidate); });
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return std::tie(a.cost, a.configuration) < std::tie(b.cost, b.configuration); });
  std::vector<std::string> chosen;
  for (const auto& candidate : candidates) {
    const bool close = candidate.cost <= rule.ratio * candidates.front().cost;
    if (chosen.size() >= rule.most || (!close && chosen.size() >= rule.fewest)) break;
    chosen.push_back(candidate.configuration);
  }
  if (chosen.empty()) return chosen;
  for (auto& name : running)
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(std::move(name));
  return chosen;
}

Decided decide(const RunOffSamples& samples, const std::vector<measure::Measurement>& resources, const std::string& default_configuration) {
  if (samples.configurations.empty() || samples.rounds_us.empty()) throw Error("failed deciding the run-off: no rounds");
  Decided decided;
  decided.placed = place_all(samples);
  const auto rank = [&](const Placed& placed) {
    const auto& used = measurement_of(resources, placed.configuration).resources;
    return std::make_tuple(placed.configuration != default_configuration, used.registers, used.shared_bytes);
  };
  for (std::size_t i = 1; i < decided.placed.size(); ++i) {
    const Placed& placed = decided.placed[i];
    const bool equal = placed.tied && placed.to_best.median_ratio <= kEqual;
    if (equal && rank(placed) < rank(decided.placed[decided.winner])) decided.winner = i;
  }
  decided.tie = std::count_if(decided.placed.begin(), decided.placed.end(), [](const Placed& p) { return p.tied; }) > 1;
  for (const auto& left : samples.left) {
    // Its own median belongs to fewer epochs than the winner's: the ratio is what may be compared.
    const double fastest_us = decided.placed.front().median_us;
    decided.placed.push_back({left.configuration, fastest_us * left.to_best.median_ratio, fastest_us * left.to_best.low,
                              fastest_us * left.to_best.high, left.to_best, false, left.observations});
  }
  return decided;
}

}  // namespace attune::session
