#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tuner/base/json.hpp"
#include "tuner/simulate/recorded_space.hpp"

namespace attune::test {

/// The space of a text that holds one.
[[nodiscard]] inline simulate::RecordedSpace one_space(const std::string& text) {
  auto spaces = simulate::parse_recorded_spaces(text, "a.json");
  if (spaces.size() != 1) throw std::runtime_error("the text has not one space");
  return std::move(spaces[0]);
}

/// What it says of each configuration: its cost as JSON writes it, or why it failed.
[[nodiscard]] inline std::map<std::string, std::string> told(const simulate::RecordedSpace& recorded) {
  std::map<std::string, std::string> all;
  for (space::Ordinal i = 0; i < recorded.space.size(); ++i) {
    const auto& cost = recorded.costs[i];
    all[recorded.configuration_text(i)] = cost ? base::dump_json(nlohmann::json(*cost)) : recorded.failures[i];
  }
  return all;
}

[[nodiscard]] inline std::vector<std::string> values_of(const simulate::RecordedSpace& recorded, const std::string& name) {
  std::vector<std::string> texts;
  for (const auto& parameter : recorded.parameters)
    if (parameter.name == name)
      for (const auto& value : parameter.values) texts.push_back(base::dump_json(spec::to_json(value)));
  return texts;
}

}  // namespace attune::test
