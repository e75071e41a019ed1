#include "tuner/spec/header_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "tuner/spec/host_headers.hpp"
#include "tuner/spec/source_lines.hpp"

namespace attune::spec {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// "<stdio.h>" of `<stdio.h> // printf`; empty where there is none.
std::string_view header_at(std::string_view text) {
  const std::size_t close = text.starts_with('<') ? text.find('>') : std::string_view::npos;
  return close == std::string_view::npos ? std::string_view() : text.substr(0, close + 1);
}

/// The directives of a source one after the other, and where a compiler believes them to be: what `#line` said last, and how many lines
/// ago.
class DirectiveReader {
 public:
  explicit DirectiveReader(std::string_view source) : lines_(source) {}

  /// False at the end.
  [[nodiscard]] bool next() {
    while (lines_.next(line_)) {
      std::string_view text = without_blanks(line_.text);
      if (!text.starts_with('#') && !text.starts_with("%:")) continue;
      text = without_blanks(text.substr(text.starts_with('#') ? 1 : 2));
      const std::size_t length = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
      word_ = text.substr(0, length);
      rest_ = without_blanks(text.substr(length));
      if (word_ == "line") take_position();
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string_view word() const { return word_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }  ///< behind the word
  /// With its brackets; empty unless this is `#include <...>`.
  [[nodiscard]] std::string_view header() const { return word_ == "include" ? header_at(rest_) : std::string_view(); }
  [[nodiscard]] std::size_t begin() const { return line_.begin; }
  [[nodiscard]] std::size_t end() const { return line_.end; }  ///< of the line break that ends it
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::int64_t line() const { return line_.number + shift_; }
  /// A directive that gives the line behind it the place that this one has, or the one behind this; empty where no #line can say it.
  [[nodiscard]] std::string position() const { return position_of(line()); }
  [[nodiscard]] std::string position_behind() const { return position_of(lines_.number() + shift_); }

 private:
  [[nodiscard]] std::string position_of(std::int64_t line) const {
    return line > std::numeric_limits<int>::max() ? std::string() : fmt::format("#line {} {}", line, file_);
  }
  void take_position() {
    std::int64_t named = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), named);
    if (error != std::errc() || named < 0 || named > std::numeric_limits<int>::max()) return;
    shift_ = named - lines_.number();
    const std::string_view file = without_blanks(rest_.substr(static_cast<std::size_t>(end - rest_.data())));
    if (const std::size_t close = file.rfind('"'); file.starts_with('"') && close > 0) file_ = file.substr(0, close + 1);
  }

  SourceLines lines_;
  SourceLines::Line line_;
  std::string_view word_, rest_;  ///< of line_
  std::int64_t shift_ = 0;
  std::string file_;
};

/// Whether the source may have a header to replace: what nearly every source is told apart by, at no cost. Joined lines may hide the word
/// and what follows it.
bool may_be_replaced(std::string_view source) {
  if (source.find("\\\n") != std::string_view::npos || source.find("\\\r\n") != std::string_view::npos) return true;
  constexpr std::string_view kWord = "include";
  for (std::size_t at = source.find(kWord); at != std::string_view::npos; at = source.find(kWord, at + kWord.size())) {
    const std::string_view rest = without_blanks(source.substr(at + kWord.size()));
    const std::string_view header = header_at(rest);
    if (rest.starts_with("/*") || (!header.empty() && is_replaced(header))) return true;
  }
  return false;
}

}  // namespace

std::vector<HeaderLine> header_lines(std::string_view source) {
  std::vector<HeaderLine> found;
  for (DirectiveReader directive(source); directive.next();) {
    if (!directive.header().empty()) found.push_back({std::string(directive.header()), directive.file(), directive.line()});
  }
  return found;
}

std::string with_replaced_headers(std::string source) {
  if (!may_be_replaced(source)) return source;
  std::string text;
  std::size_t copied = 0;
  std::vector<int> ends;  // of each open condition: how many #endif it has more
  bool shifted = false;   // a condition may skip the #line behind a replacement, but not the line breaks in it
  for (DirectiveReader directive(source); directive.next();) {
    const std::string_view word = directive.word();
    const auto replace_by = [&](const std::string& directives) {
      text.append(source, copied, directive.begin() - copied);
      text += directives + directive.position_behind();
      copied = directive.end();
    };
    if (word.starts_with("if")) ends.push_back(0);
    if (!directive.header().empty() && is_replaced(directive.header())) {
      const HeaderReplacement replacement = replacement_of(directive.header());
      std::string lines;
      for (const std::string_view header : replacement.includes) lines += fmt::format("#include {}\n", header);
      replace_by(lines + replacement.declarations);
      shifted = !ends.empty();
    } else if (shifted && word == "elif") {  // what it asks has its own line too: as `#else` and `#if`
      replace_by(fmt::format("#else\n{}\n#if {}\n", directive.position(), directive.rest()));
      ++ends.back();
    } else if (shifted && (word.starts_with("el") || word == "endif")) {
      std::string all = source.substr(directive.begin(), directive.end() - directive.begin()) + '\n';
      for (int i = 0; word == "endif" && i < ends.back(); ++i) all += "#endif\n";
      replace_by(all);
    }
    if (word == "endif" && !ends.empty()) ends.pop_back();
    shifted = shifted && !ends.empty();
  }
  return text.append(source, copied, std::string::npos);
}

}  // namespace attune::spec
