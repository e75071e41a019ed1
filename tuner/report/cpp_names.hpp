#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tuner/spec/kernel_template.hpp"

namespace attune::report {

/// A C++ string literal of the text, whatever it holds.
[[nodiscard]] std::string cpp_literal(std::string_view text);
/// The name itself, or with a `_` behind it where it is a word of C++.
[[nodiscard]] std::string cpp_member(const std::string& name);

/// The text on one line, with nothing that ends a comment of C++ or goes on with it.
[[nodiscard]] std::string cpp_comment(std::string_view text);

/// An enumeration that stands for a type or choice of a problem, or for a parameter whose values are texts.
struct CppEnum {
  std::string type;                                ///< "OpChoice", "GridStageValue"
  std::map<std::string, std::string> enumerators;  ///< of each value: "sum" -> "kSum"
  [[nodiscard]] std::string of(const std::string& value) const { return type + "::" + enumerators.at(value); }
};

/// What the names of a template are called in a header of C++. Distinct names stay distinct.
class CppNames {
 public:
  explicit CppNames(const spec::KernelTemplate& kernel);
  /// By axis or parameter; null: it is not told by an enumeration.
  [[nodiscard]] const CppEnum* find(const std::string& name) const;

 private:
  void add(const std::string& name, const char* suffix, const std::vector<std::string>& values);
  std::map<std::string, CppEnum> enums_;
  std::set<std::string> types_;
};

}  // namespace attune::report
