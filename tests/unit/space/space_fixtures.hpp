#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::space::test {

inline spec::Parameter integers(const std::string& name, const std::vector<std::int64_t>& values) {
  spec::Parameter parameter;
  parameter.name = name;
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  return parameter;
}

/// 0 .. count-1.
inline spec::Parameter counting(const std::string& name, std::int64_t count) {
  spec::Parameter parameter;
  parameter.name = name;
  for (std::int64_t value = 0; value < count; ++value) parameter.values.emplace_back(value);
  return parameter;
}

inline spec::Parameter texts(const std::string& name, const std::vector<std::string>& values) {
  spec::Parameter parameter;
  parameter.name = name;
  for (const auto& value : values) parameter.values.emplace_back(value);
  return parameter;
}

/// One condition a line of "template.json", the first on line 1.
inline std::vector<spec::Constraint> conditions(const std::vector<std::string>& lines) {
  std::vector<spec::Constraint> all;
  for (const auto& text : lines) {
    all.push_back({spec::Expression::parse(text, {"template.json", static_cast<int>(all.size()) + 1, 1})});
  }
  return all;
}

inline std::optional<spec::Value> no_constants(std::string_view) { return std::nullopt; }

/// Every configuration of the space, in order.
inline std::vector<std::vector<std::uint16_t>> rows(const SearchSpace& space) {
  std::vector<std::vector<std::uint16_t>> all;
  for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) all.push_back(space.at(ordinal).index);
  return all;
}

using Rows = std::vector<std::vector<std::uint16_t>>;

}  // namespace attune::space::test
