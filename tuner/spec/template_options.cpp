#include <fmt/format.h>

#include <algorithm>

#include "tuner/base/characters.hpp"
#include "tuner/spec/compiler_options.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

/// Values of the names in one option, in all combinations: each is looked at when the template is read.
constexpr std::size_t kMostCombinations = 100'000;

struct Placeholder {
  std::string name;
  std::size_t offset = 0;  ///< of its brace
};

/// Each `{name}`; what stands between other braces, `{1}` or `{ name }`, is text.
std::vector<Placeholder> placeholders_of(const std::string& text) {
  std::vector<Placeholder> found;
  const auto part = [](char c) { return base::is_name_part(c) || c == '.'; };
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(open) + 1, text.end(), part);
    const std::string name(text.begin() + static_cast<std::ptrdiff_t>(open) + 1, end);
    const bool is_name = !name.empty() && !base::is_digit(name.front());
    if (is_name && end != text.end() && *end == '}') found.push_back({name, open});
  }
  return found;
}

std::string option_text(const Value& value) {
  const auto* const boolean = std::get_if<bool>(&value);
  return boolean == nullptr ? to_text(value) : *boolean ? "true" : "false";
}

std::string with_values(const std::string& text, const Scope& scope) {
  std::string filled;
  std::size_t copied = 0;
  for (const Placeholder& placeholder : placeholders_of(text)) {
    filled.append(text, copied, placeholder.offset - copied);
    filled += option_text(scope(placeholder.name).value()).substr(0, kMostOptionBytes + 1);  // the parser has checked the name
    if (filled.size() > kMostOptionBytes) return filled;                                     // and is refused
    copied = placeholder.offset + placeholder.name.size() + 2;
  }
  return filled.append(text, copied, std::string::npos);
}

/// The option with values in it. Throws: SpecError when no template may give it.
std::string checked_option(const OptionSpec& option, const Scope& scope) {
  std::string text = with_values(option.text, scope);
  const std::string why = why_no_option(text);
  if (why.empty()) return text;
  if (text == option.text) fail(option.position, fmt::format("the option '{}' {}", text.substr(0, 80), why));
  fail(option.position, fmt::format("the option '{}' (of '{}') {}; constraints do not count here: say where it is right, "
                                    "{{\"option\": ..., \"if\": ...}}",
                                    text.substr(0, 80), option.text.substr(0, 80), why));
}

bool holds(const OptionSpec& option, const Scope& scope) { return !option.condition || option.condition->truth(scope); }

/// What a name of an option can be.
std::vector<Value> possible_values(const KernelTemplate& kernel, const std::string& name) {
  if (const Parameter* const parameter = kernel.parameter(name)) return parameter->values;
  std::vector<Value> values;
  const ProblemAxis* const axis = kernel.axis(name);
  const bool is_choice = axis != nullptr && axis->kind == AxisKind::Choice;
  for (const std::string& value : is_choice ? axis->values : possible_types(kernel, name)) values.emplace_back(value);
  return values;
}

}  // namespace

void TemplateParser::read_options(const JsonNode& node) {
  for (const JsonNode& item : node.array("\"options\"")) {
    OptionSpec option = read_option(item);
    check_option(option);
    if (kernel_.options.size() == kMostOptions) fail(item.position, fmt::format("there are more than {} options", kMostOptions));
    kernel_.options.push_back(std::move(option));
  }
}

OptionSpec TemplateParser::read_option(const JsonNode& node) const {
  const JsonNode* text = &node;
  OptionSpec option;
  if (node.kind == JsonNode::Kind::Object) {
    const ObjectReader reader(node, "an option", {"option", "if"});
    text = &reader.require("option", R"(give its text, e.g. {"option": "--use_fast_math", "if": "fast"})");
    option.condition = read_expression(reader.require("if", "say where it is given; else write its text alone"),
                                       "the condition of an option", visibility::kOptionCondition);
  }
  option.text = text->string("an option");
  option.position = text->position;
  if (option.text.size() > kMostOptionBytes) fail(option.position, fmt::format("the option is longer than {} bytes", kMostOptionBytes));
  for (const Placeholder& placeholder : placeholders_of(option.text)) {
    SourcePosition position = text->inside();
    position.column += static_cast<int>(placeholder.offset) + 1;
    names_.check(Expression::parse(placeholder.name, position), visibility::kOption);
  }
  return option;
}

/// With every value that it can have, where its condition holds. One that depends on the device is looked at when it is given.
void TemplateParser::check_option(const OptionSpec& option) const {
  std::vector<std::string> names;
  for (const Placeholder& placeholder : placeholders_of(option.text)) names.push_back(placeholder.name);
  if (option.condition) names.insert(names.end(), option.condition->variables().begin(), option.condition->variables().end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("device."); })) return;
  std::vector<std::vector<Value>> values;
  std::size_t combinations = 1;
  for (const std::string& name : names) {
    values.push_back(possible_values(kernel_, name));
    combinations *= values.back().size();
    if (combinations > kMostCombinations)
      fail(option.position, fmt::format("the option depends on more than {} combinations of values; give several options, each where it "
                                        "is wanted: {{\"option\": ..., \"if\": ...}}",
                                        kMostCombinations));
  }
  option_work_ += combinations * (option.text.size() + (option.condition ? option.condition->text().size() : 0));
  if (option_work_ > kMostOptionWork)
    fail(option.position, "with it the options of the template have too many combinations of values; let them depend on fewer names");
  for (std::size_t combination = 0; combination < combinations; ++combination) {
    const Scope scope = [&](std::string_view name) -> std::optional<Value> {
      std::size_t left = combination;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return values[i][left % values[i].size()];
        left /= values[i].size();
      }
      return std::nullopt;
    };
    if (holds(option, scope)) static_cast<void>(checked_option(option, scope));
  }
}

std::vector<std::string> compiler_options(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                          const DeviceInfo& device) {
  std::vector<std::string> options;
  const Scope scope = make_scope(kernel, problem, configuration, device);
  for (const OptionSpec& option : kernel.options) {
    if (holds(option, scope)) options.push_back(checked_option(option, scope));
  }
  return options;
}

}  // namespace attune::spec
