#include "tuner/spec/code_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tuner/spec/includes.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/value.hpp"

namespace attune::spec {
namespace {

constexpr std::size_t kLongest = 4096;

/// As CUDA C++ names it where the function stands: an alias or axis of the template, or an element type.
std::string source_type(const KernelTemplate& kernel, const std::string& reference) {
  const auto types = element_type_names();
  const bool element = std::find(types.begin(), types.end(), reference) != types.end();
  return element ? std::string(cuda_name(element_type(reference))) : type_alias_name(kernel.macro_prefix, reference);
}

}  // namespace

std::string why_no_expression(const std::string& code) {
  if (code.find_first_not_of(' ') == std::string::npos) return "it is empty";
  if (code.size() > kLongest) return fmt::format("it has {} characters, more than {}", code.size(), kLongest);
  std::string open;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    const char next = i + 1 < code.size() ? code[i + 1] : ' ';
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) return "it holds a line break or another control character";
    if (c == '#' || c == '\\' || c == '"' || c == '\'' || c == ';') return fmt::format("it holds '{}'", c);
    if (c == '/' && (next == '/' || next == '*')) return "it holds a comment";
    // Another spelling of #, [, ], { or }: at the beginning of a line the first is a directive.
    const bool digraph =
        (c == '%' && (next == ':' || next == '>')) || (c == '<' && (next == '%' || next == ':')) || (c == ':' && next == '>');
    if (digraph) return fmt::format("it holds the digraph '{}{}'; put a space between them", c, next);
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c != ')' && c != ']' && c != '}') continue;
    if (open.empty() || open.back() != c) return fmt::format("its '{}' closes nothing", c);
    open.pop_back();
  }
  return open.empty() ? "" : fmt::format("a '{}' is missing", open.back());
}

std::string code_function(const KernelTemplate& kernel, const ProblemAxis& axis, const std::string& code) {
  std::string arguments;
  for (const auto& [name, type] : axis.arguments) {
    arguments += fmt::format("{}{} {}", arguments.empty() ? "" : ", ", source_type(kernel, type), name);
  }
  std::string names;
  const auto add_name = [&](const std::string& name) {
    if (!kernel.macro_prefix.empty()) names += fmt::format("  using {} = {};\n", name, source_type(kernel, name));
  };
  for (const ProblemAxis& candidate : kernel.problem) {
    if (candidate.kind == AxisKind::Type) add_name(candidate.name);
  }
  for (const KernelTemplate::TypeAlias& alias : kernel.types) add_name(alias.name);
  return fmt::format("__device__ __forceinline__ {} {}({}) {{\n{}  return (\n#line 1 {}\n{}\n  );\n}}\n", source_type(kernel, axis.returns),
                     type_alias_name(kernel.macro_prefix, axis.name), arguments, names, quoted_file(axis.name), code);
}

}  // namespace attune::spec
