#include "tuner/session/tune/former_winners.hpp"

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/session/tune/portfolio.hpp"

namespace attune::session {
namespace {

/// The latest of all before the others: a budget that ends early must not replace it unseen.
void put_first(const std::vector<db::BestRow>& rows, const spec::KernelTemplate& kernel, const space::SearchSpace& searched,
               std::vector<space::Ordinal>& ordinals) {
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto own = place_in(searched, kernel, *row);
    if (!own) continue;
    std::erase(ordinals, *own);
    ordinals.insert(ordinals.begin(), *own);
  }
}

}  // namespace

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
  std::vector<space::Ordinal> ordinals;
  if (!request.renew) {
    ordinals = portfolio_of(context.database, from, context.kernel, context.problem, context.rows.policy, searched);
  } else {
    add_portfolio_of(context.database, from, context.kernel, context.problem, context.rows.policy, searched, ordinals);
    put_first(own_winners(context), context.kernel, searched, ordinals);
  }
  for (const auto& other : request.also_try)
    add_portfolio_of(other, from, context.kernel, context.problem, context.rows.policy, searched, ordinals);
  return ordinals;
}

}  // namespace attune::session
