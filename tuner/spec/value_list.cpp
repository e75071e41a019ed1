#include <fmt/format.h>

#include "tuner/spec/expression_lexer.hpp"
#include "tuner/spec/expression_parser.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

class ValueListParser {
 public:
  /// `work`: summed over all comprehensions: their elements, each times the length of the text, which bounds what one costs.
  ValueListParser(std::string_view text, const SourcePosition& position, std::size_t& work)
      : text_(text), position_(position), tokens_(tokenise(text, position)), work_(work) {}

  std::vector<Value> run() {
    std::vector<Value> values = parse_sum();
    if (token().kind != Token::Kind::End) unexpected("'+' or the end");
    return values;
  }

 private:
  [[nodiscard]] const Token& token() const { return tokens_[cursor_]; }
  bool accept(std::string_view what) {
    if (!token().is(what)) return false;
    ++cursor_;
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) unexpected(fmt::format("'{}'", what));
  }
  [[noreturn]] void error(std::size_t offset, const std::string& message) const { fail_parsing(text_, position_, offset, message); }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    const bool end = token().kind == Token::Kind::End;
    error(token().offset,
          end ? fmt::format("{} expected, but the list ends here", wanted) : fmt::format("{} expected, found '{}'", wanted, token().text));
  }
  void append(std::vector<Value>& values, Value value) const {
    if (values.size() == kMostValues) error(0, fmt::format("the list has more than {} values", kMostValues));
    values.push_back(std::move(value));
  }
  Expression element() { return ExpressionParser(text_, position_, tokens_, cursor_).parse(); }
  static std::optional<Value> no_variables(std::string_view) { return std::nullopt; }

  std::vector<Value> parse_sum() {
    std::vector<Value> values = parse_list();
    while (accept("+")) {
      for (Value& value : parse_list()) append(values, std::move(value));
    }
    return values;
  }

  std::vector<Value> parse_list() {
    if (accept("[")) return parse_items("]");
    if (accept("(")) return parse_items(")");
    const std::size_t offset = token().offset;
    if (accept("range")) return parse_range(offset);
    if (accept("powers")) return parse_powers(offset);
    if (!accept("list") && !accept("tuple")) unexpected("a list such as [16, 32], range(1, 12) or powers(2, 32, 1024)");
    if (++nesting_ > 16) error(token().offset, "the list is nested too deeply");
    expect("(");
    std::vector<Value> values = parse_sum();
    expect(")");
    --nesting_;
    return values;
  }

  std::vector<Value> parse_items(std::string_view closer) {
    std::vector<Value> values;
    while (!token().is(closer)) {
      const Expression item = element();
      if (values.empty() && token().is("for")) {
        values = parse_comprehension(item);
        break;
      }
      append(values, item.evaluate(no_variables));
      if (!accept(",")) break;
    }
    expect(closer);
    return values;
  }

  std::vector<Value> parse_comprehension(const Expression& item) {
    expect("for");
    const Token name = token();
    if (name.kind != Token::Kind::Name) unexpected("a name after 'for'");
    ++cursor_;
    expect("in");
    if (++nesting_ > 16) error(token().offset, "the list is nested too deeply");
    const std::vector<Value> source = parse_sum();
    --nesting_;
    std::optional<Expression> condition;
    if (accept("if")) condition = element();
    std::vector<Value> values;
    for (const Value& bound : source) {
      if ((work_ += text_.size()) > kMostListWork) error(name.offset, "the list takes too long to compute; write its values out");
      const Scope scope = [&](std::string_view variable) { return variable == name.text ? std::optional<Value>(bound) : std::nullopt; };
      if (!condition || condition->truth(scope)) append(values, item.evaluate(scope));
    }
    return values;
  }

  std::vector<std::int64_t> parse_integers() {
    expect("(");
    std::vector<std::int64_t> integers;
    while (!token().is(")")) {
      integers.push_back(element().integer(no_variables));
      if (!accept(",")) break;
    }
    expect(")");
    return integers;
  }

  std::vector<Value> parse_range(std::size_t offset) {
    const auto bounds = parse_integers();
    if (bounds.empty() || bounds.size() > 3) error(offset, "range takes 1 to 3 arguments");
    const std::int64_t first = bounds.size() > 1 ? bounds[0] : 0;
    const std::int64_t stop = bounds.size() > 1 ? bounds[1] : bounds[0];
    const std::int64_t step = bounds.size() > 2 ? bounds[2] : 1;
    if (step == 0) error(offset, "the step of a range must not be 0");
    std::vector<Value> values;
    for (std::int64_t value = first; step > 0 ? value < stop : value > stop;) {
      append(values, value);
      if (__builtin_add_overflow(value, step, &value)) break;  // the next one would lie beyond any bound
    }
    return values;
  }

  /// powers(base, first, last): from `first` on, each `base` times the one before, `last` the largest that may be among them.
  std::vector<Value> parse_powers(std::size_t offset) {
    const auto given = parse_integers();
    if (given.size() != 3) error(offset, "powers takes 3 arguments, e.g. powers(2, 32, 1024) for 32, 64, ..., 1024");
    const std::int64_t base = given[0], first = given[1], last = given[2];
    if (base < 2) error(offset, fmt::format("the base of powers must be 2 or more, not {}", base));
    if (first < 1) error(offset, fmt::format("the first of powers must be 1 or more, not {}", first));
    std::vector<Value> values;
    for (std::int64_t value = first; value <= last;) {
      append(values, value);
      if (__builtin_mul_overflow(value, base, &value)) break;
    }
    return values;
  }

  std::string_view text_;
  const SourcePosition& position_;
  std::vector<Token> tokens_;
  std::size_t cursor_ = 0;
  std::size_t& work_;
  int nesting_ = 0;
};

}  // namespace

std::vector<Value> parse_value_list(std::string_view text, const SourcePosition& position) {
  std::size_t work = 0;
  return parse_value_list(text, position, work);
}

std::vector<Value> parse_value_list(std::string_view text, const SourcePosition& position, std::size_t& work) {
  if (text.size() > kMostListBytes) fail(position, fmt::format("the list has {} bytes; at most {} are read", text.size(), kMostListBytes));
  return ValueListParser(text, position, work).run();
}

}  // namespace attune::spec
