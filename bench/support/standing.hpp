#pragma once
#include <cstdint>
#include <vector>

#include "bench/support/json.hpp"
#include "tuner/simulate/score.hpp"

namespace attune::bench {

/// How runs on one space did, as rows of results say it: "runs", "evaluations" (of a run, in the mean), "score" (null where there is
/// nothing to be good at), and the optimum over what was found after so many evaluations, "at_25", "at_50", "at_100" and "at_200", as far
/// as the budget goes. Requires: a trace.
[[nodiscard]] Json standing(const simulate::SearchScore& scale, const std::vector<simulate::Trace>& traces, std::uint64_t budget);

}  // namespace attune::bench
