#include "tuner/session/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/portfolio.hpp"
#include "tuner/session/search_memory.hpp"
#include "tuner/session/session_log.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

using Clock = std::chrono::steady_clock;
using measure::Measurement;
using measure::Outcome;
using nlohmann::json;

constexpr std::uint64_t kFewestForSeparation = 64;
constexpr std::uint64_t kSeparationStep = 32;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One problem from its space to its best row.
class ProblemTuner {
 public:
  ProblemTuner(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend,
               db::Database& database, const Observer& observer, std::optional<Clock::time_point> deadline)
      : kernel_(kernel), request_(request), number_(number), problem_(request.problems[number]), backend_(backend), database_(database),
        observer_(observer), deadline_(deadline), space_(space::SearchSpace::build(kernel, problem_, backend.device())),
        log_(database, observer.notice) {
    context_ = {kernel.content_hash, kernel.name, problem_, backend.device().hard_key(), measure::to_text(request.policy),
                backend.device().driver, backend.nvrtc_build(), backend.origin(), backend.measured_at()};
    query_ = {kernel.content_hash, std::nullopt, spec::to_text(problem_), context_.device_key, context_.policy};
    default_text_ = spec::to_text(kernel, spec::default_configuration(kernel));
    result_.problem = problem_;
    result_.space_size = space_.size();
    limit_ = request.budget.limit(space_.size());
  }

  /// Returns false when the run was interrupted.
  bool run() {
    if (space_.size() == 0) {
      observer_.notice(fmt::format("the search space of {} is empty on this device: condition \"{}\" leaves no configuration",
                                   spec::to_text(problem_), space_.emptied_by()));
      return true;
    }
    const auto first = space_.at(0);
    if (kernel_.work.bytes) result_.work_bytes = kernel_.work.bytes->integer(spec::make_scope(kernel_, problem_, first, backend_.device()));
    open_session();
    load_records();
    backend_.on_hand_over = [this](const std::vector<std::string>& in_hand) { log_.hand_over(in_hand); };
    const bool complete = search();
    if (!complete) last_commit_ = Clock::now();  // what ended unfinished took its time too
    account();
    if (complete) choose_best();
    close_session(complete ? "finished" : "interrupted");
    return complete;
  }

  [[nodiscard]] ProblemResult take_result() { return std::move(result_); }
  /// After an error: the process lives on, so nobody else would find its session running.
  void abandon() {
    backend_.on_hand_over = [](const std::vector<std::string>&) {};
    if (opened_) log_.close("interrupted", json{{"space_size", space_.size()}, {"run", request_.run}});
  }

 private:
  void open_session() {
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

  void load_records() {
    known_.forget_all(space_.size());
    std::uint64_t foreign = 0;
    database_.for_each_record(query_, [&](const db::RecordRow& row) {
      if (!counts_here(row.origin)) {
        ++foreign;
        return;
      }
      const bool stays = context_.origin != "measured" && row.origin == "measured";  // a replay's answer would give way to it
      if (request_.retry_failed && row.outcome != measure::name(Outcome::Ok) && !stays) return;
      // Of the same template hash and problem, so it is in the space; a damaged one was left out by the database.
      const auto ordinal = space_.find(spec::configuration_from_text(kernel_, row.configuration));
      if (ordinal) known_.remember(*ordinal, to_measurement(row));
    });
    if (foreign > 0) {
      observer_.notice(fmt::format("{} records of {} came from a recording; on a GPU they are measured again", foreign, log_.problem()));
    }
  }

  /// A replayed record answers only another replay: a GPU measures for itself.
  [[nodiscard]] bool counts_here(const std::string& origin) const { return context_.origin != "measured" || origin == "measured"; }

  bool search() {
    search::StrategyOptions options;
    options.seed = request_.seed;
    options.first = space_.find(spec::default_configuration(kernel_));
    options.portfolio = portfolio_of(database_, kernel_, problem_, context_.policy, space_);
    if (request_.strategy == "portfolio" && options.portfolio.empty()) {
      observer_.notice(fmt::format("no size of {} was tuned before: only the default can be tried; tune some sizes with another strategy first",
                                   spec::family_text(problem_)));
    }
    strategy_ = search::make_strategy(request_.strategy, space_, options);
    backend_ready_ = false;
    start_ = Clock::now();
    bool exhausted = false;
    while (true) {
      if (observer_.interrupted()) {
        backend_.abandon();
        return false;
      }
      if (deadline_ && Clock::now() > *deadline_) exhausted = true;
      if (request_.budget.until_separated && decided_ >= separation_check_) exhausted = exhausted || separated();
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

  /// Takes one proposal; false when the strategy has none.
  bool propose() {
    const auto ordinal = strategy_->propose();
    if (!ordinal) return false;
    ++proposed_;
    const auto configuration = space_.at(*ordinal);
    if (known_[*ordinal].decided) {
      ++result_.reused;
      note_outcome(*ordinal);
      return true;
    }
    if (!backend_ready_) {  // nothing is allocated on the device when every proposal is known already
      backend_.prepare(kernel_, problem_);
      backend_ready_ = true;
      first_submit_ = Clock::now();
    }
    pending_.emplace(spec::to_text(kernel_, configuration), *ordinal);
    backend_.submit(configuration);
    return true;
  }

  void accept(Measurement measurement) {
    const auto pending = pending_.find(measurement.configuration);
    if (pending == pending_.end()) throw Error("failed tuning: an answer for " + measurement.configuration + ", which was not asked for");
    database_.put(to_row(context_, measurement));
    last_commit_ = Clock::now();
    observer_.recorded(measurement);
    known_.remember(pending->second, measurement);
    ++result_.measured;
    note_outcome(pending->second);
    pending_.erase(pending);
  }

  void note_outcome(space::Ordinal ordinal) {
    const Known& known = known_[ordinal];
    ++decided_;
    if (known.outcome != Outcome::Ok) {
      count_failure(ordinal);
      strategy_->report(ordinal, std::nullopt);
      return;
    }
    strategy_->report(ordinal, known.median_us);
    if (known.stage == measure::Stage::Screened) return;
    if (best_us_ <= 0 || known.median_us < best_us_) {
      best_us_ = known.median_us;
      convergence_.push_back({decided_, seconds_since(start_), best_us_});
    }
  }

  /// Whether the interval of the best lies apart from every other's, and the best has stood for as many decisions as it
  /// took to find it: the first few configurations are always apart from each other.
  [[nodiscard]] bool separated() {
    separation_check_ = decided_ + kSeparationStep;
    const std::uint64_t found_at = convergence_.empty() ? 0 : convergence_.back().evaluations;
    return decided_ >= std::max(kFewestForSeparation, 2 * found_at) && known_.best_is_apart();
  }

  void count_failure(space::Ordinal ordinal) {
    const std::string outcome = measure::name(known_[ordinal].outcome);
    ++result_.failed[outcome];
    if (result_.failure_examples.contains(outcome)) return;
    const Measurement measurement = stored(spec::to_text(kernel_, space_.at(ordinal)));
    result_.failure_examples.emplace(outcome, FailureExample{measurement.configuration, measurement.detail});
  }

  void report_progress() const {
    Progress progress;
    progress.problem = &problem_;
    progress.problem_number = number_;
    progress.problem_count = request_.problems.size();
    progress.done = decided_;
    progress.total = limit_;
    progress.reused = result_.reused;
    for (const auto& [outcome, count] : result_.failed) progress.failed += count;
    progress.best_us = best_us_;
    const double elapsed = seconds_since(start_);
    if (elapsed > 0) progress.configurations_per_s = static_cast<double>(result_.measured) / elapsed;
    if (deadline_) {
      progress.eta_s = std::max(0.0, -seconds_since(*deadline_));
    } else if (progress.configurations_per_s > 0 && progress.done <= progress.total) {
      progress.eta_s = static_cast<double>(progress.total - progress.done) / progress.configurations_per_s;
    }
    observer_.progress(progress);
  }

  /// Decides among everything known of this problem, not only what this run proposed: a small budget must not replace a
  /// better winner of an earlier run.
  void choose_best() {
    for (;;) {
      const auto asked = choose_finalists(candidates_of(known_, kernel_, space_, request_.finalists.most), default_text_, request_.finalists);
      if (asked.empty()) {
        // What won once and fails now must not be dispatched any more.
        if (const auto best = database_.best_of(query_); best && stored(best->configuration).outcome != Outcome::Ok) database_.forget_best(query_);
        return tell_why_none();
      }
      if (decided_before(asked)) return;
      std::vector<spec::Configuration> configurations;
      for (const auto& finalist : asked) configurations.push_back(spec::configuration_from_text(kernel_, finalist));
      if (!backend_ready_) backend_.prepare(kernel_, problem_);
      backend_ready_ = true;
      auto samples = backend_.run_off(configurations, request_.race, request_.seed);
      if (samples && !samples->failed.empty()) {
        store_failed(*samples);
        continue;  // the next best take their places
      }
      const bool ran_off = samples.has_value();
      if (!ran_off) samples = search_medians(asked);
      return store_best(*samples, asked, ran_off);
    }
  }

  /// Whether the stored best row came from a run-off of exactly these finalists (or from a GPU, while this is a replay).
  [[nodiscard]] bool decided_before(const std::vector<std::string>& asked) {
    for (const auto& previous : database_.best(query_)) {
      const json detail = json::parse(previous.detail_json);
      const std::string origin = detail.value("origin", "");
      const bool same = counts_here(origin) && detail.value("asked", std::vector<std::string>{}) == asked;
      const bool measured_stays = origin == "measured" && context_.origin != "measured";
      if (!same && !measured_stays) continue;
      result_.nothing_left = result_.measured == 0;
      result_.best = previous;
      return true;
    }
    return false;
  }

  void tell_why_none() const {
    const auto working = known_.working();
    if (working == 0) return;
    observer_.notice(fmt::format("none of the {} working configurations of {} is both verified and measured to the end, so none is kept for "
                                 "dispatch{}", working, log_.problem(),
                                 kernel_.reference.kind == spec::ReferenceSpec::Kind::None ? "; the template has no reference" : ""));
  }

  /// Finalists that failed when they ran again are failed configurations from now on.
  void store_failed(const RunOffSamples& samples) {
    for (const auto& failed : samples.failed) {
      Measurement measurement = stored(failed.configuration);
      measurement.outcome = failed.outcome;
      measurement.stage = measure::Stage::None;
      measurement.verified = false;
      measurement.timing = {};
      measurement.detail = "passed its first check and failed in the run-off: " + failed.detail;
      database_.put(to_row(context_, measurement));
      const auto ordinal = space_.find(spec::configuration_from_text(kernel_, failed.configuration)).value();
      known_.remember(ordinal, measurement);
      count_failure(ordinal);
    }
  }

  [[nodiscard]] db::RecordRow stored_row(const std::string& configuration) const {
    auto row = database_.record(query_, configuration);
    if (!row) throw Error(fmt::format("failed deciding {}: the record of {} is no longer in the database", log_.problem(), configuration));
    return *std::move(row);
  }
  [[nodiscard]] Measurement stored(const std::string& configuration) const { return to_measurement(stored_row(configuration)); }

  void store_best(const RunOffSamples& samples, const std::vector<std::string>& asked, bool ran_off) {
    std::vector<Measurement> resources;
    for (const auto& configuration : samples.configurations) resources.push_back(stored(configuration));
    const Decided decided = decide(samples, resources, default_text_);
    const auto code = backend_.code(spec::configuration_from_text(kernel_, decided.placed[decided.winner].configuration));
    db::BestRow best = to_best_row(context_, decided, samples, result_.work_bytes, code, default_text_, asked);
    db::Database::Batch batch(database_);
    if (ran_off) {
      for (const auto& placed : decided.placed) mark_run_off(placed.configuration);
    }
    if (code) database_.put_cubin(code->cubin_key, code->cubin, json{{"source_key", code->source_key}}.dump());
    database_.put(best);
    batch.commit();
    result_.best = std::move(best);
  }

  void mark_run_off(const std::string& configuration) {
    if (const auto row = as_run_off(stored_row(configuration))) database_.put(*row);
  }

  /// For a recording that never ran these finalists off, and for finalists that fail only together: one "round" of the
  /// search's own medians.
  [[nodiscard]] RunOffSamples search_medians(const std::vector<std::string>& finalists) const {
    observer_.notice(fmt::format("these finalists of {} could not be run off against each other; the winner is by the search's medians",
                                 spec::to_text(problem_)));
    RunOffSamples samples;
    samples.configurations = finalists;
    samples.rounds_us.emplace_back();
    for (const auto& finalist : finalists) samples.rounds_us.front().push_back(stored(finalist).timing.median_us);
    return samples;
  }

  /// Times of the search and of the devices' work in it, for the summary.
  void account() {
    if (result_.measured == 0) return;
    auto& utilisation = result_.utilisation;
    utilisation = backend_.utilisation();
    utilisation.wall_s = std::chrono::duration<double>(last_commit_ - first_submit_).count();
    utilisation.idle_other_s = std::max(0.0, utilisation.wall_s - utilisation.gpu_busy_s - utilisation.idle_waiting_compile_s - utilisation.recovering_s);
  }

  void add_engine_figures(json& summary) const {
    const Sentinel sentinel = backend_.sentinel();
    summary["utilisation"] = to_json(result_.utilisation);
    summary["sentinel"] = to_json(sentinel);
    if (const std::string notice = drift_notice(sentinel, log_.problem()); !notice.empty()) observer_.notice(notice);
  }

  void close_session(const std::string& state) {
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
    if (state == "finished" && !result_.nothing_left) summary["read_ceiling_bytes_per_s"] = backend_.read_ceiling_bytes_per_s();
    if (backend_.missing() > 0) {
      observer_.notice(fmt::format("{} configurations of {} are not in the recording and were left out", backend_.missing(), log_.problem()));
    }
    log_.close(state, summary);
  }

  struct Point {
    std::uint64_t evaluations;
    double elapsed_s;
    double best_us;
  };

  const spec::KernelTemplate& kernel_;
  const TuneRequest& request_;
  std::size_t number_;
  const spec::Problem& problem_;
  Backend& backend_;
  db::Database& database_;
  const Observer& observer_;
  std::optional<Clock::time_point> deadline_;  ///< of the search; building the space counts too
  space::SearchSpace space_;
  RowContext context_;
  db::Query query_;
  SessionLog log_;
  std::string default_text_;
  ProblemResult result_;
  std::uint64_t limit_ = 0;
  std::uint64_t proposed_ = 0;
  bool opened_ = false;
  bool backend_ready_ = false;
  Clock::time_point start_ = Clock::now();
  std::unique_ptr<search::Strategy> strategy_;
  SearchMemory known_;
  std::unordered_map<std::string, space::Ordinal> pending_;
  Clock::time_point first_submit_;
  Clock::time_point last_commit_;
  std::uint64_t separation_check_ = 0;  ///< decisions at which separation is looked at next
  std::uint64_t decided_ = 0;  ///< proposals of this run that have an outcome, measured or known
  std::vector<Point> convergence_;
  double best_us_ = 0;
};

bool run_or_abandon(ProblemTuner& tuner) {
  try {
    return tuner.run();
  } catch (const DatabaseError&) {
    throw;  // nothing more can be written
  } catch (...) {
    tuner.abandon();
    throw;
  }
}

}  // namespace

TuneResult tune(const spec::KernelTemplate& kernel, const TuneRequest& request, Backend& backend, db::Database& database,
                const Observer& observer) {
  for (const auto& problem : request.problems) spec::validate(kernel, problem);
  const auto& device = backend.device();
  database.put(db::DeviceRow{device.hard_key(), device.hard_json(), device.to_json().dump()});
  database.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files});
  const auto start = Clock::now();
  TuneResult result;
  for (std::size_t i = 0; i < request.problems.size() && !result.interrupted; ++i) {
    std::optional<Clock::time_point> deadline;
    if (request.budget.seconds) {
      const double left = std::max(0.0, request.seconds_left.value_or(*request.budget.seconds) - seconds_since(start));
      const std::chrono::duration<double> share(left / static_cast<double>(request.problems.size() - i));
      deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
    }
    observer.started(request.problems[i]);
    try {
      ProblemTuner tuner(kernel, request, i, backend, database, observer, deadline);
      result.interrupted = !run_or_abandon(tuner);
      result.problems.push_back(tuner.take_result());
    } catch (const DatabaseError&) {
      throw;
    } catch (const Error& error) {  // this problem cannot be tuned; others can
      if (request.problems.size() == 1) throw;
      result.given_up.push_back({request.problems[i], device.name, error.what(), error.exit_code()});
      continue;
    }
    if (!result.interrupted) observer.finished(result.problems.back());
  }
  return result;
}

}  // namespace attune::session
