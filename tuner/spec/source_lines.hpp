#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace attune::spec {

/// Within a line of C++.
inline constexpr std::string_view kBlanks = " \t\r\f\v";

/// Reads a CUDA source line by line as a preprocessor does: lines joined by a backslash are one, a comment is a blank, and what
/// stands in a string, a raw one too, is no comment. Takes time in proportion to the source.
/// Source: [lex.pptoken] of C++17. Trigraphs are none: templates are compiled as C++17 or later.
class SourceLines {
 public:
  struct Line {
    std::string text;  ///< of a directive (what begins with # or %), without comments, strings as they are; of every other line empty
    std::size_t begin = 0, end = 0;
    int number = 0;
  };

  explicit SourceLines(std::string_view source) : source_(source) {}
  /// False at the end.
  [[nodiscard]] bool next(Line& line);
  /// The number of the line that comes next, counted from 1.
  [[nodiscard]] int number() const { return number_; }

 private:
  [[nodiscard]] bool at(std::string_view word) const { return source_.substr(at_, word.size()) == word; }
  [[nodiscard]] std::size_t joint_length() const {
    if (at_ >= source_.size() || source_[at_] != '\\') return 0;
    return at("\\\n") ? 2 : at("\\\r\n") ? 3 : 0;
  }
  void advance(std::string& text);
  void skip(std::size_t count);
  void skip_joints();
  void skip_line_comment();
  void begin_token(char c);
  void step(Line& line);
  void identifier(Line& line);
  void number_token(Line& line);
  void string(Line& line);
  [[nodiscard]] bool raw_string(Line& line);

  std::string_view source_;
  std::size_t at_ = 0;
  int number_ = 1;
  bool fresh_ = true;  ///< nothing but blanks and comments on this line so far
  bool keep_ = true;   ///< it is a directive, as far as is known
};

/// Something that may be an #include, an #import, an #embed, an `import "file"` or an `import module`, whatever comes before it.
struct PossibleInclude {
  std::size_t offset = 0;
  int line = 0;
  std::string text;     ///< of its line, for messages
  bool header = false;  ///< #include <name>, of one of CUDA's headers
};

/// Every place of a source where a preprocessor that reads strings and comments otherwise than SourceLines does might find a
/// directive that reads a file: also inside of strings and of comments that go over several lines. Two readers of the same language
/// differ somewhere, and whoever writes a template may know where. Throws: SpecError(file) when blanks or comments follow a '#' without
/// end.
void for_each_possible_include(std::string_view source, const std::string& file, const std::function<void(const PossibleInclude&)>& use);

}  // namespace attune::spec
