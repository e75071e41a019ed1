#include "tuner/simulate/exported_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/simulate/failure_words.hpp"

namespace attune::simulate {
namespace {

using measure::Outcome;
using nlohmann::json;

constexpr double kUsOfMs = 1000;
constexpr double kStepsOfUs = 1e4;  // as in recordings: what is exported, imported and exported again says the same

double milliseconds(double us) { return std::round(us * kStepsOfUs) / (kStepsOfUs * kUsOfMs); }

/// What the samples took at least: what lies between them is not recorded.
double sampling_ms(const measure::Timing& timing) {
  return milliseconds(timing.median_us * static_cast<double>(timing.samples) * static_cast<double>(timing.calls_per_sample));
}

/// As Python's str(): what the keys of a cache are made of.
std::string python_text(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.is_string() ? value.get<std::string>() : base::dump_json(value);
}

/// Of all results, in their order; checked.
std::vector<json> configurations_of(const ExportedSpace& space) {
  static const std::set<std::string> fields = {"time",           "times",         "compile_time",   "verification_time",
                                               "benchmark_time", "strategy_time", "framework_time", "timestamp"};
  std::vector<json> all;
  for (const auto& result : space.results) {
    const std::string& text = result.measurement.configuration;
    json configuration = base::try_parse_json(text);
    if (!configuration.is_object() || configuration.empty()) throw Error(fmt::format("failed exporting: {} is no configuration", text));
    const auto same_name = [](const auto& a, const auto& b) { return a.key() == b.key(); };
    const auto names = configuration.items(), first = all.empty() ? names : all.front().items();
    if (!std::equal(names.begin(), names.end(), first.begin(), first.end(), same_name))
      throw Error(fmt::format("failed exporting: {} has other parameters than the first configuration", text));
    for (const auto& [name, value] : names) {
      if (fields.contains(name) || name.starts_with("attune_") || name.starts_with("__"))
        throw Error(
            fmt::format("failed exporting: the parameter '{}' has the name of a field of the format; rename it in the template", name));
    }
    all.push_back(std::move(configuration));
  }
  return all;
}

std::set<std::string> each(const ExportedSpace& space, std::string ExportedResult::*member) {
  std::set<std::string> texts;
  for (const auto& result : space.results)
    if (!(result.*member).empty()) texts.insert(result.*member);
  return texts;
}

/// What neither format has a place for.
json about(const ExportedSpace& space) {
  return {{"template", space.template_name},
          {"template_hash", space.template_hash},
          {"problem", base::parse_json(spec::to_text(space.problem))},
          {"policy", space.policy},
          {"device", space.device.name},
          {"device_key", space.device.hard_key()},
          {"drivers", each(space, &ExportedResult::driver)},
          {"compilers", each(space, &ExportedResult::nvrtc)},
          {"origins", each(space, &ExportedResult::origin)}};
}

/// The facts that exported_facts (dialects.hpp) reads back, and how far attune vouches for them. Every result that worked has the same
/// ones: readers make columns of the first one's.
json facts_of(const ExportedResult& result) {
  const auto& measurement = result.measurement;
  json facts = {{"attune_outcome", measure::name(measurement.outcome)},
                {"attune_stage", measure::name(measurement.stage)},
                {"attune_origin", result.origin}};
  if (measurement.outcome != Outcome::Ok) {
    facts["attune_detail"] = measurement.detail;
    return facts;
  }
  facts["attune_low_ms"] = milliseconds(measurement.timing.low_us);
  facts["attune_high_ms"] = milliseconds(measurement.timing.high_us);
  facts["attune_min_ms"] = milliseconds(measurement.timing.min_us);
  facts["attune_samples"] = measurement.timing.samples;
  return facts;
}

json kernel_tuner_entry(const ExportedResult& result, json entry) {
  const auto& measurement = result.measurement;
  entry.update(facts_of(result));
  entry["attune_verified"] = measurement.verified ? 1 : 0;  // what Kernel Tuner makes T4 of may be no bool
  if (measurement.outcome == Outcome::Ok) {
    const double ms = milliseconds(measurement.timing.median_us);
    entry["time"] = ms;
    entry["times"] = {ms};
  } else {
    // The dashboard and older readers look for the word in place of the time, Kernel Tuner 1.5 at its own name.
    const char* const word = words_for(measurement.outcome).kernel_tuner;
    entry["time"] = word;
    entry["__error__"] = word;
  }
  entry["compile_time"] = measurement.resources.compile_ms;
  entry["benchmark_time"] = measurement.outcome == Outcome::Ok ? sampling_ms(measurement.timing) : 0.0;
  entry["verification_time"] = entry["strategy_time"] = entry["framework_time"] = 0.0;
  entry["timestamp"] = result.recorded_at;
  return entry;
}

json t4_measurements(const ExportedResult& result) {
  const auto& measurement = result.measurement;
  const bool worked = measurement.outcome == Outcome::Ok;
  const json time = worked ? json(milliseconds(measurement.timing.median_us)) : json(words_for(measurement.outcome).kernel_tuner);
  json all = json::array({{{"name", "time"}, {"value", time}, {"unit", "ms"}}});
  const json facts = facts_of(result);
  for (const auto& [name, value] : facts.items())
    all.push_back({{"name", name}, {"value", value}, {"unit", name.ends_with("_ms") ? "ms" : ""}});
  return all;
}

json t4_result(const ExportedResult& result, json configuration) {
  const auto& measurement = result.measurement;
  const bool worked = measurement.outcome == Outcome::Ok;
  json runtimes = json::array();
  if (worked) runtimes.push_back(milliseconds(measurement.timing.median_us));
  return {{"timestamp", result.recorded_at},
          {"configuration", std::move(configuration)},
          {"times",
           {{"compilation", measurement.resources.compile_ms},
            {"benchmark", worked ? sampling_ms(measurement.timing) : 0.0},
            {"framework", 0.0},
            {"search_algorithm", 0.0},
            {"validation", 0.0},
            {"runtimes", std::move(runtimes)}}},
          {"invalidity", worked ? "correct" : words_for(measurement.outcome).t4},
          {"correctness", worked && measurement.verified ? 1 : 0},
          {"measurements", t4_measurements(result)},
          {"objectives", {"time"}}};
}

/// A line, whatever a compiler's log holds.
std::string line_of(const json& value) { return base::dump_json_replacing(value); }

}  // namespace

std::string kernel_tuner_cache(const ExportedSpace& space) {
  const auto configurations = configurations_of(space);
  std::map<std::string, std::set<json>> values;  // by parameter; keys in the order of the configurations' own members
  for (const json& configuration : configurations)
    for (const auto& [name, value] : configuration.items()) values[name].insert(value);
  std::vector<std::string> names;
  for (const auto& [name, known] : values) names.push_back(name);
  std::string text = fmt::format(
      "{{\"schema_version\": \"1.1.0\",\n\"device_name\": {},\n\"kernel_name\": {},\n\"problem_size\": {},\n\"tune_params_keys\": {},\n"
      "\"tune_params\": {},\n\"objective\": \"time\",\n\"attune\": {},\n\"cache\": {{",
      line_of(space.device.name), line_of(space.template_name), line_of(space.sizes), line_of(names), line_of(values),
      line_of(about(space)));
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    std::string key;
    for (const json& value : configurations[i]) key += (key.empty() ? "" : ",") + python_text(value);
    text += fmt::format("{}\n{}: {}", i == 0 ? "" : ",", line_of(key), line_of(kernel_tuner_entry(space.results[i], configurations[i])));
  }
  // Kernel Tuner knows a finished cache by these three characters, and takes them off to append to it.
  return text + "}\n}";
}

std::string t4_results(const ExportedSpace& space) {
  const auto configurations = configurations_of(space);
  std::string text = fmt::format("{{\"metadata\": {},\n\"schema_version\": \"1.0.0\",\n\"results\": [",
                                 line_of({{"timeunit", "milliseconds"}, {"attune", about(space)}}));
  for (std::size_t i = 0; i < configurations.size(); ++i)
    text += fmt::format("{}\n{}", i == 0 ? "" : ",", line_of(t4_result(space.results[i], configurations[i])));
  return text + "\n]}\n";
}

}  // namespace attune::simulate
