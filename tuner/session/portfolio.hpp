#pragma once
#include <set>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// What won for other sizes (and devices) of a problem's types and choices under `policy`, as far as it is in this space: few
/// configurations that are worth a try at any size. One that is specialised on its size comes with the general one that
/// dispatch uses at others.
[[nodiscard]] std::vector<space::Ordinal> portfolio_of(const db::Database& database, const spec::KernelTemplate& kernel,
                                                       const spec::Problem& problem, const std::string& policy,
                                                       const space::SearchSpace& space);

/// The same of every problem of the template: those of its own types and choices first.
[[nodiscard]] std::vector<space::Ordinal> winners_of(const db::Database& database, const spec::KernelTemplate& kernel,
                                                     const spec::Problem& problem, const std::string& policy,
                                                     const space::SearchSpace& space);

/// Configurations that dispatch between tuned sizes asks about: the winner of every row, and the default.
[[nodiscard]] std::set<std::string> portfolio_of(const std::vector<db::BestRow>& rows, const std::string& default_configuration);

}  // namespace attune::session
