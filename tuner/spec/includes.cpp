#include "tuner/spec/includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/spec/device_headers.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {
namespace {

constexpr int kMostIncluded = 1000;

/// Reads a source line by line as a preprocessor does: lines joined by a backslash are one, a comment is a blank.
class Lines {
 public:
  struct Line {
    std::string text;  ///< without comments; strings as they are
    std::size_t begin = 0, end = 0;
    int number = 0;
  };

  explicit Lines(std::string_view source) : source_(source) {}

  bool next(Line& line) {
    if (at_ >= source_.size()) return false;
    line = {"", at_, at_, number_};
    while (at_ < source_.size() && source_[at_] != '\n') step(line);
    line.end = at_;
    if (at_ < source_.size()) advance();
    return true;
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  [[nodiscard]] bool at(std::string_view word) const { return source_.substr(at_, word.size()) == word; }

  char advance() {
    if (source_[at_] == '\n') ++number_;
    return source_[at_++];
  }

  /// One character, comment, string or joint of two lines.
  void step(Line& line) {
    if (const std::size_t joint = joint_length(); joint > 0) {
      for (std::size_t i = 0; i < joint; ++i) advance();
    } else if (at("//")) {
      while (at_ < source_.size() && source_[at_] != '\n') skip_joint_or_character();
    } else if (at("/*")) {
      at_ += 2;
      while (at_ < source_.size() && !at("*/")) advance();
      at_ = std::min(at_ + 2, source_.size());
      line.text += ' ';
    } else if (at("R\"") && (line.text.empty() || !is_word(line.text.back()) || is_encoding_prefix(line.text))) {
      raw_string(line);
    } else if (source_[at_] == '"' || source_[at_] == '\'') {
      string(line);
    } else {
      line.text += advance();
    }
  }

  [[nodiscard]] std::size_t joint_length() const { return at("\\\n") ? 2 : at("\\\r\n") ? 3 : 0; }

  void skip_joint_or_character() {
    const std::size_t joint = std::max<std::size_t>(joint_length(), 1);
    for (std::size_t i = 0; i < joint; ++i) advance();
  }

  /// Up to the closing quote or, as in `1'000` and in text that is skipped, the end of the line.
  void string(Line& line) {
    const char quote = advance();
    line.text += quote;
    while (at_ < source_.size() && source_[at_] != '\n') {
      if (joint_length() > 0) {
        skip_joint_or_character();
        continue;
      }
      const bool escape = source_[at_] == '\\' && at_ + 1 < source_.size() && source_[at_ + 1] != '\n';
      if (escape) line.text += advance();
      const char c = advance();
      line.text += c;
      if (c == quote && !escape) return;
    }
  }

  void raw_string(Line& line) {
    const std::size_t open = source_.find('(', at_);
    const std::size_t line_end = source_.find('\n', at_);
    if (open == std::string_view::npos || open > line_end) {
      line.text += advance();
      return;
    }
    const std::string close = fmt::format("){}\"", source_.substr(at_ + 2, open - at_ - 2));
    const std::size_t found = source_.find(close, open);
    const std::size_t stop = found == std::string_view::npos ? source_.size() : found + close.size();
    while (at_ < stop) advance();
    line.text += "\"\"";
  }

  static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  static bool is_encoding_prefix(std::string_view text) {
    return text.ends_with("L") || text.ends_with("u") || text.ends_with("U") || text.ends_with("u8");
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int number_ = 1;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\f\v");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\f\v") + 1 - first);
}

/// Cuts the word at the beginning off `text`, and the blanks behind it.
std::string_view take_word(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
  const std::string_view word = text.substr(0, length);
  text = trimmed(text.substr(length));
  return word;
}

bool leads_elsewhere(std::string_view name) {
  return name.starts_with('/') || name.find("..") != std::string_view::npos;
}

/// What `#include` is followed by: Include, Own, Refused, or none of them for one of CUDA's headers.
bool read_include(std::string_view target, FileDirective& directive) {
  using Kind = FileDirective::Kind;
  const char close = target.starts_with('<') ? '>' : '"';
  const std::size_t end = target.find(close, 1);
  if ((!target.starts_with('<') && !target.starts_with('"')) || end == std::string_view::npos) {
    directive.kind = Kind::Refused;
    directive.text =
        fmt::format("'#include {}' does not name a file; write #include \"file\" or #include <header>", target);
    return true;
  }
  const std::string_view name = target.substr(1, end - 1);
  if (close == '"') {
    directive.kind = Kind::Include;
    directive.text = name;
    return true;
  }
  if (!leads_elsewhere(name)) {
    directive.kind = Kind::Own;
    directive.text = target.substr(0, end + 1);
    return is_device_header(directive.text);
  }
  directive.kind = Kind::Refused;
  directive.text = fmt::format(
      "'#include <{}>' leads out of CUDA's headers; put the file beside template.json and write #include \"file\"",
      name);
  return true;
}

bool read_directive(std::string_view text, FileDirective& directive) {
  using Kind = FileDirective::Kind;
  text = trimmed(text);
  if (!text.starts_with('#') && !text.starts_with("%:")) return false;
  text = trimmed(text.substr(text.starts_with('#') ? 1 : 2));
  const std::string_view word = take_word(text);
  if (word == "include") return read_include(text, directive);
  if (word == "pragma") {
    directive.kind = Kind::PragmaOnce;
    return take_word(text) == "once";
  }
  const bool asks = (word == "if" || word == "elif") && text.find("__has_include") != std::string_view::npos;
  if (word != "include_next" && word != "import" && word != "embed" && !asks) return false;
  directive.kind = Kind::Refused;
  directive.text =
      fmt::format("'{}' makes the code depend on files that the template does not hold; use #include \"file\"",
                  asks ? "__has_include" : word);
  return true;
}

std::string beside(const KernelTemplate& kernel, const std::string& file) {
  if (is_device_header(file)) return without_brackets(file);
  return (std::filesystem::path(kernel.spec_path).parent_path() / file).string();
}

bool names_a_file(const FileDirective& directive) {
  return directive.kind == FileDirective::Kind::Include || directive.kind == FileDirective::Kind::Own;
}

/// The file that the directive in `includer` means, as `files` names it; empty when it leads out of the folder.
std::string target_of(const std::string& includer, const FileDirective& directive) {
  return directive.kind == FileDirective::Kind::Own ? directive.text : included_file(includer, directive.text);
}

bool is_read_once(const std::vector<FileDirective>& directives) {
  return std::any_of(directives.begin(), directives.end(),
                     [](const FileDirective& directive) { return directive.kind == FileDirective::Kind::PragmaOnce; });
}

/// A source with what it includes in its place.
class Expansion {
 public:
  explicit Expansion(const KernelTemplate& kernel) : kernel_(kernel) {}

  void add(const std::string& file) {
    // On the way here already: what #pragma once would skip.
    if (std::find(open_.begin(), open_.end(), file) != open_.end()) return;
    const std::string& source = kernel_.files.at(file);
    const std::vector<FileDirective> directives = file_directives(source);
    const bool included = !open_.empty();
    const bool guarded = included && is_read_once(directives);
    open_.push_back(file);
    if (guarded) text_ += fmt::format("\n#ifndef {0}\n#define {0}", "ATTUNE_ONCE_" + base::content_key(file));
    if (included) text_ += fmt::format("\n#line 1 {}\n", quoted_file(file));
    std::size_t copied = 0;
    for (const FileDirective& directive : directives) {
      text_.append(source, copied, directive.begin - copied);
      copied = directive.end;
      if (names_a_file(directive)) include(file, directive);
      // Also after #pragma once, which is left out: it would be a warning, and the lines of a continued one are to
      // count.
      text_ += fmt::format("\n#line {} {}", directive.next_line, quoted_file(file));
    }
    text_.append(source, copied, std::string::npos);
    if (guarded) text_ += "\n#endif";
    open_.pop_back();
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void include(const std::string& file, const FileDirective& directive) {
    if (++included_ > kMostIncluded) {
      throw SpecError(
          beside(kernel_, file), directive.line, 1,
          fmt::format("a source includes more than {} files, each as often as it is met; put #pragma once into them "
                      "or include fewer",
                      kMostIncluded));
    }
    add(target_of(file, directive));
  }

  const KernelTemplate& kernel_;
  std::vector<std::string> open_;  ///< files on the way from the source to here
  std::string text_;
  int included_ = 0;
};

/// Whether it includes anything. `open`: the files on the way from a source to `file`.
bool check_file(const KernelTemplate& kernel, const std::string& file, std::vector<std::string>& open,
                std::set<std::string>& done) {
  const std::vector<FileDirective> directives = file_directives(kernel.files.at(file));
  open.push_back(file);
  bool includes = false;
  for (const FileDirective& directive : directives) {
    const auto refuse = [&](const std::string& why) { throw SpecError(beside(kernel, file), directive.line, 1, why); };
    if (directive.kind == FileDirective::Kind::Refused) refuse(directive.text);
    if (!names_a_file(directive)) continue;
    includes = true;
    const std::string target = target_of(file, directive);
    if (target.empty())
      refuse(fmt::format("the included file '{}' must be a path inside the template's folder", directive.text));
    if (directive.kind == FileDirective::Kind::Own && !kernel.files.contains(target)) {
      refuse(fmt::format("attune has no header {}; known: {}{}", target, joined(device_header_names()),
                         suggestion(target, device_header_names())));
    }
    if (!kernel.files.contains(target)) {
      refuse(fmt::format(
          "the included file '{}' is missing; it belongs into the template's folder, and a header of CUDA is "
          "included as <{}>",
          directive.text, directive.text));
    }
    if (std::find(open.begin(), open.end(), target) != open.end()) {
      if (!is_read_once(file_directives(kernel.files.at(target))))
        refuse(fmt::format("'{}' includes itself; put #pragma once into it", target));
    } else if (!done.contains(target)) {
      static_cast<void>(check_file(kernel, target, open, done));
    }
  }
  open.pop_back();
  done.insert(file);
  return includes;
}

}  // namespace

std::vector<FileDirective> file_directives(std::string_view source) {
  std::vector<FileDirective> found;
  Lines lines(source);
  for (Lines::Line line; lines.next(line);) {
    FileDirective directive;
    if (!read_directive(line.text, directive)) continue;
    directive.begin = line.begin;
    directive.end = line.end;
    directive.line = line.number;
    directive.next_line = lines.number();
    found.push_back(std::move(directive));
  }
  return found;
}

std::string included_file(const std::string& includer, const std::string& name) {
  if (name.empty() || name.starts_with('/')) return {};
  const std::string path = (std::filesystem::path(includer).parent_path() / name).lexically_normal().generic_string();
  return path == ".." || path.starts_with("../") || path.starts_with('<') ? std::string() : path;
}

void add_included_files(std::map<std::string, std::string>& files,
                        const std::function<bool(const std::string&, std::string&)>& read) {
  std::vector<std::string> waiting;
  for (const auto& [name, bytes] : files) waiting.push_back(name);
  while (!waiting.empty()) {
    const std::string file = std::move(waiting.back());
    waiting.pop_back();
    for (const FileDirective& directive : file_directives(files.at(file))) {
      if (!names_a_file(directive)) continue;
      const std::string target = target_of(file, directive);
      std::string bytes;
      if (target.empty() || files.contains(target)) continue;
      if (!read(target, bytes)) {
        const std::optional<std::string_view> own = device_header(target);
        if (!own) continue;
        bytes = *own;
      }
      files.emplace(target, std::move(bytes));
      waiting.push_back(target);
    }
  }
}

bool check_includes(const KernelTemplate& kernel) {
  std::vector<std::string> open;
  std::set<std::string> done;
  bool includes = false;
  for (const SourceSpec& source : kernel.sources) includes = check_file(kernel, source.file, open, done) || includes;
  return includes;
}

std::string with_includes(const KernelTemplate& kernel, const std::string& file) {
  Expansion expansion(kernel);
  expansion.add(file);
  return expansion.take();
}

std::string quoted_file(const std::string& file) {
  std::string text;
  for (const char c : is_device_header(file) ? without_brackets(file) : file) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return '"' + text + '"';
}

}  // namespace attune::spec
