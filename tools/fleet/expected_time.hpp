#pragma once
#include <string>
#include <vector>

#include "tuner/session/tune/budget.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

/// About how long each problem takes to tune, for balancing shards; only how they compare matters. Preparing it (its data, its reference),
/// then a search of as many configurations as the budget allows at so many a second plus what running them takes, or of the budget's time
/// where that is less, then the run-off. The space is counted once for each combination of types and choices, at its first size that has
/// one (of the first 64): conditions on sizes change it little, and a plan may have a million of them.
/// Units: seconds. Throws: SpecError (a constraint that fails), Error (ExitCode::NothingValid: at most 64 problems a combination, and none
/// of them has one).
[[nodiscard]] std::vector<double> expected_seconds(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                                   const std::vector<spec::Constraint>& where, const session::Budget& budget,
                                                   const spec::DeviceInfo& device);

/// The budget of a command that tunes so many problems of a plan, whose `text` is each problem's: how many of them a task finds left must
/// not decide how long each is searched. Throws: UsageError (`text` is no budget; the result need not be one, where it is too long).
[[nodiscard]] std::string budget_of_problems(const std::string& text, std::size_t problems);

}  // namespace attune::tools
