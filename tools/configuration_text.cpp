#include "tools/configuration_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::tools {
namespace {

std::string word_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : base::dump_json(value); }

/// Words do not say whether "1" is a text or a number: a value is found by how it is written, or else as a number (1.0 is 1).
std::uint16_t value_index(const spec::KernelTemplate& kernel, const spec::Parameter& parameter, const nlohmann::json& value) {
  const bool scalar = value.is_boolean() || value.is_number() || value.is_string();
  const std::string word = word_of(value);
  std::vector<std::string> known;
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    known.push_back(spec::to_text(parameter.values[i]));
    if (known.back() == word || (scalar && spec::equal(parameter.values[i], spec::value_from_json(value))))
      return static_cast<std::uint16_t>(i);
  }
  throw UsageError(
      fmt::format("the parameter \"{}\" of template \"{}\" cannot be {}{}", parameter.name, kernel.name, word, spec::hint(word, known)));
}

}  // namespace

nlohmann::json parameter_values(const std::string& text) {
  if (text.starts_with("{")) {
    nlohmann::json parsed = base::try_parse_json(text);
    if (parsed.is_object()) return parsed;
    throw UsageError(fmt::format("failed reading the configuration {}: it is no JSON object", text));
  }
  nlohmann::json parsed = nlohmann::json::object();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ,", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(fmt::format("failed reading \"{}\" of the configuration \"{}\"; write block_size=64 items=2", word, text));
    }
    nlohmann::json value = base::try_parse_json(word.substr(equals + 1));
    parsed[word.substr(0, equals)] = value.is_discarded() ? nlohmann::json(word.substr(equals + 1)) : std::move(value);
  }
  return parsed;
}

spec::Configuration configuration_with(const spec::KernelTemplate& kernel, const std::string& text, spec::Configuration others) {
  std::vector<std::string> names;
  for (const auto& parameter : kernel.parameters) names.push_back(parameter.name);
  const nlohmann::json given = parameter_values(text);
  for (const auto& [name, value] : given.items()) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw UsageError(fmt::format("template \"{}\" has no parameter \"{}\"{}", kernel.name, name, spec::hint(name, names)));
    }
    const auto parameter = static_cast<std::size_t>(found - names.begin());
    others.index[parameter] = value_index(kernel, kernel.parameters[parameter], value);
  }
  return others;
}

void check_in_space(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                    const spec::DeviceInfo& device) {
  const auto scope = spec::make_scope(kernel, problem, configuration, device);
  for (const auto& constraint : kernel.constraints) {
    if (constraint.expression.truth(scope)) continue;
    const auto& at = constraint.expression.position();
    throw UsageError(fmt::format("the configuration {} is not in the space of \"{}\" for {} on {}: it violates \"{}\" ({}:{}:{})",
                                 short_configuration(spec::to_text(kernel, configuration)), kernel.name, describe(problem),
                                 device.architecture, constraint.expression.text(), at.file, at.line, at.column));
  }
}

}  // namespace attune::tools
