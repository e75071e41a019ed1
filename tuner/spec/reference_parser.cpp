// reference.json: a template without parameters, and what a reference has besides.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/reference_data_sets.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

constexpr std::int64_t kReferenceFormat = 1;

/// Turns reference.json's tree into a ReferenceDefinition.
class ReferenceParser : private TemplateParser {
 public:
  explicit ReferenceParser(const JsonNode& root) : TemplateParser(root) { numbers_choices_ = true; }

  ReferenceDefinition run(const std::map<std::string, std::string>& files) {
    const ObjectReader top(root_, "the reference", {"attune_reference", "name",  "summary", "sources", "compiled",   "problem",   "types",
                                                    "scalars",          "let",   "inputs",  "outputs", "workspaces", "data_sets", "groups",
                                                    "expect",           "plant", "alter",   "leaves",  "refuses",    "alone"});
    read_start(top);
    refuse_reserved(top);
    read_problem(top.require("problem", R"(say which axes a template must have, e.g. "problem": {"n": {"size": {}}})"));
    definition_.own_axes = kernel_.problem.size();
    for (const ProblemAxis& axis : kernel_.problem) {
      if (axis.kind == AxisKind::Code)
        fail(names_.position(axis.name), "a reference has no axis of code; leave the problem to \"launches\"");
    }
    if (const JsonNode* node = top.find("types")) read_types(*node);
    check_macros();
    add_axes(top);
    if (const JsonNode* node = top.find("scalars")) read_reference_scalars(*node);
    if (const JsonNode* node = top.find("let")) read_lets(*node);
    for (const JsonNode::Member& member : top.require("inputs", "name the inputs in the order of the template's").object("\"inputs\""))
      read_input(member);
    const JsonNode& outputs = top.require("outputs", "name the outputs in the order of the template's");
    for (const JsonNode::Member& member : outputs.object("\"outputs\"")) read_output(member);
    if (definition_.outputs.empty()) fail(outputs.position, "\"outputs\" names none: nothing would be compared");
    if (const JsonNode* node = top.find("workspaces")) read_workspaces(*node);
    read_sources(top.require("sources", R"(name the CUDA files, e.g. "sources": ["reference.cu"])"), files);
    for (const SourceSpec& source : kernel_.sources) {
      if (source.condition && definition_.compiled_once)
        fail(source.condition->position(), "what is compiled once serves every problem; remove the source's \"if\", or \"compiled\"");
    }
    read_fills(*top.find("inputs"));
    kernel_.steps = read_steps(top.require("expect", "say which kernels compute what is expected of the outputs"), "expect");
    if (const JsonNode* node = top.find("groups")) definition_.groups = read_expression(*node, "\"groups\"", visibility::kGeometry);
    if (const JsonNode* node = top.find("plant")) read_plant(*node);
    if (const JsonNode* node = top.find("alter")) read_alter(*node);
    if (const JsonNode* node = top.find("leaves")) read_leaves(*node);
    if (const JsonNode* node = top.find("refuses")) read_refusals(*node);
    if (const JsonNode* node = top.find("alone")) read_alone(*node);
    if (const JsonNode* node = top.find("data_sets")) read_conditions(*node);
    check_alterations(definition_, top.find("data_sets"), top.find("alter"));
    definition_.form = std::move(kernel_);
    return std::move(definition_);
  }

 private:
  void read_start(const ObjectReader& top) {
    const JsonNode& format = top.require("attune_reference", R"(begin with "attune_reference": 1, the version of the format)");
    if (format.integer("the format version") != kReferenceFormat) {
      fail(format.position, fmt::format("format version {} is not known to this build, which reads {}; use a matching attune",
                                        format.integer("the format version"), kReferenceFormat));
    }
    const JsonNode& name = top.require("name", "give the reference a name");
    definition_.name = kernel_.name = name.string("the reference's name");
    check_identifier(kernel_.name, "the reference's name", name.position);
    if (const JsonNode* summary = top.find("summary")) kernel_.summary = summary->string("the summary");
    if (const JsonNode* compiled = top.find("compiled"))
      definition_.compiled_once = read_word(*compiled, "\"compiled\"", {"for_each_kind", "once"}) == 1;
  }

  static void refuse_reserved(const ObjectReader& top) {
    for (const char* section : {"problem", "types", "scalars", "let", "inputs", "outputs", "workspaces"}) {
      const JsonNode* node = top.find(section);
      if (node == nullptr || node->kind != JsonNode::Kind::Object) continue;
      for (const JsonNode::Member& member : node->members) {
        std::string word = member.key;  // their numbers are called by the name in capitals
        std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const char* const means = word == "data"    ? "the data set"
                                  : word == "group" ? "the group of windows"
                                  : word == "type"  ? "the numbers of element types"
                                                    : nullptr;
        if (means != nullptr) fail(member.position, fmt::format("'{}' is a name that attune gives: {}; choose another", member.key, means));
      }
    }
  }

  /// What attune adds to the problem: which data set, which group of windows, and what the template's buffers are.
  void add_axes(const ObjectReader& top) {
    ProblemAxis data;
    data.name = "data";
    data.kind = AxisKind::Choice;
    definition_.data_sets = read_data_sets(top.find("data_sets"));
    for (const DataSetSpec& set : definition_.data_sets) data.values.push_back(set.name);
    add_axis(std::move(data), NameKind::ChoiceAxis, root_.position);
    add_size("group", root_.position);
    for (const char* role : {"inputs", "outputs"}) {
      const JsonNode* node = top.find(role);
      if (node == nullptr) continue;
      for (const JsonNode::Member& member : node->object(fmt::format("\"{}\"", role))) {
        check_identifier(member.key, "the name", member.position);
        ProblemAxis type;
        type.name = member.key + "_type";
        type.kind = AxisKind::Type;
        type.values = element_type_names();
        add_axis(std::move(type), NameKind::TypeAxis, member.position);
        add_size(member.key + "_count", member.position);
      }
    }
  }

  void add_size(const std::string& name, const SourcePosition& position) {
    ProblemAxis axis;
    axis.name = name;
    axis.min = 0;
    add_axis(std::move(axis), NameKind::Size, position);
  }

  void add_axis(ProblemAxis axis, NameKind kind, const SourcePosition& position) {
    names_.add(axis.name, kind, position);
    kernel_.problem.push_back(std::move(axis));
  }

  /// A data set's condition may name what comes after it.
  void read_conditions(const JsonNode& node) {
    for (std::size_t i = 0; i < definition_.data_sets.size(); ++i) {
      if (const JsonNode* condition = node.members[i].value.find("if"))
        definition_.data_sets[i].condition = read_expression(*condition, "a data set's condition", visibility::kGeometry);
    }
  }

  /// One that a template must have; nothing: it is none, or one of attune's.
  [[nodiscard]] const ProblemAxis* own_axis(const std::string& name) const {
    const auto end = kernel_.problem.begin() + static_cast<std::ptrdiff_t>(definition_.own_axes);
    const auto found = std::find_if(kernel_.problem.begin(), end, [&](const ProblemAxis& axis) { return axis.name == name; });
    return found == end ? nullptr : &*found;
  }

  /// {"for": {"transform": "times"}}
  std::pair<std::string, std::string> read_only_for(const ObjectReader& reader) const {
    const JsonNode* node = reader.find("for");
    if (node == nullptr) return {};
    const auto& members = node->object("\"for\"");
    if (members.size() != 1) fail(node->position, R"("for" is one axis and its value, e.g. {"transform": "times"})");
    const ProblemAxis* axis = own_axis(members.front().key);
    if (axis == nullptr || axis->kind == AxisKind::Size)
      fail(members.front().position, fmt::format("\"for\" names '{}', which is no type or choice of the problem", members.front().key));
    return {axis->name, axis->values[read_word(members.front().value, "the value of \"for\"", axis->values)]};
  }

  void read_reference_scalars(const JsonNode& node) {
    for (const JsonNode::Member& member : node.object("\"scalars\"")) {
      const ObjectReader reader(member.value, fmt::format("the scalar '{}'", member.key), {"for"});
      definition_.scalars.push_back({member.key, read_only_for(reader)});
      names_.add(member.key, NameKind::Let, member.position);
      names_.add(member.key + "_type", NameKind::Let, member.position);
    }
  }

  RoleSpec read_role(const JsonNode::Member& member, const ObjectReader& reader) {
    RoleSpec role;
    role.name = member.key;
    if (const JsonNode* type = reader.find("type")) role.type = read_type(*type, "the type of " + reader.what());
    if (const JsonNode* count = reader.find("count"))
      role.count = read_expression(*count, "the count of " + reader.what(), visibility::kGeometry);
    role.only_for = read_only_for(reader);
    BufferSpec buffer;
    buffer.name = member.key;
    buffer.type = member.key + "_type";
    buffer.count = Expression::parse(member.key + "_count", member.position);
    kernel_.buffers.push_back(std::move(buffer));
    names_.add(member.key, NameKind::Buffer, member.position);
    return role;
  }

  void read_input(const JsonNode::Member& member) {
    const ObjectReader reader(member.value, fmt::format("the input '{}'", member.key), {"type", "count", "for", "if", "fill", "guards"});
    RoleSpec role = read_role(member, reader);
    kernel_.buffers.back().input = true;
    if (const JsonNode* condition = reader.find("if"))
      role.condition = read_expression(*condition, "the condition of " + reader.what(), visibility::kGeometry);
    if (const JsonNode* guards = reader.find("guards")) {
      for (const JsonNode& item : guards->array("\"guards\""))
        role.guards.push_back(read_expression(item, "a guard", visibility::kGeometry));
      if (role.guards.size() != 2) fail(guards->position, "\"guards\" are two elements, which alternate around the buffer");
    }
    definition_.inputs.push_back(std::move(role));
  }

  void read_output(const JsonNode::Member& member) {
    const ObjectReader reader(member.value, fmt::format("the output '{}'", member.key), {"type", "count", "for", "expected", "element"});
    RoleSpec role = read_role(member, reader);
    kernel_.buffers.back().output = true;
    if (const JsonNode* expected = reader.find("expected"))
      role.values = read_word(*expected, "\"expected\"", {"intervals", "values"}) == 1;
    if (const JsonNode* element = reader.find("element")) {
      for (const JsonNode::Member& part : element->object("\"element\""))
        role.shape.emplace_back(part.key, read_expression(part.value, fmt::format("the number of '{}'", part.key), visibility::kGeometry));
    }
    definition_.outputs.push_back(std::move(role));
  }

  void read_workspaces(const JsonNode& node) {
    for (const JsonNode::Member& member : node.object("\"workspaces\"")) {
      const std::string what = fmt::format("the workspace '{}'", member.key);
      const ObjectReader reader(member.value, what, {"type", "count", "init", "keep"});
      BufferSpec buffer;
      buffer.name = member.key;
      buffer.workspace = true;
      buffer.type = read_type(reader.require("type", "give its element type"), "the type of " + what);
      buffer.count =
          read_expression(reader.require("count", "give the number of its elements"), "the count of " + what, visibility::kGeometry);
      if (const JsonNode* init = reader.find("init"))
        buffer.init = read_word(*init, "\"init\"", {"none", "zero"}) == 1 ? WorkspaceInit::ZeroEach : WorkspaceInit::None;
      kernel_.buffers.push_back(buffer);
      names_.add(member.key, NameKind::Buffer, member.position);
      const JsonNode* keep = reader.find("keep");
      if (keep == nullptr || !keep->boolean("\"keep\"")) continue;
      definition_.kept.push_back(member.key);
      buffer.name = base_name(member.key);
      buffer.init = WorkspaceInit::None;
      kernel_.buffers.push_back(std::move(buffer));
    }
  }

  /// A kernel whose threads attune chooses. It has the buffers of the template and workspaces that are kept; one that fills has none.
  ReferenceKernel read_kernel(const ObjectReader& reader, bool fills) {
    ReferenceKernel kernel;
    const JsonNode& name = reader.require("kernel", "name a kernel of the sources");
    kernel.launch.kernel = name.string("the kernel's name");
    check_identifier(kernel.launch.kernel, "the kernel's name", name.position);
    kernel.launch.grid = kernel.launch.block = {Expression::constant(std::int64_t{1})};
    if (const JsonNode* condition = reader.find("if"))
      kernel.launch.condition = read_expression(*condition, "a condition", visibility::kGeometry);
    if (const JsonNode* arguments = reader.find("args"))
      for (const JsonNode& item : arguments->array("\"args\"")) kernel.launch.arguments.push_back(read_argument(item));
    for (const ArgumentSpec& argument : kernel.launch.arguments) {
      const BufferSpec* buffer = find_buffer(argument.name);
      if (buffer == nullptr) continue;
      if (fills) fail(argument.position, fmt::format("a kernel that fills has no buffer but its own; remove '{}'", argument.name));
      const auto& kept = definition_.kept;
      const bool is_kept = std::any_of(kept.begin(), kept.end(), [&](const std::string& workspace) {
        return workspace == argument.name || base_name(workspace) == argument.name;
      });
      if (buffer->workspace && !is_kept)
        fail(argument.position, fmt::format("the workspace '{}' is not kept until then; give it \"keep\": true", argument.name));
    }
    return kernel;
  }

  void read_fills(const JsonNode& inputs) {
    for (std::size_t i = 0; i < definition_.inputs.size(); ++i) {
      if (const JsonNode* fill = inputs.members[i].value.find("fill"))
        definition_.inputs[i].fill = read_kernel(ObjectReader(*fill, "\"fill\"", {"kernel", "args", "if"}), true);
    }
  }

  std::string read_input_name(const ObjectReader& reader) const {
    std::vector<std::string> known;
    for (const RoleSpec& input : definition_.inputs) known.push_back(input.name);
    const JsonNode& into = reader.require("into", "name the input whose elements change");
    return known[read_word(into, "\"into\"", known)];
  }

  void read_plant(const JsonNode& node) {
    const ObjectReader reader(node, "\"plant\"", {"into", "kernel", "args", "if", "row", "data"});
    for (const RoleSpec& output : definition_.outputs) {
      if (output.values)
        fail(node.position,
             fmt::format("\"plant\" needs intervals, but the output '{}' has \"expected\": \"values\"; remove one of them", output.name));
    }
    PlantSpec plant;
    plant.into = read_input_name(reader);
    plant.kernel = read_kernel(reader, false);
    if (const JsonNode* row = reader.find("row")) plant.row = read_expression(*row, "\"row\"", visibility::kGeometry);
    for (const JsonNode::Member& member :
         reader.require("data", R"(say into which data sets, e.g. "data": {"integers": "alone"})").object("\"data\"")) {
      if (!find_data_set(definition_.data_sets, member.key, member.position).alters.empty())
        fail(member.position, fmt::format("the data set '{}' alters another; plant into one that is filled", member.key));
      plant.data_sets[member.key] = read_word(member.value, "how elements are planted", {"alone", "descending"}) == 1;
    }
    if (plant.data_sets.empty())
      fail(node.find("data")->position, "\"data\" names no data set to plant into; remove \"plant\", or name one");
    definition_.plant = std::move(plant);
  }

  void read_alter(const JsonNode& node) {
    const ObjectReader reader(node, "\"alter\"", {"into", "kernel", "args"});
    definition_.altered = read_input_name(reader);
    definition_.alter = read_kernel(reader, false);
  }

  void read_leaves(const JsonNode& node) {
    for (const JsonNode::Member& member : node.object("\"leaves\"")) {
      const ProblemAxis* axis = own_axis(member.key);
      if (axis == nullptr || axis->kind != AxisKind::Choice)
        fail(member.position, fmt::format("\"leaves\" names '{}', which is no choice of the problem", member.key));
      definition_.leaves[member.key] = read_words(member.value, fmt::format("the values of '{}'", member.key));
    }
  }

  void read_refusals(const JsonNode& node) {
    for (const JsonNode& item : node.array("\"refuses\"")) {
      const ObjectReader reader(item, "a refusal", {"if", "needs"});
      definition_.refuses.push_back(
          {read_expression(reader.require("if", "say which problems"), "a refusal's condition", visibility::kGeometry),
           reader.require("needs", "say what the reference needs instead").string("\"needs\"")});
    }
  }

  void read_alone(const JsonNode& node) {
    for (const JsonNode::Member& member : node.object("\"alone\"")) {
      const ProblemAxis* axis = own_axis(member.key);
      if (axis == nullptr || axis->kind != AxisKind::Size)
        fail(member.position, fmt::format("\"alone\" names '{}', which is no size of the problem", member.key));
      definition_.alone[member.key] = member.value.string("what a case of another size is called");
    }
  }

  ReferenceDefinition definition_;
};

}  // namespace

std::size_t ReferenceDefinition::data_set(const std::string& set) const {
  const auto found = std::find_if(data_sets.begin(), data_sets.end(), [&](const DataSetSpec& spec) { return spec.name == set; });
  return static_cast<std::size_t>(found - data_sets.begin());
}

ReferenceDefinition ReferenceDefinition::parse(const std::string& text, const std::map<std::string, std::string>& files,
                                               const std::string& path) {
  const JsonNode root = JsonNode::parse(text, path);
  ReferenceDefinition definition = ReferenceParser(root).run(files);
  definition.form.spec_text = text;
  definition.form.spec_path = path;
  definition.form.includes_files = check_includes(definition.form);
  return definition;
}

}  // namespace attune::spec
