// attune's own recordings: session::Recording reads them.
#include "tuner/base/json.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/simulate/dialects.hpp"

namespace attune::simulate {
namespace {

using nlohmann::json;

RecordedCost cost_of(const measure::Measurement& measurement) {
  if (measurement.outcome == measure::Outcome::Ok) return {measurement.timing.median_us, ""};
  return {std::nullopt, measure::name(measurement.outcome)};
}

RecordedEntries entries_of(const session::RecordedProblem& problem) {
  RecordedEntries found;
  found.label = spec::to_text(problem.problem);
  for (const auto& measurement : problem.measurements) {
    const json configuration = base::parse_json(measurement.configuration);
    RecordedEntry entry;
    entry.result = cost_of(measurement);
    for (const auto& [name, value] : configuration.items()) {
      if (found.entries.empty()) found.names.push_back(name);  // all have the same ones: a recording lists them once
      entry.values.push_back(recorded_value(value, name));
    }
    found.entries.push_back(std::move(entry));
  }
  return found;
}

}  // namespace

std::vector<RecordedEntries> own_entries(const std::string& text, const std::string& path) {
  std::vector<RecordedEntries> all;
  for (const auto& problem : session::Recording::parse(text, path).problems) all.push_back(entries_of(problem));
  return all;
}

}  // namespace attune::simulate
