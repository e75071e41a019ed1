#include "tuner/session/tune/search_memory.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace attune::session {

void SearchMemory::remember(space::Ordinal ordinal, const measure::Measurement& measurement, const Cost& cost) {
  if (!known_[ordinal].decided) decided_.push_back(ordinal);
  known_[ordinal] = {static_cast<float>(cost.low),
                     static_cast<float>(cost.high),
                     cost.middle,
                     static_cast<float>(measurement.timing.median_us),
                     measurement.outcome,
                     measurement.stage,
                     measurement.verified || !verifiable_,
                     true};
}

std::vector<space::Ordinal> SearchMemory::best() const {
  std::vector<space::Ordinal> found;
  for (const space::Ordinal ordinal : decided_) {
    if (known_[ordinal].measured() && known_[ordinal].may_win) found.push_back(ordinal);
  }
  std::sort(found.begin(), found.end(), [&](auto a, auto b) { return std::tie(known_[a].cost, a) < std::tie(known_[b].cost, b); });
  return found;
}

bool SearchMemory::best_is_apart(const std::function<bool(space::Ordinal)>& counts) const {
  std::vector<const Known*> measured;
  for (const space::Ordinal ordinal : decided_) {
    if (known_[ordinal].measured() && counts(ordinal)) measured.push_back(&known_[ordinal]);
  }
  const auto best = std::min_element(measured.begin(), measured.end(), [](const Known* a, const Known* b) { return a->cost < b->cost; });
  if (best == measured.end()) return false;
  return std::none_of(measured.begin(), measured.end(),
                      [&](const Known* known) { return known != *best && known->low_cost <= (*best)->high_cost; });
}

std::uint64_t SearchMemory::working() const {
  return static_cast<std::uint64_t>(
      std::count_if(decided_.begin(), decided_.end(), [&](auto ordinal) { return known_[ordinal].outcome == measure::Outcome::Ok; }));
}

std::vector<Candidate> candidates_of(const SearchMemory& memory, const spec::KernelTemplate& kernel, const space::SearchSpace& space,
                                     space::LaunchClasses& launches, const std::vector<std::string>& joining, std::size_t most) {
  std::vector<space::Ordinal> close;
  std::unordered_set<space::Ordinal> seen;
  // Where several records are of the same launches, as older versions made them, the one of the name that stands for them speaks for all.
  const auto add = [&](space::Ordinal ordinal) {
    const space::Ordinal named = launches.canonical(ordinal);
    if (seen.insert(named).second) close.push_back(memory[named].measured() && memory[named].may_win ? named : ordinal);
  };
  for (const auto ordinal : memory.best()) {
    if (close.size() == most) break;
    add(ordinal);
  }
  for (const auto& name : joining)
    if (const auto at = space.find(spec::configuration_from_text(kernel, name))) add(*at);
  std::vector<Candidate> candidates;
  for (const auto ordinal : close) {
    const Known& known = memory[ordinal];
    if (!known.decided) continue;
    candidates.push_back({spec::to_text(kernel, space.at(ordinal)), known.outcome, known.stage, known.may_win, known.cost});
  }
  return candidates;
}

}  // namespace attune::session
