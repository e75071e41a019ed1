#pragma once
#include <map>
#include <set>
#include <string>

#include "tuner/report/cpp_names.hpp"
#include "tuner/spec/expression.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::report {

/// An expression in C++17 and what it yields there.
struct CppExpression {
  /// Truth: the operands of `and` or `or` have no common type, and which of them the result is does not matter to a condition.
  enum class Kind { Integer, Boolean, Real, Text, Truth } kind = Kind::Integer;
  std::string text;
  const CppEnum* choices = nullptr;  ///< of a Text that an enumeration stands for: `text` is of that type
  bool is_literal = false;           ///< a Text as it stands in the expression; `text` is without quotes
};

/// Writes the conditions of a template as C++ that says the same of `p` (the problem), `c` (the configuration) and `d` (the device).
/// What cannot be computed (an overflow, a division by zero) clears the variable `ok` of the function that it stands in.
/// The functions that it calls are those of cpp_arithmetic.
class CppConditions {
 public:
  /// Requires: both outlive this.
  CppConditions(const spec::KernelTemplate& kernel, const CppNames& names) : kernel_(kernel), names_(names) {}
  /// Throws: UsageError naming the condition, when it says what the translation does not know.
  [[nodiscard]] std::string condition(const spec::Expression& expression);
  /// Attributes of the device that conditions have asked for.
  [[nodiscard]] const std::set<std::string>& attributes() const { return attributes_; }
  /// Type aliases that conditions have asked for.
  [[nodiscard]] const std::set<std::string>& aliases() const { return aliases_; }

  /// Functions in the namespace `detail` for the lets that were asked for, each behind those that it calls.
  [[nodiscard]] const std::string& let_functions() const { return let_functions_; }

  /// An expression with what it yields. Throws: as condition.
  [[nodiscard]] CppExpression expression(const spec::Expression& expression);
  /// What stands for a name in expressions.
  [[nodiscard]] CppExpression variable(const std::string& name);

 private:
  [[nodiscard]] CppExpression let_call(const std::string& name, const spec::Expression& value);

  const spec::KernelTemplate& kernel_;
  const CppNames& names_;
  std::set<std::string> attributes_, aliases_;
  std::map<std::string, CppExpression::Kind> let_kinds_;
  std::string let_functions_;
};

/// As a condition of C++: a bool. Requires: no empty expression.
[[nodiscard]] std::string cpp_truth(const CppExpression& expression);

/// Functions of C++17 with the meaning of the expression language, in the namespace `detail` of a header.
[[nodiscard]] std::string cpp_arithmetic();

}  // namespace attune::report
