#include "tuner/importing/kernel_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/base/characters.hpp"
#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/cuda_macros.hpp"
#include "tuner/importing/signature.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/macros.hpp"

namespace attune::importing {
namespace {

/// Where the name occurs by itself from `at` on; npos: nowhere.
std::size_t word_at(std::string_view code, std::string_view word, std::size_t at) {
  for (at = code.find(word, at); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const bool begins = at == 0 || !base::is_name_part(code[at - 1]);
    const bool ends = at + word.size() == code.size() || !base::is_name_part(code[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

bool declares_constant(std::string_view code, std::string_view name) {
  for (std::size_t at = word_at(code, "__constant__", 0); at != std::string_view::npos; at = word_at(code, "__constant__", at + 1)) {
    const std::string_view declaration = code.substr(at, code.find(';', at) - at);
    if (has_word(declaration, name)) return true;
  }
  return false;
}

/// Decides by the source what becomes of arguments in constant memory: Kernel Tuner passes some of them as well, and some are constant only
/// in the words of the file.
void fit_constant_memory(ImportedKernel& kernel, std::string_view code, std::optional<std::size_t> takes) {
  const auto passed = [&] { return static_cast<std::size_t>(std::count_if(kernel.arguments.begin(), kernel.arguments.end(), is_passed)); };
  for (ImportedArgument& argument : kernel.arguments) {
    if (!argument.constant_memory || declares_constant(code, argument.name)) continue;
    const std::string about = fmt::format("the argument '{}'", argument.name);
    if (argument.perhaps_passed) {
      argument.constant_memory = argument.perhaps_passed = false;
      kernel.notes.push_back(
          {Note::Kind::Changed, about, "the source has no __constant__ variable of this name: an argument in global memory"});
    } else {
      kernel.notes.push_back(
          {Note::Kind::Decide, about, "the source shows no __constant__ variable of this name; call it by the variable's"});
    }
  }
  const auto both = static_cast<std::size_t>(
      std::count_if(kernel.arguments.begin(), kernel.arguments.end(), [](const ImportedArgument& one) { return one.perhaps_passed; }));
  if (both == 0 || takes != passed() + both) return;
  std::vector<ImportedArgument> all;
  for (ImportedArgument& argument : kernel.arguments) {
    all.push_back(argument);
    if (!argument.perhaps_passed) continue;
    all.back().name += "_argument";
    all.back().constant_memory = all.back().perhaps_passed = false;
    all.push_back(argument);
    kernel.notes.push_back(
        {Note::Kind::Changed, fmt::format("the argument '{}'", argument.name),
         fmt::format("a __constant__ variable and, as '{}_argument', an argument, since the kernel takes both", argument.name)});
  }
  kernel.arguments = std::move(all);
}

/// A parameter that is a word becomes the word: attune itself only says which word is chosen.
std::string word_macros(const ImportedKernel& kernel) {
  std::string text;
  for (const spec::Parameter& parameter : kernel.parameters) {
    if (!std::holds_alternative<std::string>(parameter.values.front())) continue;
    const char* directive = "#if";
    for (const spec::Value& value : parameter.values) {
      const std::string word = spec::to_text(value);
      text += fmt::format("{} {}\n#define {} {}\n", directive, spec::flag_name("", parameter.name, word), parameter.name, word);
      directive = "#elif";
    }
    text += "#endif\n";
  }
  return text;
}

/// What Kernel Tuner defines beside the parameters, as far as the source asks for it.
std::string kernel_tuner_macros(ImportedKernel& kernel, std::string_view code) {
  static constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};
  std::string text;
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const std::string name = fmt::format("block_size_{}", kAxes[i]);
    const bool known = std::any_of(kernel.parameters.begin(), kernel.parameters.end(), [&](const auto& one) { return one.name == name; });
    const std::string value = i < kernel.block.size() ? kernel.block[i] : "1";
    if (!known && has_word(code, name) && std::all_of(value.begin(), value.end(), base::is_name_part))
      text += fmt::format("#define {} {}\n", name, value);
    if (has_word(code, fmt::format("grid_size_{}", kAxes[i])))
      kernel.notes.push_back({Note::Kind::Decide, fmt::format("grid_size_{}", kAxes[i]),
                              "the source reads this macro of Kernel Tuner's, which attune does not define; gridDim has the number"});
  }
  return text;
}

/// A definition that nothing keeps out takes the place of what attune defines before the source: the parameter changes nothing.
void tell_defined_parameters(ImportedKernel& kernel, const std::string& code) {
  for (const SourceName& name : source_names(code, kernel.kernel_file)) {
    const bool parameter =
        std::any_of(kernel.parameters.begin(), kernel.parameters.end(), [&](const auto& one) { return one.name == name.name; });
    if (!parameter || name.kind != SourceName::Kind::Defined || name.conditions > 0) continue;
    kernel.notes.push_back({Note::Kind::Decide, fmt::format("the parameter '{}'", name.name),
                            fmt::format("line {} of the source defines it anew, so that its values change nothing there; put #ifndef {} "
                                        "and #endif around that line",
                                        name.position.line, name.name)});
  }
}

/// The launch says where the kernel is, and of which template it is an instance.
void fit_name(ImportedKernel& kernel, const SourceKernel& definition, const std::string& about) {
  if (const std::string name = qualified_name(definition); name != kernel.kernel) {
    kernel.notes.push_back({Note::Kind::Changed, about, fmt::format("the launch names it '{}', with its namespace", name)});
    kernel.kernel = name;
  }
  if (definition.is_template && kernel.template_arguments.empty()) {
    kernel.notes.push_back(
        {Note::Kind::Decide, about,
         fmt::format("it is a kernel template: write its arguments behind its name in \"launches\", such as \"{}<f32, 4>\"",
                     kernel.kernel)});
  }
  if (!definition.is_template && !kernel.template_arguments.empty()) {
    kernel.notes.push_back({Note::Kind::Decide, about,
                            "the file gives it template arguments, and it is no template where it shows: take them away in \"launches\""});
  }
  if (definition.linkage == SourceKernel::Linkage::Local) {
    kernel.notes.push_back(
        {Note::Kind::Decide, about, "it is static or in an unnamed namespace, so that its name may not be seen outside; take that away"});
  }
}

}  // namespace

bool has_word(std::string_view code, std::string_view word) { return word_at(code, word, 0) != std::string_view::npos; }

std::string without_comments(std::string_view source) {
  std::string code(source);
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] == '"' || code[at] == '\'') {
      const char quote = code[at];
      for (++at; at < code.size() && code[at] != quote && code[at] != '\n'; ++at) {
        if (code[at] == '\\') ++at;
      }
      continue;
    }
    if (code[at] != '/' || at + 1 >= code.size() || (code[at + 1] != '/' && code[at + 1] != '*')) continue;
    const bool line = code[at + 1] == '/';
    const std::size_t found = code.find(line ? "\n" : "*/", at + 2);
    const std::size_t end = found == std::string::npos ? code.size() : line ? found : found + 2;
    for (; at < end; ++at) {
      if (code[at] != '\n') code[at] = ' ';
    }
    --at;
  }
  return code;
}

void fit_to_source(ImportedKernel& kernel, const std::string& source) {
  const std::string code = without_comments(source);
  const auto definitions = kernels_called(source_kernels(code, kernel.kernel_file), kernel.kernel);
  const auto takes = definitions.empty() ? std::nullopt : std::optional(argument_count(definitions.front()));
  fit_constant_memory(kernel, code, takes);
  kernel.before = word_macros(kernel);
  // A source that asks for it defines the parameters itself where nobody else does.
  if (has_word(code, "kernel_tuner")) kernel.before += "#define kernel_tuner 1\n";
  if (kernel.by_kernel_tuner) kernel.before += kernel_tuner_macros(kernel, code);
  tell_defined_parameters(kernel, code);
  const std::string about = fmt::format("the kernel '{}'", kernel.kernel);
  if (definitions.empty()) {
    kernel.notes.push_back(
        {Note::Kind::Decide, about,
         "its source shows no __global__ function of this name with a body; a macro may make it, else name one that is there"});
    return;
  }
  const auto passed = static_cast<std::size_t>(std::count_if(kernel.arguments.begin(), kernel.arguments.end(), is_passed));
  if (passed != takes)
    kernel.notes.push_back({Note::Kind::Decide, about, fmt::format("it takes {} arguments, and the file lists {}", *takes, passed)});
  if (definitions.size() == 1) fit_to_signature(kernel, definitions.front(), code);
  const auto other = [&](const SourceKernel& one) { return qualified_name(one) != qualified_name(definitions.front()); };
  if (std::any_of(definitions.begin(), definitions.end(), other)) {
    kernel.notes.push_back(
        {Note::Kind::Decide, about,
         fmt::format("several kernels are called so; the launch names the first, '{}'", qualified_name(definitions.front()))});
  }
  fit_name(kernel, definitions.front(), about);
  if (const int line = instantiation_line(code, definitions.front().name); line > 0) {
    kernel.notes.push_back(
        {Note::Kind::Decide, about,
         fmt::format("line {} of the source instantiates it, and attune instantiates what it launches: take that line away", line)});
  }
}

}  // namespace attune::importing
