#pragma once
#include <functional>
#include <vector>

#include "db/database.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/session/variants/ladder_plan.hpp"
#include "tuner/session/variants/ladder_result.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace attune::session {

struct LadderRequest {
  TuneRequest tune;  ///< budget and strategy of each rung when `effort` leaves them the choice; `where` is not used
  LadderEffort effort = LadderEffort::AsTheLadderSays;
};

struct LadderObserver {
  Observer tuning;  ///< `started` and `finished` are of whole problems
  std::function<void(const spec::Problem&, const RungResult&)> rung = [](const spec::Problem&, const RungResult&) {};
  std::function<void(const LadderResult&)> ladder = [](const LadderResult&) {};
};

struct LadderRun {
  std::vector<LadderResult> problems;
  std::vector<GivenUp> given_up;  ///< of several; a single one's error is thrown
  bool interrupted = false;
};

/// Climbs the ladder: for each problem searches the part of the space that each rung is, with what the database knows already,
/// decides the best of everything known as `tune` does, and runs the rungs' winners off against each other, where the backend
/// can. Each decided configuration is one committed transaction; the result is kept in the problem's session.
/// Throws: as `tune`.
[[nodiscard]] LadderRun run_ladder(const spec::KernelTemplate& kernel, const spec::VariantLadder& ladder, const LadderRequest& request,
                                   Backend& backend, db::Database& database, const LadderObserver& observer);

}  // namespace attune::session
