#include "tuner/spec/kernel_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/code_axis.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/json_document.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

using Json = nlohmann::json;

/// An object of names and scalars. These texts come from databases of others, and whoever writes a value that is nested a million deep into
/// a message walks it recursively.
Json parse_object(const std::string& text, const char* what) {
  constexpr int kMostDepth = 2;
  constexpr std::size_t kShown = 200;
  Json json;
  try {
    json = base::try_parse_shallow_json(text, kMostDepth, "its values are nested too deeply");
  } catch (const Error& error) {
    throw UsageError(fmt::format("failed reading the {} {}...: {}", what, text.substr(0, kShown), error.what()));
  }
  if (json.is_discarded()) throw UsageError(fmt::format("failed reading the {} {}: it is no JSON", what, text));
  if (!json.is_object()) throw UsageError(fmt::format("failed reading the {} {}: a JSON object is needed", what, text));
  return json;
}

std::vector<std::string> parameter_names(const KernelTemplate& kernel) {
  std::vector<std::string> names;
  for (const Parameter& parameter : kernel.parameters) names.push_back(parameter.name);
  return names;
}

std::uint16_t index_of(const KernelTemplate& kernel, const Parameter& parameter, const Json& json) {
  const bool scalar = json.is_boolean() || json.is_number() || json.is_string();
  std::vector<std::string> known;
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    if (scalar && equal(parameter.values[i], value_from_json(json))) return static_cast<std::uint16_t>(i);
    known.push_back(to_text(parameter.values[i]));
  }
  throw UsageError(fmt::format("the parameter '{}' of template '{}' cannot be {}; its values: {}", parameter.name, kernel.name,
                               base::dump_json(json), joined(known)));
}

void check_code(const KernelTemplate& kernel, const ProblemAxis& axis, const Problem& problem) {
  const auto given = problem.choices.find(axis.name);
  if (given == problem.choices.end()) return;
  if (const std::string reason = why_no_expression(given->second); !reason.empty()) {
    throw UsageError(fmt::format("the code '{}' of template '{}' cannot be \"{}\": {}; give one expression of CUDA C++", axis.name,
                                 kernel.name, given->second, reason));
  }
}

void check_choice(const KernelTemplate& kernel, const ProblemAxis& axis, const Problem& problem) {
  const auto given = problem.choices.find(axis.name);
  const char* kind = axis.kind == AxisKind::Type ? "type" : "choice";
  if (given == problem.choices.end()) {
    if (!axis.default_value.empty()) return;
    throw UsageError(
        fmt::format("the problem gives no {} '{}' for template '{}'; allowed: {}", kind, axis.name, kernel.name, joined(axis.values)));
  }
  if (std::find(axis.values.begin(), axis.values.end(), given->second) == axis.values.end()) {
    throw UsageError(fmt::format("the {} '{}' of template '{}' cannot be '{}'; allowed: {}{}", kind, axis.name, kernel.name, given->second,
                                 joined(axis.values), suggestion(given->second, axis.values)));
  }
}

void check_size(const KernelTemplate& kernel, const ProblemAxis& axis, const Problem& problem) {
  const auto given = problem.sizes.find(axis.name);
  if (given == problem.sizes.end()) {
    throw UsageError(fmt::format("the problem gives no size '{}' for template '{}'", axis.name, kernel.name));
  }
  if (given->second < axis.min || given->second > axis.max) {
    throw UsageError(fmt::format("the size '{}' of template '{}' cannot be {}; allowed: {} to {}", axis.name, kernel.name, given->second,
                                 axis.min, axis.max));
  }
}

void check_axis_name(const KernelTemplate& kernel, const std::string& name, bool size) {
  const ProblemAxis* axis = kernel.axis(name);
  if (axis != nullptr && (axis->kind == AxisKind::Size) == size) return;
  std::vector<std::string> known;
  for (const ProblemAxis& candidate : kernel.problem) known.push_back(candidate.name);
  throw UsageError(
      fmt::format("template '{}' has no {} '{}'{}", kernel.name, size ? "size" : "type, choice or code", name, hint(name, known)));
}

}  // namespace

std::map<std::string, std::string> KernelTemplate::parts() const {
  auto all = files;
  if (!defaults_text.empty()) all.emplace(kDefaultsFile, defaults_text);
  all.insert(reference.files.begin(), reference.files.end());
  return all;
}

bool is_name_of_templates(std::string_view name) {
  return name == "template.json" || name == "ladder.json" || name == "reference.json" || name == kDefaultsFile;
}

bool uses_data_files(const KernelTemplate& kernel) {
  return kernel.reference.kind == ReferenceSpec::Kind::Files ||
         std::any_of(kernel.buffers.begin(), kernel.buffers.end(), [](const BufferSpec& buffer) { return buffer.data.has_value(); });
}

std::filesystem::path data_path(const KernelTemplate& kernel, const std::string& file) {
  return std::filesystem::path(kernel.spec_path).parent_path() / file;
}

const ProblemAxis* KernelTemplate::axis(std::string_view wanted) const {
  const auto found = std::find_if(problem.begin(), problem.end(), [&](const ProblemAxis& a) { return a.name == wanted; });
  return found == problem.end() ? nullptr : &*found;
}

const Parameter* KernelTemplate::parameter(std::string_view wanted) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

std::vector<std::string> KernelTemplate::size_names() const {
  std::vector<std::string> names;
  for (const ProblemAxis& candidate : problem) {
    if (candidate.kind == AxisKind::Size) names.push_back(candidate.name);
  }
  return names;
}

Configuration default_configuration(const KernelTemplate& kernel) {
  Configuration configuration;
  for (const Parameter& parameter : kernel.parameters) {
    configuration.index.push_back(static_cast<std::uint16_t>(parameter.default_index));
  }
  return configuration;
}

const Value& value_of(const KernelTemplate& kernel, const Configuration& configuration, std::size_t parameter) {
  return kernel.parameters.at(parameter).values.at(configuration.index.at(parameter));
}

bool is_specialised(const KernelTemplate& kernel, const Configuration& configuration) {
  return for_any_size(kernel, configuration) != configuration;
}

Configuration for_any_size(const KernelTemplate& kernel, Configuration configuration) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (!parameter.specialises.empty()) configuration.index.at(i) = static_cast<std::uint16_t>(parameter.default_index);
  }
  return configuration;
}

std::string to_text(const KernelTemplate& kernel, const Configuration& configuration) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    json[kernel.parameters[i].name] = to_json(value_of(kernel, configuration, i));
  }
  return base::dump_json(json);
}

Configuration configuration_from_text(const KernelTemplate& kernel, const std::string& text) {
  const Json json = parse_object(text, "configuration");
  for (const auto& [name, value] : json.items()) {
    if (kernel.parameter(name) == nullptr) {
      throw UsageError(fmt::format("template '{}' has no parameter '{}'{}", kernel.name, name, hint(name, parameter_names(kernel))));
    }
  }
  Configuration configuration;
  for (const Parameter& parameter : kernel.parameters) {
    const auto found = json.find(parameter.name);
    if (found == json.end()) {
      throw UsageError(fmt::format("the configuration {} lacks the parameter '{}' of template '{}'", text, parameter.name, kernel.name));
    }
    configuration.index.push_back(index_of(kernel, parameter, *found));
  }
  return configuration;
}

std::string to_text(const Problem& problem) {
  Json json = Json::object();
  for (const auto& [name, choice] : problem.choices) json[name] = choice;
  for (const auto& [name, size] : problem.sizes) json[name] = size;
  return base::dump_json(json);
}

std::string family_text(const Problem& problem) { return to_text(Problem{problem.choices, {}}); }

std::string choice_of(const KernelTemplate& kernel, const Problem& problem, const std::string& axis) {
  if (const auto given = problem.choices.find(axis); given != problem.choices.end()) return given->second;
  const ProblemAxis* declared = kernel.axis(axis);
  return declared == nullptr ? "" : declared->default_value;
}

bool asks_reference_kernel(const KernelTemplate& kernel, const Problem& problem) {
  if (kernel.reference.kind == ReferenceSpec::Kind::Kernel) return true;
  if (kernel.reference.kind == ReferenceSpec::Kind::None || kernel.reference.steps.empty()) return false;
  const auto& leaves = kernel.reference.definition->leaves;
  return std::any_of(leaves.begin(), leaves.end(), [&](const auto& left) {
    return std::find(left.second.begin(), left.second.end(), choice_of(kernel, problem, left.first)) != left.second.end();
  });
}

Problem problem_from_text(const std::string& text) {
  Problem problem;
  const Json json = parse_object(text, "problem");
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) {
      problem.choices[name] = value.get<std::string>();
    } else if (value.is_number_integer() &&
               !(value.is_number_unsigned() &&
                 value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))) {
      problem.sizes[name] = value.get<std::int64_t>();
    } else {
      throw UsageError(
          fmt::format("failed reading the problem {}: '{}' must be a string (type or choice) or a 64-bit integer (size)", text, name));
    }
  }
  return problem;
}

Problem canonical(const KernelTemplate& kernel, Problem problem) {
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.default_size) problem.sizes.try_emplace(axis.name, *axis.default_size);
    const auto given = problem.choices.find(axis.name);
    if (given != problem.choices.end() && !axis.default_value.empty() && given->second == axis.default_value) problem.choices.erase(given);
  }
  return problem;
}

std::vector<Problem> related_problems(const KernelTemplate& kernel, Problem problem) {
  std::vector<Problem> related;
  for (auto axis = kernel.problem.rbegin(); axis != kernel.problem.rend(); ++axis) {
    if (axis->stand_in.empty() || choice_of(kernel, problem, axis->name) == axis->stand_in) continue;
    problem.choices[axis->name] = axis->stand_in;
    related.push_back(canonical(kernel, problem));
  }
  return related;
}

void validate(const KernelTemplate& kernel, const Problem& problem) {
  for (const auto& [name, choice] : problem.choices) check_axis_name(kernel, name, false);
  for (const auto& [name, size] : problem.sizes) check_axis_name(kernel, name, true);
  if (const Problem key = canonical(kernel, problem); key != problem) {
    const char* const why =
        key.sizes == problem.sizes ? "names defaults; its key leaves them out" : "lacks a size that has a default; its key names it";
    throw UsageError(fmt::format("the problem {} of template '{}' {}: {}", to_text(problem), kernel.name, why, to_text(key)));
  }
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.kind == AxisKind::Size) {
      check_size(kernel, axis, problem);
    } else if (axis.kind == AxisKind::Code) {
      check_code(kernel, axis, problem);
    } else {
      check_choice(kernel, axis, problem);
    }
  }
}

}  // namespace attune::spec
