// The cache file of Kernel Tuner, with a schema version and without: what a configuration gave, by the comma-joined values of its
// parameters. https://github.com/KernelTuner/kernel_tuner, kernel_tuner/cache
#include <fmt/core.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"
#include "tuner/simulate/dialects.hpp"

namespace attune::simulate {
namespace {

using nlohmann::json;

std::vector<std::string> parameter_names(const base::JsonFields& fields) {
  std::vector<std::string> names;
  if (fields.has("tune_params_keys")) {
    names = fields.texts("tune_params_keys");
  } else if (fields.has("tune_params") && fields.at("tune_params").is_object()) {
    for (const auto& [name, values] : fields.at("tune_params").items()) names.push_back(name);
  } else {
    fields.fail("field 'tune_params_keys' is missing");
  }
  check_names(names);
  return names;
}

/// What Python would have written so: 16, 0.5, True, or a text.
json value_of_text(std::string_view text) {
  if (text == "True") return true;
  if (text == "False") return false;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc() && read.ptr == end) return whole;
  double real = 0;
  const auto read = std::from_chars(text.data(), end, real, std::chars_format::general);
  const bool number = read.ec == std::errc() && read.ptr == end && text.find_first_of("nN") == std::string_view::npos;
  return number ? json(real) : json(std::string(text));
}

/// The value of a parameter that a piece of a key stands for: one that `tune_params` lists, where it lists one that is written so.
json value_of_piece(std::string_view piece, const std::string& name, const json& listed) {
  const json read = value_of_text(piece);
  if (const auto values = listed.find(name); listed.is_object() && values != listed.end() && values->is_array()) {
    for (const json& value : *values)
      if (value == read || (value.is_string() && value.get<std::string>() == piece)) return value;
  }
  return read;
}

std::vector<json> values_of_key(const std::string& key, const std::vector<std::string>& names, const json& listed) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t comma = key.find(','); comma != std::string::npos; begin = comma + 1, comma = key.find(',', begin))
    pieces.push_back(std::string_view(key).substr(begin, comma - begin));
  pieces.push_back(std::string_view(key).substr(begin));
  if (pieces.size() != names.size()) {
    throw Error(fmt::format("it lacks fields with the values of its parameters, and its key has {} values for {} parameters", pieces.size(),
                            names.size()));
  }
  std::vector<json> values;
  for (std::size_t i = 0; i < names.size(); ++i) values.push_back(value_of_piece(pieces[i], names[i], listed));
  return values;
}

std::vector<spec::Value> values_of(const std::string& key, const json& entry, const std::vector<std::string>& names, const json& listed) {
  std::vector<json> values;
  for (const std::string& name : names)
    if (const auto found = entry.find(name); found != entry.end()) values.push_back(*found);
  if (values.size() != names.size()) values = values_of_key(key, names, listed);
  std::vector<spec::Value> read;
  for (std::size_t i = 0; i < names.size(); ++i) read.push_back(recorded_value(values[i], names[i]));
  return read;
}

std::string place_of(const std::string& key) { return fmt::format("cache['{}']", key.substr(0, 200)); }

/// The field that the objective names, or the time: what fails may have its reason there alone.
RecordedCost cost_of(const json& entry, const std::string& objective) {
  for (const std::string& name : {objective, std::string("time"), std::string("__error__")})
    if (const auto found = entry.find(name); found != entry.end()) return recorded_cost(*found);
  return recorded_cost(json());
}

RecordedFacts cache_facts(const json& entry, const RecordedCost& cost) {
  RecordedFacts facts = exported_facts([&](const char* name) {
    const auto found = entry.find(name);
    return found != entry.end() ? &*found : nullptr;
  });
  if (!cost.cost) facts.failure = cost.failure;
  facts.compile_ms = base::member_or(entry, "compile_time", 0.0);
  facts.timestamp = base::member_or(entry, "timestamp", "");
  facts.unit = "ms";
  return facts;
}

}  // namespace

RecordedEntries kernel_tuner_entries(const json& document) {
  const base::JsonFields fields(document, "");
  RecordedEntries found;
  found.names = parameter_names(fields);
  const std::string objective = fields.has("objective") ? fields.text("objective") : "time";
  if (base::member_or(document, "objective_higher_is_better", false)) {
    fields.fail(fmt::format("its objective '{}' is better where it is higher, and only such are read that are better where they are lower",
                            objective));
  }
  found.format = "Kernel Tuner cache";
  found.device_name = base::member_or(document, "device_name", "");
  found.objective = objective;
  read_about(document, found);
  const json& cache = fields.at("cache");
  if (!cache.is_object()) fields.fail("cache", "an object", cache);
  const json listed = fields.has("tune_params") ? fields.at("tune_params") : json::object();
  for (const auto& [key, entry] : cache.items()) {
    try {
      if (!entry.is_object()) throw Error(fmt::format("must be an object, not {}", base::shown(entry)));
      found.entries.push_back({values_of(key, entry, found.names, listed), cost_of(entry, objective)});
      found.entries.back().facts = cache_facts(entry, found.entries.back().result);
      found.entries.back().place = place_of(key);
    } catch (const Error& error) {
      fields.fail(fmt::format("{}: {}", place_of(key), error.what()));
    }
  }
  return found;
}

}  // namespace attune::simulate
