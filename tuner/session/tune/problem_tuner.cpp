#include "tuner/session/tune/problem_tuner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attune_build/version.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

std::vector<std::string> texts_of(const std::vector<spec::Constraint>& conditions) {
  std::vector<std::string> texts;
  for (const auto& condition : conditions) texts.push_back(condition.expression.text());
  return texts;
}

}  // namespace

ProblemTuner::ProblemTuner(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend,
                           db::Database& database, const Observer& observer)
    : context_(kernel, request, number, backend, database, observer),
      log_(database, observer.notice),
      known_(context_),
      tally_(context_, known_) {}

bool ProblemTuner::run(std::optional<Clock::time_point> deadline) {
  if (!begin()) return true;
  if (deadline && context_.is_live()) {
    const double search_s = std::max(0.0, std::chrono::duration<double>(*deadline - Clock::now()).count());
    // One device of several is asked for one problem at a time: its part of the budget tells how many share that.
    const double parts = search_s > 0 ? std::round(context_.request.budget.seconds.value_or(0) / search_s) : 1;
    const std::size_t problems = std::max(context_.request.problems.size(), static_cast<std::size_t>(parts));
    choice_->limit_run_off(run_off_seconds(search_s, problems), *deadline);
  }
  prepare_by(deadline);
  const auto& where = context_.request.where;
  bool complete = search({where, 0, deadline, "", 0});
  keep_restricted_best();
  account();
  if (complete) complete = choose_best();
  if (!complete) choose_when_stopped();
  finish(complete, where.empty() ? json::object() : json{{"where", texts_of(where)}, {"searched_size", search_->part().size}});
  return complete;
}

bool ProblemTuner::begin() {
  const auto& space = context_.space;
  if (space.size() == 0) {
    context_.observer.notice(fmt::format("the search space of {} is empty on this device: condition \"{}\" leaves no configuration",
                                         context_.name(), space.emptied_by()));
    // Whoever asks what has been searched finds it, with a space of none.
    open_session();
    log_.close("finished", json{{"space_size", 0}, {"run", context_.request.run}});
    opened_ = false;
    return false;
  }
  const auto first = space.at(0);
  tally_.result.work =
      spec::stated_work(context_.kernel, spec::make_scope(context_.kernel, context_.problem, first, context_.backend.device()));
  open_session();
  choice_.emplace(context_, known_, tally_);
  known_.load();
  context_.backend.on_hand_over = [this](const std::vector<std::string>& in_hand) { log_.hand_over(in_hand); };
  return true;
}

void ProblemTuner::open_session() {
  db::SessionRow row;
  row.template_hash = context_.kernel.content_hash;
  row.problem = context_.name();
  row.device_key = context_.rows.device_key;
  row.policy = context_.rows.policy;
  row.strategy = search::name(context_.request.strategy);
  row.seed = context_.request.seed;
  row.space_size = context_.space.size();
  log_.open(std::move(row), context_.request.run);
  opened_ = true;
}

void ProblemTuner::abandon() {
  context_.backend.on_hand_over = [](const std::vector<std::string>&) {};
  if (opened_) log_.close("interrupted", json{{"space_size", context_.space.size()}, {"run", context_.request.run}});
}

bool ProblemTuner::search(const SearchScope& scope) {
  ever_restricted_ = ever_restricted_ || !scope.where.empty();
  search_.emplace(context_, known_, tally_, scope);
  return search_->run();
}

void ProblemTuner::account() {
  if (tally_.result.measured > 0) tally_.account(context_.backend.utilisation());
}

bool ProblemTuner::choose_best() { return choice_->choose(ever_restricted_); }

void ProblemTuner::choose_when_stopped() {
  if (context_.request.best_when_stopped) choice_->choose_by_medians();
}

std::string ProblemTuner::name_of_launches(const std::string& configuration) {
  const auto ordinal = context_.find(configuration);
  return ordinal ? context_.text(context_.launches.canonical(*ordinal)) : configuration;
}

void ProblemTuner::keep_restricted_best() {
  if (context_.request.where.empty()) return;
  const SearchedPart& part = search_->part();
  auto& restricted = tally_.result.restricted.emplace(ProblemResult::Restricted{part.size, "", 0});
  if (!part.best) return;
  restricted.configuration = part.best->configuration;
  restricted.median_us = part.best->timing.median_us;
}

void ProblemTuner::add_engine_figures(json& summary) const {
  const Sentinel sentinel = context_.backend.sentinel();
  summary["utilisation"] = to_json(tally_.result.utilisation);
  summary["sentinel"] = to_json(sentinel);
  if (const std::string notice = drift_notice(sentinel, context_.name()); !notice.empty()) context_.observer.notice(notice);
}

void ProblemTuner::finish(bool complete, const json& more) {
  Backend& backend = context_.backend;
  backend.on_hand_over = [](const std::vector<std::string>&) {};
  tally_.finish();
  json summary = summary_of(context_.rows, tally_.result);
  summary.update({{"budget", context_.request.budget.text()},
                  {"attune_version", build::kVersion},
                  {"device_name", backend.device().name},
                  {"run", context_.request.run}});
  add_engine_figures(summary);
  summary["convergence"] = tally_.convergence();
  if (search_ && search_->part().converged && !ever_restricted_) summary[kConvergedAt] = search_->part().reused + search_->part().measured;
  // A run that found nothing left to do has no reason to touch the device for the ceiling either.
  if (complete && !tally_.result.nothing_left) {
    if (const double ceiling = backend.read_ceiling_bytes_per_s(); ceiling > 0) summary["read_ceiling_bytes_per_s"] = ceiling;
  }
  for (const auto& warning : backend.take_warnings()) context_.observer.notice(warning);
  tally_.result.not_recorded = backend.missing();
  summary.update(more);
  log_.close(complete ? "finished" : "interrupted", summary);
}

}  // namespace attune::session
