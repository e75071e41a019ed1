#include "tuner/importing/python_tokens.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tuner/base/characters.hpp"
#include "tuner/spec/expression_lexer.hpp"

namespace attune::importing {
namespace {

using base::is_digit;
using base::is_name_part;
using base::is_name_start;

class PythonLexer {
 public:
  PythonLexer(std::string_view text, const spec::SourcePosition& position) : text_(text), position_(position) {}

  std::vector<PythonToken> run() {
    std::vector<PythonToken> tokens;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) tokens.push_back(next());
    tokens.push_back({PythonToken::Kind::End, "", text_.size()});
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  [[noreturn]] void error(const std::string& message) const { spec::fail_parsing(text_, position_, at_, message); }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  PythonToken next() {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'' || c == '"') return string();
    if (is_name_start(c)) return name();
    return symbol();
  }

  PythonToken number() {
    const std::size_t begin = at_;
    const bool has_base = peek() == '0' && std::string_view("xXbBoO").find(peek(1)) != std::string_view::npos && peek(1) != '\0';
    for (; at_ < text_.size(); ++at_) {
      const char c = peek();
      const bool sign = (c == '+' || c == '-') && !has_base && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && at_ > begin;
      if (!is_name_part(c) && c != '.' && !sign) break;
    }
    const std::string_view digits = text_.substr(begin, at_ - begin);
    const bool decimal = !has_base || digits[1] == 'x' || digits[1] == 'X';
    return {PythonToken::Kind::Number, decimal ? std::string(digits) : in_decimal(digits, begin), begin};
  }

  /// attune writes numbers to the bases 10 and 16.
  std::string in_decimal(std::string_view digits, std::size_t begin) {
    const int base = digits[1] == 'b' || digits[1] == 'B' ? 2 : 8;
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data() + 2, end, value, base);
    if (read.ec != std::errc() || read.ptr != end) {
      at_ = begin;
      error(fmt::format("'{}' is not a number", digits));
    }
    return std::to_string(value);
  }

  PythonToken string() {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    for (; at_ < text_.size() && peek() != quote; ++at_) {
      if (peek() == '\\') ++at_;
    }
    if (at_ >= text_.size()) {
      at_ = begin;
      error(fmt::format("the string has no closing {}", quote));
    }
    ++at_;
    return {PythonToken::Kind::String, std::string(text_.substr(begin, at_ - begin)), begin};
  }

  PythonToken name() {
    const std::size_t begin = at_;
    while (is_name_part(peek()) || (peek() == '.' && is_name_start(peek(1)))) ++at_;
    return {PythonToken::Kind::Name, std::string(text_.substr(begin, at_ - begin)), begin};
  }

  PythonToken symbol() {
    static constexpr std::array<std::array<const char*, 2>, 2> kForeign = {{{"&&", "use 'and'"}, {"||", "use 'or'"}}};
    for (const auto& [foreign, remedy] : kForeign) {
      if (text_.substr(at_).starts_with(foreign)) error(fmt::format("'{}' is no operator of Python; {}", foreign, remedy));
    }
    static constexpr std::array<std::string_view, 29> kSymbols = {"==", "!=", "<=", ">=", "//", "**", "<<", ">>", "+", "-",
                                                                  "*",  "/",  "%",  "<",  ">",  "(",  ")",  "[",  "]", "{",
                                                                  "}",  ",",  ":",  "&",  "|",  "^",  "~",  "=",  "!"};
    for (const std::string_view symbol : kSymbols) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      if (symbol == "=") error("'=' is no operator here; use '==' to compare");
      if (symbol == "!") error("'!' is no operator of Python; use 'not'");
      at_ += symbol.size();
      return {PythonToken::Kind::Symbol, std::string(symbol), at_ - symbol.size()};
    }
    error(fmt::format("unexpected character '{}'", peek()));
  }

  std::string_view text_;
  const spec::SourcePosition& position_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<PythonToken> python_tokens(std::string_view text, const spec::SourcePosition& position) {
  return PythonLexer(text, position).run();
}

}  // namespace attune::importing
