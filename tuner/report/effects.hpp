#pragma once
#include <string>
#include <vector>

#include "tuner/report/report.hpp"
#include "tuner/report/rows.hpp"

namespace attune::report {

/// What each value of each parameter costs or gains on one problem: the best time that is reachable with it, and the
/// median over its configurations, both relative to the fastest record of all. Screened records count: leaving them out
/// would flatter the values whose configurations were dropped early.
/// Parameters and values come in the declared order; undeclared ones follow, numbers before texts.
[[nodiscard]] std::vector<ParameterEffect> parameter_effects(const std::vector<const db::RecordRow*>& records,
                                                             const std::vector<DeclaredParameter>& declared);

}  // namespace attune::report
