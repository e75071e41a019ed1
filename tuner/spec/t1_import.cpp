#include "tuner/spec/t1_import.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/json_document.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

/// T1 objects hold more than a search space, and files in the wild more than the schema: other keys are left alone.
const JsonNode& require(const JsonNode& node, std::string_view key, std::string_view what) {
  static_cast<void>(node.object(what));
  if (const JsonNode* found = node.find(key)) return *found;
  fail(node.position, fmt::format("{} lacks \"{}\", which a T1 specification needs", what, key));
}

std::vector<Value> read_values(const JsonNode& node, const std::string& name) {
  const std::string what = fmt::format("\"Values\" of '{}'", name);
  std::vector<Value> values;
  if (node.is_string()) {
    values = parse_value_list(node.string(what), node.inside());
  } else {
    for (const JsonNode& item : node.array(what)) values.push_back(item.value("each of " + what));
  }
  if (values.empty()) fail(node.position, fmt::format("{} are empty", what));
  if (values.size() > kMostValues) fail(node.position, fmt::format("{} are more than {}", what, kMostValues));
  DistinctValues seen;
  for (const Value& value : values) {
    if (!seen.add(value)) fail(node.position, fmt::format("{} hold {} twice", what, to_text(value)));
  }
  return values;
}

Parameter read_parameter(const JsonNode& node) {
  Parameter parameter;
  parameter.name = require(node, "Name", "a tuning parameter").string("the name of a tuning parameter");
  parameter.values = read_values(require(node, "Values", fmt::format("the parameter '{}'", parameter.name)), parameter.name);
  if (const JsonNode* standard = node.find("Default")) {
    const Value& value = standard->value(fmt::format("the default of '{}'", parameter.name));
    const auto found = std::find_if(parameter.values.begin(), parameter.values.end(), [&](const Value& v) { return equal(v, value); });
    if (found == parameter.values.end()) {
      fail(standard->position, fmt::format("the default {} of '{}' is not among its values", to_text(value), parameter.name));
    }
    parameter.default_index = static_cast<std::size_t>(found - parameter.values.begin());
  }
  return parameter;
}

Constraint read_condition(const JsonNode& node, const std::vector<std::string>& names) {
  const JsonNode& text = require(node, "Expression", "a condition");
  Constraint constraint{Expression::parse(text.string("the expression of a condition"), text.inside())};
  const std::vector<std::string>& variables = constraint.expression.variables();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (std::find(names.begin(), names.end(), variables[i]) == names.end()) {
      fail(constraint.expression.variable_position(i), fmt::format("the condition \"{}\" names the unknown parameter '{}'{}",
                                                                   constraint.expression.text(), variables[i], hint(variables[i], names)));
    }
  }
  return constraint;
}

}  // namespace

T1Space parse_t1(const std::string& text, const std::string& path) {
  const JsonNode root = JsonNode::parse(text, path);
  const JsonNode& space = require(root, "ConfigurationSpace", "the file");
  T1Space result;
  if (const JsonNode* general = root.find("General")) {
    if (const JsonNode* name = general->find("BenchmarkName")) result.name = name->string("\"BenchmarkName\"");
  }
  std::vector<std::string> names;
  for (const JsonNode& item : require(space, "TuningParameters", "the configuration space").array("\"TuningParameters\"")) {
    Parameter parameter = read_parameter(item);
    if (std::find(names.begin(), names.end(), parameter.name) != names.end()) {
      fail(item.position, fmt::format("the parameter '{}' is given twice", parameter.name));
    }
    if (names.size() == kMostNames) fail(item.position, fmt::format("there are more than {} parameters", kMostNames));
    names.push_back(parameter.name);
    result.parameters.push_back(std::move(parameter));
  }
  if (result.parameters.empty()) fail(space.position, "the configuration space has no parameters");
  if (const JsonNode* conditions = space.find("Conditions")) {
    for (const JsonNode& item : conditions->array("\"Conditions\"")) result.constraints.push_back(read_condition(item, names));
  }
  return result;
}

}  // namespace attune::spec
