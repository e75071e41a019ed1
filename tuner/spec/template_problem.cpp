#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/code_axis.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/template_parser.hpp"
#include "tuner/spec/value.hpp"

namespace attune::spec {

void TemplateParser::read_problem(const JsonNode& node) {
  for (const JsonNode::Member& member : node.object("\"problem\"")) {
    kernel_.problem.push_back(read_axis(member));
    static constexpr NameKind kKinds[] = {NameKind::TypeAxis, NameKind::ChoiceAxis, NameKind::Size, NameKind::CodeAxis};
    names_.add(member.key, kKinds[static_cast<std::size_t>(kernel_.problem.back().kind)], member.position);
  }
}

ProblemAxis TemplateParser::read_axis(const JsonNode::Member& member) {
  const std::string what = fmt::format("the problem's '{}'", member.key);
  const ObjectReader reader(member.value, what, {"type", "choice", "size", "code", "default", "stand_in"});
  const std::size_t optional = (reader.find("default") != nullptr ? 1U : 0U) + (reader.find("stand_in") != nullptr ? 1U : 0U);
  if (member.value.members.size() != 1 + optional) {
    fail(member.value.position, fmt::format("{} must be exactly one of \"type\", \"choice\", \"size\" and \"code\"", what));
  }
  ProblemAxis axis;
  axis.name = member.key;
  if (const JsonNode* types = reader.find("type")) {
    axis.kind = AxisKind::Type;
    axis.values = read_words(*types, fmt::format("the types of '{}'", member.key));
    for (const JsonNode& type : types->items) static_cast<void>(read_word(type, "an element type", element_type_names()));
  } else if (const JsonNode* choices = reader.find("choice")) {
    axis.kind = AxisKind::Choice;
    axis.values = read_words(*choices, fmt::format("the choices of '{}'", member.key));
  } else if (const JsonNode* size = reader.find("size")) {
    read_size(axis, *size);
  } else {
    axis.kind = AxisKind::Code;
  }
  read_default(axis, reader, member.value);
  if (const JsonNode* stand_in = reader.find("stand_in")) read_stand_in(axis, *stand_in);
  return axis;
}

void TemplateParser::read_default(ProblemAxis& axis, const ObjectReader& reader, const JsonNode& node) {
  const JsonNode* standard = reader.find("default");
  if (standard == nullptr && axis.kind == AxisKind::Code) {
    fail(node.position,
         fmt::format("the code '{}' has no \"default\"; give the expression that stands where the caller gives none", axis.name));
  }
  if (standard == nullptr) return;
  const std::string what = fmt::format("the default of '{}'", axis.name);
  if (axis.kind == AxisKind::Size) {
    axis.default_size = standard->integer(what);
    if (*axis.default_size < axis.min || *axis.default_size > axis.max)
      fail(standard->position,
           fmt::format("{} is {}, which is not from {} to {}, as its size must be", what, *axis.default_size, axis.min, axis.max));
    return;
  }
  if (axis.kind != AxisKind::Code) {
    axis.default_value = axis.values[read_word(*standard, what, axis.values)];
    return;
  }
  axis.default_value = standard->string(what);
  if (const std::string reason = why_no_expression(axis.default_value); !reason.empty()) {
    fail(standard->position, fmt::format("{} is not one expression: {}", what, reason));
  }
}

void TemplateParser::read_stand_in(ProblemAxis& axis, const JsonNode& node) {
  if (axis.kind == AxisKind::Size || axis.kind == AxisKind::Code) {
    fail(node.position, fmt::format("\"stand_in\" is of types and choices, and '{}' is {}", axis.name,
                                    axis.kind == AxisKind::Size ? "a size: results of other sizes serve without it" : "code"));
  }
  axis.stand_in = axis.values[read_word(node, fmt::format("the stand-in of '{}'", axis.name), axis.values)];
}

void TemplateParser::read_code(ProblemAxis& axis, const JsonNode& node) {
  const ObjectReader reader(node, fmt::format("the code '{}'", axis.name), {"returns", "arguments"});
  axis.returns = read_type(reader.require("returns", "give the type of its value"), fmt::format("the type of '{}'", axis.name));
  const JsonNode* arguments = reader.find("arguments");
  if (arguments == nullptr) return;
  for (const JsonNode::Member& argument : arguments->object("\"arguments\"")) {
    check_identifier(argument.key, "the argument", argument.position);
    axis.arguments.emplace_back(argument.key, read_type(argument.value, fmt::format("the type of '{}'", argument.key)));
  }
}

void TemplateParser::read_size(ProblemAxis& axis, const JsonNode& node) {
  const ObjectReader reader(node, fmt::format("the size '{}'", axis.name), {"min", "max", "file", "dimension"});
  if (reader.find("file") != nullptr || reader.find("dimension") != nullptr) return read_size_of_file(axis, reader);
  if (const JsonNode* minimum = reader.find("min")) {
    axis.min = minimum->integer("the smallest size");
    if (axis.min < 0) fail(minimum->position, "the smallest size is negative");
  }
  if (const JsonNode* maximum = reader.find("max")) axis.max = maximum->integer("the largest size");
  if (axis.max < axis.min) {
    fail(node.position, fmt::format("the size '{}' has max {} below min {}", axis.name, axis.max, axis.min));
  }
  if (axis.max == axis.min) axis.default_size = axis.min;
}

void TemplateParser::read_size_of_file(ProblemAxis& axis, const ObjectReader& reader) {
  for (const char* const bound : {"min", "max"}) {
    if (const JsonNode* node = reader.find(bound))
      fail(node->position, fmt::format("{} is what the file says; remove \"{}\"", reader.what(), bound));
  }
  const JsonNode& named = reader.require("file", R"(name the file that it follows from: {"file": "a.npy", "dimension": 0})");
  const DataFile& file = kernel_.data.at(read_data(named, reader.what()).file);
  const JsonNode* const dimension = reader.find("dimension");
  const std::int64_t chosen = dimension == nullptr ? 0 : dimension->integer("\"dimension\"");
  if (!file.type && file.element_bytes == 1)
    fail(named.position, fmt::format("{} cannot follow from raw elements, which have no shape; give \"min\" and \"max\"", reader.what()));
  if (chosen < 0 || chosen >= static_cast<std::int64_t>(file.shape.size())) {
    fail((dimension == nullptr ? named : *dimension).position,
         fmt::format("{} has no dimension {}: its file has {}, counted from 0", reader.what(), chosen, file.shape.size()));
  }
  axis.min = axis.max = file.shape[static_cast<std::size_t>(chosen)];
  axis.default_size = axis.min;
}

DataUse TemplateParser::read_data(const JsonNode& node, const std::string& what) {
  const std::string& given = node.string("the file of " + what);
  require_no_zero_byte(given, "the file of " + what, node.position);
  const DataUse use{included_file("template.json", given), node.position};
  if (!is_safe_path(given) || use.file.empty()) {
    fail(node.position,
         fmt::format("the file '{}' must be a path inside the template's folder, of at most {} bytes and without control characters", given,
                     kMostPathBytes));
  }
  if (is_name_of_templates(use.file))
    fail(node.position, fmt::format("the file '{}' is no array, but a part of the template itself; give the array another name", use.file));
  const auto found = files_->find(use.file);
  if (found == files_->end()) fail(node.position, fmt::format("the file '{}' is missing; it belongs beside template.json", use.file));
  kernel_.data.insert_or_assign(use.file, data_file_from_text(found->second, use.file, node.position));
  return use;
}

void TemplateParser::read_types(const JsonNode& node) {
  for (const JsonNode::Member& member : node.object("\"types\"")) {
    kernel_.types.push_back(read_alias(member));
    names_.add(member.key, NameKind::TypeAlias, member.position);
  }
}

KernelTemplate::TypeAlias TemplateParser::read_alias(const JsonNode::Member& member) {
  const std::string what = fmt::format("the type alias '{}'", member.key);
  const ObjectReader reader(member.value, what, {"by", "map", "else"});
  KernelTemplate::TypeAlias alias;
  alias.name = member.key;
  const JsonNode& by = reader.require("by", "name the type of the problem it follows");
  alias.by = by.string("\"by\"");
  const ProblemAxis* axis = kernel_.axis(alias.by);
  const std::vector<std::string> axes = names_.names(static_cast<unsigned>(NameKind::TypeAxis));
  if (axis == nullptr || axis->kind != AxisKind::Type) {
    fail(by.position, fmt::format("{} follows '{}', which is no type of the problem{}", what, alias.by, hint(alias.by, axes)));
  }
  std::vector<std::string> targets = element_type_names();
  targets.push_back(alias.by);
  if (const JsonNode* map = reader.find("map")) {
    for (const JsonNode::Member& entry : map->object("\"map\"")) {
      if (std::find(axis->values.begin(), axis->values.end(), entry.key) == axis->values.end()) {
        fail(entry.position,
             fmt::format("{} maps '{}', which is no value of '{}'{}", what, entry.key, alias.by, hint(entry.key, axis->values)));
      }
      alias.map[entry.key] = targets[read_word(entry.value, "the mapped type", targets)];
    }
  }
  if (const JsonNode* otherwise = reader.find("else")) alias.otherwise = targets[read_word(*otherwise, "\"else\"", targets)];
  for (const std::string& value : axis->values) {
    if (alias.otherwise.empty() && !alias.map.contains(value)) {
      fail(member.value.position, fmt::format("{} says nothing for '{}'; map it or add \"else\"", what, value));
    }
  }
  return alias;
}

}  // namespace attune::spec
