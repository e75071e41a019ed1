#include "tuner/spec/condition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/name_table.hpp"

namespace attune::spec {
namespace {

/// What the template's own constraints see, made again from what parsing left of it.
NameTable names_of(const KernelTemplate& kernel) {
  static constexpr NameKind kAxes[] = {NameKind::TypeAxis, NameKind::ChoiceAxis, NameKind::Size, NameKind::CodeAxis};
  const SourcePosition nowhere{kernel.spec_path, 0, 0};
  NameTable names;
  for (const auto& axis : kernel.problem) names.add(axis.name, kAxes[static_cast<std::size_t>(axis.kind)], nowhere);
  for (const auto& alias : kernel.types) names.add(alias.name, NameKind::TypeAlias, nowhere);
  for (const auto& parameter : kernel.parameters) {
    names.add(parameter.name, parameter.binding == Binding::Launch ? NameKind::LaunchParameter : NameKind::SourceParameter, nowhere);
  }
  for (const auto& [name, expression] : kernel.lets) names.add(name, NameKind::Let, nowhere);
  for (const auto& buffer : kernel.buffers) names.add(buffer.name, NameKind::Buffer, nowhere);
  for (const auto& scalar : kernel.scalars) names.add(scalar.name, NameKind::Scalar, nowhere);
  return names;
}

constexpr Visibility kCondition{"a condition",
                                static_cast<unsigned>(NameKind::TypeAxis) | static_cast<unsigned>(NameKind::ChoiceAxis) |
                                    static_cast<unsigned>(NameKind::TypeAlias) | static_cast<unsigned>(NameKind::Size) |
                                    static_cast<unsigned>(NameKind::SourceParameter) | static_cast<unsigned>(NameKind::LaunchParameter),
                                "types, choices, sizes, parameters and device.*"};

}  // namespace

Constraint parse_condition(const KernelTemplate& kernel, std::string_view text, const SourcePosition& position) {
  Constraint condition{Expression::parse(text, position)};
  names_of(kernel).check(condition.expression, kCondition);
  return condition;
}

std::string values_of_named_parameters(const KernelTemplate& kernel, const std::vector<Constraint>& conditions) {
  std::string text;
  for (const auto& parameter : kernel.parameters) {
    const bool named = std::any_of(conditions.begin(), conditions.end(), [&](const Constraint& condition) {
      const auto& variables = condition.expression.variables();
      return std::find(variables.begin(), variables.end(), parameter.name) != variables.end();
    });
    if (!named) continue;
    std::vector<std::string> values;
    for (const auto& value : parameter.values) values.push_back(to_text(value));
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", parameter.name, joined(values));
  }
  return text;
}

}  // namespace attune::spec
