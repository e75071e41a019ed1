#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/scalar_bits.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

constexpr unsigned kArgumentKinds = static_cast<unsigned>(NameKind::Buffer) | static_cast<unsigned>(NameKind::Scalar) |
                                    static_cast<unsigned>(NameKind::Size) | static_cast<unsigned>(NameKind::Let) |
                                    static_cast<unsigned>(NameKind::LaunchParameter) | static_cast<unsigned>(NameKind::Index);

bool is_launch(const StepSpec& step) { return std::holds_alternative<LaunchSpec>(step); }

}  // namespace

const BufferSpec* TemplateParser::find_buffer(std::string_view name) const {
  const auto found = std::find_if(kernel_.buffers.begin(), kernel_.buffers.end(), [&](const BufferSpec& b) { return b.name == name; });
  return found == kernel_.buffers.end() ? nullptr : &*found;
}

std::string TemplateParser::read_type(const JsonNode& node, const std::string& what) const {
  std::vector<std::string> known = names_.names(static_cast<unsigned>(NameKind::TypeAxis) | static_cast<unsigned>(NameKind::TypeAlias));
  for (const std::string& type : element_type_names()) known.push_back(type);
  return known[read_word(node, what, known)];
}

std::vector<StepSpec> TemplateParser::read_steps(const JsonNode& node, const std::string& what) {
  std::vector<StepSpec> steps;
  for (const JsonNode& item : node.array("\"" + what + "\"")) {
    if (item.find("memset") != nullptr) {
      steps.emplace_back(read_memset(item));
    } else {
      LaunchSpec launch = read_launch(item);
      if (launch.dependent && steps.empty()) {
        fail(item.find("dependent")->position,
             "the first step has none before it to depend on: it would overlap the caller's work; remove \"dependent\"");
      }
      steps.emplace_back(std::move(launch));
    }
  }
  if (std::none_of(steps.begin(), steps.end(), is_launch)) {
    fail(node.position, fmt::format("\"{}\" runs no kernel; give at least one {{\"kernel\": ...}}", what));
  }
  return steps;
}

MemsetSpec TemplateParser::read_memset(const JsonNode& node) {
  const ObjectReader reader(node, "a memset step", {"memset", "byte", "if"});
  MemsetSpec step;
  const JsonNode& target = *reader.find("memset");
  step.buffer = target.string("the buffer to set");
  const BufferSpec* buffer = find_buffer(step.buffer);
  if (buffer == nullptr) {
    fail(target.position, fmt::format("a memset step names '{}', which is no buffer{}", step.buffer,
                                      hint(step.buffer, names_.names(static_cast<unsigned>(NameKind::Buffer)))));
  }
  check_memset(*buffer, target.position);
  const JsonNode& byte = reader.require("byte", "give the value of each byte, 0 to 255");
  const std::int64_t value = byte.integer("\"byte\"");
  if (value < 0 || value > 255) fail(byte.position, fmt::format("\"byte\" must be 0 to 255, not {}", value));
  step.byte = static_cast<int>(value);
  if (const JsonNode* condition = reader.find("if")) {
    step.condition = read_expression(*condition, "a step's condition", visibility::kGeometry);
  }
  return step;
}

LaunchSpec TemplateParser::read_launch(const JsonNode& node) {
  const ObjectReader reader(node, "a launch",
                            {"kernel", "if", "grid", "block", "cluster", "shared", "cooperative", "dependent", "args", "repeat"});
  LaunchSpec launch;
  const JsonNode& kernel = reader.require("kernel", R"(name a kernel (or "memset": a buffer))");
  read_kernel_name(kernel, launch);
  if (const JsonNode* repeat = reader.find("repeat")) {
    launch.repeat = read_repeat(*repeat);
    names_.add(launch.repeat->index, NameKind::Index, repeat->find("index")->position);
  }
  if (const JsonNode* condition = reader.find("if")) {
    launch.condition = read_expression(*condition, "a launch's condition", visibility::kGeometry);
  }
  launch.grid = read_dimensions(reader.require("grid", "give the number of blocks"), "\"grid\"");
  launch.block = read_dimensions(reader.require("block", "give the number of threads of a block"), "\"block\"");
  read_launch_extras(reader, launch);
  const JsonNode& arguments = reader.require("args", "list the kernel's arguments in order");
  for (const JsonNode& item : arguments.array("\"args\"")) {
    if (launch.arguments.size() == kMostArguments)
      fail(item.position, fmt::format("the kernel has more than {} arguments", kMostArguments));
    launch.arguments.push_back(read_argument(item));
  }
  if (launch.repeat) names_.remove_last(launch.repeat->index);
  return launch;
}

void TemplateParser::read_launch_extras(const ObjectReader& reader, LaunchSpec& launch) {
  if (const JsonNode* cluster = reader.find("cluster")) read_cluster(*cluster, launch);
  if (const JsonNode* shared = reader.find("shared")) {
    launch.shared_bytes = read_expression(*shared, "\"shared\"", visibility::kGeometry);
  }
  if (const JsonNode* cooperative = reader.find("cooperative")) launch.cooperative = cooperative->boolean("\"cooperative\"");
  if (const JsonNode* dependent = reader.find("dependent")) {
    check_dependent(dependent->position);
    const bool never = dependent->is_bool() && !dependent->boolean("\"dependent\"");
    if (!never) launch.dependent = read_expression(*dependent, "\"dependent\"", visibility::kGeometry);
    if (launch.dependent && launch.cooperative)
      fail(dependent->position, "a launch is \"dependent\" or \"cooperative\", not both; remove one");
  }
}

void TemplateParser::read_cluster(const JsonNode& node, LaunchSpec& launch) {
  const JsonNode* blocks = &node;
  if (node.kind == JsonNode::Kind::Object) {
    const ObjectReader reader(node, "\"cluster\"", {"blocks", "if"});
    blocks = &reader.require("blocks", R"(give the blocks of a cluster, e.g. {"blocks": 4, "if": "clustered"})");
    launch.cluster_condition = read_expression(reader.require("if", "say where there are clusters; else give the blocks alone"),
                                               "the condition of \"cluster\"", visibility::kGeometry);
  }
  launch.cluster = read_dimensions(*blocks, "\"cluster\"");
}

Repeat TemplateParser::read_repeat(const JsonNode& node) {
  const ObjectReader reader(node, "\"repeat\"", {"count", "index"});
  Repeat repeat;
  repeat.count = read_expression(reader.require("count", "say how often"), "the repeat count", visibility::kGeometry);
  repeat.index = reader.require("index", "name the loop index").string("the loop index");
  return repeat;
}

std::vector<Expression> TemplateParser::read_dimensions(const JsonNode& node, const std::string& what) const {
  std::vector<Expression> dimensions;
  if (node.kind != JsonNode::Kind::Array) {
    dimensions.push_back(read_expression(node, what, visibility::kGeometry));
    return dimensions;
  }
  if (node.items.empty() || node.items.size() > 3) {
    fail(node.position, fmt::format("{} has {} dimensions; give one to three", what, node.items.size()));
  }
  for (const JsonNode& item : node.items) dimensions.push_back(read_expression(item, what, visibility::kGeometry));
  return dimensions;
}

ArgumentSpec TemplateParser::read_argument(const JsonNode& node) {
  ArgumentSpec argument;
  SourcePosition position = node.position;
  if (node.kind == JsonNode::Kind::Object) {
    if (node.members.size() != 1) fail(position, R"(an argument with a type is one pair, e.g. {"n": "u32"})");
    argument.name = node.members.front().key;
    position = node.members.front().position;
    if (const JsonNode& value = node.members.front().value; numbers_choices_ && value.is_string() && value.string("\"base\"") == "base") {
      argument.name = base_name(argument.name);
      if (find_buffer(argument.name) == nullptr) fail(position, "\"base\" is of a workspace that is kept: \"keep\": true");
      argument.position = position;
      return argument;
    }
    argument.type = element_type(element_type_names()[read_word(node.members.front().value, "an argument's type", element_type_names())]);
  } else {
    argument.name = node.string("an argument");
  }
  argument.position = position;
  const NameKind* kind = names_.find(argument.name);
  if (kind == nullptr) {
    fail(position, fmt::format("the argument '{}' is nothing known{}", argument.name, hint(argument.name, names_.names(kArgumentKinds))));
  }
  if (*kind == NameKind::SourceParameter) {
    fail(position, fmt::format("the argument '{}' is a parameter of the source, where it is the macro {}; remove the "
                               "argument or bind it to the launch",
                               argument.name, macro_name(kernel_.macro_prefix, argument.name)));
  }
  if (numbers_choices_ && (static_cast<unsigned>(*kind) & visibility::kChoices) != 0) {
    argument.type = argument.type.value_or(ElementType::I32);
  } else if ((static_cast<unsigned>(*kind) & kArgumentKinds) == 0) {
    fail(position, fmt::format("the argument '{}' is a {}, which is no value to pass", argument.name, describe(*kind)));
  }
  if (argument.type && (*kind == NameKind::Buffer || *kind == NameKind::Scalar)) {
    fail(position, fmt::format("the argument '{}' is a {} and has its type already; write just \"{}\"", argument.name, describe(*kind),
                               argument.name));
  }
  if (*kind == NameKind::Buffer) {
    const BufferSpec& buffer = *find_buffer(argument.name);
    if (buffer.memory == Memory::Constant)
      fail(position, fmt::format("the buffer '{}' is the __constant__ variable of that name and no argument", argument.name));
    check_use(buffer, position);
  }
  return argument;
}

void TemplateParser::read_work(const JsonNode& node) {
  const ObjectReader reader(node, "\"work\"", {"bytes", "operations"});
  if (const JsonNode* bytes = reader.find("bytes")) {
    kernel_.work.bytes = read_expression(*bytes, "the bytes of work", visibility::kGeometry);
  }
  if (const JsonNode* operations = reader.find("operations")) {
    kernel_.work.operations = read_expression(*operations, "the operations of work", visibility::kGeometry);
  }
}

}  // namespace attune::spec
