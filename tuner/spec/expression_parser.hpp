#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "tuner/spec/expression_lexer.hpp"
#include "tuner/spec/expression_program.hpp"

namespace attune::spec {

/// Recursive descent over tokens that emits the program while it reads. One instance reads one expression.
class ExpressionParser {
 public:
  /// Starts at `tokens[cursor]` and leaves `cursor` behind the expression.
  ExpressionParser(std::string_view text, const SourcePosition& position, const std::vector<Token>& tokens, std::size_t& cursor);
  /// Reads as far as an expression goes; what may follow is the caller's matter.
  [[nodiscard]] Expression parse();

 private:
  [[nodiscard]] const Token& token(std::size_t ahead = 0) const;
  bool accept(std::string_view what);
  void expect(std::string_view what);
  [[noreturn]] void error(const Token& where, const std::string& message) const;
  [[noreturn]] void unexpected(const std::string& wanted) const;

  std::size_t emit(Opcode opcode, const Token& where, int stack_change, std::uint32_t operand = 0);
  void emit_constant(const Value& value, const Token& where);
  void emit_variable(const Token& where);
  void patch(const std::vector<std::size_t>& jumps);

  void parse_or();
  void parse_and();
  void parse_not();
  void parse_comparison();
  void parse_membership(const Token& where, bool negated);
  void parse_sum();
  void parse_product();
  void parse_unary();
  void parse_power();
  void parse_atom();
  void parse_name();
  void parse_call(const Token& name);
  void parse_sizeof(const Token& name);
  [[nodiscard]] bool at_comparison() const;

  std::shared_ptr<Expression::Program> program_;
  const std::vector<Token>& tokens_;
  std::size_t& cursor_;
  int stack_ = 0;
  int nesting_ = 0;
};

}  // namespace attune::spec
