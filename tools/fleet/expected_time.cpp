#include "tools/fleet/expected_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tuner/session/fleet/work_estimate.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::tools {

std::vector<double> expected_seconds(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                     const std::vector<spec::Constraint>& where, const session::Budget& budget,
                                     const spec::DeviceInfo& device) {
  constexpr double kPrepare_s = 2, kConfiguration_s = 0.03;  // compiling beside measuring, on the processors of one GPU's share
  constexpr double kRunOff = 24 * 21;                        // finalists and epochs, each about a configuration's samples
  std::map<std::string, std::uint64_t> spaces;               // by types and choices
  std::vector<double> seconds;
  seconds.reserve(problems.size());
  for (const auto& problem : problems) {
    const auto [space, is_new] = spaces.try_emplace(spec::family_text(problem), 0);
    if (is_new) space->second = space::SearchSpace::build(kernel, problem, device, where).size();
    const double run_s = session::estimated_work(kernel, problem, device) * 1e-6;
    double search_s = static_cast<double>(budget.limit(space->second)) * (kConfiguration_s + run_s);
    if (budget.seconds) search_s = std::min(search_s, *budget.seconds);
    const double run_off_s = std::min(kRunOff * run_s, budget.seconds ? session::run_off_seconds(search_s, 1) : search_s);
    seconds.push_back(std::round((kPrepare_s + search_s + run_off_s) * 1e3) / 1e3);
  }
  return seconds;
}

std::string budget_of_problems(const std::string& text, std::size_t problems) {
  auto budget = session::Budget::parse(text);
  if (!budget.seconds) return text;
  *budget.seconds *= static_cast<double>(problems);
  return budget.text();
}

}  // namespace attune::tools
