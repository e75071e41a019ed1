#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/error.hpp"
#include "tuner/spec/value.hpp"

namespace attune::spec {

/// Where a text stands, for error messages. line/column count from 1 and name the first character of the expression.
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
};

/// Finds the value of a variable ("n", "block_size", "device.sm_count") or nothing.
using Scope = std::function<std::optional<Value>(std::string_view)>;

/// An expression, parsed once into a compact program; immutable, cheap to copy, safe to share between threads.
/// Grammar: integers, floats, 'strings', True/False, names with dots, lists `[..]`/`(..)` on the right of `in`;
/// Python's operators with Python's precedence (or, and, not, chained comparisons, in, not in, + - * / // % **,
/// unary - and +); min, max, abs, ceil_div(a,b), clamp(x,low,high), sizeof(type), round, floor, ceil, log2, int.
/// `and`, `or` and chains stop at the first operand that decides. No other evaluation and no code execution.
/// A default-constructed one holds nothing and may only be assigned to.
class Expression {
 public:
  Expression() = default;
  /// Throws: SpecError with the position of the offending token inside `position`'s file, and the expression.
  [[nodiscard]] static Expression parse(std::string_view text, const SourcePosition& position = {"<expression>", 1, 1});
  [[nodiscard]] static Expression constant(const Value& value, const SourcePosition& position = {"<constant>", 0, 0});

  /// Throws: SpecError (unknown variable, with a suggestion; overflow; division by zero; type mismatch).
  [[nodiscard]] Value evaluate(const Scope& scope) const;
  /// Fast form: `values[i]` belongs to `variables()[i]`. Same errors.
  [[nodiscard]] Value evaluate(std::span<const Value* const> values) const;
  /// Fast form for conditions: Python truth of the value.
  [[nodiscard]] bool truth(std::span<const Value* const> values) const;
  [[nodiscard]] bool truth(const Scope& scope) const;
  /// The value as an integer; a float with a fraction is an error.
  [[nodiscard]] std::int64_t integer(const Scope& scope) const;

  /// The first part of a condition "a or b": a, or what implies it where it is part of more. Where it holds the condition does, and is told
  /// from fewer variables. Nothing of a condition of another form.
  [[nodiscard]] std::optional<Expression> first_alternative() const;

  /// Distinct variables in order of first use.
  [[nodiscard]] const std::vector<std::string>& variables() const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const SourcePosition& position() const;
  /// Where `variables()[index]` is first used.
  [[nodiscard]] SourcePosition variable_position(std::size_t index) const;

  struct Program;  ///< implementation: expression_program.hpp

 private:
  friend class ExpressionParser;
  explicit Expression(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  [[nodiscard]] const Program& program() const;

  std::shared_ptr<const Program> program_;
};

/// Names that mean something in expressions (operators, constants, functions), and those of types and vectors: nothing may be called so
/// that expressions see.
[[nodiscard]] std::vector<std::string> reserved_words();

/// How many values a parameter may have: a configuration holds 16-bit value indices.
inline constexpr std::size_t kMostValues = 65535;

/// The list that a Python list expression denotes: "[16, 32]", "(1, 2)", "list(range(1, 12))", "[2*i for i in
/// range(4)]" with an optional `if`, and `+` of such lists; and "powers(2, 32, 1024)": 32, 64, ..., 1024. T1 files write `Values` this
/// way, and a template may write "values". Throws: SpecError, also for more than kMostValues values.
/// `work`: of the lists before it, and with it (kMostListWork).
[[nodiscard]] std::vector<Value> parse_value_list(std::string_view text, const SourcePosition& position, std::size_t& work);
[[nodiscard]] std::vector<Value> parse_value_list(std::string_view text, const SourcePosition& position);

}  // namespace attune::spec
