#include "tuner/simulate/warm.hpp"

#include <algorithm>

namespace attune::simulate {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// By value of the source's parameter, its index among the target's values.
std::vector<std::size_t> indices_in(const spec::Parameter& target, const spec::Parameter& source) {
  std::vector<std::size_t> indices;
  for (const auto& value : source.values) {
    const auto found = std::find_if(target.values.begin(), target.values.end(), [&](const auto& own) { return spec::equal(own, value); });
    indices.push_back(found == target.values.end() ? kNowhere : static_cast<std::size_t>(found - target.values.begin()));
  }
  return indices;
}

std::size_t place_of(const RecordedSpace& recorded, const std::string& name) {
  const auto found =
      std::find_if(recorded.parameters.begin(), recorded.parameters.end(), [&](const auto& one) { return one.name == name; });
  return found == recorded.parameters.end() ? kNowhere : static_cast<std::size_t>(found - recorded.parameters.begin());
}

}  // namespace

bool has_parameters_of(const RecordedSpace& source, const RecordedSpace& target) {
  return source.parameters.size() == target.parameters.size() &&
         std::all_of(target.parameters.begin(), target.parameters.end(),
                     [&](const auto& parameter) { return place_of(source, parameter.name) != kNowhere; });
}

search::HintSource hints_for(const RecordedSpace& target, const RecordedSpace& source) {
  std::vector<std::size_t> places;                // by parameter of the target, the source's
  std::vector<std::vector<std::size_t>> indices;  // and by value of the source's, the target's
  for (const auto& parameter : target.parameters) {
    places.push_back(place_of(source, parameter.name));
    indices.push_back(indices_in(parameter, source.parameters[places.back()]));
  }
  search::HintSource hints;
  for (space::Ordinal ordinal = 0; ordinal < source.space.size(); ++ordinal) {
    const auto row = source.space.row(ordinal);
    spec::Configuration configuration;
    for (std::size_t i = 0; i < places.size() && configuration.index.size() == i; ++i) {
      const std::size_t index = indices[i][row[places[i]]];
      if (index != kNowhere) configuration.index.push_back(static_cast<std::uint16_t>(index));
    }
    if (const auto own = target.space.find(configuration)) hints.push_back({*own, source.costs[ordinal]});
  }
  return hints;
}

}  // namespace attune::simulate
