#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "attune/error.hpp"
#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

bool is_qualifier(const Token& token) {
  static constexpr std::array<std::string_view, 9> kWords{"const",    "volatile", "__restrict__", "__restrict",       "restrict",
                                                          "register", "struct",   "typename",     "__grid_constant__"};
  return std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

/// "long long unsigned int" is "unsigned long long".
std::string plain_type(const std::vector<std::string>& words) {
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  const auto is_one_of_ints = [](const std::string& word) {
    return word == "unsigned" || word == "signed" || word == "long" || word == "short" || word == "int" || word == "char";
  };
  if (words.empty() || !std::all_of(words.begin(), words.end(), is_one_of_ints)) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  }
  const std::string sign = count("unsigned") > 0 ? "unsigned " : "";
  if (count("char") > 0) return count("signed") > 0 ? "signed char" : sign + "char";
  if (count("short") > 0) return sign + "short";
  if (count("long") > 0) return sign + (count("long") > 1 ? "long long" : "long");
  return sign + "int";
}

[[noreturn]] void refuse_type(const KernelArgument& argument, const std::string& kernel) {
  const bool texture = argument.type.find("exture") != std::string::npos || argument.type.find("urface") != std::string::npos;
  if (texture)
    spec::fail(argument.position,
               fmt::format("the argument '{}' of '{}' is a texture or surface ('{}'), which attune cannot make; read its "
                           "data through a pointer",
                           argument.name, kernel, argument.type));
  if (argument.pointer && argument.type == "void")
    spec::fail(argument.position, fmt::format("the argument '{}' of '{}' is a void pointer, whose elements have no type; give it the "
                                              "type of its elements",
                                              argument.name, kernel));
  spec::fail(argument.position,
             fmt::format("the argument '{}' of '{}' has the type '{}', which attune does not know; pass numbers and pointers to numbers, "
                         "vectors such as float4 or structs that the source defines, the members of a struct by value one by one",
                         argument.name, kernel, argument.type));
}

/// Throws for what is no number and no pointer to numbers.
void check_form(const Tokens& tokens, const KernelArgument& argument, const std::string& kernel) {
  const auto count = [&](std::string_view sign) {
    return std::count_if(tokens.begin(), tokens.end(), [&](const Token& token) { return token.is(sign); });
  };
  const auto refuse = [&](const char* what, const char* remedy) {
    spec::fail(argument.position, fmt::format("the argument '{}' of '{}' is {}; {}", argument.name, kernel, what, remedy));
  };
  if (count("(") > 0) refuse("a pointer to a function or an array", "pass a pointer to its first element");
  if (count("[") > 1 || (count("[") == 1 && count("*") > 0))
    refuse("an array of more than one dimension", "pass a pointer to its first element and compute the index, or pass its rows one by one");
  if (count("*") > 1) refuse("a pointer to pointers", "pass one pointer to all elements and compute the index");
  if (count("&") > 0) refuse("a reference", "pass a number by value, and data by a pointer");
  if (count("...") > 0 || count("<") > 0) refuse("of a type with template arguments", "pass a pointer to its elements");
}

KernelArgument argument_of(const Tokens& tokens, const SourceKernel& kernel, const std::string& code, const TypeArguments& types,
                           const StructLayouts& structs) {
  KernelArgument argument;
  const Tokens declared =
      slice(tokens, 0,
            static_cast<std::size_t>(std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is("="); }) -
                                     tokens.begin()));
  const auto bracket = std::find_if(declared.begin(), declared.end(), [](const Token& token) { return token.is("[") || token.is("("); });
  std::size_t name_at = static_cast<std::size_t>(bracket - declared.begin());
  while (name_at > 0 && (!declared[name_at - 1].is_word() || is_qualifier(declared[name_at - 1]))) --name_at;
  if (name_at > 0) argument.name = declared[--name_at].text;
  argument.position = position_in(code, declared.empty() ? 0 : declared[name_at].offset, kernel.position.file);
  check_form(declared, argument, kernel.name);
  argument.pointer = bracket != declared.end();
  std::vector<std::string> words;
  for (std::size_t i = 0; i < declared.size() && i < name_at; ++i) {
    if (declared[i].is("*")) argument.pointer = true;
    if (declared[i].is("const") &&
        !std::any_of(declared.begin(), declared.begin() + static_cast<std::ptrdiff_t>(i), [](const Token& one) { return one.is("*"); }))
      argument.to_const = true;
    if (declared[i].text.starts_with("__restrict")) argument.restrict = true;
    if (!declared[i].is_word() || is_qualifier(declared[i]) || declared[i].is("std")) continue;
    if (!words.empty() && declared[i - 1].is("::"))
      words.back() += "::" + declared[i].text;
    else
      words.push_back(declared[i].text);
  }
  if (words.empty())
    spec::fail(argument.position, fmt::format("an argument of '{}' has no name ('{}'); give it one", kernel.name, shown(declared)));
  const std::string written = plain_type(words);
  const auto given = types.find(written);
  argument.of_template = given != types.end();
  argument.type = argument.of_template ? written : resolved_type(written, code);
  argument.by_alias = argument.type != written;
  auto layout = argument.of_template ? std::optional(given->second) : find_element_layout(argument.type);
  if (!layout && argument.pointer && structs && argument.type != "void") layout = structs(argument.type);
  if (!layout || (!argument.pointer && layout->lanes > 1)) refuse_type(argument, kernel.name);
  argument.layout = *layout;
  return argument;
}

std::vector<Tokens> parts_of_list(const SourceKernel& kernel) {
  if (kernel.arguments.empty() || (kernel.arguments.size() == 1 && kernel.arguments.front().is("void"))) return {};
  return split_at_commas(kernel.arguments);
}

}  // namespace

std::string resolved_type(std::string type, const std::string& code) {
  static const std::set<std::string> kKeywords = {"float", "double",        "int",  "unsigned int", "char",
                                                  "long",  "unsigned long", "bool", "void"};
  if (kKeywords.contains(type)) return type;  // what no alias is called
  const Tokens tokens = cuda_tokens(code);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i + 2 < tokens.size() && found.empty(); ++i) {
      if (tokens[i].is("using") && tokens[i + 1].is(type) && tokens[i + 2].is("=")) {
        for (std::size_t k = i + 3; k < tokens.size() && tokens[k].is_word(); ++k) found.push_back(tokens[k].text);
      } else if (tokens[i].is("define") && tokens[i + 1].is(type)) {
        const std::string_view rest(code.data() + tokens[i + 2].offset,
                                    std::min(code.find('\n', tokens[i + 2].offset), code.size()) - tokens[i + 2].offset);
        const bool same_line = code.find('\n', tokens[i + 1].offset) > tokens[i + 2].offset;
        for (const Token& token : cuda_tokens(same_line ? rest : std::string_view())) found.push_back(token.text);
      } else if (tokens[i].is("typedef")) {
        std::size_t end = i + 1;
        while (end < tokens.size() && tokens[end].is_word()) ++end;
        if (end < tokens.size() && tokens[end].is(";") && end > i + 2 && tokens[end - 1].is(type)) {
          for (std::size_t k = i + 1; k + 1 < end; ++k) found.push_back(tokens[k].text);
        }
      }
    }
    std::erase_if(found, [](const std::string& word) { return word == "const"; });
    if (found.empty()) break;
    type = plain_type(found);
  }
  return type;
}

std::size_t argument_count(const SourceKernel& kernel) { return parts_of_list(kernel).size(); }

std::vector<KernelArgument> kernel_arguments(const SourceKernel& kernel, const std::string& code, const TypeArguments& types,
                                             const StructLayouts& structs) {
  std::vector<KernelArgument> arguments;
  for (const Tokens& part : parts_of_list(kernel)) arguments.push_back(argument_of(part, kernel, code, types, structs));
  return arguments;
}

std::vector<std::optional<KernelArgument>> plain_arguments(const SourceKernel& kernel, const std::string& code) {
  std::vector<std::optional<KernelArgument>> arguments;
  for (const Tokens& part : parts_of_list(kernel)) {
    try {
      arguments.emplace_back(argument_of(part, kernel, code, {}, {}));
      if (arguments.back()->by_alias) arguments.back().reset();
    } catch (const SpecError&) {
      arguments.emplace_back();
    }
  }
  return arguments;
}

}  // namespace attune::importing
