#include "tuner/spec/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "tuner/base/characters.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/kernel_name_parts.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

/// "a, f(b, c)" in two, with the place of each.
std::vector<std::pair<std::string, std::size_t>> parts_of(const std::string& list) {
  std::vector<std::pair<std::string, std::size_t>> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i == list.size() ? ',' : list[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (i < list.size() && (c != ',' || depth > 0)) continue;
    const std::size_t first = std::min(list.find_first_not_of(' ', begin), i);
    const std::size_t last = i == first ? first : list.find_last_not_of(' ', i - 1) + 1;
    parts.emplace_back(list.substr(first, last - first), first);
    begin = i + 1;
  }
  return parts;
}

/// A type of C++ by its name: it becomes part of the source as it is.
bool is_type_name(const std::string& text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return base::is_name_part(c) || c == ':' || c == ' ' || c == '*'; });
}

std::string argument_text(const KernelTemplate& kernel, const TemplateArgument& argument, const Problem& problem, const Scope& scope) {
  if (const auto* const type = std::get_if<std::string>(&argument)) return cuda_name(element_type(resolve_type(kernel, *type, problem)));
  const Expression& expression = std::get<Expression>(argument);
  const Value value = expression.evaluate(scope);
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return fmt::to_string(*number);
  if (const auto* const boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr || !is_type_name(*text)) {
    fail(expression.position(),
         fmt::format("the template argument \"{}\" is {}; it must be an integer, a truth value, or the name of a type", expression.text(),
                     to_text(value).substr(0, kMostNameBytes)));
  }
  return *text;
}

bool is_of(const std::set<std::string>& names, const Expression& expression) {
  return std::all_of(expression.variables().begin(), expression.variables().end(),
                     [&](const std::string& name) { return name.starts_with("device.") || names.contains(name); });
}

/// Names that are the same wherever the source is: types, choices, parameters of the source, and lets of these and of the device.
std::set<std::string> names_of_source(const KernelTemplate& kernel) {
  std::set<std::string> names;
  for (const Parameter& parameter : kernel.parameters)
    if (parameter.binding == Binding::Source) names.insert(parameter.name);
  for (const ProblemAxis& axis : kernel.problem)
    if (axis.kind != AxisKind::Size) names.insert(axis.name);
  for (const auto& alias : kernel.types) names.insert(alias.name);
  for (const auto& [let, expression] : kernel.lets)
    if (is_of(names, expression)) names.insert(let);  // a let uses earlier ones
  return names;
}

}  // namespace

/// "gemm", "ns::gemm" or "gemm<tile, T, 4>".
void TemplateParser::read_kernel_name(const JsonNode& node, LaunchSpec& launch) {
  const std::string& text = node.string("the kernel's name");
  launch.kernel_position = node.position;
  if (text.size() > kMostKernelBytes)
    fail(node.position, fmt::format("the kernel '{}...' is longer than {} characters", text.substr(0, 32), kMostKernelBytes));
  if (numbers_choices_ && text.find('<') != std::string::npos)
    fail(node.position, "a reference's kernels are extern \"C\" functions, no templates");
  KernelNameParts name = cut_kernel_name(text, node.position, "gemm<T, 64>");
  launch.kernel = std::move(name.function);
  if (!name.list) return;
  const auto parts = parts_of(*name.list);
  if (parts.size() > kMostTemplateArguments)
    fail(node.position, fmt::format("the kernel '{}' has more than {} template arguments", launch.kernel, kMostTemplateArguments));
  for (const auto& [argument, place] : parts) {
    SourcePosition position = node.inside();
    position.column += static_cast<int>(name.list_offset + place);
    launch.template_arguments.push_back(read_template_argument(argument, position));
  }
}

TemplateArgument TemplateParser::read_template_argument(const std::string& text, const SourcePosition& position) {
  count_expression(text.size(), position);
  if (text == "true" || text == "false") return Expression::constant(text == "true");  // as C++ and as JSON write them
  const NameKind* const kind = names_.find(text);
  const auto types = element_type_names();
  const bool is_type = kind != nullptr && (*kind == NameKind::TypeAxis || *kind == NameKind::TypeAlias);
  if (is_type || std::find(types.begin(), types.end(), text) != types.end()) return text;
  Expression expression = Expression::parse(text, position);
  names_.check(expression, visibility::kKernelName);
  return expression;
}

std::string kernel_name(const KernelTemplate& kernel, const LaunchSpec& launch, const Problem& problem, const Scope& scope) {
  if (launch.template_arguments.empty()) return launch.kernel;
  std::string arguments;
  for (const TemplateArgument& argument : launch.template_arguments)
    arguments += (arguments.empty() ? "" : ", ") + argument_text(kernel, argument, problem, scope);
  if (launch.kernel.size() + arguments.size() > kMostKernelBytes)
    fail(launch.kernel_position,
         fmt::format("the kernel '{}' is longer than {} characters with its template arguments", launch.kernel, kMostKernelBytes));
  return fmt::format("{}<{}>", launch.kernel, arguments);
}

std::string instantiations(const KernelTemplate& kernel, const Problem& problem, const Scope& scope) {
  std::string text;
  std::set<std::string> known;
  const auto names = names_of_source(kernel);
  for (const auto* const steps : {&kernel.steps, &kernel.setup, &kernel.check, &kernel.reference.steps}) {
    for (const StepSpec& step : *steps) {
      const auto* const launch = std::get_if<LaunchSpec>(&step);
      if (launch == nullptr || launch->template_arguments.empty()) continue;
      if (launch->condition && is_of(names, *launch->condition) && !launch->condition->truth(scope)) continue;
      const std::string name = kernel_name(kernel, *launch, problem, scope);
      if (!known.insert(name).second) continue;
      // Errors in its arguments, "no instance of function template", are then told at the launch.
      const std::string file = std::filesystem::path(launch->kernel_position.file).filename().string();
      text +=
          fmt::format("#line {} {}\ntemplate __global__ decltype({}) {};\n", launch->kernel_position.line, quoted_file(file), name, name);
    }
  }
  return text;
}

}  // namespace attune::spec
