#pragma once
#include <optional>
#include <vector>

#include "tuner/session/tune/problem_context.hpp"

namespace attune::session {

/// What won at this very problem, under whatever version of the template, driver and compiler, the latest first.
[[nodiscard]] std::vector<db::BestRow> own_winners(const ProblemContext& context);

/// Where a space has the configuration of a row; nothing where it is of another version's space.
[[nodiscard]] std::optional<space::Ordinal> place_in(const space::SearchSpace& space, const spec::KernelTemplate& kernel,
                                                     const db::BestRow& row);

/// What a run that renews finds in its database as the winner of this very problem, or a run that is told of other files in the first that
/// has one: whatever wins now is compared with it. Throws: as winners_to_try.
[[nodiscard]] std::optional<space::Ordinal> former_winner(const ProblemContext& context);

/// What won before, here or elsewhere, as ordinals of `searched`, in the order in which a strategy proposes it: first what won at this very
/// problem (in the database where the run renews, then in the request's other files), then what else the database has and what those have.
/// A run that renews takes winners of every version of the template from the database. Throws: DatabaseError, SpecError, UsageError for a
/// file that cannot be read.
[[nodiscard]] std::vector<space::Ordinal> winners_to_try(const ProblemContext& context, const space::SearchSpace& searched);

}  // namespace attune::session
