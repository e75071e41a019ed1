// The reference of a template: launches of a plain kernel, or a reference.json, and whether the template has what that needs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

using Words = std::vector<std::string>;
using Named = std::vector<std::pair<std::string, std::string>>;  ///< buffers and their types

bool holds(const Words& words, const std::string& word) { return std::find(words.begin(), words.end(), word) != words.end(); }

bool is_compared(const BufferSpec& buffer) { return buffer.output && buffer.compared; }

const char* kind_name(AxisKind kind) { return kind == AxisKind::Type ? "type" : kind == AxisKind::Choice ? "choice" : "size"; }

/// Compares what a reference needs with what a template has.
class NeedsCheck {
 public:
  NeedsCheck(const ReferenceDefinition& reference, KernelTemplate& kernel, const JsonNode& node, std::string called)
      : reference_(reference), kernel_(kernel), node_(node), called_(std::move(called)) {}

  void run() {
    for (std::size_t i = 0; i < reference_.own_axes; ++i) check_axis(reference_.form.problem[i]);
    for (const ReferenceScalar& scalar : reference_.scalars) check_scalar(scalar);
    kernel_.reference.inputs = match(
        reference_.inputs, [](const BufferSpec& buffer) { return buffer.input; }, "input");
    kernel_.reference.outputs = match(reference_.outputs, is_compared, "output");
    check_groups();
    if (reference_.plant) check_into(reference_.plant->into, "plants into");
    if (reference_.alter) check_into(reference_.altered, "alters");
  }

 private:
  [[noreturn]] void refuse(const std::string& needs) const { fail(node_.position, fmt::format("{} {}", called_, needs)); }

  [[nodiscard]] bool offered(const std::pair<std::string, std::string>& choice) const {
    if (choice.first.empty()) return true;
    const ProblemAxis* axis = kernel_.axis(choice.first);
    return axis != nullptr && holds(axis->values, choice.second);
  }

  void check_axis(const ProblemAxis& needed) const {
    const ProblemAxis* axis = kernel_.axis(needed.name);
    if (holds(kernel_.reference.parameters, needed.name)) return check_parameter(needed, *kernel_.parameter(needed.name));
    if (axis == nullptr && !needed.default_value.empty()) return;
    Words words = needed.values;
    if (const auto left = reference_.leaves.find(needed.name); left != reference_.leaves.end())
      words.insert(words.end(), left->second.begin(), left->second.end());
    const bool right = axis != nullptr && axis->kind == needed.kind &&
                       std::all_of(axis->values.begin(), axis->values.end(), [&](const std::string& value) { return holds(words, value); });
    if (!right) {
      const std::string among = words.empty() ? "" : " among " + joined(words);
      refuse(fmt::format("needs the {} '{}'{} in \"problem\"{}", kind_name(needed.kind), needed.name, among,
                         needed.default_value.empty() ? "" : ", or another name for it"));
    }
    if (axis->kind == AxisKind::Size && (axis->min < needed.min || axis->max > needed.max)) {
      refuse(fmt::format("takes the size '{}' from {} to {}; give it a \"min\" and a \"max\" within these, not {} and {}", needed.name,
                         needed.min, needed.max, axis->min, axis->max));
    }
  }

  /// What a call changes itself can neither be planted into nor put back.
  void check_into(const std::string& role, const char* does) const {
    for (std::size_t i = 0; i < reference_.inputs.size(); ++i) {
      const int place = kernel_.reference.inputs[i];
      if (reference_.inputs[i].name != role || place < 0) continue;
      const BufferSpec& buffer = kernel_.buffers[static_cast<std::size_t>(place)];
      if (buffer.output)
        refuse(fmt::format("{} the input '{}', so that '{}' cannot be an output too; write to another buffer", does, role, buffer.name));
    }
  }

  /// Memory is divided among the groups of windows once, for all configurations.
  void check_groups() const {
    Words names = kernel_.reference.parameters;  // and what follows from them
    const auto uses = [&](const Expression& expression) {
      const auto& used = expression.variables();
      return std::any_of(used.begin(), used.end(), [&](const std::string& name) { return holds(names, name); });
    };
    for (const auto& [name, expression] : reference_.form.lets)
      if (uses(expression)) names.push_back(name);
    if (reference_.groups && uses(*reference_.groups)) {
      refuse(fmt::format("makes its \"groups\" of the parameters {}; they are the same for all configurations",
                         joined(kernel_.reference.parameters)));
    }
  }

  /// A parameter in place of an axis.
  void check_parameter(const ProblemAxis& needed, const Parameter& parameter) const {
    if (needed.kind != AxisKind::Size && !reference_.compiled_once) {
      refuse(fmt::format(
          "is compiled for each kind of problem, so that its code cannot depend on the parameter '{}'; give it \"compiled\": \"once\"",
          needed.name));
    }
    const auto fits = [&](const Value& value) {  // a switch is 0 or 1
      if (const auto* const flag = std::get_if<bool>(&value)) return needed.min <= int{*flag} && int{*flag} <= needed.max;
      const auto* const integer = std::get_if<std::int64_t>(&value);
      return integer != nullptr && needed.min <= *integer && *integer <= needed.max;
    };
    for (const Value& value : parameter.values) {
      const bool right = needed.kind == AxisKind::Size ? fits(value) : holds(needed.values, to_text(value));
      if (right) continue;
      const std::string among =
          needed.kind == AxisKind::Size ? fmt::format("from {} to {}", needed.min, needed.max) : "among " + joined(needed.values);
      refuse(fmt::format("takes the {} '{}' {}, which the parameter's value {} is not", kind_name(needed.kind), needed.name, among,
                         to_text(value)));
    }
  }

  void check_scalar(const ReferenceScalar& needed) const {
    if (!offered(needed.only_for)) return;
    const bool there =
        std::any_of(kernel_.scalars.begin(), kernel_.scalars.end(), [&](const ScalarSpec& scalar) { return scalar.name == needed.name; });
    if (there) return;
    const auto& [axis, value] = needed.only_for;
    const std::string what = axis.empty() ? "" : fmt::format(" the {} '{}'", axis, value);
    refuse(fmt::format("computes{} with the scalar '{}'; add it to \"scalars\"", what, needed.name));
  }

  /// "samples of type T, edges of type T"
  static std::string listed(const Named& buffers) {
    Words texts;
    for (const auto& [name, type] : buffers) texts.push_back(type.empty() ? name : fmt::format("{} of type {}", name, type));
    return texts.empty() ? "none" : joined(texts);
  }

  /// The buffer of the template for each of the roles, which stand in the same order; -1: it has none.
  std::vector<int> match(const std::vector<RoleSpec>& roles, bool (*is_role)(const BufferSpec&), const char* what) const {
    Named wanted, there;
    std::vector<int> places, found;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (!is_role(kernel_.buffers[i])) continue;
      places.push_back(static_cast<int>(i));
      there.emplace_back(kernel_.buffers[i].name, kernel_.buffers[i].type);
    }
    bool right = true;
    for (const RoleSpec& role : roles) {
      if (!offered(role.only_for)) {
        found.push_back(-1);
        continue;
      }
      const std::size_t next = wanted.size();
      wanted.emplace_back(role.name, role.type);
      const bool typed = next < there.size() && (role.type.empty() || role.type == there[next].second);
      right = right && typed;
      found.push_back(typed ? places[next] : -1);
    }
    if (right && wanted.size() == there.size()) return found;
    std::string needs = wanted.empty() ? fmt::format("needs no {}, not {}", what, listed(there))
                                       : fmt::format("needs the {}{} {}{}, not {}", what, wanted.size() == 1 ? "" : "s", listed(wanted),
                                                     wanted.size() > 1 ? ", in this order" : "", listed(there));
    for (const BufferSpec& buffer : kernel_.buffers) {
      const bool named = std::any_of(wanted.begin(), wanted.end(), [&](const auto& role) { return role.first == buffer.name; });
      if (named && !is_role(buffer)) needs += fmt::format("; the template's '{}' is no {}", buffer.name, what);
    }
    refuse(needs);
  }

  const ReferenceDefinition& reference_;
  KernelTemplate& kernel_;
  const JsonNode& node_;
  std::string called_;
};

const Words kToleranceKeys = {"relative", "absolute", "mismatches"};

/// A number is a relative one.
Tolerance read_tolerance(const JsonNode& node, const std::string& what) {
  const auto read = [](const JsonNode& number, const std::string& called) {
    const double value = number.number(called);
    if (!(value >= 0)) fail(number.position, called + " must not be negative");
    return value;
  };
  Tolerance tolerance;
  if (node.kind != JsonNode::Kind::Object) {
    tolerance.relative = read(node, what);
    if (*tolerance.relative == 0) fail(node.position, fmt::format("{} must be above 0; {{\"relative\": 0}} asks for the same bits", what));
    return tolerance;
  }
  const ObjectReader reader(node, what, kToleranceKeys);
  if (const JsonNode* relative = reader.find("relative")) tolerance.relative = read(*relative, "\"relative\" of " + what);
  if (const JsonNode* absolute = reader.find("absolute")) tolerance.absolute = read(*absolute, "\"absolute\" of " + what);
  if (const JsonNode* mismatches = reader.find("mismatches")) {
    tolerance.mismatches = read(*mismatches, "\"mismatches\" of " + what);
    if (tolerance.mismatches >= 1) fail(mismatches->position, "\"mismatches\" is a share of the elements, below 1: 0.01 of them, say");
  }
  return tolerance;
}

}  // namespace

void TemplateParser::read_reference(const JsonNode& node, const std::map<std::string, std::string>& files) {
  if (node.is_string()) {
    static_cast<void>(read_word(node, "\"reference\"", {"none"}));
    return;
  }
  const ObjectReader reader(node, "\"reference\"", {"builtin", "file", "parameters", "launches", "outputs", "tolerance", "terms"});
  const JsonNode* launches = reader.find("launches");
  steps_of_ = StepsOf::Reference;
  if (launches != nullptr) kernel_.reference.steps = read_steps(*launches, "launches");
  steps_of_ = StepsOf::Launches;
  if (reader.find("builtin") != nullptr || reader.find("file") != nullptr) return read_defined(reader, files);
  const JsonNode* outputs = reader.find("outputs");
  if ((launches == nullptr) == (outputs == nullptr)) {
    fail(node.position,
         R"("reference" must be one of {"builtin": ...}, {"file": ...}, {"launches": [...]}, {"outputs": {"c": "c.npy"}} and "none")");
  }
  if (const JsonNode* parameters = reader.find("parameters")) {
    fail(parameters->position,
         "plain kernels and files say the same for all configurations; what depends on parameters is for a reference of "
         "its own, {\"file\": \"reference.json\", \"parameters\": [...]}");
  }
  kernel_.reference.kind = ReferenceSpec::Kind::Kernel;
  if (outputs != nullptr) read_expected(*outputs, node);
  if (const JsonNode* tolerance = reader.find("tolerance")) read_tolerances(*tolerance);
  if (const JsonNode* terms = reader.find("terms"))
    kernel_.reference.terms = read_expression(*terms, "the terms of the reference", visibility::kScalar);
}

void TemplateParser::read_expected(const JsonNode& node, const JsonNode& reference) {
  kernel_.reference.kind = ReferenceSpec::Kind::Files;
  for (const JsonNode::Member& member : node.object("\"outputs\"")) {
    const BufferSpec* const buffer = find_buffer(member.key);
    if (buffer == nullptr || !is_compared(*buffer))
      fail(member.position, fmt::format("\"outputs\" names '{}', which is no output{}", member.key,
                                        buffer != nullptr && buffer->output ? " that is compared" : ""));
    kernel_.reference.wanted.emplace(member.key, read_data(member.value, fmt::format("what '{}' must be", member.key)));
  }
  if (kernel_.reference.wanted.empty())
    fail(node.position, "\"outputs\" names none; say what one of them must be, or \"reference\": \"none\"");
  for (const BufferSpec& buffer : kernel_.buffers) {
    static constexpr std::array kKnown{Fill::Zeros, Fill::Ones, Fill::Index, Fill::Constant};
    const bool known = buffer.data || std::find(kKnown.begin(), kKnown.end(), buffer.fill) != kKnown.end();
    if (buffer.input && !known) {
      fail(reference.position,
           fmt::format("files can only say what is right for known inputs, and '{}' is filled with random numbers; give it a "
                       "\"fill\" of \"zeros\", \"ones\" or {{\"file\": \"{}.npy\"}}",
                       buffer.name, buffer.name));
    }
  }
}

void TemplateParser::read_tolerances(const JsonNode& node) {
  const bool of_all = node.kind != JsonNode::Kind::Object || std::any_of(node.members.begin(), node.members.end(), [](const auto& member) {
                        return holds(kToleranceKeys, member.key);
                      });
  if (of_all) {
    kernel_.reference.tolerance = read_tolerance(node, "\"tolerance\"");
    return;
  }
  for (const auto& member : node.members) {
    const bool there = std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(),
                                   [&](const BufferSpec& buffer) { return buffer.name == member.key && is_compared(buffer); });
    if (!there) fail(member.position, fmt::format("\"tolerance\" names '{}', which is no output", member.key));
    if (kernel_.reference.kind == ReferenceSpec::Kind::Files && !kernel_.reference.wanted.contains(member.key)) {
      fail(member.position, fmt::format("\"tolerance\" names '{}', which no file says anything of; remove it, or name a file for it in "
                                        "\"outputs\"",
                                        member.key));
    }
    kernel_.reference.tolerances[member.key] = read_tolerance(member.value, fmt::format("the tolerance of '{}'", member.key));
  }
}

void TemplateParser::read_defined(const ObjectReader& reader, const std::map<std::string, std::string>& files) {
  ReferenceSpec& reference = kernel_.reference;
  reference.kind = ReferenceSpec::Kind::Defined;
  const JsonNode* builtin = reader.find("builtin");
  const JsonNode* file = reader.find("file");
  for (const char* key : {"tolerance", "terms"}) {
    if (const JsonNode* own = reader.find(key))
      fail(own->position, fmt::format("a reference derives its own tolerance; remove the {}", key));
  }
  if (const JsonNode* outputs = reader.find("outputs"))
    fail(outputs->position, "a reference says itself what outputs must be; remove \"outputs\"");
  if (builtin != nullptr && file != nullptr)
    fail(file->position, "a reference is built in or a file of the template, not both; remove one");
  const JsonNode& node = builtin != nullptr ? *builtin : *file;
  if (builtin != nullptr) {
    reference.builtin = builtin->string("the built-in reference");
    reference.definition = shipped_reference(reference.builtin, builtin->position);
  } else {
    const std::string& name = file->string("the reference's file");
    require_no_zero_byte(name, "the reference's file", file->position);
    const auto text = files.find(name);
    if (text == files.end()) fail(file->position, fmt::format("the reference '{}' is missing; it belongs beside template.json", name));
    auto own = std::make_shared<ReferenceDefinition>(
        ReferenceDefinition::parse(text->second, files, (std::filesystem::path(root_.position.file).parent_path() / name).string()));
    reference.files = own->form.files;
    reference.files.insert(*text);
    reference.definition = std::move(own);
  }
  if (const JsonNode* parameters = reader.find("parameters")) {
    for (const std::string& name : read_words(*parameters, "\"parameters\"")) {
      if (kernel_.parameter(name) == nullptr)
        fail(parameters->position, fmt::format("the reference depends on '{}', which is no parameter", name));
      const auto& axes = reference.definition->form.problem;
      const auto own = axes.begin() + static_cast<std::ptrdiff_t>(reference.definition->own_axes);
      if (std::none_of(axes.begin(), own, [&](const ProblemAxis& axis) { return axis.name == name; })) {
        fail(parameters->position,
             fmt::format("the reference '{}' has no '{}' in its \"problem\"; remove it here", reference.definition->name, name));
      }
      reference.parameters.push_back(name);
    }
  }
  const std::string called = fmt::format("the {}reference '{}'", builtin != nullptr ? "built-in " : "", reference.definition->name);
  NeedsCheck(*reference.definition, kernel_, node, called).run();
  check_left(node, reader.find("launches"));
}

void TemplateParser::check_left(const JsonNode& node, const JsonNode* launches) const {
  const ReferenceDefinition& definition = *kernel_.reference.definition;
  std::vector<std::string> left;
  for (const auto& [name, values] : definition.leaves) {
    for (const std::string& value : values) {
      if (const ProblemAxis* axis = kernel_.axis(name); axis != nullptr && holds(axis->values, value))
        left.push_back(fmt::format("'{}' = '{}'", name, value));
    }
  }
  if (!left.empty() && launches == nullptr) {
    fail(node.position, fmt::format("the reference '{}' cannot compute {}; add \"launches\" of a plain kernel for those problems",
                                    definition.name, joined(left)));
  }
  if (left.empty() && launches != nullptr) {
    fail(launches->position,
         fmt::format("the reference '{}' computes every problem of this template; remove its launches", definition.name));
  }
}

}  // namespace attune::spec
