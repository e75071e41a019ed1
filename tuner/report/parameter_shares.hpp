#pragma once
#include <optional>
#include <vector>

#include "tuner/report/report.hpp"

namespace attune::report {

/// Which parameters matter to the time of one problem, by a forest of its records that have one (search/importance.hpp): of a random choice
/// of 1000 where there are more, since shares are hardly better known from them, and reports of many problems have to be written soon.
/// Nothing where too little is known: of fewer than 100 times the order of the shares is chance, and so it is where every interval reaches
/// 0.
[[nodiscard]] std::optional<ParameterShares> parameter_shares(const std::vector<const db::RecordRow*>& records);

/// The names of all parameters that have a share for one of these problems, each once: greatest mean share first.
[[nodiscard]] std::vector<std::string> shared_parameters(const std::vector<ProblemReport>& problems);
/// Nothing where the problem has no share of it.
[[nodiscard]] const ParameterShare* share_of(const ProblemReport& problem, const std::string& parameter);

}  // namespace attune::report
