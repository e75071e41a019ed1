#include "tuner/session/variants/ladder_run.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/tune/budget.hpp"
#include "tuner/session/tune/finalists.hpp"
#include "tuner/session/tune/problem_tuner.hpp"

namespace attune::session {
namespace {

using nlohmann::json;
using Clock = ProblemTuner::Clock;

/// The newest ceiling that a session of this device and policy measured; 0: none has.
double stored_ceiling(const ProblemContext& context) {
  db::Query query = context.query;
  query.problem.reset();
  double ceiling = 0;
  std::string newest;
  for (const auto& session : context.database.sessions(query)) {
    const json summary = base::parse_json(session.summary_json.empty() ? "{}" : session.summary_json);
    const auto rate = summary.find("read_ceiling_bytes_per_s");
    const bool known = rate != summary.end() && rate->is_number() && rate->get<double>() > 0 &&
                       context.counts_here(base::member_or(summary, "origin", ""));
    if (!known || session.started_at < newest) continue;
    newest = session.started_at;
    ceiling = rate->get<double>();
  }
  return ceiling;
}

/// One problem's way up the ladder.
class Climb {
 public:
  Climb(const spec::KernelTemplate& kernel, const spec::VariantLadder& ladder, const LadderRequest& request, std::size_t number,
        Backend& backend, db::Database& database, const LadderObserver& observer, std::optional<Clock::time_point> end)
      : kernel_(kernel),
        ladder_(ladder),
        request_(request),
        backend_(backend),
        observer_(observer),
        end_(end),
        problem_(request.tune.problems[number]),
        tuner_(kernel, request.tune, number, backend, database, observer.tuning) {}

  void run() {
    result_.peak_operations_per_s = backend_.device().peak_operations_per_s();
    if (!tuner_.begin()) {
      for (const auto& rung : ladder_.rungs) result_.rungs.push_back(empty_rung(rung));
      result_.complete = true;
      keep_tuned();
      return;
    }
    opened_ = true;
    if (end_ && tuner_.context().is_live()) {
      const double search_s = std::max(0.0, std::chrono::duration<double>(*end_ - Clock::now()).count());
      tuner_.limit_run_offs(run_off_seconds(search_s, request_.tune.problems.size()) / 2);  // the best's, and that of the rungs
    }
    tuner_.prepare_by(end_);
    result_.planned =
        plan_ladder(kernel_, ladder_, request_.effort, request_.tune.budget, problem_, backend_.device(), observer_.tuning.watch(problem_))
            .configurations;
    for (std::size_t i = 0; i < ladder_.rungs.size(); ++i) {
      const bool complete = tuner_.search(search_of(i));
      result_.rungs.push_back(rung_of(ladder_.rungs[i]));
      if (!complete) return interrupt();
      observer_.rung(problem_, result_.rungs.back());
    }
    tuner_.account();
    if (!tuner_.choose_best()) {
      tuner_.choose_when_stopped();  // all rungs were searched: of fewer, the best may be slower than the default
      return interrupt();
    }
    if (!compare()) return interrupt();
    result_.read_ceiling_bytes_per_s = read_ceiling();
    result_.complete = true;
    keep_tuned();
    tuner_.finish(true, {{"ladder", to_json(result_, ladder_)}});
    keep_tuned();
  }

  void abandon() {
    if (opened_) tuner_.abandon();
  }
  [[nodiscard]] LadderResult take() { return std::move(result_); }

 private:
  [[nodiscard]] SearchScope search_of(std::size_t rung) const {
    const auto& part = ladder_.rungs[rung];
    const RungEffort effort = effort_of(part, request_.effort);
    SearchScope search{{part.where}, effort.whole_up_to, std::nullopt, part.name, effort.sample};
    if (end_) {
      const auto left = std::max(Clock::duration::zero(), *end_ - Clock::now());
      search.deadline = Clock::now() + left / static_cast<Clock::rep>(ladder_.rungs.size() - rung);
    }
    return search;
  }

  [[nodiscard]] RungResult empty_rung(const spec::Rung& rung) const {
    RungResult result;
    result.name = rung.name;
    result.emptied_by = rung.where.expression.text();
    return result;
  }

  /// What the search came to that has just ended.
  [[nodiscard]] RungResult rung_of(const spec::Rung& rung) {
    const SearchedPart& part = tuner_.last_search().part();
    RungResult result;
    result.name = rung.name;
    result.size = part.size;
    result.decided = part.decided;
    result.failed = part.failed;
    result.measured = part.measured;
    result.emptied_by = part.emptied_by;
    if (part.best) {
      result.configuration = part.best->configuration;
      result.launches = tuner_.name_of_launches(result.configuration);
      result.median_us = part.best->timing.median_us;
      result.low_us = part.best->timing.low_us;
      result.high_us = part.best->timing.high_us;
      result.screened = part.best->stage == measure::Stage::Screened;
      result.tables = tabulate();
    }
    return result;
  }

  /// For each tabulated parameter the fastest known configuration of each of its values.
  [[nodiscard]] std::vector<std::vector<LadderCell>> tabulate() {
    std::vector<std::vector<LadderCell>> tables;
    for (const auto& name : ladder_.tables) {
      const auto parameter = static_cast<std::size_t>(kernel_.parameter(name) - kernel_.parameters.data());
      std::map<std::uint16_t, std::pair<double, spec::Configuration>> fastest;  // by value index
      tuner_.last_search().for_each([&](const spec::Configuration& configuration, const Known& known) {
        if (known.outcome != measure::Outcome::Ok || !known.may_win || known.cost <= 0) return;
        const double time_us = time_of(kernel_, known);
        const auto [at, fresh] = fastest.try_emplace(configuration.index[parameter], time_us, configuration);
        if (!fresh && time_us < at->second.first) at->second = {time_us, configuration};
      });
      tables.emplace_back();
      for (const auto& [index, found] : fastest) {
        tables.back().push_back(
            {spec::to_text(kernel_.parameters[parameter].values[index]), spec::to_text(kernel_, found.second), found.first});
      }
    }
    return tables;
  }

  void interrupt() {
    tuner_.finish(false, json::object());
    keep_tuned();
  }

  void keep_tuned() { result_.tuned = tuner_.result(); }

  /// Times of the rungs that can be compared: of one run-off, now or in an earlier ladder of the same winners. False when it was
  /// interrupted.
  [[nodiscard]] bool compare() {
    for (;;) {
      const auto winners = winners_of(result_.rungs);
      if (winners.empty() || take_stored_times()) return true;
      const auto samples = tuner_.compare(winners);
      // Not compared: each rung keeps the time of its own search, and the table says so.
      if (!samples || samples->stopped) return !tuner_.context().observer.interrupted();
      if (samples->failed.empty()) {
        take_times(*samples);
        return true;
      }
      for (std::size_t i = 0; i < result_.rungs.size(); ++i) {  // the next best of their rungs take their places
        const std::uint64_t measured = result_.rungs[i].measured;
        if (!tuner_.search({{ladder_.rungs[i].where}, 0, Clock::now(), ladder_.rungs[i].name, 0})) return false;
        result_.rungs[i] = rung_of(ladder_.rungs[i]);
        result_.rungs[i].measured = measured;
      }
      if (!tuner_.choose_best()) return false;  // what failed must not be dispatched any more
    }
  }

  [[nodiscard]] bool take_stored_times() {
    if (tuner_.result().measured > 0) return false;  // the device may not be as it was
    const db::SessionRow* newest = nullptr;
    const auto sessions = tuner_.context().database.sessions(tuner_.context().query);
    for (const auto& session : sessions) {
      if (session.state == "finished" && (newest == nullptr || session.started_at > newest->started_at) && keeps_times(session))
        newest = &session;
    }
    return newest != nullptr && session::take_times(result_, base::parse_json(newest->summary_json).at("ladder"));
  }

  [[nodiscard]] bool keeps_times(const db::SessionRow& session) const {
    const json summary = base::parse_json(session.summary_json.empty() ? "{}" : session.summary_json);
    const auto kept = summary.find("ladder");
    return kept != summary.end() && !base::member_or(*kept, "cut_short", false) &&
           tuner_.context().counts_here(base::member_or(summary, "origin", ""));
  }

  void take_times(const RunOffSamples& samples) {
    std::vector<measure::Measurement> resources;
    for (const auto& configuration : samples.configurations) resources.push_back(tuner_.known().stored(configuration));
    const Decided decided = decide(samples, resources, tuner_.known().default_name());
    for (auto& rung : result_.rungs) {
      const std::string& ran = spokesman_of(result_.rungs, rung)->configuration;
      const auto placed =
          std::find_if(decided.placed.begin(), decided.placed.end(), [&](const Placed& one) { return one.configuration == ran; });
      if (placed == decided.placed.end()) continue;  // an empty rung
      rung.median_us = placed->median_us;
      rung.low_us = placed->low_us;
      rung.high_us = placed->high_us;
      rung.to_best = placed->to_best;
      rung.screened = false;
    }
    result_.ran_off = true;
    const auto per_epoch = static_cast<std::size_t>(std::max(1, samples.rounds_per_epoch));
    result_.cut_short = end_ && tuner_.context().is_live() &&
                        would_go_on(samples.configurations.size(), samples.rounds_us.size(), per_epoch, request_.tune.race);
  }

  /// This run's ceiling; an earlier one's when everything was known and the device was left alone.
  [[nodiscard]] double read_ceiling() {
    if (tuner_.result().nothing_left) {
      if (const double stored = stored_ceiling(tuner_.context()); stored > 0) return stored;
    }
    return backend_.read_ceiling_bytes_per_s();
  }

  const spec::KernelTemplate& kernel_;
  const spec::VariantLadder& ladder_;
  const LadderRequest& request_;
  Backend& backend_;
  const LadderObserver& observer_;
  std::optional<Clock::time_point> end_;  ///< of the problem's searches
  const spec::Problem& problem_;
  ProblemTuner tuner_;
  LadderResult result_;
  bool opened_ = false;
};

LadderResult climb(Climb& climb) {
  try {
    climb.run();
  } catch (const DatabaseError&) {
    throw;  // nothing more can be written
  } catch (...) {
    climb.abandon();
    throw;
  }
  return climb.take();
}

}  // namespace

LadderRun run_ladder(const spec::KernelTemplate& kernel, const spec::VariantLadder& ladder, const LadderRequest& request, Backend& backend,
                     db::Database& database, const LadderObserver& observer) {
  const auto& problems = request.tune.problems;
  for (const auto& problem : problems) spec::validate(kernel, problem);
  const auto& device = backend.device();
  database.put(db::DeviceRow{device.hard_key(), device.hard_json(), base::dump_json(device.to_json())});
  database.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files});
  const auto start = Clock::now();
  LadderRun run;
  for (std::size_t i = 0; i < problems.size() && !run.interrupted; ++i) {
    std::optional<Clock::time_point> end;
    if (request.tune.budget.seconds) {
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      const double left = std::max(0.0, request.tune.seconds_left.value_or(*request.tune.budget.seconds) - spent);
      end = Clock::now() +
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left / static_cast<double>(problems.size() - i)));
    }
    observer.tuning.started(problems[i]);
    try {
      Climb way(kernel, ladder, request, i, backend, database, observer, end);
      run.problems.push_back(climb(way));
      run.interrupted = !run.problems.back().complete;
    } catch (const DatabaseError&) {
      throw;
    } catch (const space::BuildStopped&) {
      run.interrupted = true;
      run.problems.emplace_back().tuned.problem = problems[i];
    } catch (const Error& error) {  // this problem cannot be tuned; others can
      if (problems.size() == 1 || error.exit_code() == ExitCode::Interrupted) throw;
      run.given_up.push_back({problems[i], device.name, error.what(), error.exit_code()});
      continue;
    }
    observer.ladder(run.problems.back());
  }
  return run;
}

}  // namespace attune::session
