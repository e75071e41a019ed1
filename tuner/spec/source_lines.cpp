#include "tuner/spec/source_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"

namespace attune::spec {
namespace {

constexpr std::size_t kLongestDelimiter = 16;  ///< of a raw string; a longer one is none

/// Other bytes above ASCII are letters of some language; '$' is one to CUDA's compilers.
constexpr bool begins_identifier(char c) { return base::is_name_start(c) || c == '$' || static_cast<unsigned char>(c) >= 0x80U; }
constexpr std::array<bool, 256> kContinues = [] {
  std::array<bool, 256> continues{};
  for (int c = 0; c < 256; ++c)
    continues[static_cast<std::size_t>(c)] = begins_identifier(static_cast<char>(c)) || base::is_digit(static_cast<char>(c));
  return continues;
}();
bool continues_identifier(char c) { return kContinues[static_cast<unsigned char>(c)]; }
bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

}  // namespace

bool SourceLines::next(Line& line) {
  if (at_ >= source_.size()) return false;
  line = {"", at_, at_, number_};
  fresh_ = keep_ = true;
  while (at_ < source_.size() && source_[at_] != '\n') step(line);
  if (!keep_ || fresh_) line.text.clear();
  line.end = at_;
  if (at_ < source_.size()) skip(1);
  return true;
}

void SourceLines::advance(std::string& text) {
  if (keep_) text += source_[at_];
  if (source_[at_++] == '\n') ++number_;
}

void SourceLines::skip(std::size_t count) {
  const std::string_view skipped = source_.substr(at_, count);
  number_ += static_cast<int>(std::count(skipped.begin(), skipped.end(), '\n'));
  at_ += skipped.size();
}

void SourceLines::skip_joints() {
  for (std::size_t joint = joint_length(); joint > 0; joint = joint_length()) skip(joint);
}

/// To the end of the line; joints do not end it.
void SourceLines::skip_line_comment() {
  for (;;) {
    const std::size_t end = std::min(source_.find('\n', at_), source_.size());
    const std::string_view rest = source_.substr(at_, end - at_);
    const bool goes_on = end < source_.size() && (rest.ends_with('\\') || rest.ends_with("\\\r"));
    skip(goes_on ? rest.size() + 1 : rest.size());
    if (!goes_on) return;
  }
}

/// What a line begins with decides whether its text is kept.
void SourceLines::begin_token(char c) {
  if (fresh_) keep_ = c == '#' || c == '%';
  fresh_ = false;
}

/// One token, comment, blank or joint of two lines.
void SourceLines::step(Line& line) {
  const char c = source_[at_];
  const char following = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
  if (is_blank(c)) {
    advance(line.text);
  } else if (const std::size_t joint = joint_length(); joint > 0) {
    skip(joint);
  } else if (c == '/' && following == '/') {
    skip_line_comment();
  } else if (c == '/' && following == '*') {
    const std::size_t end = source_.find("*/", at_ + 2);
    skip(end == std::string_view::npos ? source_.size() - at_ : end + 2 - at_);
    if (keep_) line.text += ' ';
  } else {
    begin_token(c);
    if (begins_identifier(c) || (c == '\\' && (following == 'u' || following == 'U'))) {
      identifier(line);
    } else if (base::is_digit(c) || (c == '.' && base::is_digit(following))) {
      number_token(line);
    } else if (c == '"' || c == '\'') {
      string(line);
    } else {
      advance(line.text);
    }
  }
}

/// A name, or the prefix of a string.
void SourceLines::identifier(Line& line) {
  // Nearly every name has neither joints nor a string behind it.
  std::size_t end = at_;
  while (end < source_.size() && continues_identifier(source_[end])) ++end;
  if (end > at_ && (end == source_.size() || (source_[end] != '\\' && source_[end] != '"'))) {
    if (keep_) line.text += source_.substr(at_, end - at_);
    at_ = end;
    return;
  }
  std::string name;
  do {  // the backslash of \u00e9 comes first
    name += source_[at_++];
    skip_joints();
  } while (at_ < source_.size() && (continues_identifier(source_[at_]) || at("\\u") || at("\\U")));
  if (keep_) line.text += name;
  if (!at("\"")) return;
  static constexpr std::array<std::string_view, 5> kRaw = {"R", "LR", "uR", "UR", "u8R"};
  const bool raw = std::find(kRaw.begin(), kRaw.end(), name) != kRaw.end();
  if (!raw || !raw_string(line)) string(line);
}

/// A number as the preprocessor has it: 1'000, 0x1.8p-3, 12abc. The quote belongs to it only before a digit or a letter.
void SourceLines::number_token(Line& line) {
  char last = '\0';
  while (at_ < source_.size()) {
    const char c = source_[at_];
    const char following = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
    const bool sign = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
    if (!sign && c != '.' && !continues_identifier(c) && !(c == '\'' && continues_identifier(following))) return;
    last = c;
    advance(line.text);
    skip_joints();
  }
}

/// Up to the closing quote or, in text that is skipped, the end of the line; with the suffix behind it, which may look like the
/// prefix of a raw string.
void SourceLines::string(Line& line) {
  const char quote = source_[at_];
  advance(line.text);
  while (at_ < source_.size() && source_[at_] != '\n') {
    if (const std::size_t joint = joint_length(); joint > 0) {
      skip(joint);
      continue;
    }
    const bool escape = source_[at_] == '\\' && at_ + 1 < source_.size() && source_[at_ + 1] != '\n';
    if (escape) advance(line.text);
    if (escape) skip_joints();
    if (at_ == source_.size()) return;
    const char c = source_[at_];
    advance(line.text);
    if (c != quote || escape) continue;
    for (skip_joints(); at_ < source_.size() && continues_identifier(source_[at_]); skip_joints()) advance(line.text);
    return;
  }
}

/// False when what stands here is a plain string: it has no delimiter, or one that is too long.
bool SourceLines::raw_string(Line& line) {
  const std::string_view head = source_.substr(at_ + 1, kLongestDelimiter + 1);
  const std::size_t open = head.find_first_of("( )\\\t\v\f\r\n");
  if (open == std::string_view::npos || head[open] != '(') return false;
  const std::string close = fmt::format("){}\"", head.substr(0, open));
  const std::size_t found = source_.find(close, at_ + 1 + open);
  skip(found == std::string_view::npos ? source_.size() - at_ : found + close.size() - at_);
  if (keep_) line.text += "\"\"";
  for (skip_joints(); at_ < source_.size() && continues_identifier(source_[at_]); skip_joints()) advance(line.text);
  return true;
}

namespace {

/// Looks at the source as if nothing were a string, and every comment both one and none.
class IncludeSearch {
 public:
  IncludeSearch(std::string_view source, const std::string& file, const std::function<void(const PossibleInclude&)>& use)
      : source_(source), file_(file), use_(use) {
    for (std::size_t at = source.find("*/"); at != std::string_view::npos; at = source.find("*/", at + 1)) comment_ends_.push_back(at + 2);
  }

  void run() {
    bool fresh = true;  // nothing but blanks and ends of comments on this line so far
    int line = 1;
    for (std::size_t at = 0; at < source_.size(); ++at) {
      const char c = source_[at];
      if (!fresh && c != '\\' && c != '\n' && c != '*') continue;  // nearly every character
      if (const std::size_t joint = joint_length(at); joint > 0) {
        at += joint - 1;
        ++line;
      } else if (c == '\n') {
        fresh = true;
        ++line;
      } else if (starts(at, "*/")) {  // `/* */ #include`, and a line that ends a comment
        fresh = true;
        ++at;
      } else if (!is_blank(c)) {
        if (fresh) look(at, line);
        fresh = false;
      }
    }
  }

 private:
  [[nodiscard]] bool starts(std::size_t at, std::string_view word) const { return source_.substr(at, word.size()) == word; }
  [[nodiscard]] std::size_t joint_length(std::size_t at) const { return starts(at, "\\\n") ? 2 : starts(at, "\\\r\n") ? 3 : 0; }

  /// Over blanks, joints and whole comments.
  [[nodiscard]] std::size_t skip_space(std::size_t at) const {
    constexpr int kMostSteps =
        1000;  // more, and looking behind each '#' of a file of them would take for ever; so it would behind all of them together
    constexpr std::size_t kFreeSteps = 10000;
    for (int steps = 0; at < source_.size(); ++steps) {
      if (steps == kMostSteps || ++steps_ > kFreeSteps + 4 * source_.size())
        throw SpecError(file_, 0, 0, "a '#' is followed by too many blanks and comments; remove them");
      if (const std::size_t joint = joint_length(at); joint > 0) {
        at += joint;
      } else if (is_blank(source_[at])) {
        ++at;
      } else if (starts(at, "/*")) {
        const auto end = std::lower_bound(comment_ends_.begin(), comment_ends_.end(), at + 4);
        at = end == comment_ends_.end() ? source_.size() : *end;
      } else {
        break;
      }
    }
    return at;
  }

  /// The letters from here on, joints left out; `at` moves behind them.
  [[nodiscard]] std::string take_letters(std::size_t& at) const {
    constexpr std::size_t kLongest = 16;
    std::string text;
    while (at < source_.size() && text.size() < kLongest) {
      if (const std::size_t joint = joint_length(at); joint > 0) {
        at += joint;
      } else if (continues_identifier(source_[at])) {
        text += source_[at++];
      } else {
        break;
      }
    }
    return text;
  }

  /// What follows is a directive that reads a file, or a line of C++20 that does.
  void look(std::size_t begin, int line) {
    const std::size_t mark = starts(begin, "#") ? 1 : starts(begin, "%:") ? 2 : 0;
    std::size_t at = mark > 0 ? skip_space(begin + mark) : begin;
    std::string name = take_letters(at);
    if (mark == 0 && name == "export") {
      at = skip_space(at);
      name = take_letters(at);
    }
    const bool reads =
        mark > 0 ? name.starts_with("include") || name.starts_with("__include") || name == "import" || name == "embed" : name == "import";
    if (!reads) return;
    at = skip_space(at);
    const char opener = at < source_.size() ? source_[at] : '\n';
    // A module, whose name may be a macro for a header's; what else may follow is a function or a value of that name.
    const bool named = opener == '"' || opener == '<' || opener == ':' || opener == '\\' || begins_identifier(opener);
    if (mark == 0 && !named) return;
    add(begin, at, line, mark > 0 && name == "include");
  }

  void add(std::size_t begin, std::size_t target, int line, bool include) {
    constexpr std::size_t kShown = 80, kLongestName = 256;
    const std::string_view rest = source_.substr(target, kLongestName);
    const std::string_view name = rest.substr(0, std::min({rest.find('>'), rest.find('\n'), rest.size()}));
    PossibleInclude possible;
    possible.offset = begin;
    possible.line = line;
    possible.text = source_.substr(begin, std::min(source_.substr(begin, kShown).find_first_of("\r\n"), kShown));
    possible.header = include && name.size() < rest.size() && rest[name.size()] == '>' && name.starts_with('<') &&
                      !name.starts_with("</") && name.find("..") == std::string_view::npos && name.find('\\') == std::string_view::npos;
    use_(possible);
  }

  std::string_view source_;
  const std::string& file_;
  const std::function<void(const PossibleInclude&)>& use_;
  std::vector<std::size_t> comment_ends_;  ///< behind each "*/"
  mutable std::size_t steps_ = 0;          ///< of skip_space, all together
};

}  // namespace

void for_each_possible_include(std::string_view source, const std::string& file, const std::function<void(const PossibleInclude&)>& use) {
  IncludeSearch(source, file, use).run();
}

}  // namespace attune::spec
