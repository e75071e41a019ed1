#include "tuner/spec/expression_lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tuner/base/characters.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::spec {
namespace {

using base::is_digit;
using base::is_name_part;
using base::is_name_start;

class Lexer {
 public:
  Lexer(std::string_view text, const SourcePosition& position) : text_(text), position_(position) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) tokens.push_back(next());
    tokens.push_back({Token::Kind::End, {}, text_.size(), {}});
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  [[noreturn]] void error(std::size_t offset, const std::string& message) const { fail_parsing(text_, position_, offset, message); }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  Token next() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'' || c == '"') return string();
    if (is_name_start(c)) return name();
    return symbol();
  }

  Token number() {
    const std::size_t begin = at_;
    const bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hexadecimal) at_ += 2;
    bool floating = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = peek();
      const bool exponent = !hexadecimal && (c == 'e' || c == 'E');
      const bool sign = (c == '+' || c == '-') && !hexadecimal && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (exponent || (c == '.' && !hexadecimal)) {
        floating = true;
      } else if (!is_name_part(c) && !sign) {
        break;
      }
    }
    std::string digits;
    for (const char c : text_.substr(begin, at_ - begin)) {
      if (c != '_') digits += c;  // 100_000, as in Python
    }
    return {Token::Kind::Literal, text_.substr(begin, at_ - begin), begin, value_of(digits, begin, floating, hexadecimal)};
  }

  Value value_of(const std::string& digits, std::size_t begin, bool floating, bool hexadecimal) const {
    const char* first = digits.data() + (hexadecimal ? 2 : 0);
    const char* const last = digits.data() + digits.size();
    std::int64_t integer = 0;
    double real = 0;
    const std::from_chars_result read =
        floating ? std::from_chars(first, last, real) : std::from_chars(first, last, integer, hexadecimal ? 16 : 10);
    if (read.ec == std::errc::result_out_of_range) error(begin, fmt::format("the number {} is out of range", digits));
    if (read.ec != std::errc() || read.ptr != last) error(begin, fmt::format("'{}' is not a number", digits));
    return floating ? Value(real) : Value(integer);
  }

  Token string() {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    std::string contents;
    for (; at_ < text_.size() && peek() != quote; ++at_) {
      if (peek() == '\\') {
        ++at_;
        if (peek() != '\\' && peek() != '\'' && peek() != '"') error(at_ - 1, "only \\\\, \\' and \\\" may follow a backslash");
      }
      contents += peek();
    }
    if (at_ == text_.size()) error(begin, fmt::format("the string has no closing {}", quote));
    ++at_;
    return {Token::Kind::Literal, text_.substr(begin, at_ - begin), begin, contents};
  }

  Token name() {
    const std::size_t begin = at_;
    while (is_name_part(peek()) || (peek() == '.' && is_name_start(peek(1)))) ++at_;
    return {Token::Kind::Name, text_.substr(begin, at_ - begin), begin, {}};
  }

  Token symbol() {
    static constexpr std::array<std::string_view, 18> kSymbols = {"==", "!=", "<=", ">=", "//", "**", "+", "-", "*",
                                                                  "/",  "%",  "<",  ">",  "(",  ")",  "[", "]", ","};
    for (const std::string_view symbol : kSymbols) {
      if (text_.substr(at_).starts_with(symbol)) {
        at_ += symbol.size();
        return {Token::Kind::Symbol, text_.substr(at_ - symbol.size(), symbol.size()), at_ - symbol.size(), {}};
      }
    }
    static constexpr std::array<std::array<const char*, 2>, 4> kForeign = {
        {{"&&", "use 'and'"}, {"||", "use 'or'"}, {"!", "use 'not'"}, {"=", "use '==' to compare"}}};
    for (const auto& [foreign, remedy] : kForeign) {
      if (text_.substr(at_).starts_with(foreign)) error(at_, fmt::format("'{}' is no operator here; {}", foreign, remedy));
    }
    error(at_, fmt::format("unexpected character '{}'", peek()));
  }

  std::string_view text_;
  const SourcePosition& position_;
  std::size_t at_ = 0;
};

}  // namespace

void fail_parsing(std::string_view text, const SourcePosition& position, std::size_t offset, const std::string& message) {
  fail(advance(position, text, offset), fmt::format("failed parsing the expression \"{}\": {}", text, message));
}

std::vector<Token> tokenise(std::string_view text, const SourcePosition& position) { return Lexer(text, position).run(); }

}  // namespace attune::spec
