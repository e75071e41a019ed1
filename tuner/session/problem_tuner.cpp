#include "tuner/session/problem_tuner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tuner/session/portfolio.hpp"
#include "tuner/spec/condition.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

using measure::Measurement;
using measure::Outcome;
using nlohmann::json;

constexpr std::uint64_t kFewestForSeparation = 64;
constexpr std::uint64_t kSeparationStep = 32;

double seconds_since(ProblemTuner::Clock::time_point start) {
  return std::chrono::duration<double>(ProblemTuner::Clock::now() - start).count();
}

std::vector<std::string> texts_of(const std::vector<spec::Constraint>& conditions) {
  std::vector<std::string> texts;
  for (const auto& condition : conditions) texts.push_back(condition.expression.text());
  return texts;
}

}  // namespace

ProblemTuner::ProblemTuner(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend,
                           db::Database& database, const Observer& observer)
    : kernel_(kernel), request_(request), number_(number), problem_(request.problems[number]), backend_(backend), database_(database),
      observer_(observer), space_(space::SearchSpace::build(kernel, problem_, backend.device(), {}, observer.watch(problem_))), launches_(kernel, problem_, backend.device(), space_),
      log_(database, observer.notice) {
  context_ = {kernel.content_hash, kernel.name, problem_, backend.device().hard_key(), measure::to_text(request.policy),
              backend.device().driver, backend.nvrtc_build(), backend.origin(), backend.measured_at(), backend.device().memory_clock_khz};
  query_ = {kernel.content_hash, std::nullopt, spec::to_text(problem_), context_.device_key, context_.policy};
  default_text_ = spec::to_text(kernel, spec::default_configuration(kernel, problem_, backend.device()));
  result_.problem = problem_;
  result_.space_size = space_.size();
}

bool ProblemTuner::run(std::optional<Clock::time_point> deadline) {
  if (!begin()) return true;
  const bool complete = search({request_.where, 0, deadline, "", 0});
  keep_restricted_best();
  if (!complete) last_commit_ = Clock::now();  // what ended unfinished took its time too
  account();
  if (complete) choose_best();
  finish(complete, request_.where.empty() ? json::object() : json{{"where", texts_of(request_.where)}, {"searched_size", part_.size}});
  return complete;
}

bool ProblemTuner::begin() {
  if (space_.size() == 0) {
    observer_.notice(fmt::format("the search space of {} is empty on this device: condition \"{}\" leaves no configuration",
                                 spec::to_text(problem_), space_.emptied_by()));
    return false;
  }
  const auto first = space_.at(0);
  if (kernel_.work.bytes) result_.work_bytes = kernel_.work.bytes->integer(spec::make_scope(kernel_, problem_, first, backend_.device()));
  open_session();
  load_records();
  backend_.on_hand_over = [this](const std::vector<std::string>& in_hand) { log_.hand_over(in_hand); };
  return true;
}

void ProblemTuner::abandon() {
  backend_.on_hand_over = [](const std::vector<std::string>&) {};
  if (opened_) log_.close("interrupted", json{{"space_size", space_.size()}, {"run", request_.run}});
}

void ProblemTuner::open_session() {
  db::SessionRow row;
  row.template_hash = kernel_.content_hash;
  row.problem = spec::to_text(problem_);
  row.device_key = context_.device_key;
  row.policy = context_.policy;
  row.strategy = request_.strategy;
  row.seed = request_.seed;
  row.space_size = space_.size();
  log_.open(std::move(row), request_.run);
  opened_ = true;
}

void ProblemTuner::load_records() {
  known_.forget_all(space_.size());
  to_replace_.clear();
  best_seen_ = database_.best_of(query_).has_value();
  noted_.assign(space_.size(), false);
  std::uint64_t foreign = 0, of_other_memory = 0;
  database_.for_each_record(query_, [&](const db::RecordRow& row) {
    if (!counts_here(row.origin)) {
      ++foreign;
      to_replace_.insert(row.configuration);
      return;
    }
    if (!of_this_memory(row.detail_json)) {
      ++of_other_memory;
      to_replace_.insert(row.configuration);
      return;
    }
    if (is_outdated(row.driver, row.nvrtc)) {
      to_replace_.insert(row.configuration);
      return;
    }
    const bool stays = context_.origin != "measured" && row.origin == "measured";  // a replay's answer would give way to it
    if (request_.retry_failed && row.outcome != measure::name(Outcome::Ok) && !stays) {
      to_replace_.insert(row.configuration);
      return;
    }
    // Of the same template hash and problem, so it is in the space; a damaged one was left out by the database.
    const auto ordinal = space_.find(spec::configuration_from_text(kernel_, row.configuration));
    if (ordinal) known_.remember(*ordinal, to_measurement(row));
  });
  if (foreign > 0) {
    observer_.notice(fmt::format("{} records of {} came from a recording; on a GPU they are measured again", foreign, log_.problem()));
  }
  if (of_other_memory > 0) {
    observer_.notice(fmt::format("{} records of {} are of a device with the same figures and faster or slower memory than here ({} kHz); they are "
                                 "measured again", of_other_memory, log_.problem(), context_.memory_clock_khz));
  }
}

void ProblemTuner::start_search(const Search& what) {
  restricted_launches_.reset();
  restricted_.reset();
  if (!what.where.empty()) {
    ever_restricted_ = true;
    restricted_ = space::SearchSpace::build(kernel_, problem_, backend_.device(), what.where, observer_.watch(problem_));
  }
  search_start_ = Clock::now();
  deadline_ = what.deadline;
  label_ = what.label;
  proposed_ = separation_check_ = 0;
  decided_before_ = decided_;
  part_best_us_ = 0;
  part_ = {};
  part_.size = searched().size();
  if (restricted_) restricted_launches_.emplace(kernel_, problem_, backend_.device(), *restricted_);
  named_.assign(part_.size, false);
  for (const auto whole : known_.decided()) {  // so that decided_as() finds what else they decide
    if (const auto part = restricted_ ? restricted_->find(space_.at(whole)) : whole) (void)searched_launches().members(*part);
  }
  if (part_.size == 0) {
    part_.emptied_by = searched().emptied_by();
    return;
  }
  const bool whole = part_.size <= what.whole_up_to;
  const bool sampled = !whole && what.sample > 0;
  const std::uint64_t launches = different_launches(whole || sampled);
  limit_ = whole ? launches : sampled ? std::min(what.sample, launches) : request_.budget.limit(launches);
  search::StrategyOptions options;
  options.seed = request_.seed;
  options.first = searched().find(spec::default_configuration(kernel_, problem_, backend_.device()));
  const bool winners = request_.strategy == "winners";
  const auto from = winners ? WinnersFrom::Template : WinnersFrom::Family;
  if (!request_.renew) {
    options.portfolio = portfolio_of(database_, from, kernel_, problem_, context_.policy, searched());
  } else {  // of whatever version
    add_portfolio_of(database_, from, kernel_, problem_, context_.policy, searched(), options.portfolio);
    put_own_winners_first(options.portfolio);
  }
  for (const auto& other : request_.also_try) add_portfolio_of(other, from, kernel_, problem_, context_.policy, searched(), options.portfolio);
  if ((winners || request_.strategy == "portfolio") && options.portfolio.empty()) {
    observer_.notice(fmt::format("no {} of {} was tuned before: only the default can be tried; tune some with another strategy first", winners ? "problem" : "size",
                                 winners ? kernel_.name : spec::family_text(problem_)));
  }
  strategy_ = search::make_strategy(whole ? "exhaustive" : sampled ? "random" : request_.strategy, searched(), options);
}

/// How many configurations of what is searched are worth a measurement: counted where the search may try all of them, or a share.
std::uint64_t ProblemTuner::different_launches(bool may_try_all) {
  constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 20;  // some seconds
  // Neither of a budget of time, nor where a recording has few of them at hand.
  const bool few = request_.strategy == "portfolio" || request_.strategy == "winners" || request_.budget.configurations || context_.origin != "measured";
  if (deadline_ || (few && !may_try_all) || part_.size > kMostCounted) return part_.size;
  const std::uint64_t counted = searched_launches().count([this] { return !observer_.interrupted(); });
  if (counted > 0 && !restricted_) result_.different_launches = counted;
  return counted > 0 ? counted : part_.size;
}

bool ProblemTuner::search(const Search& what) {
  if (decided_ == 0) start_ = Clock::now();
  start_search(what);
  if (part_.size == 0) {
    tell_empty_part(what);
    return true;
  }
  const bool complete = search_on();
  describe_part(complete);
  return complete;
}

/// An impossible condition is told with its place and with what would have been possible; rungs are told by their own table.
void ProblemTuner::tell_empty_part(const Search& what) const {
  if (!what.label.empty()) return;
  const auto guilty = std::find_if(what.where.begin(), what.where.end(), [&](const spec::Constraint& condition) {
    return condition.expression.text() == part_.emptied_by;
  });
  const auto& named = guilty == what.where.end() ? what.where.front() : *guilty;
  const auto& at = named.expression.position();
  const std::string values = spec::values_of_named_parameters(kernel_, {named});
  observer_.notice(fmt::format("{}:{}:{}: none of the {} configurations of {} satisfies \"{}\"{}", at.file, at.line, at.column, space_.size(),
                               log_.problem(), named.expression.text(), values.empty() ? "" : "; the parameters' values: " + values));
}

space::Ordinal ProblemTuner::in_whole(space::Ordinal part) const {
  return restricted_ ? space_.find(restricted_->at(part)).value() : part;
}

bool ProblemTuner::search_on() {
  bool exhausted = false;
  while (true) {
    if (observer_.interrupted()) {
      backend_.abandon();
      pending_.clear();
      return false;
    }
    if (deadline_ && Clock::now() > *deadline_) exhausted = true;
    if (request_.budget.until_separated && decided_ - decided_before_ >= separation_check_) exhausted = exhausted || separated();
    while (!exhausted && proposed_ < limit_ && (!backend_ready_ || backend_.wants_more())) exhausted = !propose();
    if (pending_.empty() && (exhausted || proposed_ >= limit_)) break;
    for (auto& measurement : backend_.collect(std::chrono::milliseconds(200))) accept(std::move(measurement));
    // A replay answers at once or not at all: what is still pending then is not in the recording.
    if (backend_.in_flight() == 0) pending_.clear();
    report_progress();
  }
  report_progress();
  return true;
}

void ProblemTuner::prepare_backend() {
  if (backend_ready_) return;
  backend_.prepare(kernel_, problem_);
  backend_ready_ = true;
}

/// Whether anything of a replay's can stand for the configuration: cheap, where telling which launches are the same is not.
bool ProblemTuner::any_of_same_code_is_there(space::Ordinal part) {
  if (known_[in_whole(part)].decided) return true;
  prepare_backend();
  bool there = false;
  spec::for_each_of_same_code(kernel_, searched().at(part), [&](const spec::Configuration& other) {
    const auto ordinal = space_.find(other);
    there = there || (ordinal && (known_[*ordinal].decided || backend_.has_of_recording(other)));
  });
  return there;
}

/// Nothing where a configuration of the same launches was proposed before. One that is known already stands for the others, else the
/// one whose name is theirs.
std::optional<ProblemTuner::Pending> ProblemTuner::place_of(space::Ordinal part) {
  if (named_[part]) return std::nullopt;
  if (context_.origin != "measured" && !any_of_same_code_is_there(part)) {
    named_[part] = true;
    return Pending{in_whole(part), part};  // to be counted as missing, whatever else is the same
  }
  const auto same = searched_launches().members(part);
  for (const auto other : same) named_[other] = true;
  const auto find = [&](auto&& holds) { return std::find_if(same.begin(), same.end(), holds); };
  auto name = find([&](auto other) { return known_[in_whole(other)].decided && known_[in_whole(other)].outcome == Outcome::Ok; });
  if (name == same.end()) name = find([&](auto other) { return known_[in_whole(other)].decided; });
  if (name == same.end() && context_.origin != "measured") name = find([&](auto other) { return backend_.has_of_recording(searched().at(other)); });
  return Pending{in_whole(name == same.end() ? same.front() : *name), part};
}

/// Takes one proposal; false when the strategy has none.
bool ProblemTuner::propose() {
  const auto ordinal = strategy_->propose();
  if (!ordinal) {
    limit_ = proposed_;  // there are no more
    return false;
  }
  const auto found = place_of(*ordinal);
  if (!found) return true;
  const Pending place = *found;
  ++proposed_;
  if (known_[place.whole].decided) {
    if (!noted_[place.whole]) ++result_.reused;
    ++part_.reused;
    note_outcome(place);
    return true;
  }
  prepare_backend();  // nothing is allocated on the device when every proposal is known already
  if (!submitted_) first_submit_ = Clock::now();
  submitted_ = true;
  const auto configuration = space_.at(place.whole);
  pending_.emplace(spec::to_text(kernel_, configuration), place);
  backend_.submit(configuration);
  return true;
}

void ProblemTuner::accept(Measurement measurement) {
  const auto pending = pending_.find(measurement.configuration);
  if (pending == pending_.end()) throw Error("failed tuning: an answer for " + measurement.configuration + ", which was not asked for");
  if (to_replace_.contains(measurement.configuration) || known_[pending->second.whole].decided) {
    database_.replace(to_row(context_, measurement));
  } else {
    database_.put(to_row(context_, measurement));
  }
  last_commit_ = Clock::now();
  observer_.recorded(measurement);
  known_.remember(pending->second.whole, measurement);
  ++result_.measured;
  ++part_.measured;
  note_outcome(pending->second);
  pending_.erase(pending);
}

void ProblemTuner::note_outcome(const Pending& place) {
  const Known& known = known_[place.whole];
  const bool first = !noted_[place.whole];  // parts that are searched in turn may overlap
  noted_[place.whole] = true;
  ++decided_;
  if (known.outcome != Outcome::Ok) {
    ++part_.failed;
    if (first) count_failure(place.whole);
    strategy_->report(place.part, std::nullopt);
    return;
  }
  strategy_->report(place.part, known.median_us);
  if (known.stage == measure::Stage::Screened) return;
  if (part_best_us_ <= 0 || known.median_us < part_best_us_) part_best_us_ = known.median_us;
  if (best_us_ <= 0 || known.median_us < best_us_) {
    best_us_ = known.median_us;
    convergence_.push_back({decided_, seconds_since(start_), best_us_});
  }
}

/// Whether the interval of the best lies apart from every other's, and the best has stood for as many decisions as it
/// took to find it: the first few configurations are always apart from each other.
bool ProblemTuner::separated() {
  separation_check_ = decided_ - decided_before_ + kSeparationStep;
  const std::uint64_t found_at = convergence_.empty() ? 0 : convergence_.back().evaluations;
  const auto counts = [this](space::Ordinal ordinal) { return !restricted_ || restricted_->find(space_.at(ordinal)).has_value(); };
  return decided_ - decided_before_ >= kFewestForSeparation && decided_ >= 2 * found_at && known_.best_is_apart(counts);
}

/// The configuration of the whole space by which it is decided how one of the searched part does; nothing when it is not.
std::optional<space::Ordinal> ProblemTuner::decided_as(space::Ordinal part) {
  const space::Ordinal own = in_whole(part);
  if (known_[own].decided) return own;
  if (!searched_launches().is_worked_out(part)) return std::nullopt;
  for (const auto other : searched_launches().members(part)) {
    if (known_[in_whole(other)].decided) return in_whole(other);
  }
  return std::nullopt;
}

void ProblemTuner::for_each_of_part(const std::function<void(const spec::Configuration&, const Known&)>& visit) {
  for (space::Ordinal i = 0; i < searched().size(); ++i) {
    if (const auto as = decided_as(i)) visit(searched().at(i), known_[*as]);
  }
}

void ProblemTuner::describe_part(bool complete) {
  part_.complete = complete;
  std::optional<space::Ordinal> fastest;
  part_.failed = 0;  // counted anew: those of earlier runs too
  for (space::Ordinal i = 0; i < searched().size(); ++i) {
    const auto as = decided_as(i);
    if (!as) continue;
    const Known& known = known_[*as];
    ++part_.decided;
    part_.failed += known.outcome == Outcome::Ok ? 0 : 1;
    if (known.outcome != Outcome::Ok || !known.verified || known.median_us <= 0) continue;
    if (!fastest || known.median_us < known_[*fastest].median_us) fastest = as;
  }
  if (fastest) part_.fastest = stored(spec::to_text(kernel_, space_.at(*fastest)));
}

void ProblemTuner::keep_restricted_best() {
  if (request_.where.empty()) return;
  result_.restricted = ProblemResult::Restricted{part_.size, "", 0};
  if (!part_.fastest) return;
  result_.restricted->configuration = part_.fastest->configuration;
  result_.restricted->median_us = part_.fastest->timing.median_us;
}

void ProblemTuner::count_failure(space::Ordinal ordinal) {
  const std::string outcome = measure::name(known_[ordinal].outcome);
  ++result_.failed[outcome];
  if (result_.failure_examples.contains(outcome)) return;
  const Measurement measurement = stored(spec::to_text(kernel_, space_.at(ordinal)));
  result_.failure_examples.emplace(outcome, FailureExample{measurement.configuration, measurement.detail});
}

void ProblemTuner::report_progress() const {
  Progress progress;
  progress.problem = &problem_;
  progress.problem_number = number_;
  progress.problem_count = request_.problems.size();
  progress.part = label_;
  progress.done = decided_ - decided_before_;
  progress.total = limit_;
  progress.reused = part_.reused;
  progress.failed = part_.failed;
  progress.best_us = part_best_us_;
  const double elapsed = seconds_since(search_start_);
  if (elapsed > 0) progress.configurations_per_s = static_cast<double>(part_.measured) / elapsed;
  if (deadline_) {
    progress.eta_s = std::max(0.0, -seconds_since(*deadline_));
  } else if (progress.configurations_per_s > 0 && progress.done <= progress.total) {
    progress.eta_s = static_cast<double>(progress.total - progress.done) / progress.configurations_per_s;
  }
  observer_.progress(progress);
}

/// Times of the search and of the devices' work in it, for the summary.
void ProblemTuner::account() {
  if (result_.measured == 0) return;
  auto& utilisation = result_.utilisation;
  utilisation = backend_.utilisation();
  utilisation.wall_s = std::chrono::duration<double>(last_commit_ - first_submit_).count();
  utilisation.idle_other_s = std::max(0.0, utilisation.wall_s - utilisation.gpu_busy_s - utilisation.idle_waiting_compile_s - utilisation.recovering_s);
}

void ProblemTuner::add_engine_figures(json& summary) const {
  const Sentinel sentinel = backend_.sentinel();
  summary["utilisation"] = to_json(result_.utilisation);
  summary["sentinel"] = to_json(sentinel);
  if (const std::string notice = drift_notice(sentinel, log_.problem()); !notice.empty()) observer_.notice(notice);
  for (const auto& warning : backend_.take_warnings()) observer_.notice(warning);
}

void ProblemTuner::finish(bool complete, const json& more) {
  backend_.on_hand_over = [](const std::vector<std::string>&) {};
  result_.elapsed_s = seconds_since(start_);
  if (!convergence_.empty()) convergence_.push_back({decided_, result_.elapsed_s, best_us_});
  json summary = summary_of(context_, result_);
  summary.update({{"budget", request_.budget.text()}, {"attune_version", build::kVersion}, {"device_name", backend_.device().name},
                  {"run", request_.run}});
  add_engine_figures(summary);
  summary["convergence"] = json::array();
  for (const auto& point : convergence_) summary["convergence"].push_back({point.evaluations, point.elapsed_s, point.best_us});
  // A run that found nothing left to do has no reason to touch the device for the ceiling either.
  if (complete && !result_.nothing_left) summary["read_ceiling_bytes_per_s"] = backend_.read_ceiling_bytes_per_s();
  result_.not_recorded = backend_.missing();
  summary.update(more);
  log_.close(complete ? "finished" : "interrupted", summary);
}

}  // namespace attune::session
