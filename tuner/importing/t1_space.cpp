// Of T1Reader: parameters, their values, and conditions.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/name_table.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;
using spec::Value;

bool is_of_type(const Value& value, const std::string& type) {
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const bool boolean = std::holds_alternative<bool>(value);
  if (type == "string") return std::holds_alternative<std::string>(value);
  if (type == "bool") return boolean || (whole != nullptr && (*whole == 0 || *whole == 1));
  if (type == "int") return whole != nullptr;
  if (type == "uint") return whole != nullptr && *whole >= 0;
  return whole != nullptr || std::holds_alternative<double>(value);
}

/// Numbers, booleans, strings: attune's parameters have values of one of these.
int kind_of(const Value& value) { return std::holds_alternative<bool>(value) ? 0 : std::holds_alternative<std::string>(value) ? 1 : 2; }

void check_name(const std::string& name, const spec::SourcePosition& position) {
  spec::check_identifier(name, "the parameter", position);
  const std::vector<std::string> reserved = spec::reserved_words();
  if (std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
    spec::fail(position,
               fmt::format("the parameter '{}' is called like a word of attune's expressions; rename it here and in the kernel", name));
  }
}

}  // namespace

void T1Reader::read_parameters(const JsonNode& space) {
  const JsonNode& list =
      required_member(space, "TuningParameters", "\"ConfigurationSpace\"", "list what may be tuned: [{\"Name\": ..., \"Values\": [...]}]");
  for (const JsonNode& item : list.array("\"TuningParameters\"")) {
    spec::Parameter parameter = read_parameter(item);
    if (this->parameter(parameter.name) != nullptr)
      spec::fail(item.position, fmt::format("the parameter '{}' is given twice; remove or rename one of them", parameter.name));
    if (names_.parameters.size() == spec::kMostNames)
      spec::fail(item.position, fmt::format("there are more than {} parameters", spec::kMostNames));
    names_.parameters.push_back(std::move(parameter));
  }
  if (names_.parameters.empty()) spec::fail(list.position, "\"TuningParameters\" is empty; nothing could be tuned");
  note(Note::Kind::Taken, "\"TuningParameters\"", counted(names_.parameters.size(), "parameter") + ", as macros of their own names");
  if (const std::size_t without = kernel_.without_default.size(); without > 0)
    note(Note::Kind::Decide, "\"Default\"", counted(without, "parameter") + " without one: the first value is the default");
}

spec::Parameter T1Reader::read_parameter(const JsonNode& node) {
  static_cast<void>(node.object("a tuning parameter"));
  const JsonNode& name = required_member(node, "Name", "a tuning parameter", "give the macro that the kernel knows it by");
  spec::Parameter parameter;
  parameter.name = name.string("the name of a tuning parameter");
  check_name(parameter.name, name.position);
  std::string type;
  if (const JsonNode* const given = member_of(node, {"Type"}))
    type = known_word(*given, fmt::format("the type of the parameter '{}'", parameter.name), {"int", "uint", "float", "bool", "string"});
  const JsonNode& values = required_member(node, "Values", fmt::format("the parameter '{}'", parameter.name),
                                           "list the values to try, e.g. [16, 32] or \"range(1, 9)\"");
  parameter.values = read_values(values, parameter.name, type);
  if (const JsonNode* const standard = member_of(node, {"Default"}))
    read_default(parameter, *standard);
  else
    kernel_.without_default.push_back(parameter.name);
  return parameter;
}

std::vector<Value> T1Reader::read_values(const JsonNode& node, const std::string& name, const std::string& type) {
  const std::string what = fmt::format("\"Values\" of '{}'", name);
  std::vector<Value> all;
  if (node.is_string()) {
    all = spec::parse_value_list(node.string(what), node.inside());
  } else if (node.kind == JsonNode::Kind::Array) {
    for (const JsonNode& item : node.items) all.push_back(item.value("each of " + what));
  } else {
    spec::fail(node.position, fmt::format("{} must be a list or a Python list in a string, such as [16, 32] or \"range(1, 9)\", not {}",
                                          what, node.describe()));
  }
  if (all.empty()) spec::fail(node.position, fmt::format("{} are empty; give at least one", what));
  if (all.size() > spec::kMostValues) spec::fail(node.position, fmt::format("{} are more than {}", what, spec::kMostValues));
  std::vector<Value> values;
  spec::DistinctValues seen;
  for (const Value& value : all) {
    if (!type.empty() && !is_of_type(value, type))
      spec::fail(node.position, fmt::format("{} hold {}, which is no {}; correct the value or \"Type\"", what, spec::to_text(value), type));
    if (kind_of(value) != kind_of(all.front()))
      spec::fail(node.position, fmt::format("{} mix kinds; use only numbers, only booleans or only strings", what));
    if (spec::to_text(value).empty()) spec::fail(node.position, fmt::format("{} hold an empty string; name the value", what));
    if (seen.add(value)) values.push_back(value);
  }
  if (values.size() < all.size())
    note(Note::Kind::Changed, fmt::format("the parameter '{}'", name),
         counted(all.size() - values.size(), "value") + " too many: what is there twice is taken once");
  return values;
}

void T1Reader::read_default(spec::Parameter& parameter, const JsonNode& node) {
  const Value& wanted = node.value(fmt::format("the default of '{}'", parameter.name));
  const auto found = std::find_if(parameter.values.begin(), parameter.values.end(), [&](const Value& value) {
    return spec::equal(value, wanted) || spec::to_text(value) == spec::to_text(wanted);
  });
  if (found != parameter.values.end()) {
    parameter.default_index = static_cast<std::size_t>(found - parameter.values.begin());
  } else {
    note(Note::Kind::Decide, fmt::format("the parameter '{}'", parameter.name),
         fmt::format("its default {} is none of its values: the first, {}, is the default", spec::to_text(wanted),
                     spec::to_text(parameter.values.front())));
  }
}

/// Reads the conditions in `holder`: the configuration space, the kernel or the file, since tuners put them in different places.
void T1Reader::read_conditions(const JsonNode& holder) {
  const JsonNode* const list = member_of(holder, {"Conditions", "Constraints", "Restrictions"});
  if (list == nullptr) return;
  for (const JsonNode& item : list->array("\"Conditions\"")) read_condition(item);
}

void T1Reader::check_named_parameters(const JsonNode& list) const {
  std::vector<std::string> known;
  for (const auto& one : names_.parameters) known.push_back(one.name);
  for (const JsonNode& item : list.array("\"Parameters\" of a condition")) {
    const std::string& name = item.string("a parameter of a condition");
    if (std::find(known.begin(), known.end(), name) == known.end())
      spec::fail(item.position, fmt::format("a condition names the unknown parameter '{}'{}", name, spec::hint(name, known)));
  }
}

void T1Reader::read_condition(const JsonNode& node) {
  const JsonNode* text = &node;
  if (node.kind == JsonNode::Kind::Object) {
    text = &required_member(node, "Expression", "a condition", "give what must hold, e.g. \"Expression\": \"a * b <= 1024\"");
    if (const JsonNode* const named = member_of(node, {"Parameters"})) check_named_parameters(*named);
  }
  const Translation translated = expression(*text, "a condition", Use::Condition);
  const std::string guarded = guard_.guarded(translated, names_, sizes(), text->inside());
  const std::string original = text->is_string() ? text->string("a condition") : translated.text;
  if (guarded != translated.text) {
    note(Note::Kind::Changed, fmt::format("the condition \"{}\"", original),
         "where it divides by zero it is taken for satisfied, as Kernel Tuner does");
  } else if (translated.text.find_first_not_of(' ') != std::string::npos && original.find(translated.text) == std::string::npos) {
    note(Note::Kind::Changed, fmt::format("the condition \"{}\"", original), fmt::format("written as \"{}\"", translated.text));
  }
  kernel_.constraints.push_back(guarded);
}

}  // namespace attune::importing
