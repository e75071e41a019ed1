#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/spec/code_axis.hpp"
#include "tuner/spec/header_lines.hpp"
#include "tuner/spec/host_headers.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/kernel_name.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/macros.hpp"

namespace attune::spec {
namespace {

/// The lines that a compiler may read once for many sources: CUDA's headers, each once. NVRTC precompiles what stands
/// before the pragma, and only where no #line stands before it. What takes the place of the host's headers comes behind: it is short,
/// and declarations would end what can be precompiled.
class Headers {
 public:
  void add(std::string_view header) {
    if (is_replaced(header)) {
      const HeaderReplacement replacement = replacement_of(header);
      for (const std::string_view one : replacement.includes) add(one);
      add_once(replacement.declarations, declarations_);
    } else {
      add_once(fmt::format("#include {}\n", header), lines_);
    }
  }
  [[nodiscard]] std::string text() const { return (lines_.empty() ? lines_ : lines_ + "#pragma nv_hdrstop\n") + declarations_; }

 private:
  void add_once(std::string text, std::string& all) {
    const auto [line, fresh] = known_.insert(std::move(text));
    if (fresh) all += *line;
  }

  std::set<std::string> known_;
  std::string lines_;
  std::string declarations_;
};

/// Collects what follows the headers: types, then macros.
class Prelude {
 public:
  Prelude(std::string_view prefix, Headers& headers) : prefix_(prefix), headers_(headers) {}

  void add_type(const std::string& name, const std::vector<std::string>& possible, const std::string& chosen) {
    const ElementType type = element_type(chosen);
    if (const std::string_view header = cuda_header(type); !header.empty()) headers_.add(header);
    const std::string alias = type_alias_name(prefix_, name);
    types_ += fmt::format("using {} = {};\n", alias, cuda_name(type));
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

  /// Before the macros, which must not rewrite the caller's text.
  void add_code(const std::string& function) { code_ += function; }

  void add_size(const std::string& name, std::int64_t size) { macros_ += fmt::format("#define {} {}\n", macro_name(prefix_, name), size); }

  [[nodiscard]] std::string text() const { return types_ + code_ + macros_; }

 private:
  std::string_view prefix_;
  Headers& headers_;
  std::string types_;
  std::string code_;
  std::string macros_;
};

/// Moves `#include <...>` lines at the beginning of a file, before anything but comments and blank lines, to the
/// headers, and leaves blank lines in their places: every other line keeps its number. Includes behind a condition or a
/// definition may depend on it and stay where they are, and so does what will not compile: the compiler names its place. Of Thrust some
/// headers compile, so that all are moved.
std::string move_leading_includes(const std::string& file, Headers& headers) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  constexpr std::string_view kBlank = " \t";
  std::string left;  // what is kept of the file up to `copied`
  std::size_t copied = 0;
  for (std::size_t at = file.find_first_not_of(kSpace); at != std::string::npos; at = file.find_first_not_of(kSpace, at)) {
    if (file.compare(at, 2, "//") == 0) {
      at = file.find('\n', at);
    } else if (file.compare(at, 2, "/*") == 0) {
      const std::size_t end = file.find("*/", at + 2);
      at = end == std::string::npos ? end : end + 2;
    } else {
      const std::size_t word = file[at] == '#' ? file.find_first_not_of(kBlank, at + 1) : std::string::npos;
      if (word == std::string::npos || file.compare(word, 7, "include") != 0) break;
      const std::size_t open = file.find_first_not_of(kBlank, word + 7);
      const std::size_t close = file.find('>', at);
      if (open == std::string::npos || file[open] != '<' || close == std::string::npos) break;
      if (std::string_view(file).substr(at, close - at).find('\n') != std::string_view::npos) break;
      const std::string_view header = std::string_view(file).substr(open, close + 1 - open);
      if (!is_host_code(header) || is_of_thrust(header)) {
        headers.add(header);
        left.append(file, copied, at - copied);
        copied = close + 1;
      }
      at = close + 1;
    }
    if (at == std::string::npos) break;
  }
  return left.append(file, copied, std::string::npos);
}

}  // namespace

std::string make_source(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                        const DeviceInfo& device) {
  Headers headers;
  Prelude prelude(kernel.macro_prefix, headers);
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.kind == AxisKind::Type) prelude.add_type(axis.name, axis.values, resolve_type(kernel, axis.name, problem));
    if (axis.kind == AxisKind::Choice) prelude.add_flags(axis.name, axis.values, resolve_type(kernel, axis.name, problem));
  }
  for (const KernelTemplate::TypeAlias& alias : kernel.types) {
    prelude.add_type(alias.name, possible_types(kernel, alias.name), resolve_type(kernel, alias.name, problem));
  }
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.kind == AxisKind::Code) prelude.add_code(code_function(kernel, axis, resolve_type(kernel, axis.name, problem)));
  }
  std::set<std::string> specialised;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (parameter.binding != Binding::Source) continue;
    const Value& value = value_of(kernel, configuration, i);
    prelude.add_parameter(parameter, value);
    if (!parameter.specialises.empty() && std::get<bool>(value))
      specialised.insert(parameter.specialises.begin(), parameter.specialises.end());
  }
  for (const std::string& size : specialised) prelude.add_size(size, problem.sizes.at(size));
  const Scope scope = make_scope(kernel, problem, configuration, device);
  std::string files;
  DirectivesByFile directives(kernel.files);
  for (const SourceSpec& file : kernel.sources) {
    if (file.condition && !file.condition->truth(scope)) continue;
    const std::string text = kernel.includes_files ? with_includes(kernel, file.file, directives) : kernel.files.at(file.file);
    files += with_replaced_headers(fmt::format("#line 1 {}\n{}\n", quoted_file(file.file), move_leading_includes(text, headers)));
  }
  if (files.empty()) {
    throw SpecError(kernel.spec_path, 0, 0,
                    fmt::format("no source's condition holds for {} of {}; let one file be unconditional or add a constraint",
                                to_text(kernel, configuration), to_text(problem)));
  }
  return headers.text() + prelude.text() + files + instantiations(kernel, problem, scope);
}

}  // namespace attune::spec
