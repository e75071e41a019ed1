#include "tools/fleet/expected_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/session/fleet/work_estimate.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::tools {
namespace {

/// Of a combination of types and choices. A size may leave no configuration where others leave some.
struct CountedSpace {
  std::uint64_t configurations = 0;
  int looks = 0;
};
constexpr int kMostLooks = 64;

}  // namespace

std::vector<double> expected_seconds(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                     const std::vector<spec::Constraint>& where, const session::Budget& budget,
                                     const spec::DeviceInfo& device) {
  constexpr double kPrepare_s = 2, kConfiguration_s = 0.03;  // compiling beside measuring, on the processors of one GPU's share
  constexpr double kRunOff = 24 * 21;                        // finalists and epochs, each about a configuration's samples
  std::map<std::string, CountedSpace> spaces;                // by types and choices
  std::string emptied_by;
  std::vector<double> seconds;
  seconds.reserve(problems.size());
  for (const auto& problem : problems) {
    CountedSpace& space = spaces[spec::family_text(problem)];
    if (space.configurations == 0 && space.looks < kMostLooks) {
      ++space.looks;
      const auto built = space::SearchSpace::build(kernel, problem, device, where);
      space.configurations = built.size();
      if (built.size() == 0) emptied_by = built.emptied_by();
    }
    const double run_s = session::estimated_work(kernel, problem, device) * 1e-6;
    double search_s = static_cast<double>(budget.limit(space.configurations)) * (kConfiguration_s + run_s);
    if (budget.seconds) search_s = std::min(search_s, *budget.seconds);
    const double run_off_s = std::min(kRunOff * run_s, budget.seconds ? session::run_off_seconds(search_s, 1) : search_s);
    seconds.push_back(std::round((kPrepare_s + search_s + run_off_s) * 1e3) / 1e3);
  }
  std::size_t empty = 0;
  for (const auto& [family, space] : spaces) empty += space.configurations == 0 ? static_cast<std::size_t>(space.looks) : 0;
  if (empty == problems.size()) {  // every one was looked at
    throw Error(
        fmt::format("failed planning: no problem has a valid configuration on {} (--architecture names that of the nodes): condition "
                    "\"{}\" leaves none",
                    device.architecture, emptied_by),
        ExitCode::NothingValid);
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
