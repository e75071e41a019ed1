#include "tuner/session/tune/part_search.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "attune/error.hpp"
#include "tuner/measure/gpu_executor.hpp"

namespace attune::session {
namespace {

using measure::Measurement;
using measure::Outcome;

/// Submitted between two looks at what came back: a backend of many compile workers takes hundreds ahead, and while they are made the GPU
/// would run out of work. A number, not a time, so that a replay goes the same way each time.
constexpr std::size_t kSubmittedAtOnce = measure::GpuExecutor::kQueueLength;

}  // namespace

PartSearch::PartSearch(ProblemContext& context, KnownResults& known, ProblemTally& tally, SearchScope scope)
    : context_(context), known_(known), tally_(tally), scope_(std::move(scope)) {
  tally_.begin_search();
  if (!scope_.where.empty()) {
    restricted_ = space::SearchSpace::build(context_.kernel, context_.problem, context_.backend.device(), scope_.where,
                                            context_.observer.watch(context_.problem));
    restricted_launches_.emplace(context_.kernel, context_.problem, context_.backend.device(), *restricted_);
  }
  start_ = Clock::now();
  evaluations_before_ = tally_.evaluations();
  part_.size = space().size();
  part_.emptied_by = part_.size == 0 ? space().emptied_by() : "";
  named_.assign(part_.size, false);
  for (const auto whole : known_.memory().decided()) {  // so that decided_as() finds what else they decide
    if (const auto part = restricted_ ? restricted_->find(context_.space.at(whole)) : whole) (void)launches().members(*part);
  }
}

bool PartSearch::run() {
  if (part_.size == 0) {
    tell_empty();
    return true;
  }
  plan();
  bool complete = false;
  try {
    complete = search_on();
  } catch (const PreparingStopped&) {  // nothing is under way
    tally_.ran_out_of_time();
    complete = context_.out_of_time_to_prepare();  // else it was interrupted
  } catch (const Error&) {                         // the problem is given up: what was decided is kept
    for (const auto& measurement : std::exchange(arrived_, {})) accept(measurement);
    throw;
  }
  describe(complete);
  return complete;
}

space::Ordinal PartSearch::in_whole(space::Ordinal part) const {
  return restricted_ ? context_.space.find(restricted_->at(part)).value() : part;
}

bool PartSearch::search_on() {
  Backend& backend = context_.backend;
  bool exhausted = false;
  while (true) {
    if (context_.observer.interrupted()) {
      stop();
      return false;
    }
    if (context_.is_prepared()) {
      backend.end_by(scope_.deadline);
      backend.let_go_unverified(lets_go());
    }
    const bool late = (scope_.deadline && Clock::now() > *scope_.deadline) || (context_.is_prepared() && backend.time_is_up());
    exhausted = exhausted || late;
    if (context_.request.budget.until_separated && decided_here() >= separation_check_) exhausted = exhausted || separated();
    exhausted = exhausted || converged();
    if (nearly_over()) strategy_->end_is_near();
    const auto takes_more = [&] {
      const bool room = pending_.size() < strategy_->most_pending() && (!context_.is_prepared() || backend.wants_more());
      return room && !exhausted && proposed_ < limit_;
    };
    for (const std::size_t full = pending_.size() + kSubmittedAtOnce; pending_.size() < full && takes_more();) exhausted = !propose();
    if (pending_.empty() && (exhausted || proposed_ >= limit_)) {
      if (late && proposed_ < limit_) tally_.ran_out_of_time();
      break;
    }
    for (const auto& measurement : std::exchange(arrived_, {})) accept(measurement);
    for (const auto& measurement : backend.collect(std::chrono::milliseconds(takes_more() ? 0 : 200))) accept(measurement);
    if (backend.in_flight() == 0) forget_pending();
    report_progress();
  }
  report_progress();
  if (exhausted) tell_few();
  return true;
}

/// A replay answers at once or not at all: what is still pending then is not in the recording. A device had no time for it.
void PartSearch::forget_pending() {
  if (context_.is_live() && !pending_.empty()) tally_.ran_out_of_time();
  pending_.clear();
}

/// A space that is far larger than its budget of time is nothing unusual; a handful of configurations is no search.
void PartSearch::tell_few() const {
  constexpr std::uint64_t kFew = 30;
  const bool of_time = scope_.deadline && context_.is_live() && proposed_ < limit_;
  if (!of_time || !scope_.label.empty() || decided_here() >= std::min(kFew, limit_)) return;
  context_.observer.notice(fmt::format("{} of the {} configurations of {} fit into the time of the budget; give it more to try others",
                                       decided_here(), part_.size, context_.name()));
}

/// Keeps what was sampled until now.
void PartSearch::stop() {
  Backend& backend = context_.backend;
  if (context_.is_prepared() && context_.is_live()) {
    backend.end_by(Clock::now());
    while (backend.in_flight() > 0) {
      for (const auto& measurement : backend.collect(std::chrono::milliseconds(100))) accept(measurement);
    }
  }
  backend.abandon();
  pending_.clear();
}

/// Whether anything of a replay's can stand for the configuration: cheap, where telling which launches are the same is not.
bool PartSearch::any_of_same_code_is_there(space::Ordinal part) {
  if (known_[in_whole(part)].decided) return true;
  const Backend& backend = context_.prepared_backend();
  bool there = false;
  spec::for_each_of_same_code(context_.kernel, space().at(part), [&](const spec::Configuration& other) {
    const auto ordinal = context_.space.find(other);
    there = there || (ordinal && (known_[*ordinal].decided || backend.has_of_recording(other)));
  });
  return there;
}

/// Nothing where a configuration of the same launches was proposed before. One that is known already stands for the others, else the
/// one whose name is theirs.
std::optional<PartSearch::Pending> PartSearch::place_of(space::Ordinal part) {
  if (named_[part]) return std::nullopt;
  if (!context_.is_live() && !any_of_same_code_is_there(part)) {
    named_[part] = true;
    return Pending{in_whole(part), part};  // to be counted as missing, whatever else is the same
  }
  const auto same = launches().members(part);
  for (const auto other : same) named_[other] = true;
  const auto find = [&](auto&& holds) { return std::find_if(same.begin(), same.end(), holds); };
  auto name = find([&](auto other) { return known_[in_whole(other)].decided && known_[in_whole(other)].outcome == Outcome::Ok; });
  if (name == same.end()) name = find([&](auto other) { return known_[in_whole(other)].decided; });
  if (name == same.end() && !context_.is_live())
    name = find([&](auto other) { return context_.backend.has_of_recording(space().at(other)); });
  return Pending{in_whole(name == same.end() ? same.front() : *name), part};
}

bool PartSearch::answers(const Known& known) const {
  const bool was_let_go = known.outcome == Outcome::Ok && known.stage == measure::Stage::Screened && !known.may_win;
  return known.decided && (lets_go() || !was_let_go || !context_.is_live());
}

/// What the strategy does, with its time in the tally.
template <class Work>
auto PartSearch::timed(const Work& work) {
  struct Watch {
    ProblemTally& tally;
    Clock::time_point start = Clock::now();
    ~Watch() { tally.searched(std::chrono::duration<double>(Clock::now() - start).count()); }
  } const watch{tally_};
  return work();
}

/// A strategy that learns takes milliseconds for it, in which the device would run out of work: what is measured meanwhile waits in
/// `arrived_` until the strategy may be told.
std::optional<space::Ordinal> PartSearch::next_proposal() {
  constexpr std::chrono::microseconds kLook{200};
  const auto propose = [this] { return timed([&] { return strategy_->propose(); }); };
  if (!thinks_aside_ || !context_.is_prepared()) return propose();
  auto proposal = std::async(std::launch::async, propose);
  while (proposal.wait_for(kLook) != std::future_status::ready)
    std::ranges::move(context_.backend.collect(std::chrono::milliseconds(0)), std::back_inserter(arrived_));
  return proposal.get();
}

/// Takes one proposal; false when the strategy has none.
bool PartSearch::propose() {
  const auto ordinal = next_proposal();
  if (!ordinal) {
    limit_ = proposed_;  // there are no more
    return false;
  }
  if (const auto gain = strategy_->expected_gain()) convergence_.note(*gain);
  const auto place = place_of(*ordinal);
  if (!place) {
    tell_of_same(*ordinal);
    return true;
  }
  ++proposed_;
  if (answers(known_[place->whole])) {
    tally_.reused(place->whole);
    ++part_.reused;
    note_outcome(*place);
    return true;
  }
  Backend& backend = context_.prepared_backend();
  tally_.submitted();
  const auto configuration = context_.space.at(place->whole);
  pending_.emplace(spec::to_text(context_.kernel, configuration), *place);
  backend.submit(configuration);
  return true;
}

void PartSearch::accept(const Measurement& measurement) {
  const auto pending = pending_.find(measurement.configuration);
  if (pending == pending_.end()) throw Error("failed tuning: an answer for " + measurement.configuration + ", which was not asked for");
  known_.keep(pending->second.whole, measurement);
  tally_.measured();
  context_.observer.recorded(measurement);
  ++part_.measured;
  note_outcome(pending->second);
  pending_.erase(pending);
}

void PartSearch::report(space::Ordinal part, const Known& known) {
  timed([&] { strategy_->report(part, known.outcome == Outcome::Ok && known.cost > 0 ? std::optional(known.cost) : std::nullopt); });
}

/// Reports a proposal that has the launches of another: at once where that one is decided, else as soon as it is.
void PartSearch::tell_of_same(space::Ordinal part) {
  if (const auto as = decided_as(part)) return report(part, known_[*as]);
  if (launches().is_worked_out(part)) waiting_[launches().canonical(part)].push_back(part);
}

void PartSearch::note_outcome(const Pending& place) {
  const Known& known = known_[place.whole];
  tally_.decided(place.whole);
  report(place.part, known);
  if (!waiting_.empty()) {
    const auto same = waiting_.extract(launches().canonical(place.part));
    if (!same.empty())
      for (const auto part : same.mapped()) report(part, known);
  }
  if (known.outcome != Outcome::Ok) {
    ++part_.failed;
    return;
  }
  if (known.stage == measure::Stage::Screened || known.cost <= 0) return;
  if (best_cost_ > 0 && known.cost >= best_cost_) return;
  best_cost_ = known.cost;
  best_us_ = time_of(context_.kernel, known);
}

/// The configuration of the whole space by which it is decided how one of the searched part does; nothing when it is not.
std::optional<space::Ordinal> PartSearch::decided_as(space::Ordinal part) {
  const space::Ordinal own = in_whole(part);
  if (known_[own].decided) return own;
  if (!launches().is_worked_out(part)) return std::nullopt;
  for (const auto other : launches().members(part)) {
    if (known_[in_whole(other)].decided) return in_whole(other);
  }
  return std::nullopt;
}

void PartSearch::for_each(const std::function<void(const spec::Configuration&, const Known&)>& visit) {
  for (space::Ordinal i = 0; i < space().size(); ++i) {
    if (const auto as = decided_as(i)) visit(space().at(i), known_[*as]);
  }
}

void PartSearch::describe(bool complete) {
  part_.complete = complete;
  std::optional<space::Ordinal> best;
  part_.failed = 0;  // counted anew: those of earlier runs too
  for (space::Ordinal i = 0; i < space().size(); ++i) {
    const auto as = decided_as(i);
    if (!as) continue;
    const Known& known = known_[*as];
    ++part_.decided;
    part_.failed += known.outcome == Outcome::Ok ? 0 : 1;
    if (known.outcome != Outcome::Ok || !known.may_win || known.cost <= 0) continue;
    if (!best || known.cost < known_[*best].cost) best = as;
  }
  if (best) part_.best = known_.stored(context_.text(*best));
}

void PartSearch::report_progress() const {
  Progress progress;
  progress.problem = &context_.problem;
  progress.part = scope_.label;
  progress.done = decided_here();
  progress.total = std::max(limit_, progress.done);
  progress.reused = part_.reused;
  progress.failed = part_.failed;
  progress.best_us = best_us_;
  progress.used = context_.backend.utilisation();
  context_.observer.progress(progress);
}

}  // namespace attune::session
