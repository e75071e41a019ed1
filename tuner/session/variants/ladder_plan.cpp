#include "tuner/session/variants/ladder_plan.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::session {

/// Configurations of one rung that are looked at one by one, to count those of several rungs once: beyond, the plan is an upper bound.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 20;

RungEffort effort_of(const spec::Rung& rung, LadderEffort effort) {
  if (effort == LadderEffort::AsTheRequestSays) return {};
  return rung.sample > 0 ? RungEffort{rung.sample, rung.sample} : RungEffort{kWholeRung, kRungSample};
}

LadderPlan plan_ladder(const spec::KernelTemplate& kernel, const spec::VariantLadder& ladder, LadderEffort effort, const Budget& budget,
                       const spec::Problem& problem, const spec::DeviceInfo& device, const space::BuildWatch& watch) {
  LadderPlan plan;
  std::set<std::vector<std::uint16_t>> whole;
  std::uint64_t drawn = 0;
  for (const auto& rung : ladder.rungs) {
    const auto space = space::SearchSpace::build(kernel, problem, device, {rung.where}, watch);
    plan.rung_sizes.push_back(space.size());
    const RungEffort tried = effort_of(rung, effort);
    const std::uint64_t limit = effort == LadderEffort::AsTheRequestSays ? budget.limit(space.size())
                                : space.size() <= tried.whole_up_to      ? space.size()
                                                                         : tried.sample;
    if (limit < space.size() || limit > kMostCounted) {
      drawn += limit;
      continue;
    }
    for (space::Ordinal i = 0; i < space.size(); ++i) {
      const auto configuration = space.at(i);
      whole.emplace(configuration.index.begin(), configuration.index.end());
    }
  }
  const auto all = space::SearchSpace::build(kernel, problem, device, {}, watch).size();
  plan.configurations = std::min<std::uint64_t>(whole.size() + drawn, all);
  return plan;
}

}  // namespace attune::session
