#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/session/source/recording_parts.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

/// Nearest multiple of `step` as the double that prints with no more digits than the step has.
double rounded(double value, double step) {
  if (!std::isfinite(value)) throw Error("failed saving the recording: a time or share is not finite");
  const double steps_per_unit = std::round(1 / step);
  return std::round(value * steps_per_unit) / steps_per_unit;
}

/// The parameter names of a canonical configuration text, sorted as the text has them.
std::vector<std::string> parameter_names(const json& configuration) {
  std::vector<std::string> names;
  for (const auto& entry : configuration.items()) names.push_back(entry.key());
  return names;
}

json parse_configuration(const std::string& text) {
  json configuration = base::try_parse_json(text);
  if (configuration.is_object() && base::dump_json(configuration) == text) return configuration;
  throw Error(fmt::format("failed saving the recording: {} is no configuration in canonical form", text));
}

json measurement_row(const measure::Measurement& measurement, const std::vector<std::string>& parameters, bool power) {
  const json configuration = parse_configuration(measurement.configuration);
  if (parameter_names(configuration) != parameters) {
    throw Error(fmt::format("failed saving the recording: {} has other parameters than the problem's first configuration",
                            measurement.configuration));
  }
  json values = json::array();
  for (const json& value : configuration) values.push_back(value);
  json row = json::array({std::move(values)});
  const json fields = measure::to_json(measurement);
  for (const recording::Column& column : recording::columns()) {
    const json& value = fields.at(column.place);
    row.push_back(column.step > 0 ? json(rounded(value.get<double>(), column.step)) : value);
  }
  if (!power) return row;
  for (const recording::Column& column : recording::power_columns()) row.push_back(rounded(fields.value(column.place, 0.0), column.step));
  return row;
}

json problem_to_json(const RecordedProblem& problem) {
  if (const std::string reason = recording::contradiction(problem); !reason.empty()) {
    throw Error(fmt::format("failed saving the recording: problem {}: {}", spec::to_text(problem.problem), reason));
  }
  std::vector<std::string> parameters;
  if (!problem.measurements.empty()) {
    parameters = parameter_names(parse_configuration(problem.measurements.front().configuration));
  }
  json names = json::array({"values"});
  for (const recording::Column& column : recording::columns()) names.push_back(column.name);
  const bool power = std::any_of(problem.measurements.begin(), problem.measurements.end(),
                                 [](const measure::Measurement& measurement) { return measurement.power.watts > 0; });
  if (power) {
    for (const recording::Column& column : recording::power_columns()) names.push_back(column.name);
  }
  json rows = json::array();
  for (const auto& measurement : problem.measurements) rows.push_back(measurement_row(measurement, parameters, power));
  json rounds = json::array();
  for (const auto& round : problem.rounds_us) {
    json times = json::array();
    for (const double time_us : round) times.push_back(rounded(time_us, 1e-4));
    rounds.push_back(std::move(times));
  }
  json left = json::array();
  for (const auto& finalist : problem.left) {
    left.push_back({{"configuration", finalist.configuration},
                    {"ratio", rounded(finalist.to_best.median_ratio, 1e-6)},
                    {"low", rounded(finalist.to_best.low, 1e-6)},
                    {"high", rounded(finalist.to_best.high, 1e-6)},
                    {"epochs", finalist.observations}});
  }
  return {{"problem", base::parse_json(spec::to_text(problem.problem))},
          {"work_bytes", problem.work_bytes},
          {"space_size", problem.space_size},
          {"parameters", parameters},
          {"columns", std::move(names)},
          {"measurements", std::move(rows)},
          {"finalists", problem.finalists},
          {"rounds_us", std::move(rounds)},
          {"rounds_per_epoch", problem.rounds_per_epoch},
          {"left", std::move(left)}};
}

}  // namespace

void Recording::save(const std::filesystem::path& path, const base::OnWait& on_wait) const {
  json all = json::array();
  for (const auto& problem : problems) all.push_back(problem_to_json(problem));
  json object = {{"attune_recording", recording::kFormatVersion},
                 {"device", device.to_json()},
                 {"driver", device.driver},
                 {"date", date},
                 {"template", template_name},
                 {"template_hash", template_hash},
                 {"nvrtc", nvrtc},
                 {"policy", policy},
                 {"read_ceiling_bytes_per_s", read_ceiling_bytes_per_s},
                 {"coverage", coverage},
                 {"problems", std::move(all)}};
  if (!imported_from.empty()) object["imported_from"] = imported_from;
  // A compiler log cut in the middle of a character must not cost the whole recording.
  const std::string text = base::dump_json_replacing(object) + "\n";
  base::write_output(path, recording::is_compressed(path) ? base::compress(text) : text, on_wait);
}

}  // namespace attune::session
