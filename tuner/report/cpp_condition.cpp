#include "tuner/report/cpp_condition.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "attune/error.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/expression_lexer.hpp"

namespace attune::report {
namespace {

using Kind = CppExpression::Kind;
using spec::Token;

bool is_number(const CppExpression& e) { return e.kind == Kind::Integer || e.kind == Kind::Boolean || e.kind == Kind::Real; }

CppExpression literal_of(const spec::Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return {Kind::Boolean, *truth ? "true" : "false"};
  if (const auto* real = std::get_if<double>(&value)) return {Kind::Real, fmt::format("{:#}", *real)};
  if (const auto* text = std::get_if<std::string>(&value)) return {Kind::Text, *text, nullptr, true};
  const std::int64_t number = std::get<std::int64_t>(value);
  // The literal of the least number would be the negative of one that is too large.
  if (number == std::numeric_limits<std::int64_t>::min()) return {Kind::Integer, "(-9223372036854775807 - 1)"};
  return {Kind::Integer, number < 0 ? fmt::format("({})", number) : std::to_string(number)};
}

/// Reads the tokens of one expression, by the grammar of spec::ExpressionParser, and writes C++.
class Translation {
 public:
  Translation(CppConditions& names, const spec::Expression& expression)
      : names_(names), whole_(expression), tokens_(spec::tokenise(expression.text(), expression.position())) {}

  CppExpression all() {
    auto result = any_of();
    if (token().kind != Token::Kind::End) refuse(fmt::format("'{}'", token().text));
    return result;
  }

 private:
  [[nodiscard]] const Token& token(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool accept(std::string_view what) {
    if (!token().is(what)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    const auto& at = whole_.position();
    throw UsageError(fmt::format("failed writing the condition \"{}\" ({}:{}:{}) as C++: {} is not translated", whole_.text(), at.file,
                                 at.line, at.column, what));
  }
  void need(std::string_view what) {
    if (!accept(what)) refuse(fmt::format("'{}'", token().text));
  }

  [[nodiscard]] std::string integer(const CppExpression& e) const {
    if (e.kind == Kind::Integer) return e.text;
    if (e.kind == Kind::Boolean) return fmt::format("std::int64_t{{{}}}", e.text);
    refuse(fmt::format("'{}' as a whole number", e.text));
  }
  [[nodiscard]] std::string real(const CppExpression& e) const {
    return e.kind == Kind::Real ? e.text : fmt::format("static_cast<double>({})", integer(e));
  }
  /// A call of a function of cpp_arithmetic, which may clear `ok`.
  [[nodiscard]] CppExpression call(const char* function, const CppExpression& a, const CppExpression& b) const {
    return {Kind::Integer, fmt::format("detail::{}({}, {}, ok)", function, integer(a), integer(b))};
  }

  CppExpression any_of() {
    auto result = all_of();
    while (accept("or")) result = joined(result, "||", all_of());
    return result;
  }
  CppExpression all_of() {
    auto result = negation();
    while (accept("and")) result = joined(result, "&&", negation());
    return result;
  }
  [[nodiscard]] static CppExpression joined(const CppExpression& a, const char* by, const CppExpression& b) {
    const bool booleans = a.kind == Kind::Boolean && b.kind == Kind::Boolean;
    return {booleans ? Kind::Boolean : Kind::Truth, fmt::format("({} {} {})", cpp_truth(a), by, cpp_truth(b))};
  }
  CppExpression negation() {
    bool any = false, negated = false;
    for (; accept("not"); negated = !negated) any = true;
    auto result = comparison();
    if (!any) return result;
    return {Kind::Boolean, (negated ? "!" : "") + cpp_truth(result)};
  }

  [[nodiscard]] std::string_view comparing() const {
    for (const std::string_view symbol : {"==", "!=", "<", "<=", ">", ">="}) {
      if (token().is(symbol)) return symbol;
    }
    return {};
  }
  CppExpression comparison() {
    auto left = sum();
    std::string steps;
    int count = 0;
    for (auto symbol = comparing(); !symbol.empty(); symbol = comparing()) {
      ++at_;
      auto right = sum();
      steps += (count++ > 0 ? " && " : "") + compared(left, symbol, right);
      left = std::move(right);
    }
    const bool negated = token().is("not") && token(1).is("in");
    if (!negated && !token().is("in")) return count == 0 ? left : CppExpression{Kind::Boolean, count == 1 ? steps : "(" + steps + ")"};
    if (count > 0) refuse("a list behind a comparison");
    at_ += negated ? 2 : 1;
    return {Kind::Boolean, (negated ? "!" : "") + membership(left)};
  }
  std::string membership(const CppExpression& wanted) {
    const bool bracket = accept("[");
    if (!bracket) need("(");
    const std::string_view closer = bracket ? "]" : ")";
    std::string text;
    while (!token().is(closer)) {
      text += (text.empty() ? "" : " || ") + compared(wanted, "==", any_of());
      if (!accept(",")) break;
    }
    need(closer);
    return text.empty() ? "false" : "(" + text + ")";
  }

  [[nodiscard]] std::string compared(const CppExpression& a, std::string_view symbol, const CppExpression& b) const {
    // Compilers warn of what is compared with itself. What may clear `ok` is left to be computed.
    if (a.text == b.text && a.is_literal == b.is_literal && a.kind == b.kind && a.text.find("ok)") == std::string::npos)
      return symbol == "==" || symbol == "<=" || symbol == ">=" ? "true" : "false";
    if (is_number(a) && is_number(b)) {
      if (a.kind == Kind::Real || b.kind == Kind::Real) return fmt::format("({} {} {})", real(a), symbol, real(b));
      return fmt::format("({} {} {})", integer(a), symbol, integer(b));
    }
    if (symbol != "==" && symbol != "!=") refuse(fmt::format("'{}' of texts", symbol));
    if (a.kind == Kind::Truth || b.kind == Kind::Truth) refuse("the value of 'and' or 'or'");
    if (is_number(a) || is_number(b)) return symbol == "==" ? "false" : "true";
    return compared_texts(a, symbol, b);
  }
  [[nodiscard]] static std::string compared_texts(const CppExpression& a, std::string_view symbol, const CppExpression& b) {
    if (a.is_literal && !b.is_literal) return compared_texts(b, symbol, a);
    if (a.choices != nullptr && b.is_literal) {
      if (!a.choices->enumerators.contains(b.text)) return symbol == "==" ? "false" : "true";
      return fmt::format("({} {} {})", a.text, symbol, a.choices->of(b.text));
    }
    return fmt::format("({} {} {})", as_view(a), symbol, as_view(b));
  }
  [[nodiscard]] static std::string as_view(const CppExpression& e) {
    if (e.is_literal) return fmt::format("std::string_view({})", cpp_literal(e.text));
    return e.choices == nullptr ? e.text : fmt::format("name({})", e.text);
  }

  CppExpression sum() {
    auto result = product();
    while (token().is("+") || token().is("-")) {
      const bool plus = token().is("+");
      ++at_;
      const auto right = product();
      if (result.kind == Kind::Real || right.kind == Kind::Real)
        result = {Kind::Real, fmt::format("({} {} {})", real(result), plus ? "+" : "-", real(right))};
      else
        result = call(plus ? "add" : "subtract", result, right);
    }
    return result;
  }
  CppExpression product() {
    auto result = sign();
    for (;;) {
      if (accept("*")) {
        const auto right = sign();
        if (result.kind == Kind::Real || right.kind == Kind::Real)
          result = {Kind::Real, fmt::format("({} * {})", real(result), real(right))};
        else
          result = call("multiply", result, right);
      } else if (accept("/")) {
        const auto right = sign();
        result = {Kind::Real, fmt::format("detail::divide({}, {}, ok)", real(result), real(right))};
      } else if (accept("//")) {
        result = call("floor_divide", result, sign());
      } else if (accept("%")) {
        result = call("modulo", result, sign());
      } else {
        return result;
      }
    }
  }
  CppExpression sign() {
    std::vector<bool> minuses;
    for (; token().is("-") || token().is("+"); ++at_) minuses.push_back(token().is("-"));
    auto result = power();
    for (; !minuses.empty(); minuses.pop_back()) {
      if (result.kind == Kind::Real)
        result.text = minuses.back() ? fmt::format("(-{})", result.text) : result.text;
      else if (minuses.back())
        result = call("subtract", {Kind::Integer, "0"}, result);
      else
        result = {Kind::Integer, integer(result)};
    }
    return result;
  }
  CppExpression power() {
    auto base = atom();
    if (!accept("**")) return base;
    return call("power", base, sign());
  }
  CppExpression atom() {
    const Token& here = token();
    ++at_;
    if (here.kind == Token::Kind::Literal) return literal_of(here.value);
    if (here.is("(")) {
      auto inner = any_of();
      need(")");
      return inner;
    }
    if (here.is("True") || here.is("False")) return literal_of(here.is("True"));
    if (here.kind != Token::Kind::Name) refuse(fmt::format("'{}'", here.text));
    if (accept("(")) return function(std::string(here.text));
    return names_.variable(std::string(here.text));
  }

  CppExpression function(const std::string& name) {
    std::vector<CppExpression> arguments;
    while (!token().is(")")) {
      const bool type = token().kind == Token::Kind::Name && token(1).is(")") && spec::find_element_type(token().text);
      arguments.push_back(name == "sizeof" && type ? CppExpression{Kind::Text, std::string(tokens_[at_++].text), nullptr, true} : any_of());
      if (!accept(",")) break;
    }
    need(")");
    if (name == "sizeof") return {Kind::Integer, fmt::format("detail::size_of({}, ok)", as_view(arguments.at(0)))};
    if (name == "min" || name == "max") return extreme(name, arguments);
    if (name == "ceil_div") return call("ceil_div", arguments.at(0), arguments.at(1));
    if (name == "abs") return {Kind::Integer, fmt::format("detail::absolute({}, ok)", integer(arguments.at(0)))};
    if (name == "clamp")
      return {Kind::Integer,
              fmt::format("detail::clamp({}, {}, {}, ok)", integer(arguments.at(0)), integer(arguments.at(1)), integer(arguments.at(2)))};
    if (name == "log2") return {Kind::Real, fmt::format("detail::log2({}, ok)", real(arguments.at(0)))};
    if (name == "round" && arguments.at(0).kind == Kind::Real) refuse("the function 'round' of a fraction");
    if (name != "floor" && name != "ceil" && name != "int" && name != "round") refuse(fmt::format("the function '{}'", name));
    if (arguments.at(0).kind != Kind::Real) return {Kind::Integer, integer(arguments.at(0))};
    return {Kind::Integer, fmt::format("detail::{}({}, ok)", name == "int" ? "truncate" : name, arguments.at(0).text)};
  }
  [[nodiscard]] CppExpression extreme(const std::string& name, const std::vector<CppExpression>& of) const {
    const bool reals = std::any_of(of.begin(), of.end(), [](const auto& e) { return e.kind == Kind::Real; });
    CppExpression result{reals ? Kind::Real : Kind::Integer, reals ? real(of.at(0)) : integer(of.at(0))};
    for (std::size_t i = 1; i < of.size(); ++i)
      result.text = fmt::format("detail::{}imum<{}>({}, {})", name, reals ? "double" : "std::int64_t", result.text,
                                reals ? real(of[i]) : integer(of[i]));
    return result;
  }

  CppConditions& names_;
  const spec::Expression& whole_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

CppExpression of_type(const std::vector<spec::Value>& values, std::string text) {
  const auto holds = [&](auto is) { return std::all_of(values.begin(), values.end(), is); };
  if (holds([](const auto& value) { return std::holds_alternative<bool>(value); })) return {Kind::Boolean, std::move(text)};
  if (holds([](const auto& value) { return std::holds_alternative<std::int64_t>(value); })) return {Kind::Integer, std::move(text)};
  return {Kind::Real, std::move(text)};
}

}  // namespace

std::string cpp_truth(const CppExpression& expression) {
  if (expression.kind == Kind::Boolean || expression.kind == Kind::Truth) return expression.text;
  if (expression.kind == Kind::Integer) return fmt::format("({} != 0)", expression.text);
  if (expression.kind == Kind::Real) return fmt::format("({} < 0 || {} > 0)", expression.text, expression.text);
  if (expression.is_literal) return expression.text.empty() ? "false" : "true";
  return expression.choices != nullptr ? fmt::format("!name({}).empty()", expression.text) : fmt::format("!{}.empty()", expression.text);
}

std::string CppConditions::condition(const spec::Expression& expression) { return cpp_truth(this->expression(expression)); }

CppExpression CppConditions::expression(const spec::Expression& expression) { return Translation(*this, expression).all(); }

CppExpression CppConditions::variable(const std::string& name) {
  if (name.starts_with("device.")) {
    const std::string attribute = name.substr(std::string("device.").size());
    const auto value = spec::DeviceInfo::of_architecture("sm_90").attribute(attribute);
    if (!value) throw UsageError(fmt::format("failed writing conditions as C++: there is no {}", name));
    attributes_.insert(attribute);
    return std::holds_alternative<std::string>(*value) ? CppExpression{Kind::Text, "d." + attribute} : of_type({*value}, "d." + attribute);
  }
  if (const auto* axis = kernel_.axis(name)) {
    const std::string member = "p." + cpp_member(name);
    return axis->kind == spec::AxisKind::Size ? CppExpression{Kind::Integer, member} : CppExpression{Kind::Text, member, names_.find(name)};
  }
  if (const auto* parameter = kernel_.parameter(name)) {
    const std::string member = "c." + cpp_member(name);
    if (names_.find(name) != nullptr) return {Kind::Text, member, names_.find(name)};
    return of_type(parameter->values, member);
  }
  for (const auto& alias : kernel_.types) {
    if (alias.name != name) continue;
    aliases_.insert(name);
    return {Kind::Text, fmt::format("detail::alias_{}(p)", name)};
  }
  for (const auto& [let, value] : kernel_.lets) {
    if (let == name) return let_call(name, value);
  }
  throw UsageError(fmt::format("failed writing conditions as C++: '{}' is not known", name));
}

CppExpression CppConditions::let_call(const std::string& name, const spec::Expression& value) {
  const CppExpression called{Kind::Integer, fmt::format("detail::let_{}(p, c, d, ok)", name)};
  auto known = let_kinds_.find(name);
  if (known == let_kinds_.end()) {
    const auto body = expression(value);
    if (body.kind == Kind::Text) throw UsageError(fmt::format("failed writing conditions as C++: \"{}\" is a text", name));
    const char* type = body.kind == Kind::Integer ? "std::int64_t" : body.kind == Kind::Real ? "double" : "bool";
    let_functions_ += fmt::format(
        "// {}\nconstexpr {} let_{}([[maybe_unused]] const Problem& p, [[maybe_unused]] const Configuration& c,\n"
        "    [[maybe_unused]] const Device& d, [[maybe_unused]] bool& ok) {{\n  return {};\n}}\n",
        cpp_comment(value.text()), type, name, body.text);
    known = let_kinds_.emplace(name, body.kind).first;
  }
  return {known->second, called.text};
}

}  // namespace attune::report
