#include "tuner/session/tune/problem_context.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tuner/session/tune/renewal.hpp"
#include "tuner/spec/metrics.hpp"

namespace attune::session {

ProblemContext::ProblemContext(const spec::KernelTemplate& the_kernel, const TuneRequest& the_request, std::size_t number,
                               Backend& the_backend, db::Database& the_database, const Observer& the_observer)
    : kernel(the_kernel),
      request(the_request),
      problem(request.problems[number]),
      backend(the_backend),
      database(the_database),
      observer(the_observer),
      space(space::SearchSpace::build(kernel, problem, backend.device(), {}, observer.watch(problem))),
      launches(kernel, problem, backend.device(), space) {
  rows = {kernel.content_hash,     kernel.name,           problem,          backend.device().hard_key(), measure::to_text(request.policy),
          backend.device().driver, backend.nvrtc_build(), backend.origin(), backend.measured_at(),       backend.device().memory_clock_khz};
  if (!spec::has_reference(kernel)) rows.objective = db::kUnverifiedTime;
  query = {kernel.content_hash, std::nullopt, spec::to_text(problem), rows.device_key, rows.policy, rows.objective};
  default_text = spec::to_text(kernel, spec::default_configuration(kernel, problem, backend.device()));
}

ProblemContext::~ProblemContext() {
  backend.on_wait = [](const std::string&) { return true; };
}

Backend& ProblemContext::prepared_backend() {
  if (prepared_) return backend;
  if (ended_while_) throw PreparingStopped(*ended_while_);
  backend.on_wait = [this](const std::string& doing) { return waits_on(doing); };
  try {
    backend.prepare(kernel, problem);
  } catch (const PreparingStopped& stopped) {
    if (observer.interrupted()) throw;
    ended_while_ = stopped.doing();
    observer.notice(fmt::format(
        "nothing of {} could be measured in this run: the time of the budget ended while {}. What was done of it is lost: give a longer "
        "--budget; code that is compiled once stays in the cache for later runs",
        name(), stopped.doing()));
    throw;
  }
  prepared_ = true;
  return backend;
}

bool ProblemContext::waits_on(const std::string& doing) const {
  Progress progress;
  progress.problem = &problem;
  progress.waits_for = doing;
  observer.progress(progress);
  return !observer.interrupted() && (!prepare_by_ || std::chrono::steady_clock::now() < *prepare_by_);
}

std::optional<space::Ordinal> ProblemContext::find(const std::string& configuration) const {
  return space.find(spec::configuration_from_text(kernel, configuration));
}

Race::Options ProblemContext::race() const {
  Race::Options race = request.race;
  if (!kernel.objective) return race;
  race.all_stay = true;
  race.most = std::min(race.most, race.fewest);
  return race;
}

double ProblemContext::cost(const measure::Measurement& measurement, double time_us) const {
  if (!kernel.objective) return time_us;
  const auto configuration = spec::configuration_from_text(kernel, measurement.configuration);
  return spec::cost_of(kernel, spec::make_scope(kernel, problem, configuration, backend.device()), {time_us, measurement.power.watts});
}

std::map<std::string, double> ProblemContext::metrics(const measure::Measurement& measurement, double time_us) const {
  if (kernel.metrics.empty()) return {};
  const auto configuration = spec::configuration_from_text(kernel, measurement.configuration);
  return spec::metrics_of(kernel, spec::make_scope(kernel, problem, configuration, backend.device()), {time_us, measurement.power.watts});
}

bool ProblemContext::is_outdated(const std::string& driver, const std::string& nvrtc) const {
  return request.renew && (is_another(driver, rows.driver) || is_another(nvrtc, rows.nvrtc));
}

}  // namespace attune::session
