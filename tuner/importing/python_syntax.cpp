#include "tuner/importing/python_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/importing/python_tokens.hpp"
#include "tuner/spec/expression_lexer.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::importing {
namespace {

using Kind = PythonNode::Kind;

constexpr int kMaximumNesting = 64;
constexpr int kMaximumDepth = 400;  ///< trees are walked by recursion

/// Recursive descent by Python's grammar, from `if`/`else` down to atoms.
class PythonParser {
 public:
  PythonParser(std::string_view text, const spec::SourcePosition& position)
      : text_(text), position_(position), tokens_(python_tokens(text, position)) {}

  PythonNode run() {
    if (tokens_.size() == 1) spec::fail(position_, "the expression is empty; write a number, a name or a formula");
    skip_lambda();
    PythonNode node = conditional();
    if (token().kind != PythonToken::Kind::End) unexpected("an operator or the end");
    return node;
  }

 private:
  [[nodiscard]] const PythonToken& token(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool accept(std::string_view what) {
    if (!token().is(what)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) unexpected(fmt::format("'{}'", what));
  }
  [[noreturn]] void error(const std::string& message) const { spec::fail_parsing(text_, position_, token().offset, message); }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    const bool end = token().kind == PythonToken::Kind::End;
    error(end ? fmt::format("{} expected, but the expression ends here", wanted)
              : fmt::format("{} expected, found '{}'", wanted, token().text));
  }
  PythonNode node(Kind kind, std::string text, std::vector<PythonNode> parts, std::size_t offset) const {
    return measured({kind, std::move(text), std::move(parts), {}, offset});
  }
  PythonNode measured(PythonNode whole) const {
    for (const PythonNode& part : whole.parts) whole.depth = std::max(whole.depth, part.depth + 1);
    if (whole.depth > kMaximumDepth) error("the expression is nested too deeply; write it with fewer operators");
    return whole;
  }

  /// Kernel Tuner takes functions of the parameters as conditions; their bodies read like conditions.
  void skip_lambda() {
    if (!accept("lambda")) return;
    while (token().kind == PythonToken::Kind::Name || token().is(",")) ++at_;
    expect(":");
  }

  PythonNode conditional() {
    if (++nesting_ > kMaximumNesting) error("the expression is nested too deeply");
    PythonNode value = disjunction();
    if (const std::size_t offset = token().offset; accept("if")) {
      PythonNode condition = disjunction();
      expect("else");
      std::vector<PythonNode> parts;
      parts.push_back(std::move(value));
      parts.push_back(std::move(condition));
      parts.push_back(conditional());
      value = node(Kind::Conditional, "", std::move(parts), offset);
    }
    --nesting_;
    return value;
  }

  template <class Next>
  PythonNode sequence(Kind kind, std::string_view word, Next&& next) {
    PythonNode first = next();
    if (!token().is(word)) return first;
    PythonNode whole = node(kind, "", {}, first.offset);
    whole.parts.push_back(std::move(first));
    while (accept(word)) whole.parts.push_back(next());
    return measured(std::move(whole));
  }
  PythonNode disjunction() {
    return sequence(Kind::Or, "or", [this] { return conjunction(); });
  }
  PythonNode conjunction() {
    return sequence(Kind::And, "and", [this] { return negation(); });
  }
  PythonNode negation() {
    std::vector<std::size_t> offsets;  // counted rather than recursed into: a long run of them must not exhaust the stack
    for (; token().is("not"); ++at_) offsets.push_back(token().offset);
    if (offsets.size() > static_cast<std::size_t>(kMaximumNesting)) error("the expression is nested too deeply");
    PythonNode value = comparison();
    for (; !offsets.empty(); offsets.pop_back()) {
      std::vector<PythonNode> parts;
      parts.push_back(std::move(value));
      value = node(Kind::Not, "", std::move(parts), offsets.back());
    }
    return value;
  }

  /// The comparison that starts here, read over; empty: there is none.
  std::string comparison_operator() {
    static constexpr std::array<std::string_view, 7> kOperators = {"==", "!=", "<", "<=", ">", ">=", "in"};
    for (const std::string_view symbol : kOperators) {
      if (accept(symbol)) return std::string(symbol);
    }
    if (token().is("is")) error("'is' compares objects of Python; use '==' to compare values");
    if (!token().is("not") || !token(1).is("in")) return {};
    at_ += 2;
    return "not in";
  }

  PythonNode comparison() {
    PythonNode first = binary(0);
    PythonNode chain = node(Kind::Compare, "", {}, first.offset);
    for (std::string symbol = comparison_operator(); !symbol.empty(); symbol = comparison_operator()) {
      chain.operators.push_back(std::move(symbol));
      chain.parts.push_back(binary(0));
    }
    if (chain.operators.empty()) return first;
    chain.parts.insert(chain.parts.begin(), std::move(first));
    return measured(std::move(chain));
  }

  /// From | down to the products; each level binds from the left.
  PythonNode binary(std::size_t level) {
    static const std::vector<std::vector<std::string_view>> kLevels = {{"|"},        {"^"},      {"&"},
                                                                       {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%"}};
    if (level == kLevels.size()) return unary();
    PythonNode left = binary(level + 1);
    while (token().kind == PythonToken::Kind::Symbol &&
           std::find(kLevels[level].begin(), kLevels[level].end(), token().text) != kLevels[level].end()) {
      const PythonToken symbol = token();
      ++at_;
      std::vector<PythonNode> parts;
      parts.push_back(std::move(left));
      parts.push_back(binary(level + 1));
      left = node(Kind::Binary, symbol.text, std::move(parts), symbol.offset);
    }
    return left;
  }

  PythonNode unary() {
    if (!token().is("-") && !token().is("+") && !token().is("~")) return power();
    if (++nesting_ > kMaximumNesting) error("the expression is nested too deeply");
    const PythonToken symbol = token();
    ++at_;
    std::vector<PythonNode> parts;
    parts.push_back(unary());
    --nesting_;
    return node(Kind::Unary, symbol.text, std::move(parts), symbol.offset);
  }

  PythonNode power() {
    PythonNode base = trailers();
    if (!token().is("**")) return base;
    const std::size_t offset = token().offset;
    ++at_;
    std::vector<PythonNode> parts;
    parts.push_back(std::move(base));
    parts.push_back(unary());
    return node(Kind::Binary, "**", std::move(parts), offset);
  }

  PythonNode trailers() {
    PythonNode value = atom();
    while (token().is("[") || token().is("(")) {
      const std::size_t offset = value.offset;
      if (accept("[")) {
        std::vector<PythonNode> parts;
        parts.push_back(std::move(value));
        parts.push_back(conditional());
        expect("]");
        value = node(Kind::Subscript, "", std::move(parts), offset);
      } else {
        if (value.kind != Kind::Name) error("only a function's name may be called");
        ++at_;
        value = node(Kind::Call, value.text, items(")"), offset);
      }
    }
    return value;
  }

  std::vector<PythonNode> items(std::string_view closer) {
    std::vector<PythonNode> found;
    while (!token().is(closer)) {
      found.push_back(conditional());
      if (token().is("for")) error("lists made by 'for' stand in \"Values\" alone; write the items out");
      if (!accept(",")) break;
    }
    expect(closer);
    return found;
  }

  PythonNode atom() {
    const PythonToken here = token();
    if (here.kind == PythonToken::Kind::Number || here.kind == PythonToken::Kind::String) {
      ++at_;
      return node(Kind::Literal, here.text, {}, here.offset);
    }
    if (accept("(")) {
      if (accept(")")) return node(Kind::List, "", {}, here.offset);
      PythonNode first = conditional();
      if (accept(")")) return first;
      if (!token().is(",")) unexpected("')'");
      ++at_;
      PythonNode list = node(Kind::List, "", {}, here.offset);
      list.parts = items(")");
      list.parts.insert(list.parts.begin(), std::move(first));
      return measured(std::move(list));
    }
    if (accept("[")) return node(Kind::List, "", items("]"), here.offset);
    if (accept("{")) return node(Kind::List, "", items("}"), here.offset);
    if (here.kind != PythonToken::Kind::Name) unexpected("a value");
    return name();
  }

  PythonNode name() {
    static constexpr std::array<std::string_view, 10> kWords = {"and", "or", "not", "in", "is", "if", "else", "for", "lambda", "None"};
    const PythonToken here = token();
    if (std::find(kWords.begin(), kWords.end(), here.text) != kWords.end()) unexpected("a value");
    ++at_;
    const bool constant = here.text == "True" || here.text == "False";
    return node(constant ? Kind::Literal : Kind::Name, here.text, {}, here.offset);
  }

  std::string_view text_;
  const spec::SourcePosition& position_;
  std::vector<PythonToken> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

PythonNode parse_python(std::string_view text, const spec::SourcePosition& position) {
  if (text.size() > spec::kMostExpressionBytes)
    spec::fail(position, fmt::format("the expression has {} bytes; at most {} are read", text.size(), spec::kMostExpressionBytes));
  return PythonParser(text, position).run();
}

}  // namespace attune::importing
