#include "tuner/session/session.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/store.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

using Clock = std::chrono::steady_clock;
using measure::Measurement;
using measure::Outcome;
using nlohmann::json;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Whether the process that opened a session still runs. One of another host is taken to live: its database is shared.
bool owner_lives(const db::SessionRow& session) {
  const json summary = json::parse(session.summary_json.empty() ? "{}" : session.summary_json);
  const std::string host = summary.value("host", "");
  if (host.empty()) return false;
  const int pid = summary.value("pid", 0);
  return host != host_name() || ::kill(pid, 0) == 0 || errno == EPERM;
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One problem from its space to its best row.
class ProblemTuner {
 public:
  ProblemTuner(const spec::KernelTemplate& kernel, const TuneRequest& request, std::size_t number, Backend& backend,
               db::Database& database, const Observer& observer, std::optional<double> seconds)
      : kernel_(kernel), request_(request), number_(number), problem_(request.problems[number]), backend_(backend), database_(database),
        observer_(observer), seconds_(seconds), space_(space::SearchSpace::build(kernel, problem_, backend.device())) {
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
    if (kernel_.work.bytes) {
      const auto first = space_.at(0);
      result_.work_bytes = kernel_.work.bytes->integer(spec::make_scope(kernel_, problem_, first, backend_.device()));
    }
    open_session();
    load_records();
    backend_.on_hand_over = [this](const std::string& configuration) { database_.set_in_flight(session_.key, configuration); };
    const bool complete = search();
    if (complete) choose_best();
    close_session(complete ? "finished" : "interrupted");
    return complete;
  }

  [[nodiscard]] ProblemResult take_result() { return std::move(result_); }

 private:
  void open_session() {
    session_.template_hash = kernel_.content_hash;
    session_.problem = spec::to_text(problem_);
    session_.device_key = context_.device_key;
    session_.policy = context_.policy;
    session_.strategy = request_.strategy;
    session_.seed = request_.seed;
    session_.state = "running";
    session_.space_size = space_.size();
    session_.started_at = base::utc_now();
    session_.summary_json = json{{"host", host_name()}, {"pid", ::getpid()}}.dump();
    base::ContentHasher hasher;
    for (const std::string& part : {session_.template_hash, session_.problem, session_.device_key, session_.policy, session_.strategy,
                                    std::to_string(session_.seed), session_.started_at}) {
      hasher.add(part);
    }
    session_.key = hasher.key();
    settle_dead_sessions();
    database_.put(session_);
  }

  /// Sessions that a killed process left "running": named once, with what was on the GPU when they died.
  void settle_dead_sessions() {
    const auto flying = database_.in_flight();
    for (auto session : database_.sessions(query_)) {
      if (session.state != "running" || session.key == session_.key || owner_lives(session)) continue;
      session.state = "interrupted";
      database_.put(session);
      for (const auto& [key, configuration] : flying) {
        if (key == session.key) {
          observer_.notice(fmt::format("an earlier run of {} ended while {} was on the GPU; it is measured again", session_.problem,
                                       configuration));
        }
      }
      database_.clear_in_flight(session.key);
    }
  }

  void load_records() {
    std::uint64_t foreign = 0;
    for (auto& row : database_.records(query_)) {
      if (!counts_here(row.origin)) {
        ++foreign;
        continue;
      }
      known_.emplace(row.configuration, to_measurement(row));
      rows_.emplace(row.configuration, std::move(row));
    }
    if (foreign > 0) {
      observer_.notice(fmt::format("{} records of {} came from a recording; on a GPU they are measured again", foreign,
                                   session_.problem));
    }
  }

  /// A replayed record answers only another replay: a GPU measures for itself.
  [[nodiscard]] bool counts_here(const std::string& origin) const { return context_.origin != "measured" || origin == "measured"; }

  bool search() {
    search::StrategyOptions options;
    options.seed = request_.seed;
    options.first = space_.find(spec::default_configuration(kernel_));
    strategy_ = search::make_strategy(request_.strategy, space_, options);
    backend_ready_ = false;
    start_ = Clock::now();
    bool exhausted = false;
    while (true) {
      if (observer_.interrupted()) {
        backend_.abandon();
        return false;
      }
      if (seconds_ && seconds_since(start_) > *seconds_) exhausted = true;
      while (!exhausted && proposed_ < limit_ && pending_.size() < backend_.capacity()) exhausted = !propose();
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
    const std::string text = spec::to_text(kernel_, configuration);
    const auto known = known_.find(text);
    if (known != known_.end()) {
      ++result_.reused;
      note_outcome(*ordinal, known->second);
      return true;
    }
    if (!backend_ready_) {  // nothing is allocated on the device when every proposal is known already
      backend_.prepare(kernel_, problem_);
      backend_ready_ = true;
    }
    pending_.emplace(text, *ordinal);
    backend_.submit(configuration);
    return true;
  }

  void accept(Measurement measurement) {
    const auto pending = pending_.find(measurement.configuration);
    if (pending == pending_.end()) throw Error("failed tuning: an answer for " + measurement.configuration + ", which was not asked for");
    auto row = to_row(context_, measurement);
    database_.put(row);
    rows_.insert_or_assign(measurement.configuration, std::move(row));
    known_.insert_or_assign(measurement.configuration, measurement);
    ++result_.measured;
    note_outcome(pending->second, measurement);
    pending_.erase(pending);
  }

  void note_outcome(space::Ordinal ordinal, const Measurement& measurement) {
    ++decided_;
    if (measurement.outcome != Outcome::Ok) {
      ++result_.failed[measure::name(measurement.outcome)];
      strategy_->report(ordinal, std::nullopt);
      return;
    }
    strategy_->report(ordinal, measurement.timing.median_us);
    if (measurement.stage == measure::Stage::Screened) return;
    if (best_us_ <= 0 || measurement.timing.median_us < best_us_) {
      best_us_ = measurement.timing.median_us;
      convergence_.push_back({decided_, seconds_since(start_), best_us_});
    }
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
    if (seconds_) {
      progress.eta_s = std::max(0.0, *seconds_ - elapsed);
    } else if (progress.configurations_per_s > 0 && progress.done <= progress.total) {
      progress.eta_s = static_cast<double>(progress.total - progress.done) / progress.configurations_per_s;
    }
    observer_.progress(progress);
  }

  /// Decides among everything known of this problem, not only what this run proposed: a small budget must not replace a
  /// better winner of an earlier run.
  void choose_best() {
    for (;;) {
      std::vector<Measurement> candidates;
      for (const auto& [configuration, measurement] : known_) candidates.push_back(measurement);
      const auto finalists = choose_finalists(candidates, default_text_, request_.finalists);
      if (finalists.empty()) return tell_why_none();
      std::vector<std::string> asked;
      std::vector<spec::Configuration> configurations;
      for (const auto* finalist : finalists) {
        asked.push_back(finalist->configuration);
        configurations.push_back(spec::configuration_from_text(kernel_, finalist->configuration));
      }
      if (decided_before(asked)) return;
      if (!backend_ready_) backend_.prepare(kernel_, problem_);
      backend_ready_ = true;
      auto samples = backend_.run_off(configurations, request_.run_off_rounds, request_.seed);
      if (samples && !samples->failed.empty()) {
        store_failed(*samples);
        continue;  // the next best take their places
      }
      const bool ran_off = samples.has_value();
      if (!ran_off) samples = search_medians(finalists);
      store_best(*samples, candidates, asked, ran_off);
      return;
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
    const auto working = std::count_if(known_.begin(), known_.end(), [](const auto& entry) { return entry.second.outcome == Outcome::Ok; });
    if (working == 0) return;
    observer_.notice(fmt::format("none of the {} working configurations of {} is both verified and measured to the end, so none is kept for "
                                 "dispatch{}", working, session_.problem,
                                 kernel_.reference.kind == spec::ReferenceSpec::Kind::None ? "; the template has no reference" : ""));
  }

  /// Finalists that failed when they ran again are failed configurations from now on.
  void store_failed(const RunOffSamples& samples) {
    for (const auto& failed : samples.failed) {
      Measurement measurement = known_.at(failed.configuration);
      measurement.outcome = failed.outcome;
      measurement.stage = measure::Stage::None;
      measurement.verified = false;
      measurement.timing = {};
      measurement.detail = "passed its first check and failed in the run-off: " + failed.detail;
      database_.put(to_row(context_, measurement));
      known_.insert_or_assign(failed.configuration, measurement);
      ++result_.failed[measure::name(failed.outcome)];
    }
  }

  void store_best(const RunOffSamples& samples, const std::vector<Measurement>& candidates, const std::vector<std::string>& asked,
                  bool ran_off) {
    const Decided decided = decide(samples, candidates, default_text_);
    const auto code = backend_.code(spec::configuration_from_text(kernel_, decided.placed[decided.winner].configuration));
    db::BestRow best = to_best_row(context_, decided, samples, result_.work_bytes, code, default_text_, asked);
    db::Database::Batch batch(database_);
    if (ran_off) {
      for (const auto& configuration : samples.configurations) mark_run_off(configuration);
    }
    if (code) database_.put_cubin(code->cubin_key, code->cubin, json{{"source_key", code->source_key}}.dump());
    database_.put(best);
    batch.commit();
    result_.best = std::move(best);
  }

  /// Only the stage changes: who measured it, when and with what stays as it was.
  void mark_run_off(const std::string& configuration) {
    db::RecordRow row = rows_.at(configuration);
    if (row.stage != measure::name(measure::Stage::Measured)) return;
    row.stage = measure::name(measure::Stage::RunOff);
    json detail = json::parse(row.detail_json);
    detail["stage"] = row.stage;
    row.detail_json = detail.dump();
    database_.put(row);
  }

  /// The fallback of a replay whose recording never ran these finalists off: one "round" of the search's own medians.
  [[nodiscard]] RunOffSamples search_medians(const std::vector<const Measurement*>& finalists) const {
    observer_.notice(fmt::format("the recording holds no run-off of these finalists of {}; the winner is by the search's medians",
                                 spec::to_text(problem_)));
    RunOffSamples samples;
    samples.rounds_us.emplace_back();
    for (const auto* finalist : finalists) {
      samples.configurations.push_back(finalist->configuration);
      samples.rounds_us.front().push_back(finalist->timing.median_us);
    }
    return samples;
  }

  void close_session(const std::string& state) {
    backend_.on_hand_over = [](const std::string&) {};
    database_.clear_in_flight(session_.key);
    result_.elapsed_s = seconds_since(start_);
    if (!convergence_.empty()) convergence_.push_back({decided_, result_.elapsed_s, best_us_});
    json summary = {{"work_bytes", result_.work_bytes}, {"space_size", result_.space_size}, {"measured", result_.measured},
                    {"reused", result_.reused}, {"failed", result_.failed}, {"budget", request_.budget.text()},
                    {"elapsed_s", result_.elapsed_s}, {"origin", context_.origin}, {"attune_version", build::kVersion},
                    {"device_name", backend_.device().name}, {"driver", context_.driver}, {"nvrtc", context_.nvrtc}};
    summary["replayed_from"] = context_.origin == "measured" ? "" : context_.origin;
    summary["convergence"] = json::array();
    for (const auto& point : convergence_) summary["convergence"].push_back({point.evaluations, point.elapsed_s, point.best_us});
    if (result_.best) {
      summary["best_us"] = result_.best->median_us;
      summary["default_us"] = result_.best->default_us;
    }
    // A run that found nothing left to do has no reason to touch the device for the ceiling either.
    if (state == "finished" && !result_.nothing_left) summary["read_ceiling_bytes_per_s"] = backend_.read_ceiling_bytes_per_s();
    if (backend_.missing() > 0) {
      observer_.notice(fmt::format("{} configurations of {} are not in the recording and were left out", backend_.missing(), session_.problem));
    }
    session_.state = state;
    session_.finished_at = base::utc_now();
    session_.summary_json = summary.dump();
    database_.put(session_);
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
  std::optional<double> seconds_;
  space::SearchSpace space_;
  RowContext context_;
  db::Query query_;
  db::SessionRow session_;
  std::string default_text_;
  ProblemResult result_;
  std::uint64_t limit_ = 0;
  std::uint64_t proposed_ = 0;
  bool backend_ready_ = false;
  Clock::time_point start_ = Clock::now();
  std::unique_ptr<search::Strategy> strategy_;
  std::map<std::string, Measurement> known_;             ///< everything decided for this problem, by configuration
  std::unordered_map<std::string, db::RecordRow> rows_;  ///< the same as stored
  std::unordered_map<std::string, space::Ordinal> pending_;
  std::uint64_t decided_ = 0;  ///< proposals of this run that have an outcome, measured or known
  std::vector<Point> convergence_;
  double best_us_ = 0;
};

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
    std::optional<double> seconds;
    if (request.budget.seconds) {
      const double left = std::max(0.0, *request.budget.seconds - seconds_since(start));
      seconds = left / static_cast<double>(request.problems.size() - i);
    }
    ProblemTuner tuner(kernel, request, i, backend, database, observer, seconds);
    result.interrupted = !tuner.run();
    result.problems.push_back(tuner.take_result());
    if (!result.interrupted) observer.finished(result.problems.back());
  }
  return result;
}

}  // namespace attune::session
