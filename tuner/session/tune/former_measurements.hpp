#pragma once
#include <memory>

#include "tuner/search/hints.hpp"
#include "tuner/session/tune/problem_context.hpp"

namespace attune::session {

/// What the database, and the request's other files, know of the same template on other devices, at other sizes and types and of other
/// versions: the few that are most like this problem here, as a search's first idea of `searched`. In a run that renews, what it measures
/// anew is among them. Null where there is nothing. Throws: DatabaseError, SpecError, UsageError for a file that cannot be read.
[[nodiscard]] std::shared_ptr<const search::Hints> former_measurements(const ProblemContext& context, const space::SearchSpace& searched);

}  // namespace attune::session
