#include "tuner/spec/includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/text.hpp"
#include "tuner/spec/device_headers.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/source_lines.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

/// Cuts the word at the beginning off `text`, and the blanks behind it.
std::string_view take_word(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
  const std::string_view word = text.substr(0, length);
  text = base::trimmed(text.substr(length), kBlanks);
  return word;
}

bool leads_elsewhere(std::string_view name) { return name.starts_with('/') || name.find("..") != std::string_view::npos; }

/// What `#include` is followed by: Include, Own, Refused, or none of them for one of CUDA's headers.
bool read_include(std::string_view target, FileDirective& directive) {
  using Kind = FileDirective::Kind;
  const char close = target.starts_with('<') ? '>' : '"';
  const std::size_t end = target.find(close, 1);
  if ((!target.starts_with('<') && !target.starts_with('"')) || end == std::string_view::npos) {
    directive.kind = Kind::Refused;
    directive.text = fmt::format("'#include {}' does not name a file; write #include \"file\" or #include <header>", target);
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
  directive.text =
      fmt::format("'#include <{}>' leads out of CUDA's headers; put the file beside template.json and write #include \"file\"", name);
  return true;
}

bool read_directive(std::string_view text, FileDirective& directive) {
  using Kind = FileDirective::Kind;
  text = base::trimmed(text, kBlanks);
  if (!text.starts_with('#') && !text.starts_with("%:")) return false;
  text = base::trimmed(text.substr(text.starts_with('#') ? 1 : 2), kBlanks);
  const std::string_view word = take_word(text);
  if (word == "include") return read_include(text, directive);
  if (word == "pragma") {
    directive.kind = Kind::PragmaOnce;
    return take_word(text) == "once";
  }
  // Also in a macro, which an #if may name.
  const bool asks = text.find("__has_include") != std::string_view::npos || text.find("__has_embed") != std::string_view::npos;
  if (word != "include_next" && word != "import" && word != "embed" && !asks) return false;
  directive.kind = Kind::Refused;
  directive.text = fmt::format("'{}' makes the code depend on files that the template does not hold; use #include \"file\"",
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

bool is_on_the_way(const std::vector<std::string>& open, const std::string& file) {
  return std::find(open.begin(), open.end(), file) != open.end();
}

/// A source with what it includes in its place. Recursion is as deep as check_includes admits.
class Expansion {
 public:
  Expansion(const KernelTemplate& kernel, DirectivesByFile& directives) : kernel_(kernel), directives_(directives) {}

  void add(const std::string& file) {
    // On the way here already: what #pragma once would skip.
    if (is_on_the_way(open_, file)) return;
    const std::string& source = kernel_.files.at(file);
    const std::vector<FileDirective>& directives = directives_.of(file);
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
      check_size(file, directive.line);
    }
    text_.append(source, copied, std::string::npos);
    if (guarded) text_ += "\n#endif";
    open_.pop_back();
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void include(const std::string& file, const FileDirective& directive) {
    if (++included_ > kMostIncludes) refuse(file, directive.line, fmt::format("{} files", kMostIncludes));
    add(target_of(file, directive));
  }

  /// Behind each directive, whether it includes something or not: the line that stands for one takes up to a path.
  void check_size(const std::string& file, int line) const {
    if (text_.size() > kMostSourceBytes) refuse(file, line, fmt::format("{} bytes", kMostSourceBytes));
  }

  [[noreturn]] void refuse(const std::string& file, int line, const std::string& what) const {
    throw SpecError(
        beside(kernel_, file), line, 1,
        fmt::format("a source includes more than {}, each file as often as it is met; put #pragma once into them or include fewer", what));
  }

  const KernelTemplate& kernel_;
  DirectivesByFile& directives_;
  std::vector<std::string> open_;  ///< files on the way from the source to here
  std::string text_;
  std::size_t included_ = 0;
};

/// The files of a template and what each includes, every one read once.
class IncludeCheck {
 public:
  explicit IncludeCheck(const KernelTemplate& kernel) : kernel_(kernel), directives_(kernel.files) {}

  /// `file` and what it includes, directly or not. Whether it includes anything.
  bool check(const std::string& file) {
    const std::vector<FileDirective>& directives = directives_of(file);
    if (open_.size() == kMostIncludeDepth) {
      throw SpecError(beside(kernel_, open_.back()), 0, 0,
                      fmt::format("files include each other more than {} deep; include fewer", kMostIncludeDepth));
    }
    open_.push_back(file);
    bool includes = false;
    for (const FileDirective& directive : directives) {
      if (directive.kind == FileDirective::Kind::Refused) refuse(file, directive.line, directive.text);
      if (!names_a_file(directive)) continue;
      includes = true;
      follow(file, directive);
    }
    open_.pop_back();
    done_.insert(file);
    return includes;
  }

 private:
  [[noreturn]] void refuse(const std::string& file, int line, const std::string& why) const {
    throw SpecError(beside(kernel_, file), line, 1, why);
  }

  void follow(const std::string& file, const FileDirective& directive) {
    const std::string target = target_of(file, directive);
    const auto refuse_it = [&](const std::string& why) { refuse(file, directive.line, why); };
    if (target.empty())
      refuse_it(fmt::format("the included file '{}' must be a path inside the template's folder, of at most {} bytes", directive.text,
                            kMostPathBytes));
    if (directive.kind == FileDirective::Kind::Own && !kernel_.files.contains(target)) {
      refuse_it(fmt::format("attune has no header {}; known: {}{}", target, joined(device_header_names()),
                            suggestion(target, device_header_names())));
    }
    if (!kernel_.files.contains(target)) {
      refuse_it(
          fmt::format("the included file '{}' is missing; it belongs into the template's folder, and a header of CUDA is "
                      "included as <{}>",
                      directive.text, directive.text));
    }
    if (is_on_the_way(open_, target)) {
      if (!is_read_once(directives_of(target))) refuse_it(fmt::format("'{}' includes itself; put #pragma once into it", target));
    } else if (!done_.contains(target)) {
      static_cast<void>(check(target));
    }
  }

  const std::vector<FileDirective>& directives_of(const std::string& file) {
    const std::vector<FileDirective>& directives = directives_.of(file);
    if (searched_.insert(file).second) refuse_hidden(file, kernel_.files.at(file), directives);
    return directives;
  }

  /// What is no directive here may be one to the compiler, which would then read a file that the template does not hold.
  void refuse_hidden(const std::string& file, const std::string& source, const std::vector<FileDirective>& directives) const {
    auto directive = directives.begin();
    for_each_possible_include(source, beside(kernel_, file), [&](const PossibleInclude& possible) {
      while (directive != directives.end() && directive->end <= possible.offset) ++directive;
      if (possible.header || (directive != directives.end() && directive->begin <= possible.offset)) return;
      refuse(file, possible.line,
             fmt::format("'{}' would read a file that the template does not hold if it were a directive, and compilers differ "
                         "in what they take for a comment or a string; remove it, or put // before it",
                         possible.text));
    });
  }

  const KernelTemplate& kernel_;
  DirectivesByFile directives_;
  std::set<std::string> searched_;  ///< for what may be a directive to others
  std::vector<std::string> open_;   ///< files on the way from a source to the one that is checked
  std::set<std::string> done_;
};

/// Counts what a template holds.
class FileCount {
 public:
  void add(const std::string& file, std::size_t bytes) {
    bytes_ += bytes;
    if (++files_ > kMostFiles) throw SpecError(file, 0, 0, fmt::format("the template includes more than {} files", kMostFiles));
    if (bytes_ > kMostFileBytes)
      throw SpecError(file, 0, 0, fmt::format("with it the files of the template have more than {} bytes", kMostFileBytes));
  }

 private:
  std::size_t files_ = 0, bytes_ = 0;
};

}  // namespace

std::vector<FileDirective> file_directives(std::string_view source) {
  std::vector<FileDirective> found;
  SourceLines lines(source);
  for (SourceLines::Line line; lines.next(line);) {
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

const std::vector<FileDirective>& DirectivesByFile::of(const std::string& file) {
  const auto known = known_.find(file);
  if (known != known_.end()) return known->second;
  const std::string& source = files_.at(file);
  read_bytes_ += source.size();
  return known_.emplace(file, file_directives(source)).first->second;
}

std::string included_file(const std::string& includer, const std::string& name) {
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; });
  if (name.empty() || name.starts_with('/') || !plain || name.size() > kMostPathBytes) return {};
  const std::string path = (std::filesystem::path(includer).parent_path() / name).lexically_normal().generic_string();
  const bool leads_out = path == ".." || path.starts_with("../") || path.starts_with('<') || path.size() > kMostPathBytes;
  return leads_out ? std::string() : path;
}

void add_included_files(std::map<std::string, std::string>& files, const std::function<bool(const std::string&, std::string&)>& read) {
  FileCount count;
  std::vector<std::string> waiting;
  for (const auto& [name, bytes] : files) {
    count.add(name, bytes.size());
    waiting.push_back(name);
  }
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
      count.add(target, bytes.size());
      files.emplace(target, std::move(bytes));
      waiting.push_back(target);
    }
  }
}

bool check_includes(const KernelTemplate& kernel) {
  IncludeCheck files(kernel);
  bool includes = false;
  for (const SourceSpec& source : kernel.sources) includes = files.check(source.file) || includes;
  return includes;
}

std::string with_includes(const KernelTemplate& kernel, const std::string& file, DirectivesByFile& directives) {
  Expansion expansion(kernel, directives);
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
