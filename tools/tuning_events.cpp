#include "tools/tuning_events.hpp"

#include <fmt/core.h>

#include <memory>

#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/tuning_summary.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

constexpr double kEventEvery_s = 1;

void print_event(const char* name, json event) {
  event["event"] = name;
  print_json(event);
  base::flush_standard_output();
}

json problem_json(const spec::Problem& problem) { return base::parse_json(spec::to_text(problem)); }

json examples_json(const std::map<std::string, session::FailureExample>& examples) {
  json object = json::object();
  for (const auto& [outcome, example] : examples) {
    object[outcome] = {{"configuration", base::parse_json(example.configuration)}, {"detail", example.detail}};
  }
  return object;
}

json result_json(const session::ProblemResult& result) {
  Workload workload;
  workload.add(result.utilisation);
  json event = {{"problem", problem_json(result.problem)},
                {"space_size", result.space_size},
                {"different_launches", result.different_launches > 0 ? json(result.different_launches) : json(nullptr)},
                {"measured", result.measured},
                {"reused", result.reused},
                {"failed", result.failed},
                {"failure_examples", examples_json(result.failure_examples)},
                {"nothing_left", result.nothing_left},
                {"elapsed_s", result.elapsed_s},
                {"utilisation", to_json(workload)}};
  if (result.restricted) {
    const auto& found = *result.restricted;
    event["restricted"] = {{"size", found.size},
                           {"configuration", found.configuration.empty() ? json(nullptr) : base::parse_json(found.configuration)},
                           {"median_us", found.configuration.empty() ? json(nullptr) : json(found.median_us)}};
  }
  if (result.best) {
    event["best"] = {{"configuration", base::parse_json(result.best->configuration)},
                     {"median_us", result.best->median_us},
                     {"default_us", result.best->default_us},
                     {"tie", result.best->tie},
                     {"verified", result.best->objective != db::kUnverifiedTime}};
    add_metrics(event["best"], *result.best);
  }
  return event;
}

json progress_json(const session::RunProgress::View& view) {
  json event = {{"problems_done", view.problems_done},
                {"problem_count", view.problem_count},
                {"devices", view.devices},
                {"devices_busy", view.devices_busy},
                {"done", view.done},
                {"total", view.total},
                {"reused", view.reused},
                {"failed", view.failed},
                {"configurations_per_s", view.configurations_per_s}};
  event["problem"] = view.problem ? problem_json(*view.problem) : json(nullptr);
  if (!view.part.empty()) event["rung"] = view.part;
  event["best_us"] = view.best_us > 0 ? json(view.best_us) : json(nullptr);
  event["eta_s"] = view.eta_s ? json(*view.eta_s) : json(nullptr);
  event["elapsed_s"] = view.elapsed_s;
  event["budget_s"] = view.budget_s ? json(*view.budget_s) : json(nullptr);
  event["compilations_per_s"] = view.compilations_per_s;
  const std::string limit = session::RunProgress::name(view.limit);
  event["waits_for"] = view.waits_for.empty() ? json(nullptr) : json(view.waits_for);
  event["limit"] = limit.empty() ? json(nullptr) : json(limit);
  return event;
}

}  // namespace

TuningEvents::TuningEvents(bool json_output, std::size_t problem_count, std::size_t devices, std::optional<double> budget_s)
    : json_(json_output), progress_(problem_count, devices, budget_s), line_(json_output) {}

double TuningEvents::now_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

session::Observer TuningEvents::observer(std::size_t device, std::function<bool()> interrupted) {
  session::Observer observer;
  const auto current = std::make_shared<spec::Problem>();
  observer.started = [current](const spec::Problem& problem) { *current = problem; };
  observer.progress = [this, device](const session::Progress& progress) { progressed(device, progress); };
  observer.recorded = [this, current](const measure::Measurement& measurement) { recorded(*current, measurement); };
  observer.finished = [this, device](const session::ProblemResult& result) { finished(device, result); };
  observer.notice = [this](const std::string& text) { notice(text); };
  observer.interrupted = std::move(interrupted);
  observer.building = [this](const spec::Problem& problem, const space::BuildProgress& progress) {
    if (line_.due()) line_.show(building_text(describe(problem), progress));
  };
  return observer;
}

void TuningEvents::start(json fields) const {
  if (json_) print_event("start", std::move(fields));
}

void TuningEvents::progressed(std::size_t device, const session::Progress& progress) {
  const double now = now_s();
  progress_.progress(device, progress, now);
  if (line_.due()) line_.show(progress_.view(now));
  if (!json_ || now < last_event_s_ + kEventEvery_s) return;
  last_event_s_ = now;
  print_event("progress", progress_json(progress_.view(now)));
}

void TuningEvents::recorded(const spec::Problem& problem, const measure::Measurement& measurement) const {
  if (!json_) return;
  const bool ok = measurement.outcome == measure::Outcome::Ok;
  const json common = {{"problem", problem_json(problem)},
                       {"configuration", base::parse_json(measurement.configuration)},
                       {"outcome", measure::name(measurement.outcome)}};
  json record = common;
  record["stage"] = measure::name(measurement.stage);
  record["median_us"] = ok ? json(measurement.timing.median_us) : json(nullptr);
  record["verified"] = measurement.verified;
  if (measurement.power.watts > 0) record["power_w"] = measurement.power.watts;
  print_event("record", std::move(record));
  if (ok) return;
  json failure = common;
  failure["detail"] = measurement.detail;
  print_event("failure", std::move(failure));
}

void TuningEvents::finished(std::size_t device, const session::ProblemResult& result) {
  progress_.finished(device, result, now_s());
  line_.clear();
  if (json_) print_event("problem", result_json(result));
}

void TuningEvents::part_finished(std::size_t device, const session::ProblemResult& part) { progress_.finished(device, part, now_s()); }

void TuningEvents::tell(const char* name, json fields) {
  line_.clear();
  if (json_) print_event(name, std::move(fields));
}

void TuningEvents::lost(std::size_t device) { progress_.lost(device); }

void TuningEvents::given_up(const session::GivenUp& given_up) {
  progress_.given_up();
  line_.clear();
  if (!json_) return;  // the summary tells it
  print_event("given_up", {{"problem", problem_json(given_up.problem)}, {"device", given_up.device_name}, {"reason", given_up.why}});
}

void TuningEvents::notice(const std::string& text) {
  line_.clear();
  if (json_)
    print_event("notice", {{"text", text}});
  else
    base::tell_message(text);
}

void TuningEvents::end(const session::RunResult& result) {
  line_.clear();
  if (!json_) return;
  const Totals totals = totals_of(result);
  std::size_t problems = 0;
  json devices = json::array();
  for (const auto& group : result.groups) {
    problems += group.problems.size();
    const double ceiling = group.read_ceiling_bytes_per_s;
    devices.push_back({{"name", group.device.name},
                       {"key", group.device.hard_key()},
                       {"ordinals", group.ordinals},
                       {"read_ceiling_bytes_per_s", ceiling > 0 ? json(ceiling) : json(nullptr)}});
  }
  print_event("end", {{"interrupted", result.interrupted},
                      {"problems", problems},
                      {"devices", std::move(devices)},
                      {"given_up", result.given_up.size()},
                      {"measured", totals.measured},
                      {"reused", totals.reused},
                      {"failed", totals.failed},
                      {"failure_examples", examples_json(totals.failure_examples)},
                      {"elapsed_s", result.wall_s},
                      {"utilisation", to_json(totals.workload)}});
}

}  // namespace attune::tools
