#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace small_spaces {

using Row = std::vector<std::uint16_t>;

/// The space of the rows that are wanted, of parameters with the values 1, 2, 3 and so on.
inline attune::space::SearchSpace space_of(const std::vector<std::size_t>& value_counts, const std::function<bool(const Row&)>& wanted) {
  std::vector<attune::spec::Parameter> parameters(value_counts.size());
  for (std::size_t i = 0; i < value_counts.size(); ++i) {
    parameters[i].name = std::string(1, static_cast<char>('a' + i));
    for (std::size_t value = 1; value <= value_counts[i]; ++value) parameters[i].values.emplace_back(static_cast<std::int64_t>(value));
  }
  std::vector<attune::spec::Configuration> configurations;
  Row row(value_counts.size(), 0);
  for (bool is_done = false; !is_done;) {
    if (wanted(row)) configurations.push_back({row});
    std::size_t i = row.size();
    while (i > 0 && ++row[i - 1] == value_counts[i - 1]) row[--i] = 0;
    is_done = i == 0;
  }
  return attune::space::SearchSpace::of(parameters, configurations);
}

inline Row row_of(const attune::space::SearchSpace& space, attune::space::Ordinal ordinal) {
  const auto row = space.row(ordinal);
  return {row.begin(), row.end()};
}

}  // namespace small_spaces
