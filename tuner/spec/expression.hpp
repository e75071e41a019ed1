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
/// unary -); min, max, abs, ceil_div(a,b), clamp(x,low,high), sizeof(type), round, floor, ceil, log2, int, len-free.
/// No other evaluation and no code execution.
class Expression {
 public:
  /// Throws: SpecError with the position of the offending token inside `position`'s file, and the expression.
  [[nodiscard]] static Expression parse(std::string_view text, const SourcePosition& position = {"<expression>", 1, 1});
  [[nodiscard]] static Expression constant(const Value& value);

  /// Throws: SpecError (unknown variable, with a suggestion; overflow; division by zero; type mismatch).
  [[nodiscard]] Value evaluate(const Scope& scope) const;
  /// Fast form: `values[i]` belongs to `variables()[i]`. Same errors.
  [[nodiscard]] Value evaluate(std::span<const Value* const> values) const;
  /// Fast form for conditions: Python truth of the value.
  [[nodiscard]] bool truth(std::span<const Value* const> values) const;
  [[nodiscard]] bool truth(const Scope& scope) const;
  /// The value as an integer; a float with a fraction is an error.
  [[nodiscard]] std::int64_t integer(const Scope& scope) const;

  /// Distinct variables in order of first use.
  [[nodiscard]] const std::vector<std::string>& variables() const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const SourcePosition& position() const;

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

/// The list that a Python list expression denotes: "[16, 32]", "list(range(1, 12))", "(1, 2)", "[2**i for i in ...]" is
/// refused. T1 files write `Values` this way. Throws: SpecError.
[[nodiscard]] std::vector<Value> parse_value_list(std::string_view text, const SourcePosition& position);

}  // namespace attune::spec
