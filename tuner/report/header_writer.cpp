#include "tuner/report/header_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/report/cpp_condition.hpp"
#include "tuner/report/cpp_names.hpp"
#include "tuner/report/header_selector.hpp"

namespace attune::report {
namespace {

bool is_namespace(const std::string& text) {
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find("::", begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (!base::is_name(part) || cpp_member(part) != part) return false;
    if (end == text.size()) return true;
    begin = end + 2;
  }
}

class HeaderWriter {
 public:
  HeaderWriter(const spec::KernelTemplate& kernel, const TunedTable& table)
      : kernel_(kernel), table_(table), names_(kernel), conditions_(kernel, names_) {}

  std::string text(const std::string& name_space) {
    const std::string allowed = allowed_function(), defaults = default_function();  // tell what of devices and lets they need
    std::string text = fmt::format(kPreamble, kernel_.name, kernel_.name, kernel_.content_hash, table_.policy, name_space);
    text += problem_types() + configuration_types() + device_type();
    text +=
        fmt::format("\nnamespace detail {{\n{}{}{}\n}}  // namespace detail\n", cpp_arithmetic(), aliases(), conditions_.let_functions());
    text += allowed + defaults + devices() + entries() + comparisons() + kHeaderSelector;
    return text + fmt::format("\n}}  // namespace {}\n", name_space);
  }

 private:
  static constexpr const char* kPreamble =
      R"(// The tuned configurations of the template "{}", for programs that compile ahead of time. Written by `attune export --header {}`;
// write it anew rather than change it. Needs C++17 and the standard library.
//   version of the template  {}
//   policy                   {}
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {} {{
)";

  [[nodiscard]] static std::string enumeration(const CppEnum& of, const std::vector<std::string>& values) {
    std::string list, cases;
    for (const auto& value : values) {
      list += (list.empty() ? "" : ", ") + of.enumerators.at(value);
      cases += fmt::format("    case {}:\n      return {};\n", of.of(value), cpp_literal(value));
    }
    return fmt::format(
        "\nenum class {} {{ {} }};\nconstexpr std::string_view name({} value) {{\n  switch (value) {{\n{}  }}\n  return {{}};\n}}\n",
        of.type, list, of.type, cases);
  }

  [[nodiscard]] std::string problem_types() const {
    std::string enums, members;
    for (const auto& axis : kernel_.problem) {
      const std::string member = cpp_member(axis.name);
      if (axis.kind == spec::AxisKind::Size) {
        members += fmt::format("  std::int64_t {} = {};\n", member, axis.min);
      } else if (axis.kind == spec::AxisKind::Code) {
        members +=
            fmt::format("  std::string_view {} = {};  // the code as the caller gives it\n", member, cpp_literal(axis.default_value));
      } else {
        const CppEnum& of = *names_.find(axis.name);
        enums += enumeration(of, axis.values);
        members +=
            fmt::format("  {} {} = {};\n", of.type, member, of.of(axis.default_value.empty() ? axis.values.front() : axis.default_value));
      }
    }
    return enums + "\n/// What is computed.\nstruct Problem {\n" + members + "};\n";
  }

  [[nodiscard]] std::string value_text(const std::string& name, const spec::Value& value) const {
    if (const auto* of = names_.find(name)) return of->of(spec::to_text(value));
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:#}", *real);
    if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && *number == INT64_MIN)
      return "-9223372036854775807 - 1";
    return spec::to_text(value);
  }
  [[nodiscard]] std::string configuration_types() const {
    std::string enums, members;
    for (const auto& parameter : kernel_.parameters) {
      std::vector<std::string> values;
      for (const auto& value : parameter.values) values.push_back(spec::to_text(value));
      const CppEnum* const of = names_.find(parameter.name);
      const auto holds = [&](auto is) { return std::all_of(parameter.values.begin(), parameter.values.end(), is); };
      const bool booleans = holds([](const auto& value) { return std::holds_alternative<bool>(value); });
      const bool integers = holds([](const auto& value) { return std::holds_alternative<std::int64_t>(value); });
      if (of != nullptr) enums += enumeration(*of, values);
      members += fmt::format("  {} {} = {};\n",
                             of != nullptr ? of->type
                             : booleans    ? "bool"
                             : integers    ? "std::int64_t"
                                           : "double",
                             cpp_member(parameter.name), value_text(parameter.name, parameter.values[parameter.default_index]));
    }
    return enums + "\n/// The values of the template's parameters, at first their own defaults.\nstruct Configuration {\n" + members +
           "};\n";
  }

  [[nodiscard]] std::vector<std::string> attributes() const {
    std::vector<std::string> needed;
    for (const auto& attribute : conditions_.attributes()) {
      if (attribute != "architecture") needed.push_back(attribute);
    }
    return needed;
  }
  [[nodiscard]] static std::string attribute_text(const spec::Value& value) {
    return std::holds_alternative<std::string>(value) ? cpp_literal(std::get<std::string>(value)) : spec::to_text(value);
  }
  [[nodiscard]] std::string device_type() const {
    std::string members;
    for (const auto& attribute : attributes()) {
      const auto value = table_.devices.front().attribute(attribute).value();
      members += fmt::format("  {} {};\n",
                             std::holds_alternative<std::string>(value) ? "std::string_view"
                             : std::holds_alternative<bool>(value)      ? "bool"
                                                                        : "std::int64_t",
                             attribute);
    }
    return "\n/// A device that was tuned on, and where its entries are.\nstruct Device {\n  std::string_view name;\n  std::string_view architecture;\n" +
           members +
           "  std::size_t first, last;\n};\n\n/// What won for a problem on a device.\nstruct Entry {\n  std::size_t device;\n  Problem problem;\n"
           "  Configuration configuration;\n  double median_us;\n};\n";
  }
  [[nodiscard]] std::string devices() const {
    std::string rows;
    for (std::size_t i = 0; i < table_.devices.size(); ++i) {
      const auto& device = table_.devices[i];
      rows += fmt::format("    {{{}, {}", cpp_literal(device.name), cpp_literal(device.architecture));
      for (const auto& attribute : attributes()) rows += ", " + attribute_text(device.attribute(attribute).value());
      const auto is_of = [&](std::size_t wanted) {
        return std::find_if(table_.rows.begin(), table_.rows.end(), [&](const auto& row) { return row.device >= wanted; }) -
               table_.rows.begin();
      };
      rows += fmt::format(", {}, {}}},\n", is_of(i), is_of(i + 1));
    }
    return "\ninline constexpr Device kDevices[] = {\n" + rows + "};\n";
  }
  [[nodiscard]] std::string entries() const {
    std::string rows;
    for (const auto& row : table_.rows) {
      std::string problem, configuration;
      for (const auto& axis : kernel_.problem) {
        const bool size = axis.kind == spec::AxisKind::Size;
        const std::string chosen =
            size ? std::to_string(row.problem.sizes.at(axis.name)) : spec::choice_of(kernel_, row.problem, axis.name);
        const auto* of = names_.find(axis.name);
        problem += (problem.empty() ? "" : ", ") + (size ? chosen : of != nullptr ? of->of(chosen) : cpp_literal(chosen));
      }
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
        configuration += (i == 0 ? "" : ", ") + value_text(kernel_.parameters[i].name, spec::value_of(kernel_, row.configuration, i));
      rows += fmt::format("    {{{}, {{{}}}, {{{}}}, {:#}}},\n", row.device, problem, configuration, row.median_us);
    }
    return "\ninline constexpr Entry kEntries[] = {\n" + rows + "};\n";
  }

  [[nodiscard]] std::string aliases() const {
    std::string text;
    for (const auto& alias : kernel_.types) {
      if (!conditions_.aliases().contains(alias.name)) continue;
      const std::string by = fmt::format("name(p.{})", cpp_member(alias.by));
      text += fmt::format("constexpr std::string_view alias_{}(const Problem& p) {{\n", alias.name);
      for (const auto& [from, to] : alias.map)
        text += fmt::format("  if ({} == {}) return {};\n", by, cpp_literal(from), to == alias.by ? by : cpp_literal(to));
      text += fmt::format("  return {};\n}}\n", alias.otherwise == alias.by ? by : cpp_literal(alias.otherwise));
    }
    return text;
  }

  std::string allowed_function() {
    std::string checks;
    for (const auto& constraint : kernel_.constraints)
      checks += fmt::format("  // {}\n  if (!{}) return false;\n", cpp_comment(constraint.expression.text()),
                            conditions_.condition(constraint.expression));
    return "\n/// Whether the template's conditions hold for a configuration at a problem on a device.\n"
           "constexpr bool allowed([[maybe_unused]] const Problem& p, [[maybe_unused]] const Configuration& c, [[maybe_unused]] const Device& d) {\n"
           "  bool ok = true;  // what cannot be computed holds nowhere\n" +
           checks + "  return ok;\n}\n";
  }
  std::string default_function() {
    std::string rows;
    for (const auto& row : kernel_.defaults) {
      std::string chosen;
      for (const auto& [parameter, value] : row.values) {
        const auto& of = kernel_.parameters[parameter];
        chosen += fmt::format("    chosen.{} = {};\n", cpp_member(of.name), value_text(of.name, of.values[value]));
      }
      rows += fmt::format(
          "  {{  // {}\n    bool ok = true;\n    Configuration chosen{{}};\n{}    const bool holds = {};\n    if (holds && ok && allowed(p, chosen, d)) return chosen;\n  }}\n",
          row.condition ? cpp_comment(row.condition->text()) : "otherwise", chosen,
          row.condition ? conditions_.condition(*row.condition) : "true");
    }
    return "\n/// What the template uses where nothing was tuned: the first row of its table of defaults that fits, else each parameter's own default.\n"
           "constexpr Configuration default_configuration([[maybe_unused]] const Problem& p, [[maybe_unused]] const Device& d) {\n"
           "  const Configuration c{};\n" +
           rows + "  return c;\n}\n";
  }

  /// What the selector asks of two problems, and of a configuration at another size than its own.
  [[nodiscard]] std::string comparisons() const {
    std::string choices, sizes, distance, general;
    for (const auto& axis : kernel_.problem) {
      const std::string member = cpp_member(axis.name);
      (axis.kind == spec::AxisKind::Size ? sizes : choices) += fmt::format(" && a.{} == b.{}", member, member);
      if (axis.kind == spec::AxisKind::Size) distance += fmt::format(" + square(size_log2(a.{}) - size_log2(b.{}))", member, member);
    }
    for (const auto& parameter : kernel_.parameters) {
      if (!parameter.specialises.empty()) general += fmt::format("  c.{} = false;\n", cpp_member(parameter.name));
    }
    return header_comparisons(choices, sizes, distance, general);
  }

  const spec::KernelTemplate& kernel_;
  const TunedTable& table_;
  CppNames names_;
  CppConditions conditions_;
};

}  // namespace

std::string default_namespace(const spec::KernelTemplate& kernel) { return "attune_tuned::" + cpp_member(kernel.name); }

std::string tuned_header(const spec::KernelTemplate& kernel, const TunedTable& table, const std::string& name_space) {
  if (!is_namespace(name_space)) throw UsageError(fmt::format("\"{}\" names no namespace of C++; write one like app::kernels", name_space));
  return HeaderWriter(kernel, table).text(name_space);
}

}  // namespace attune::report
