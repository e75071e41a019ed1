#include "tuner/report/cpp_names.hpp"

#include <fmt/core.h>

#include <cctype>
#include <variant>

#include "tuner/base/characters.hpp"

namespace attune::report {
namespace {

const std::set<std::string>& words_of_cpp() {
  static const std::set<std::string> words = {
      "alignas",   "alignof",  "and",      "and_eq",       "asm",       "auto",      "bitand",        "bitor",       "bool",
      "break",     "case",     "catch",    "char",         "char16_t",  "char32_t",  "char8_t",       "class",       "co_await",
      "co_return", "co_yield", "compl",    "concept",      "const",     "consteval", "constexpr",     "constinit",   "const_cast",
      "continue",  "decltype", "default",  "delete",       "do",        "double",    "dynamic_cast",  "else",        "enum",
      "explicit",  "export",   "extern",   "false",        "float",     "for",       "friend",        "goto",        "if",
      "inline",    "int",      "long",     "mutable",      "namespace", "new",       "noexcept",      "not",         "not_eq",
      "nullptr",   "operator", "or",       "or_eq",        "private",   "protected", "public",        "register",    "reinterpret_cast",
      "requires",  "return",   "short",    "signed",       "sizeof",    "static",    "static_assert", "static_cast", "struct",
      "switch",    "template", "this",     "thread_local", "throw",     "true",      "try",           "typedef",     "typeid",
      "typename",  "union",    "unsigned", "using",        "virtual",   "void",      "volatile",      "wchar_t",     "while",
      "xor",       "xor_eq"};
  return words;
}

/// "two_pass" -> "TwoPass".
std::string pascal(const std::string& text) {
  std::string name;
  bool begins = true;
  for (const char letter : text) {
    if (!base::is_letter_or_digit(letter)) {
      begins = true;
      continue;
    }
    name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    begins = false;
  }
  return name;
}

/// The name, or the first of name2, name3, ... that is free.
std::string free_name(const std::string& wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

}  // namespace

std::string cpp_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      literal += '\\';
      literal += letter;
    } else if (byte >= 0x20 && byte < 0x7f && !(letter == '?' && literal.back() == '?')) {  // two begin a trigraph
      literal += letter;
    } else {
      literal += fmt::format("\\{:03o}", byte);  // three digits end the escape, whatever follows
    }
  }
  return literal + "\"";
}

std::string cpp_comment(std::string_view text) {
  std::string comment;
  for (const char letter : text) comment += letter >= 0x20 && letter < 0x7f && letter != '\\' ? letter : ' ';
  return comment;
}

std::string cpp_member(const std::string& name) {
  static const std::set<std::string> types{"Problem", "Configuration"};  // no member may be called like its class
  return words_of_cpp().contains(name) || types.contains(name) ? name + "_" : name;
}

CppNames::CppNames(const spec::KernelTemplate& kernel) {
  for (const auto& axis : kernel.problem) {
    if (axis.kind == spec::AxisKind::Type || axis.kind == spec::AxisKind::Choice) add(axis.name, "Choice", axis.values);
  }
  for (const auto& parameter : kernel.parameters) {
    if (!std::holds_alternative<std::string>(parameter.values.front())) continue;
    std::vector<std::string> values;
    for (const auto& value : parameter.values) values.push_back(spec::to_text(value));
    add(parameter.name, "Value", values);
  }
}

const CppEnum* CppNames::find(const std::string& name) const {
  const auto found = enums_.find(name);
  return found == enums_.end() ? nullptr : &found->second;
}

void CppNames::add(const std::string& name, const char* suffix, const std::vector<std::string>& values) {
  CppEnum made;
  made.type = free_name(pascal(name) + suffix, types_);
  std::set<std::string> taken;
  for (const auto& value : values) made.enumerators[value] = free_name("k" + pascal(value), taken);
  enums_[name] = std::move(made);
}

}  // namespace attune::report
