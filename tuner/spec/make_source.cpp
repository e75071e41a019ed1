#include <fmt/format.h>

#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/macros.hpp"

namespace attune::spec {
namespace {

/// Collects the prelude: includes first, then types, then macros.
class Prelude {
 public:
  explicit Prelude(std::string_view prefix) : prefix_(prefix) {}

  void add_type(const std::string& name, const std::vector<std::string>& possible, const std::string& chosen) {
    if (chosen == "f16") include("<cuda_fp16.h>");
    if (chosen == "bf16") include("<cuda_bf16.h>");
    const std::string alias = type_alias_name(prefix_, name);
    types_ += fmt::format("using {} = {};\n", alias, cuda_name(element_type(chosen)));
    // A second spelling, so that every name of template.json has its macro; without a prefix both are one.
    if (!prefix_.empty()) macros_ += fmt::format("#define {} {}\n", macro_name(prefix_, name), alias);
    add_flags(name, possible, chosen);
  }

  void add_flags(const std::string& name, const std::vector<std::string>& possible, const std::string& chosen) {
    for (const std::string& value : possible) {
      macros_ += fmt::format("#define {} {}\n", flag_name(prefix_, name, value), value == chosen ? 1 : 0);
    }
  }

  void add_parameter(const Parameter& parameter, const Value& value) {
    if (const std::string* chosen = std::get_if<std::string>(&value)) {
      std::vector<std::string> possible;
      for (const Value& candidate : parameter.values) possible.push_back(to_text(candidate));
      add_flags(parameter.name, possible, *chosen);
      return;
    }
    const bool* boolean = std::get_if<bool>(&value);
    const std::string text = boolean != nullptr ? (*boolean ? "1" : "0") : to_text(value);
    macros_ += fmt::format("#define {} {}\n", macro_name(prefix_, parameter.name), text);
  }

  [[nodiscard]] std::string text() const { return includes_ + types_ + macros_; }

 private:
  void include(std::string_view header) {
    const std::string line = fmt::format("#include {}\n", header);
    if (includes_.find(line) == std::string::npos) includes_ += line;
  }

  std::string_view prefix_;
  std::string includes_;
  std::string types_;
  std::string macros_;
};

/// `#line` takes a string literal: quotes and backslashes in a file name are escaped.
std::string quoted(const std::string& file) {
  std::string text;
  for (const char c : file) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return '"' + text + '"';
}

}  // namespace

std::string make_source(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                        const DeviceInfo& device) {
  Prelude prelude(kernel.macro_prefix);
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.kind == AxisKind::Type) prelude.add_type(axis.name, axis.values, resolve_type(kernel, axis.name, problem));
    if (axis.kind == AxisKind::Choice)
      prelude.add_flags(axis.name, axis.values, resolve_type(kernel, axis.name, problem));
  }
  for (const KernelTemplate::TypeAlias& alias : kernel.types) {
    prelude.add_type(alias.name, possible_types(kernel, alias.name), resolve_type(kernel, alias.name, problem));
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].binding == Binding::Source) {
      prelude.add_parameter(kernel.parameters[i], value_of(kernel, configuration, i));
    }
  }
  const Scope scope = make_scope(kernel, problem, configuration, device);
  std::string source = prelude.text();
  bool chosen = false;
  for (const SourceSpec& file : kernel.sources) {
    if (file.condition && !file.condition->truth(scope)) continue;
    chosen = true;
    source += fmt::format("#line 1 {}\n{}\n", quoted(file.file), kernel.files.at(file.file));
  }
  if (!chosen) {
    throw SpecError(
        kernel.spec_path, 0, 0,
        fmt::format("no source's condition holds for {} of {}; let one file be unconditional or add a constraint",
                    to_text(kernel, configuration), to_text(problem)));
  }
  return source;
}

}  // namespace attune::spec
