#include "tuner/session/tune/winner_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/tune/finalists.hpp"
#include "tuner/session/tune/former_winners.hpp"
#include "tuner/session/tune/objective.hpp"

namespace attune::session {
namespace {

using measure::Measurement;
using measure::Outcome;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Whether the run-off behind a best row would go on; false where it came from none. `detail`: of that row.
bool run_off_would_go_on(const json& detail, const Race::Options& race) {
  const auto number = [&](const char* name) {
    return static_cast<std::size_t>(std::max(std::int64_t{0}, base::member_or(detail, name, std::int64_t{0})));
  };
  const auto left = base::member_or(detail, "round_configurations", std::vector<std::string>{}).size();
  return would_go_on(left, number("rounds"), number("rounds_per_epoch"), race);
}

}  // namespace

WinnerChoice::WinnerChoice(ProblemContext& context, KnownResults& known, ProblemTally& tally)
    : context_(context), known_(known), tally_(tally), best_seen_(context.database.best_of(context.query).has_value()) {}

bool WinnerChoice::choose(bool of_a_part) {
  const FinalistRule& plain = context_.request.finalists;
  FinalistRule rule = plain.for_search_of(known_.memory().decided().size());
  rule.most = std::min(rule.most, most_in_time());
  const auto former = former_winner(context_);
  End end;
  std::vector<std::string> asked;  // by that rule, also where fewer run off: a later run asks the same again
  for (bool narrowed = false;;) {
    const auto finalists = finalists_by(rule, former);
    if (!narrowed) asked = finalists;
    if (finalists.empty()) {
      forget_what_fails();
      tell_why_none();
      return true;
    }
    if (!narrowed && decided_before(asked)) return true;
    auto samples = run_off(finalists, end);
    if (samples && !samples->failed.empty()) continue;  // the next best take their places
    const bool stopped = samples && samples->stopped;
    const bool ran_off = samples && !samples->lacked_time;
    const bool no_time = (samples && samples->lacked_time) || (end && Clock::now() >= *end);
    if (stopped && (!ran_off || !context_.request.best_when_stopped)) return false;
    if (!ran_off && no_time && keeps_decision(asked)) return true;
    if (!ran_off && !narrowed && !no_time && finalists.size() > plain.most + 1) {  // the scratch of so many may be more than the device has
      narrowed = true;
      rule = plain;
      continue;
    }
    if (stopped) {
      context_.observer.notice(
          fmt::format("stopped in the run-off of {}: the best is by what it had told until then; a later run goes on", context_.name()));
    }
    if (!ran_off) {
      context_.observer.notice(fmt::format("these finalists of {} {}; the winner is by the search's medians", context_.name(),
                                           no_time ? "had no time for a run-off" : "could not be run off against each other"));
      samples = search_medians(finalists);
      if (no_time) asked.clear();  // a later run decides it
    }
    store(*samples, asked, ran_off, of_a_part);
    return !stopped;
  }
}

void WinnerChoice::choose_by_medians() {
  if (best_seen_) return;
  const auto finalists = finalists_by(context_.request.finalists, former_winner(context_));
  if (finalists.empty()) return;
  context_.observer.notice(fmt::format("stopped before the run-off: the best of {} is by the search's medians", context_.name()));
  store(search_medians(finalists), {}, false, true);
}

std::vector<std::string> WinnerChoice::finalists_by(const FinalistRule& rule, const std::optional<space::Ordinal>& former) {
  std::vector<std::string> joining{known_.default_name()};
  if (former) joining.push_back(context_.text(context_.launches.canonical(*former)));
  return choose_finalists(candidates_of(known_.memory(), context_.kernel, context_.space, context_.launches, joining, rule.most), joining,
                          rule);
}

/// How many finalists a run-off can compare in its share of the budget: Race::kEarly epochs of each, as the fastest takes them.
std::size_t WinnerChoice::most_in_time() const {
  if (!run_off_s_) return std::numeric_limits<std::size_t>::max();
  const auto best = known_.memory().best();
  if (best.empty()) return std::numeric_limits<std::size_t>::max();
  const double epoch_s = expected_epoch_s(time_of(context_.kernel, known_[best.front()]), context_.request.race.rounds);
  return std::max(std::size_t{2}, static_cast<std::size_t>(*run_off_s_ / (Race::kEarly * epoch_s)));
}

void WinnerChoice::forget_what_fails() {
  const auto best = context_.database.best_of(context_.query);
  const auto record = best ? context_.database.record(context_.query, best->configuration) : std::nullopt;
  if (record && to_measurement(*record).outcome != Outcome::Ok) context_.database.forget_best(context_.query);
}

/// Whether the stored best row came from a run-off of exactly these finalists, with as many epochs (or from a GPU, while this is a replay).
bool WinnerChoice::decided_before(const std::vector<std::string>& asked) {
  for (const auto& previous : context_.database.best(context_.query)) {
    best_seen_ = true;
    if (!context_.of_this_memory(previous.detail_json) || context_.is_outdated(previous.driver, previous.nvrtc)) continue;
    const json detail = base::parse_json(previous.detail_json);
    const std::string origin = base::member_or(detail, "origin", "");
    const bool same = context_.counts_here(origin) && base::member_or(detail, "asked", std::vector<std::string>{}) == asked;
    const bool measured_stays = origin == "measured" && !context_.is_live();
    if (!same && !measured_stays) continue;
    if (context_.is_live() && run_off_would_go_on(detail, context_.race())) continue;
    tally_.result.nothing_left = tally_.result.measured == 0 && !tally_.out_of_time();
    tally_.result.best = previous;
    return true;
  }
  return false;
}

/// Whether an earlier run-off of the same finalists, which lacked the time to go on, has the say. Medians of a search say less.
bool WinnerChoice::keeps_decision(const std::vector<std::string>& asked) {
  auto previous = context_.database.best_of(context_.query);
  if (!previous || !context_.of_this_memory(previous->detail_json) || context_.is_outdated(previous->driver, previous->nvrtc)) return false;
  const json detail = base::parse_json(previous->detail_json);
  const bool same =
      context_.counts_here(base::member_or(detail, "origin", "")) && base::member_or(detail, "asked", std::vector<std::string>{}) == asked;
  if (!same) return false;
  context_.observer.notice(fmt::format(
      "there was no time for a run-off of {}: the best stays as an earlier run-off of the same finalists decided it", context_.name()));
  tally_.result.best = std::move(previous);
  return true;
}

/// A search of a part knows little: a best row without a record here (imported, or replayed on a machine that measures now) may be
/// of a configuration that the part does not hold, and stays while it is the faster one.
bool WinnerChoice::better_is_known(const db::BestRow& best) {
  auto previous = context_.database.best_of(context_.query);
  if (!previous || cost_of_row(*previous) > cost_of_row(best) || !context_.of_this_memory(previous->detail_json)) return false;
  const auto ordinal = context_.find(previous->configuration);
  if (ordinal && known_[*ordinal].decided) return false;
  context_.observer.notice(
      fmt::format("the stored best of {} ({:.3f} us) stays: it is {} than what was found under these conditions ({:.3f} us), and "
                  "nothing here has measured it",
                  context_.name(), previous->median_us, context_.kernel.objective ? "better" : "faster", best.median_us));
  tally_.result.best = std::move(previous);
  return true;
}

bool WinnerChoice::keeps_outdated() {
  if (!context_.request.renew) return false;
  std::optional<space::Ordinal> own;
  const auto rows = own_winners(context_);
  const auto former = std::find_if(rows.begin(), rows.end(),
                                   [&](const auto& row) { return (own = place_in(context_.space, context_.kernel, row)).has_value(); });
  if (!own) return false;
  const bool of_this_version = former->template_hash == context_.query.template_hash;
  if (of_this_version && !context_.is_outdated(former->driver, former->nvrtc)) return false;
  for (const auto name : context_.launches.members(*own)) {
    if (known_[name].decided) return false;
  }
  context_.observer.notice(fmt::format("the best of {} stays as it was: the budget ended before it was measured again", context_.name()));
  if (of_this_version) tally_.result.best = *former;
  tally_.result.former_stays = true;
  return true;
}

void WinnerChoice::tell_why_none() const {
  const auto working = known_.memory().working();
  if (working == 0) return;
  context_.observer.notice(
      fmt::format("none of the {} working configurations of {} is {}measured to the end, so none is kept for "
                  "dispatch",
                  working, context_.name(), spec::has_reference(context_.kernel) ? "both verified and " : ""));
}

std::optional<RunOffSamples> WinnerChoice::run_off(const std::vector<std::string>& finalists, End& end) {
  std::vector<spec::Configuration> configurations;
  for (const auto& finalist : finalists) configurations.push_back(spec::configuration_from_text(context_.kernel, finalist));
  Race::Options race = context_.race();
  if (run_off_s_ && !end) {
    const auto begin = std::max(Clock::now(), run_off_begins_by_);
    end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*run_off_s_));
  }
  race.until = end;
  race.goes_on = [this] { return !context_.observer.interrupted(); };
  if (end) {
    context_.prepare_by(end);
    for (const auto& finalist : finalists) race.known_us.push_back(known_.stored(finalist).timing.median_us);
  }
  auto samples = run_off_on_device(configurations, race);
  if (!samples) return samples;
  for (const auto& failed : samples->failed) {
    const auto ordinal = context_.find(failed.configuration);
    if (!ordinal)
      throw Error(fmt::format("failed deciding {}: {} ran off, which the space does not have", context_.name(), failed.configuration));
    known_.keep_failure(*ordinal, failed.outcome, "passed its first check and failed in the run-off: " + failed.detail);
    tally_.count_failure(*ordinal);
  }
  return samples;
}

std::optional<RunOffSamples> WinnerChoice::run_off_on_device(const std::vector<spec::Configuration>& configurations,
                                                             const Race::Options& race) {
  try {
    return context_.prepared_backend().run_off(configurations, race, context_.request.seed);
  } catch (const PreparingStopped&) {
    RunOffSamples none;
    none.lacked_time = true;
    none.stopped = context_.observer.interrupted();
    return none;
  }
}

std::optional<RunOffSamples> WinnerChoice::compare(const std::vector<std::string>& configurations) {
  End end;
  auto samples = run_off(configurations, end);
  if (samples && !samples->failed.empty()) return samples;
  if (samples && samples->lacked_time) return std::nullopt;
  // A recording may have run off some of them only, among others, and a device may have lacked the time: what is left then compares
  // nothing.
  if (samples && samples->configurations.size() + samples->left.size() < configurations.size()) return std::nullopt;
  return samples;
}

void WinnerChoice::store(const RunOffSamples& samples, const std::vector<std::string>& asked, bool ran_off, bool of_a_part) {
  std::vector<Measurement> resources;
  for (const auto& configuration : samples.configurations) resources.push_back(known_.stored(configuration));
  const std::string standard = known_.default_name();
  const Decided decided =
      context_.kernel.objective ? decide_by_objective(context_, samples, resources, standard) : decide(samples, resources, standard);
  // What a stopped run has not run off is not compiled now, nor does a backend that has not prepared the problem know its code.
  const bool no_code = context_.is_live() && (!context_.is_prepared() || (!ran_off && context_.observer.interrupted()));
  const auto code =
      no_code ? std::nullopt
              : context_.backend.code(spec::configuration_from_text(context_.kernel, decided.placed[decided.winner].configuration));
  db::BestRow best = to_best_row(context_.rows, decided, samples, tally_.result.work, code, standard, asked);
  add_metrics(context_, decided, resources, standard, best);
  if ((of_a_part && better_is_known(best)) || keeps_outdated()) return;
  db::Database::Batch batch(context_.database);
  if (ran_off) {
    for (const auto& placed : decided.placed) known_.mark_run_off(placed.configuration);
  }
  if (code) context_.database.put_cubin(code->cubin_key, code->cubin, base::dump_json(json{{"source_key", code->source_key}}));
  best_seen_ ? context_.database.replace(best) : context_.database.put(best);
  batch.commit();
  best_seen_ = true;
  if (!spec::has_reference(context_.kernel))
    context_.observer.notice(fmt::format(
        "the best of {} is unverified, as all of it: the template has no reference. It is dispatched only by programs that ask for "
        "it (Options::unverified)",
        context_.name()));
  tally_.result.best = std::move(best);
}

RunOffSamples WinnerChoice::search_medians(const std::vector<std::string>& finalists) const {
  RunOffSamples samples;
  samples.configurations = finalists;
  samples.rounds_us.emplace_back();
  for (const auto& finalist : finalists) samples.rounds_us.front().push_back(known_.stored(finalist).timing.median_us);
  return samples;
}

}  // namespace attune::session
