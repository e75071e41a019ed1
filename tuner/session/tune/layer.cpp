#include "tuner/session/tune/layer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/finalists.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/spec/launch_identity.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

/// By the name under which it ran off.
std::string default_of(const LayerSource& source, const RecordedProblem& problem) {
  const auto& device = source.recording.device;
  const auto standard = spec::default_configuration(source.kernel, problem.problem, device);
  const std::string own = spec::to_text(source.kernel, standard);
  const auto ran = [&](const std::string& text) {
    return std::find(problem.finalists.begin(), problem.finalists.end(), text) != problem.finalists.end();
  };
  if (ran(own)) return own;
  for (const auto& name : spec::names_of(source.kernel, problem.problem, standard, device)) {
    if (std::string text = spec::to_text(source.kernel, name); ran(text)) return text;
  }
  return own;
}

RowContext context_of(const LayerSource& source, const std::string& origin, const spec::Problem& problem) {
  const auto& recording = source.recording;
  return {source.kernel.content_hash,
          source.kernel.name,
          problem,
          recording.device.hard_key(),
          recording.policy,
          recording.device.driver,
          recording.nvrtc,
          origin,
          recording.date,
          recording.device.memory_clock_khz};
}

/// Recordings hold no operations: the template tells them.
spec::StatedWork work_of(const LayerSource& source, const RecordedProblem& problem) {
  const auto& device = source.recording.device;
  const auto standard = spec::default_configuration(source.kernel, problem.problem, device);
  const auto stated = spec::stated_work(source.kernel, spec::make_scope(source.kernel, problem.problem, standard, device));
  return {problem.work_bytes, stated.operations};
}

[[noreturn]] void refuse(const LayerSource& source, const RecordedProblem& problem, const std::string& why) {
  throw SpecError(source.path, 0, 0, fmt::format("failed reading the recording: {}: {}", spec::to_text(problem.problem), why));
}

/// The recording says itself which template it is of: its problems and configurations are checked against that one, and nothing
/// that was not found right becomes a best row.
void check(const LayerSource& source, const RecordedProblem& problem) {
  std::set<std::string_view> right;
  try {
    spec::validate(source.kernel, problem.problem);
    refuse_nothing(problem.problem);
    for (const auto& measurement : problem.measurements) {
      (void)spec::configuration_from_text(source.kernel, measurement.configuration);
      if (measurement.outcome == measure::Outcome::Ok && measurement.verified) right.insert(measurement.configuration);
    }
  } catch (const Error& error) {
    refuse(source, problem, error.what());
  }
  for (const auto& finalist : problem.finalists) {
    if (!right.contains(finalist)) refuse(source, problem, fmt::format("the finalist {} is not verified", finalist));
  }
}

std::vector<db::BestRow> best_rows_of(const LayerSource& source, const std::string& origin) {
  std::vector<db::BestRow> rows;
  for (const auto& problem : source.recording.problems) {
    check(source, problem);
    const std::string default_text = default_of(source, problem);
    // Its own finalists, all of them: it is its own run that is decided again.
    RunOffSamples samples{problem.finalists, problem.rounds_us, problem.rounds_per_epoch, problem.left, {}};
    if (samples.configurations.empty() || samples.rounds_us.empty()) {
      refuse(source, problem, "it holds no run-off; record it again");
    }
    std::vector<std::string> asked = problem.finalists;
    for (const auto& left : problem.left) asked.push_back(left.configuration);
    rows.push_back(to_best_row(context_of(source, origin, problem.problem), decide(samples, problem.measurements, default_text), samples,
                               work_of(source, problem), std::nullopt, default_text, asked));
  }
  return rows;
}

using Family = std::tuple<std::string, std::string, std::string, std::string>;
Family family_of(const db::BestRow& row) { return {row.template_hash, row.family, row.device_key, row.policy}; }

/// The configurations and, where another name stands for their launches at the problem, that one: by it they were measured.
std::set<std::string> names_at(const LayerSource& source, const spec::Problem& problem, const std::set<std::string>& configurations) {
  std::set<std::string> names = configurations;
  for (const auto& text : configurations) {
    const auto configuration = spec::configuration_from_text(source.kernel, text);
    names.insert(spec::to_text(source.kernel, spec::name_of(source.kernel, problem, configuration, source.recording.device)));
  }
  return names;
}

}  // namespace

LayerRows layer_rows(const std::vector<LayerSource>& sources) {
  LayerRows rows;
  std::map<Family, std::set<std::string>> portfolios;  // winners and defaults
  std::vector<std::string> origins;
  for (const auto& source : sources) {
    origins.push_back(ReplayBackend(source.recording, source.path, source.kernel).origin());  // refuses another version's recording
    rows.best.push_back(best_rows_of(source, origins.back()));
    for (std::size_t k = 0; k < source.recording.problems.size(); ++k) {
      auto& portfolio = portfolios[family_of(rows.best.back()[k])];
      const auto winner = spec::configuration_from_text(source.kernel, rows.best.back()[k].configuration);
      portfolio.insert(spec::to_text(source.kernel, winner));
      portfolio.insert(spec::to_text(source.kernel, spec::for_any_size(source.kernel, winner)));  // what it is at other sizes
      portfolio.insert(default_of(source, source.recording.problems[k]));
      const auto& problem = source.recording.problems[k].problem;
      portfolio.insert(spec::to_text(source.kernel, spec::default_configuration(source.kernel, problem, source.recording.device)));
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t k = 0; k < sources[i].recording.problems.size(); ++k) {
      const auto& problem = sources[i].recording.problems[k];
      const auto names = names_at(sources[i], problem.problem, portfolios.at(family_of(rows.best[i][k])));
      for (const auto& measurement : problem.measurements) {
        if (names.contains(measurement.configuration)) {
          rows.records.push_back(to_row(context_of(sources[i], origins[i], problem.problem), measurement));
        }
      }
    }
  }
  return rows;
}

}  // namespace attune::session
