#include "tuner/spec/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/vector_type.hpp"

namespace attune::spec {
namespace {

constexpr int kMaximumNesting = 64;

struct Function {
  std::string_view name;
  int minimum_arguments;
  int maximum_arguments;
  Opcode opcode;
};

constexpr int kAnyNumber = 1000;
constexpr std::array<Function, 11> kFunctions{{
    {"min", 2, kAnyNumber, Opcode::Minimum},
    {"max", 2, kAnyNumber, Opcode::Maximum},
    {"abs", 1, 1, Opcode::Absolute},
    {"ceil_div", 2, 2, Opcode::CeilDivide},
    {"clamp", 3, 3, Opcode::Clamp},
    {"sizeof", 1, 1, Opcode::SizeOf},
    {"round", 1, 1, Opcode::Round},
    {"floor", 1, 1, Opcode::Floor},
    {"ceil", 1, 1, Opcode::Ceil},
    {"log2", 1, 1, Opcode::Log2},
    {"int", 1, 1, Opcode::ToInteger},
}};

constexpr std::array<std::string_view, 12> kKeywords = {"and",  "or",  "not",    "in",   "is",   "if",
                                                        "else", "for", "lambda", "None", "True", "False"};

bool is_keyword(std::string_view word) { return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end(); }

const Function* find_function(std::string_view name) {
  const auto found = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : kFunctions) names.emplace_back(function.name);
  return names;
}

std::optional<Opcode> comparison(const Token& token) {
  static constexpr std::array<std::pair<std::string_view, Opcode>, 6> kComparisons{{{"==", Opcode::Equal},
                                                                                    {"!=", Opcode::NotEqual},
                                                                                    {"<", Opcode::Less},
                                                                                    {"<=", Opcode::LessEqual},
                                                                                    {">", Opcode::Greater},
                                                                                    {">=", Opcode::GreaterEqual}}};
  for (const auto& [symbol, opcode] : kComparisons) {
    if (token.is(symbol)) return opcode;
  }
  return std::nullopt;
}

}  // namespace

ExpressionParser::ExpressionParser(std::string_view text, const SourcePosition& position, const std::vector<Token>& tokens,
                                   std::size_t& cursor)
    : program_(std::make_shared<Expression::Program>()), tokens_(tokens), cursor_(cursor) {
  program_->text = text;
  program_->position = position;
}

Expression ExpressionParser::parse() {
  parse_or();
  return Expression(program_);
}

const Token& ExpressionParser::token(std::size_t ahead) const { return tokens_[std::min(cursor_ + ahead, tokens_.size() - 1)]; }

bool ExpressionParser::accept(std::string_view what) {
  if (!token().is(what)) return false;
  ++cursor_;
  return true;
}

void ExpressionParser::expect(std::string_view what) {
  if (!accept(what)) unexpected(fmt::format("'{}'", what));
}

void ExpressionParser::error(const Token& where, const std::string& message) const {
  fail_parsing(program_->text, program_->position, where.offset, message);
}

void ExpressionParser::unexpected(const std::string& wanted) const {
  const Token& found = token();
  if (found.kind == Token::Kind::End) error(found, fmt::format("{} expected, but the expression ends here", wanted));
  error(found, fmt::format("{} expected, found '{}'", wanted, found.text));
}

std::size_t ExpressionParser::emit(Opcode opcode, const Token& where, int stack_change, std::uint32_t operand) {
  stack_ += stack_change;
  if (stack_ > static_cast<int>(kStackDepth)) error(where, "the expression is nested too deeply");
  program_->code.push_back({opcode, Opcode::Equal, operand, static_cast<std::uint32_t>(where.offset)});
  return program_->code.size() - 1;
}

void ExpressionParser::emit_constant(const Value& value, const Token& where) {
  program_->constants.push_back(value);
  emit(Opcode::Constant, where, 1, static_cast<std::uint32_t>(program_->constants.size() - 1));
}

void ExpressionParser::emit_variable(const Token& where) {
  std::vector<std::string>& names = program_->variables;
  auto found = std::find(names.begin(), names.end(), where.text);
  if (found == names.end()) {
    found = names.insert(names.end(), std::string(where.text));
    program_->variable_offsets.push_back(static_cast<std::uint32_t>(where.offset));
  }
  emit(Opcode::Variable, where, 1, static_cast<std::uint32_t>(found - names.begin()));
}

void ExpressionParser::patch(const std::vector<std::size_t>& jumps) {
  for (const std::size_t jump : jumps) program_->code[jump].operand = static_cast<std::uint32_t>(program_->code.size());
}

void ExpressionParser::parse_or() {
  if (++nesting_ > kMaximumNesting) error(token(), "the expression is nested too deeply");
  parse_and();
  std::vector<std::size_t> exits;
  while (token().is("or")) {
    exits.push_back(emit(Opcode::OrJump, token(), -1));
    ++cursor_;
    parse_and();
  }
  patch(exits);
  --nesting_;
}

void ExpressionParser::parse_and() {
  parse_not();
  std::vector<std::size_t> exits;
  while (token().is("and")) {
    exits.push_back(emit(Opcode::AndJump, token(), -1));
    ++cursor_;
    parse_not();
  }
  patch(exits);
}

void ExpressionParser::parse_not() {
  const Token& where = token();
  int negations = 0;  // counted rather than recursed into: a long run of them must not exhaust the stack
  while (accept("not")) ++negations;
  parse_comparison();
  for (; negations > 0; --negations) emit(Opcode::Not, where, 0);
}

bool ExpressionParser::at_comparison() const {
  return comparison(token()).has_value() || token().is("in") || (token().is("not") && token(1).is("in"));
}

void ExpressionParser::parse_comparison() {
  parse_sum();
  std::vector<std::size_t> exits;
  while (at_comparison()) {
    const Token& where = token();
    const std::optional<Opcode> opcode = comparison(where);
    if (!opcode) {
      const bool negated = accept("not");
      expect("in");
      parse_membership(where, negated);
      break;
    }
    ++cursor_;
    parse_sum();
    if (at_comparison()) {
      exits.push_back(emit(Opcode::ChainStep, where, -1));
      program_->code.back().comparison = *opcode;
    } else {
      emit(*opcode, where, -1);
    }
  }
  patch(exits);
}

void ExpressionParser::parse_membership(const Token& where, bool negated) {
  const bool bracket = accept("[");
  if (!bracket && !accept("(")) unexpected("a list such as [1, 2] after 'in'");
  const std::string_view closer = bracket ? "]" : ")";
  std::vector<std::size_t> exits;
  while (!token().is(closer)) {
    parse_or();
    exits.push_back(emit(Opcode::ListItem, where, -1));
    if (!accept(",")) break;
  }
  expect(closer);
  emit(Opcode::ListEnd, where, 0);
  patch(exits);
  if (negated) emit(Opcode::Not, where, 0);
  if (at_comparison()) error(token(), "no comparison may follow a list; use parentheses");
}

void ExpressionParser::parse_sum() {
  parse_product();
  while (token().is("+") || token().is("-")) {
    const Token& where = token();
    ++cursor_;
    parse_product();
    emit(where.is("+") ? Opcode::Add : Opcode::Subtract, where, -1);
  }
}

void ExpressionParser::parse_product() {
  parse_unary();
  static constexpr std::array<std::pair<std::string_view, Opcode>, 4> kProducts{
      {{"*", Opcode::Multiply}, {"/", Opcode::Divide}, {"//", Opcode::FloorDivide}, {"%", Opcode::Modulo}}};
  for (bool found = true; found;) {
    found = false;
    for (const auto& [symbol, opcode] : kProducts) {
      if (!token().is(symbol)) continue;
      const Token& where = token();
      ++cursor_;
      parse_unary();
      emit(opcode, where, -1);
      found = true;
      break;
    }
  }
}

void ExpressionParser::parse_unary() {
  std::vector<const Token*> signs;
  while (token().is("-") || token().is("+")) signs.push_back(&tokens_[cursor_++]);
  parse_power();
  for (; !signs.empty(); signs.pop_back()) emit(signs.back()->is("-") ? Opcode::Negate : Opcode::Plus, *signs.back(), 0);
}

void ExpressionParser::parse_power() {
  parse_atom();
  if (!token().is("**")) return;
  if (++nesting_ > kMaximumNesting) error(token(), "the expression is nested too deeply");
  const Token& where = token();
  ++cursor_;
  parse_unary();  // the exponent may carry a sign, and ** groups from the right
  emit(Opcode::Power, where, -1);
  --nesting_;
}

void ExpressionParser::parse_atom() {
  const Token& where = token();
  if (where.kind == Token::Kind::Literal) {
    ++cursor_;
    emit_constant(where.value, where);
  } else if (where.kind == Token::Kind::Name) {
    parse_name();
  } else if (accept("(")) {
    parse_or();
    expect(")");
  } else if (where.is("[")) {
    error(where, "a list may only stand on the right of 'in'");
  } else {
    unexpected("a value");
  }
}

void ExpressionParser::parse_name() {
  const Token& name = token();
  if (name.is("True") || name.is("False")) {
    ++cursor_;
    emit_constant(name.is("True"), name);
    return;
  }
  if (name.is("None") || name.is("is") || name.is("lambda") || name.is("if")) {
    error(name, fmt::format("'{}' is not part of the expression language", name.text));
  }
  if (is_keyword(name.text)) unexpected("a value");
  ++cursor_;
  if (token().is("(")) {
    parse_call(name);
  } else if (find_function(name.text) != nullptr) {
    error(name, fmt::format("the function '{}' needs arguments", name.text));
  } else {
    emit_variable(name);
  }
}

void ExpressionParser::parse_call(const Token& name) {
  const Function* function = find_function(name.text);
  if (function == nullptr) {
    error(name, fmt::format("unknown function '{}'{}", name.text, hint(name.text, function_names())));
  }
  expect("(");
  if (function->opcode == Opcode::SizeOf) return parse_sizeof(name);
  int count = 0;
  while (!token().is(")")) {
    parse_or();
    ++count;
    // min and max fold from the left, two values at a time: the stack stays flat.
    if (function->maximum_arguments == kAnyNumber && count > 1) emit(function->opcode, name, -1);
    if (!accept(",")) break;
  }
  expect(")");
  if (count < function->minimum_arguments || count > function->maximum_arguments) {
    const bool open_ended = function->maximum_arguments == kAnyNumber;
    error(name, fmt::format("{} takes {}{} argument{}, not {}", name.text, open_ended ? "at least " : "", function->minimum_arguments,
                            function->minimum_arguments == 1 ? "" : "s", count));
  }
  if (function->maximum_arguments != kAnyNumber) emit(function->opcode, name, 1 - count);
}

void ExpressionParser::parse_sizeof(const Token& name) {
  const Token& argument = token();
  if (argument.kind == Token::Kind::Name && token(1).is(")") && find_element_type(argument.text)) {
    ++cursor_;
    emit_constant(std::string(argument.text), argument);  // sizeof(f32): a type's own name needs no quotes
  } else {
    parse_or();
  }
  expect(")");
  emit(Opcode::SizeOf, name, 0);
}

Expression Expression::parse(std::string_view text, const SourcePosition& position) {
  if (text.size() > kMostExpressionBytes)
    fail(position, fmt::format("the expression has {} bytes; at most {} are read", text.size(), kMostExpressionBytes));
  const std::vector<Token> tokens = tokenise(text, position);
  if (tokens.size() == 1) fail(position, "the expression is empty; write a number, a name or a formula");
  std::size_t cursor = 0;
  Expression expression = ExpressionParser(text, position, tokens, cursor).parse();
  const Token& rest = tokens[cursor];
  if (rest.kind != Token::Kind::End) {
    fail_parsing(text, position, rest.offset, fmt::format("an operator or the end expected, found '{}'", rest.text));
  }
  return expression;
}

std::vector<std::string> reserved_words() {
  std::vector<std::string> words = function_names();
  for (const std::string_view keyword : kKeywords) words.emplace_back(keyword);
  for (const auto& types : {element_type_names(), vector_type_names()}) words.insert(words.end(), types.begin(), types.end());
  words.emplace_back("device");
  return words;
}

}  // namespace attune::spec
