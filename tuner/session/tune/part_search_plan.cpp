// How a PartSearch begins: how much it tries, what proposes it, and what that is told of former searches.
#include <fmt/core.h>

#include <algorithm>

#include "tuner/session/tune/former_measurements.hpp"
#include "tuner/session/tune/former_winners.hpp"
#include "tuner/session/tune/launch_promise.hpp"
#include "tuner/session/tune/part_search.hpp"
#include "tuner/spec/condition.hpp"

namespace attune::session {

/// An impossible condition is told with its place and with what would have been possible; rungs are told by their own table.
void PartSearch::tell_empty() const {
  if (!scope_.label.empty()) return;
  const auto guilty = std::find_if(scope_.where.begin(), scope_.where.end(),
                                   [&](const spec::Constraint& condition) { return condition.expression.text() == part_.emptied_by; });
  const auto& named = guilty == scope_.where.end() ? scope_.where.front() : *guilty;
  const auto& at = named.expression.position();
  const std::string values = spec::values_of_named_parameters(context_.kernel, {named});
  context_.observer.notice(fmt::format("{}:{}:{}: none of the {} configurations of {} satisfies \"{}\"{}", at.file, at.line, at.column,
                                       context_.space.size(), context_.name(), named.expression.text(),
                                       values.empty() ? "" : "; the parameters' values: " + values));
}

/// How much is tried, and what proposes it.
void PartSearch::plan() {
  const TuneRequest& request = context_.request;
  const bool whole = part_.size <= scope_.whole_up_to;
  const bool sampled = !whole && scope_.sample > 0;
  const std::uint64_t different = different_launches(whole || sampled);
  limit_ = whole ? different : sampled ? std::min(scope_.sample, different) : request.budget.limit(different);
  // A renewal begins with what won, and other limits may end the search before the space does.
  const auto& budget = request.budget;
  const bool in_any_order = !scope_.deadline && !request.renew && !budget.until_converged && !budget.until_separated;
  const bool covered = request.strategy == search::StrategyKind::Auto && in_any_order && limit_ >= different;
  // A replay takes hardly any time: within a budget of it all that is recorded is tried, and there is nothing to learn.
  const bool replayed = request.strategy == search::StrategyKind::Auto && scope_.deadline && !context_.is_live();
  search::StrategyOptions options;
  options.kind = whole || covered      ? search::StrategyKind::Exhaustive
                 : sampled || replayed ? search::StrategyKind::Random
                                       : request.strategy;
  options.seed = request.seed;
  options.first = space().find(spec::default_configuration(context_.kernel, context_.problem, context_.backend.device()));
  if (search::needs_winners(options.kind)) find_winners(options);
  if (search::learns(options.kind)) learn_from_others(options);
  strategy_ = search::make_strategy(options, space());
  thinks_aside_ = context_.is_live() && search::learns(options.kind);
  if (search::learns(options.kind)) {
    tell_known();
    had_converged_ = had_converged();
  }
  if (options.kind == search::StrategyKind::Auto) make_room_for_former();
}

void PartSearch::find_winners(search::StrategyOptions& options) const {
  options.winners = winners_to_try(context_, space());
  if (!options.winners.empty()) return;
  const bool of_template = options.kind == search::StrategyKind::Winners;
  context_.observer.notice(fmt::format("no {} of {} was tuned before: only the default can be tried; tune some with another strategy first",
                                       of_template ? "problem" : "size",
                                       of_template ? context_.kernel.name : spec::family_text(context_.problem)));
}

void PartSearch::learn_from_others(search::StrategyOptions& options) const {
  const TuneRequest& request = context_.request;
  options.until_converged = request.budget.until_converged;
  if (options.kind == search::StrategyKind::Auto) {
    options.winners = winners_to_try(context_, space());
    if (options.winners.size() > limit_ / 2) options.winners.resize(limit_ / 2);  // the rest is the model's
  }
  // Reading and fitting them takes time, of a command that is repeated for nothing.
  const bool may_be_left = known_.memory().decided().size() < limit_;
  // They are times, which say little where tuning is for something else.
  if (search::expects(options.kind) && may_be_left && !context_.kernel.objective) options.hints = former_measurements(context_, space());
  // With a device of its own, since it is asked in the strategy's thread.
  options.promise = [this, device = context_.backend.device()](space::Ordinal part) {
    return launch_promise(context_.kernel, context_.problem, space().at(part), device);
  };
}

/// What is known of this problem counts as proposed and reported: a search that goes on begins with all of it.
void PartSearch::tell_known() {
  for (const auto whole : known_.memory().decided()) {
    const auto part = restricted_ ? restricted_->find(context_.space.at(whole)) : std::optional(whole);
    if (!part || named_[*part] || !answers(known_[whole])) continue;
    for (const auto same : launches().members(*part)) named_[same] = true;
    ++proposed_;
    tally_.reused(whole);
    ++part_.reused;
    note_outcome({whole, *part});
  }
}

/// What won at this very problem is measured though what is known has used up the budget: nothing may take its place unseen.
void PartSearch::make_room_for_former() {
  if (proposed_ < limit_ || limit_ < 2) return;  // it comes first, or the budget is the default's alone
  const auto former = former_winner(context_);
  const auto part = former && restricted_ ? restricted_->find(context_.space.at(*former)) : former;
  if (part && !named_[*part]) limit_ = proposed_ + 1;
}

/// How many configurations of what is searched are worth a measurement: counted where the search may try all of them, or a share.
std::uint64_t PartSearch::different_launches(bool may_try_all) {
  constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 20;  // some seconds
  const TuneRequest& request = context_.request;
  // Neither of a budget of time, nor where a recording has few of them at hand.
  const bool few = search::needs_winners(request.strategy) || request.budget.configurations || !context_.is_live();
  if (scope_.deadline || (few && !may_try_all) || part_.size > kMostCounted) return part_.size;
  const std::uint64_t counted = launches().count([this] { return !context_.observer.interrupted(); });
  if (counted > 0 && !restricted_) tally_.result.different_launches = counted;
  return counted > 0 ? counted : part_.size;
}

}  // namespace attune::session
