#include "tuner/session/tune/former_winners.hpp"

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/session/tune/portfolio.hpp"

namespace attune::session {
namespace {

void add_new(space::Ordinal ordinal, std::vector<space::Ordinal>& ordinals) {
  if (std::find(ordinals.begin(), ordinals.end(), ordinal) == ordinals.end()) ordinals.push_back(ordinal);
}

/// What won at this very problem: here in a run that renews, the latest of all before the others, then elsewhere. A budget that ends early
/// must not replace it unseen.
std::vector<space::Ordinal> own_first(const ProblemContext& context, const space::SearchSpace& searched) {
  std::vector<space::Ordinal> ordinals;
  if (context.request.renew) {
    for (const auto& row : own_winners(context)) {
      if (const auto own = place_in(searched, context.kernel, row)) add_new(*own, ordinals);
    }
  }
  for (const auto& other : context.request.also_try)
    add_own_winners_of(other, context.kernel, context.problem, context.rows.policy, searched, ordinals);
  return ordinals;
}

}  // namespace

std::optional<space::Ordinal> former_winner(const ProblemContext& context) {
  const auto own = own_first(context, context.space);
  return own.empty() ? std::nullopt : std::optional(own.front());
}

std::vector<db::BestRow> own_winners(const ProblemContext& context) {
  auto rows = context.database.best({.template_name = context.kernel.name,
                                     .problem = context.query.problem,
                                     .device_key = context.query.device_key,
                                     .policy = context.query.policy});
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.recorded_at > b.recorded_at; });
  return rows;
}

std::optional<space::Ordinal> place_in(const space::SearchSpace& space, const spec::KernelTemplate& kernel, const db::BestRow& row) {
  try {
    return space.find(spec::configuration_from_text(kernel, row.configuration));
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::vector<space::Ordinal> winners_to_try(const ProblemContext& context, const space::SearchSpace& searched) {
  const TuneRequest& request = context.request;
  const auto from = request.strategy == search::StrategyKind::Winners ? WinnersFrom::Template : WinnersFrom::Family;
  auto ordinals = own_first(context, searched);
  if (!request.renew) {
    for (const auto winner : portfolio_of(context.database, from, context.kernel, context.problem, context.rows.policy, searched))
      add_new(winner, ordinals);
  } else {
    add_portfolio_of(context.database, from, context.kernel, context.problem, context.rows.policy, searched, ordinals);
  }
  for (const auto& other : request.also_try)
    add_portfolio_of(other, from, context.kernel, context.problem, context.rows.policy, searched, ordinals);
  return ordinals;
}

}  // namespace attune::session
