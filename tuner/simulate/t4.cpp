// T4, the FAIR format of autotuning results: https://github.com/odgaard/TuningSchema
#include <fmt/core.h>

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

/// The measurement that the first objective names; null where there is none.
json measured(const json& result) {
  const auto objectives = base::member_or(result, "objectives", std::vector<std::string>{});
  const std::string objective = objectives.empty() ? "time" : objectives.front();
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return {};
  for (const json& measurement : *measurements)
    if (base::member_or(measurement, "name", "") == objective && measurement.contains("value")) return measurement["value"];
  return {};
}

/// A result counts where it says that it is correct, or says nothing; what is not may have a time all the same.
RecordedCost cost_of(const json& result) {
  RecordedCost cost = recorded_cost(measured(result));
  const std::string invalidity = base::member_or(result, "invalidity", "correct");
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
  return entry;
}

}  // namespace

RecordedEntries t4_entries(const json& document) {
  const base::JsonFields fields(document, "");
  RecordedEntries found;
  const json& results = fields.array("results");
  for (std::size_t i = 0; i < results.size(); ++i) {
    try {
      if (!results[i].is_object()) throw Error(fmt::format("must be an object, not {}", base::shown(results[i])));
      if (i == 0) {
        found.names = names_of(configuration_of(results[i]));
        check_names(found.names);
      }
      found.entries.push_back(entry_of(results[i], found.names));
    } catch (const Error& error) {
      fields.fail(fmt::format("results[{}]: {}", i, error.what()));
    }
  }
  return found;
}

}  // namespace attune::simulate
