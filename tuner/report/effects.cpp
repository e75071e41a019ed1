#include "tuner/report/effects.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tuner/base/median.hpp"

namespace attune::report {

using nlohmann::json;

namespace {

struct Tally {
  json value;
  std::uint64_t configurations = 0;
  std::vector<double> times_us;
};

/// By the value's text: 4 and "4" are the same column.
using ParameterTally = std::map<std::string, Tally>;

std::map<std::string, ParameterTally> tally(const std::vector<const db::RecordRow*>& records) {
  std::map<std::string, ParameterTally> tallies;
  for (const db::RecordRow* record : records) {
    const json configuration = parse_object(record->configuration);
    for (const auto& [parameter, value] : configuration.items()) {
      Tally& entry = tallies[parameter][value_text(value)];
      entry.value = value;
      ++entry.configurations;
      if (record->outcome == "ok" && record->median_us > 0) entry.times_us.push_back(record->median_us);
    }
  }
  return tallies;
}

std::vector<std::string> ordered_values(const ParameterTally& tallies, const DeclaredParameter* declared) {
  std::vector<std::string> order;
  if (declared != nullptr) {
    for (const std::string& value : declared->values) {
      if (tallies.count(value) != 0) order.push_back(value);
    }
  }
  std::vector<const ParameterTally::value_type*> rest;
  for (const auto& entry : tallies) {
    if (std::find(order.begin(), order.end(), entry.first) == order.end()) rest.push_back(&entry);
  }
  std::sort(rest.begin(), rest.end(), [](const auto* a, const auto* b) {
    const bool a_number = a->second.value.is_number(), b_number = b->second.value.is_number();
    if (a_number != b_number) return a_number;
    return a_number ? a->second.value < b->second.value : a->first < b->first;
  });
  for (const auto* entry : rest) order.push_back(entry->first);
  return order;
}

ParameterEffect effect_of(const std::string& parameter, const ParameterTally& tallies, const DeclaredParameter* declared,
                          double fastest_us) {
  ParameterEffect effect;
  effect.parameter = parameter;
  for (const std::string& text : ordered_values(tallies, declared)) {
    const Tally& entry = tallies.at(text);
    ValueEffect value;
    value.value = text;
    value.is_default = declared != nullptr && declared->default_value == text;
    value.configurations = entry.configurations;
    value.timed = entry.times_us.size();
    if (!entry.times_us.empty()) {
      value.best_ratio = *std::min_element(entry.times_us.begin(), entry.times_us.end()) / fastest_us;
      value.median_ratio = base::median(entry.times_us) / fastest_us;
    }
    effect.values.push_back(std::move(value));
  }
  return effect;
}

}  // namespace

std::vector<ParameterEffect> parameter_effects(const std::vector<const db::RecordRow*>& records,
                                               const std::vector<DeclaredParameter>& declared) {
  auto tallies = tally(records);
  double fastest_us = 0;
  for (const db::RecordRow* record : records) {
    if (record->outcome != "ok" || record->median_us <= 0) continue;
    fastest_us = fastest_us == 0 ? record->median_us : std::min(fastest_us, record->median_us);
  }
  std::vector<ParameterEffect> effects;
  for (const DeclaredParameter& parameter : declared) {
    const auto found = tallies.find(parameter.name);
    if (found == tallies.end()) continue;
    effects.push_back(effect_of(parameter.name, found->second, &parameter, fastest_us));
    tallies.erase(found);
  }
  for (const auto& [name, values] : tallies) effects.push_back(effect_of(name, values, nullptr, fastest_us));
  return effects;
}

}  // namespace attune::report
