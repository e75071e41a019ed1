#include "tuner/importing/template_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"

namespace attune::importing {
namespace {

using Role = ImportedArgument::Role;

std::string quoted(const std::string& text) { return base::dump_json(nlohmann::json(text)); }

/// A number stays one; anything else is an expression in a string.
std::string expression_json(const std::string& text) {
  const auto value = base::try_parse_json(text);
  return value.is_number() ? text : quoted(text);
}

std::string joined(const std::vector<std::string>& items, const char* between = ", ") {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : between) + item;
  return text;
}

/// The members of an object, one a line.
std::string lines(const std::vector<std::string>& members) { return members.empty() ? "" : "\n    " + joined(members, ",\n    ") + "\n  "; }

std::string comment(const std::string& text, const char* indent = "    ") {
  return text.empty() ? "" : fmt::format("// {}\n{}", base::escape_line(text), indent);
}

std::string remark_of(const ImportedKernel& kernel, const std::string& name, const char* indent = "    ") {
  const auto found = kernel.remarks.find(name);
  return found == kernel.remarks.end() ? "" : comment(found->second, indent);
}

std::string size_json(const ImportedSize& size) {
  return fmt::format("{}{}: {{\"size\": {{\"min\": {}, \"max\": {}}}}}", comment(size.remark), quoted(size.name), size.value,
                     size.most > 0 ? size.most : size.value);
}

std::string parameter_json(const spec::Parameter& parameter) {
  std::vector<std::string> values;
  for (const spec::Value& value : parameter.values) values.push_back(base::dump_json(spec::to_json(value)));
  return fmt::format("{}: {{\"values\": [{}], \"default\": {}{}}}", quoted(parameter.name), joined(values), values[parameter.default_index],
                     parameter.binding == spec::Binding::Launch ? ", \"bind\": \"launch\"" : "");
}

std::string type_name(const ImportedArgument& argument) {
  return argument.type_axis.empty() ? spec::name(argument.type) : argument.type_axis;
}

/// Empty: random numbers, which need no word.
std::string fill_json(const ImportedArgument& argument) {
  if (!argument.fill_file.empty()) return fmt::format("{{\"file\": {}}}", quoted(argument.fill_file));
  if (argument.fill == spec::Fill::Constant) return fmt::format("{{\"value\": {}}}", argument.fill_value);
  if (argument.fill == spec::Fill::Index) return "\"index\"";
  return argument.fill == spec::Fill::Zeros ? "\"zeros\"" : argument.fill == spec::Fill::Ones ? "\"ones\"" : "";
}

std::string buffer_json(const ImportedArgument& argument) {
  const bool is_struct = argument.struct_bytes > 0;
  const std::string type = is_struct ? fmt::format("{{\"bytes\": {}, \"align\": {}}}", argument.struct_bytes, argument.align_bytes)
                                     : quoted(type_name(argument));
  std::string text = fmt::format("{}{}: {{\"type\": {}, \"count\": {}", comment(argument.remark), quoted(argument.name), type,
                                 expression_json(argument.count));
  const std::string fill = argument.role == Role::Output ? "" : fill_json(argument);
  if (argument.role == Role::Both) text += ", \"input\": true";
  if (argument.role != Role::Input) text += ", \"output\": true";
  if (!fill.empty()) text += fmt::format(", \"fill\": {}", fill);
  if (argument.constant_memory) text += ", \"memory\": \"constant\"";
  if (argument.align_bytes > 0 && !is_struct) text += fmt::format(", \"align\": {}", argument.align_bytes);
  return text + "}";
}

std::string dimensions_json(const std::vector<std::string>& dimensions) {
  std::vector<std::string> all;
  for (const std::string& dimension : dimensions) all.push_back(expression_json(dimension));
  return all.size() == 1 ? all.front() : fmt::format("[{}]", joined(all));
}

/// What a launch passes, in order.
std::vector<std::string> passed_json(const std::vector<ImportedArgument>& arguments) {
  std::vector<std::string> passed;
  for (const ImportedArgument& argument : arguments) {
    if (argument.role == Role::Computed || argument.role == Role::Size)
      passed.push_back(fmt::format("{{{}: \"{}\"}}", quoted(argument.name), spec::name(argument.type)));
    else if (is_passed(argument))
      passed.push_back(quoted(argument.name));
  }
  return passed;
}

std::string launch_json(const ImportedKernel& kernel) {
  std::string shared = kernel.shared_bytes;
  for (const ImportedArgument& argument : kernel.arguments) {
    if (argument.role != Role::DynamicShared) continue;
    shared = shared.empty() ? argument.count : fmt::format("{} + {}", shared, argument.count);
  }
  const std::string called = kernel.kernel + (kernel.template_arguments.empty() ? "" : fmt::format("<{}>", kernel.template_arguments));
  return fmt::format("{{\"kernel\": {}, \"grid\": {}, \"block\": {},{}\n     \"args\": [{}]}}", quoted(called),
                     dimensions_json(kernel.grid), dimensions_json(kernel.block),
                     shared.empty() ? "" : fmt::format(" \"shared\": {},", expression_json(shared)), joined(passed_json(kernel.arguments)));
}

std::string tolerance_json(const ImportedTolerance& tolerance) {
  return fmt::format("{{\"relative\": {}, \"absolute\": {}}}", tolerance.relative, tolerance.absolute);
}

/// One for all `compared` outputs where they have the same; empty: attune's own.
std::string tolerances_json(const std::map<std::string, ImportedTolerance>& tolerances, std::size_t compared) {
  if (tolerances.empty()) return "";
  const auto& first = tolerances.begin()->second;
  const bool same = std::all_of(tolerances.begin(), tolerances.end(), [&](const auto& one) { return one.second == first; });
  if (same && tolerances.size() == compared) return fmt::format(",\n    \"tolerance\": {}", tolerance_json(first));
  std::vector<std::string> all;
  for (const auto& [name, tolerance] : tolerances) all.push_back(fmt::format("{}: {}", quoted(name), tolerance_json(tolerance)));
  return fmt::format(",\n    \"tolerance\": {{{}}}", joined(all));
}

std::string reference_json(const ImportedKernel& kernel) {
  const ImportedReference& reference = kernel.reference;
  if (!reference.outputs.empty()) {
    std::vector<std::string> outputs;
    for (const auto& [name, file] : reference.outputs) outputs.push_back(fmt::format("{}: {}", quoted(name), quoted(file)));
    return fmt::format("{{\n    \"outputs\": {{{}}}{}\n  }}", joined(outputs), tolerances_json(reference.tolerances, outputs.size()));
  }
  if (reference.kernel.empty()) return "\"none\"";
  const auto compared = static_cast<std::size_t>(std::count_if(kernel.arguments.begin(), kernel.arguments.end(), is_written));
  const std::string terms = reference.terms.empty()
                                ? ""
                                : fmt::format(",\n    {}\"terms\": {}", comment(reference.terms_remark), expression_json(reference.terms));
  return fmt::format("{{\n    \"launches\": [{{\"kernel\": {}, \"grid\": {}, \"block\": {}, \"args\": [{}]}}]{}{}\n  }}",
                     quoted(reference.kernel), dimensions_json(reference.grid), dimensions_json(reference.block),
                     joined(passed_json(reference.arguments)), tolerances_json(reference.tolerances, compared), terms);
}

/// Everything of one kind, one a line.
struct Parts {
  std::vector<std::string> problem, parameters, constraints, lets, buffers, scalars, options;
};

Parts parts_of(const ImportedKernel& kernel) {
  Parts parts;
  for (const auto& [name, types] : kernel.types) {
    std::vector<std::string> names;
    for (const std::string& type : types) names.push_back(quoted(type));
    parts.problem.push_back(fmt::format("{}{}: {{\"type\": [{}]}}", remark_of(kernel, name), quoted(name), joined(names)));
  }
  for (const ImportedSize& size : kernel.sizes) parts.problem.push_back(size_json(size));
  for (const spec::Parameter& parameter : kernel.parameters)
    parts.parameters.push_back(remark_of(kernel, parameter.name) + parameter_json(parameter));
  for (const std::string& constraint : kernel.constraints) parts.constraints.push_back(quoted(constraint));
  for (const auto& [name, text] : kernel.lets) parts.lets.push_back(fmt::format("{}: {}", quoted(name), quoted(text)));
  for (const ImportedArgument& argument : kernel.arguments) {
    if (argument.role == Role::Scalar)
      parts.scalars.push_back(fmt::format("{}{}: {{\"type\": \"{}\", \"value\": {}}}", comment(argument.remark), quoted(argument.name),
                                          type_name(argument), expression_json(argument.value)));
    else if (argument.role == Role::Computed)
      parts.lets.push_back(fmt::format("{}: {}", quoted(argument.name), quoted(argument.value)));
    else if (argument.role != Role::DynamicShared && argument.role != Role::Size)
      parts.buffers.push_back(buffer_json(argument));
  }
  for (const std::string& option : kernel.options) parts.options.push_back(quoted(option));
  return parts;
}

std::string head(const ImportedKernel& kernel) {
  const std::string file = std::filesystem::path(kernel.origin).filename().string();
  std::string text =
      fmt::format("// {}; docs/template-format.md is the manual of this file.\n",
                  kernel.origin_text.empty() ? fmt::format("Imported from {} by `attune template import`", base::escape_line(file))
                                             : base::escape_line(kernel.origin_text));
  for (const Note& note : kernel.notes) {
    if (note.kind == Note::Kind::Decide)
      text += fmt::format("// TO DECIDE: {}: {}.\n", base::escape_line(note.about), base::escape_line(note.text));
  }
  return text;
}

}  // namespace

std::string template_json(const ImportedKernel& kernel, const std::vector<std::string>& sources) {
  const Parts parts = parts_of(kernel);
  std::vector<std::string> files;
  for (const std::string& source : sources) files.push_back(quoted(source));
  const std::string file = std::filesystem::path(kernel.origin).filename().string();
  std::string text = head(kernel);
  text += fmt::format(
      "{{\n  \"attune\": 1,\n  \"name\": {},\n  \"summary\": {},\n", quoted(kernel.name),
      quoted(fmt::format("{}, {} {}", kernel.kernel, kernel.origin_text.empty() ? "imported from" : "of", base::escape_line(file))));
  if (kernel.has_macros) text += "  \"macro_prefix\": \"\",  // parameters are macros of their own names, as the kernel expects them\n";
  text += fmt::format("  \"sources\": [{}],\n", joined(files));
  if (!parts.options.empty()) text += fmt::format("  \"options\": [{}],\n", joined(parts.options));
  text += fmt::format("  \"problem\": {{{}}},\n", lines(parts.problem));
  text += fmt::format("  \"parameters\": {{{}}},\n", lines(parts.parameters));
  if (!parts.constraints.empty()) text += fmt::format("  \"constraints\": [{}],\n", lines(parts.constraints));
  if (!parts.lets.empty()) text += fmt::format("  \"let\": {{{}}},\n", lines(parts.lets));
  text +=
      "  // An output holds anything before the call: a kernel that adds to one needs {\"memset\": NAME, \"byte\": 0} before its launch.\n";
  text += fmt::format("  \"buffers\": {{{}}},\n", lines(parts.buffers));
  if (!parts.scalars.empty()) text += fmt::format("  \"scalars\": {{{}}},\n", lines(parts.scalars));
  text += fmt::format("  \"launches\": [\n    {}{}\n  ],\n", remark_of(kernel, "launch"), launch_json(kernel));
  return text + fmt::format("  {}\"reference\": {}\n}}\n", remark_of(kernel, "reference", "  "), reference_json(kernel));
}

}  // namespace attune::importing
