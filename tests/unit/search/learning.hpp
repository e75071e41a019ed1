#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search::test {

inline spec::Parameter powers_of_two(const std::string& name, int count) {
  spec::Parameter parameter{name, {}};
  for (int i = 0; i < count; ++i) parameter.values.emplace_back(std::int64_t{1} << i);
  return parameter;
}

inline spec::Parameter multiples(const std::string& name, std::int64_t of, int count) {
  spec::Parameter parameter{name, {}};
  for (int i = 1; i <= count; ++i) parameter.values.emplace_back(of * i);
  return parameter;
}

inline spec::Parameter choices(const std::string& name, int count) {
  spec::Parameter parameter{name, {}};
  for (int i = 0; i < count; ++i) parameter.values.emplace_back(std::string(1, static_cast<char>('a' + i)));
  return parameter;
}

inline space::SearchSpace all_of(const std::vector<spec::Parameter>& parameters) {
  return space::SearchSpace::build(parameters, {}, [](std::string_view) { return std::nullopt; });
}

/// Microseconds of a kernel that nobody wrote: each parameter has a best value, and more than the `most`th value of the first two together
/// does not fit.
struct MadeUpKernel {
  std::vector<int> best;
  int most = 1000;

  [[nodiscard]] std::optional<double> operator()(const space::SearchSpace& space, space::Ordinal ordinal) const {
    const auto row = space.row(ordinal);
    if (row[0] + row[1] > most) return std::nullopt;
    double log_us = 0;
    for (std::size_t i = 0; i < best.size(); ++i) log_us += 0.2 * std::abs(row[i] - best[i]);
    return std::exp(log_us);
  }
};

}  // namespace attune::search::test
