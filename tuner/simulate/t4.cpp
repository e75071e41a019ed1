// T4, the FAIR format of autotuning results: https://github.com/odgaard/TuningSchema
#include <fmt/core.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"
#include "tuner/simulate/dialects.hpp"

namespace attune::simulate {
namespace {

using nlohmann::json;

const json& configuration_of(const json& result) {
  const base::JsonFields fields(result, "");
  const json& configuration = fields.at("configuration");
  if (!configuration.is_object()) fields.fail("configuration", "an object", configuration);
  return configuration;
}

std::vector<std::string> names_of(const json& configuration) {
  std::vector<std::string> names;
  for (const auto& [name, value] : configuration.items()) names.push_back(name);
  return names;
}

std::string objective_of(const json& result) {
  const auto objectives = base::member_or(result, "objectives", std::vector<std::string>{});
  return objectives.empty() ? "time" : objectives.front();
}

/// The first measurement of that name which has a value; null where there is none.
const json* measurement_of(const json& result, const std::string& name) {
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return nullptr;
  for (const json& measurement : *measurements)
    if (base::member_or(measurement, "name", "") == name && measurement.contains("value")) return &measurement;
  return nullptr;
}

/// What the first objective came to; null where that is not told.
json measured(const json& result) {
  const json* const measurement = measurement_of(result, objective_of(result));
  return measurement != nullptr ? (*measurement)["value"] : json();
}

/// What is wrong with the result; "correct" where nothing is, or nothing is told.
std::string invalidity_of(const json& result) {
  const std::string told = base::member_or(result, "invalidity", "");
  return told.empty() ? "correct" : told;
}

RecordedFacts result_facts(const json& result, const RecordedCost& cost) {
  RecordedFacts facts = exported_facts([&](const char* name) -> const json* {
    const json* const measurement = measurement_of(result, name);
    return measurement != nullptr ? &measurement->at("value") : nullptr;
  });
  const std::string invalidity = invalidity_of(result);
  if (!cost.cost) facts.failure = invalidity == "correct" ? cost.failure : invalidity;
  if (const auto times = result.find("times"); times != result.end()) {
    facts.compile_ms = std::max(base::member_or(*times, "compilation", 0.0), base::member_or(*times, "compilation_time", 0.0));
  }
  facts.timestamp = base::member_or(result, "timestamp", "");
  if (const json* const measurement = measurement_of(result, objective_of(result))) facts.unit = base::member_or(*measurement, "unit", "");
  return facts;
}

/// A result counts where it says that it is correct, or says nothing; what is not may have a time all the same.
RecordedCost cost_of(const json& result) {
  RecordedCost cost = recorded_cost(measured(result));
  const std::string invalidity = invalidity_of(result);
  if (invalidity == "correct") return cost;
  const bool has_reason = measured(result).is_string();
  return {std::nullopt, has_reason ? cost.failure : invalidity};
}

RecordedEntry entry_of(const json& result, const std::vector<std::string>& names) {
  const json& configuration = configuration_of(result);
  if (names_of(configuration) != names) throw Error("its configuration has other parameters than the first");
  RecordedEntry entry;
  for (const std::string& name : names) entry.values.push_back(recorded_value(configuration[name], name));
  entry.result = cost_of(result);
  entry.facts = result_facts(result, entry.result);
  return entry;
}

}  // namespace

RecordedEntries t4_entries(const json& document) {
  const base::JsonFields fields(document, "");
  RecordedEntries found;
  found.format = "T4 results";
  if (const auto metadata = document.find("metadata"); metadata != document.end()) read_about(*metadata, found);
  const json& results = fields.array("results");
  for (std::size_t i = 0; i < results.size(); ++i) {
    try {
      if (!results[i].is_object()) throw Error(fmt::format("must be an object, not {}", base::shown(results[i])));
      if (i == 0) {
        found.names = names_of(configuration_of(results[i]));
        check_names(found.names);
        found.objective = objective_of(results[i]);
      }
      found.entries.push_back(entry_of(results[i], found.names));
      found.entries.back().place = fmt::format("results[{}]", i);
    } catch (const Error& error) {
      fields.fail(fmt::format("results[{}]: {}", i, error.what()));
    }
  }
  return found;
}

}  // namespace attune::simulate
