#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuner/importing/python_syntax.hpp"
#include "tuner/importing/python_translation.hpp"

namespace attune::importing {

/// How tightly a text of attune's language holds together, from `or` to names.
enum class Binding : int { Or = 1, And, Not, Compare, Sum, Product, Sign, Power, Atom };

/// What of a part counts: whether it is true, or its value.
enum class Asked { Value, Truth };

/// A part of an expression in attune's language.
struct Piece {
  std::string text;
  Binding binding = Binding::Atom;
};

/// The text, in parentheses where it holds less tightly than asked.
[[nodiscard]] std::string held(const Piece& piece, Binding least);

/// Writes Python's syntax trees in attune's language. One instance writes one expression.
class PythonPrinter {
 public:
  PythonPrinter(std::string_view text, const spec::SourcePosition& position, const KnownNames& names, Use use)
      : text_(text), position_(position), names_(names), use_(use) {}

  [[nodiscard]] Piece print(const PythonNode& node, Asked asked);
  [[nodiscard]] bool rewritten() const { return rewritten_; }
  [[nodiscard]] bool divides() const { return divides_; }
  [[nodiscard]] const std::vector<std::string>& divisors() const { return divisors_; }

 private:
  [[noreturn]] void error(const PythonNode& node, const std::string& message) const;
  Piece printed(const PythonNode& node, Asked asked);
  Piece name(const PythonNode& node);
  Piece known_name(const PythonNode& node, const std::string& name);
  Piece problem_size(const PythonNode& node, std::size_t dimension);
  Piece subscript(const PythonNode& node);
  Piece joined(const PythonNode& node, std::string_view word, Binding own, Asked asked);
  Piece unary(const PythonNode& node);
  Piece binary(const PythonNode& node);
  Piece bitwise(const PythonNode& node);
  Piece compare(const PythonNode& node);
  Piece compared(const PythonNode& left, const std::string& symbol, const PythonNode& right);
  Piece member_of_range(const PythonNode& left, const PythonNode& range, bool negated);
  std::string list(const PythonNode& node);
  Piece conditional(const PythonNode& node, Asked asked);
  Piece call(const PythonNode& node);
  Piece folded(const PythonNode& node, std::string_view symbol, Binding own);
  Piece extreme(const PythonNode& node, const std::string& function);
  Piece of_values(const PythonNode& node, const std::string& function, const spec::Parameter& parameter);
  [[nodiscard]] const spec::Parameter* parameter(std::string_view name) const;
  Piece binary_piece(const Piece& left, std::string_view symbol, const Piece& right, Binding own) const;
  Piece changed(Piece piece) {
    rewritten_ = true;
    return piece;
  }

  std::string_view text_;
  const spec::SourcePosition& position_;
  const KnownNames& names_;
  Use use_;
  bool rewritten_ = false;
  bool divides_ = false;
  std::vector<std::string> divisors_;
};

}  // namespace attune::importing
