#include "tuner/importing/host_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "tuner/importing/cuda_parts.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/host_headers.hpp"

namespace attune::importing {
namespace {

using Kind = SourcePart::Kind;

struct SourceLine {
  std::size_t begin = 0, end = 0;  ///< without its newline
};

std::vector<SourceLine> lines_of(const std::string& text) {
  std::vector<SourceLine> lines;
  for (std::size_t at = 0; at < text.size(); at = lines.back().end + 1) lines.push_back({at, std::min(text.find('\n', at), text.size())});
  return lines;
}

/// Blanks in place of the lines that NVRTC skips by a condition of its own.
std::string without_skipped(std::string code) {
  std::vector<bool> skipped;  // by the conditions that are open
  for (const SourceLine& line : lines_of(code)) {
    const Tokens tokens = cuda_tokens(std::string_view(code).substr(line.begin, line.end - line.begin));
    const bool directive = tokens.size() > 1 && tokens[0].is("#");
    const std::string word = directive ? tokens[1].text : "";
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      const bool named = contains_word(tokens, "__CUDACC_RTC__");
      const bool alone = tokens.size() == 3 || tokens.size() == 5 || tokens.size() == 7;
      const bool negated = word == "ifndef" || (word == "if" && tokens.size() > 3 && tokens[2].is("!") && tokens[3].is("defined"));
      skipped.push_back((named && alone && negated) || (word == "if" && tokens.size() == 3 && tokens[2].is("0")));
    } else if (word == "elif" && !skipped.empty()) {
      skipped.back() = false;
    } else if (word == "else" && !skipped.empty()) {
      skipped.back() = false;
    } else if (word == "endif" && !skipped.empty()) {
      skipped.pop_back();
    } else if (std::find(skipped.begin(), skipped.end(), true) != skipped.end()) {
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(line.begin), code.begin() + static_cast<std::ptrdiff_t>(line.end), ' ');
    }
  }
  return code;
}

bool is_library_word(const std::string& word) {
  for (const std::string_view begin : {"cublas", "cusparse", "cusolver", "cudnn", "nvtx", "nvml"}) {
    if (word.starts_with(begin) && word.size() > begin.size() && std::isupper(static_cast<unsigned char>(word[begin.size()])) != 0)
      return true;
  }
  return false;
}

/// What CUDA's runtime calls its functions and types. Textures and surfaces are for device code, too.
bool is_runtime_word(const std::string& word) {
  const bool begins = word.starts_with("cuda") && word.size() > 4 && std::isupper(static_cast<unsigned char>(word[4])) != 0;
  return begins && word.find("exture") == std::string::npos && word.find("urface") == std::string::npos;
}

bool is_library_name(const std::string& word) {
  static const std::set<std::string> kNames = {"cout",          "cerr",          "endl",       "vector",        "string",
                                               "map",           "unordered_map", "set",        "ifstream",      "ofstream",
                                               "stringstream",  "chrono",        "mt19937",    "random_device", "thread",
                                               "mutex",         "unique_ptr",    "shared_ptr", "list",          "exception",
                                               "runtime_error", "sort",          "generate",   "ostringstream", "default_random_engine",
                                               "filesystem",    "ostream"};
  return kNames.contains(word);
}

/// Whether only a compiler for the host takes these: a launch, a call of CUDA's runtime, a name of C++'s library.
bool shows_host(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token* const next = i + 1 < tokens.size() ? &tokens[i + 1] : nullptr;
    if (tokens[i].is("<<") && next != nullptr && next->is("<") && next->offset == tokens[i].offset + 2) return true;
    if (!tokens[i].is_word()) continue;
    if (is_runtime_word(tokens[i].text) || is_library_word(tokens[i].text)) return true;
    const bool outer = i == 0 || !tokens[i - 1].is("::");  // cuda::std has forms for device code
    if (outer && tokens[i].is("std") && i + 2 < tokens.size() && next->is("::") && is_library_name(tokens[i + 2].text)) return true;
  }
  return false;
}

bool is_host(const SourcePart& part) {
  if (part.for_device) return false;
  if (part.kind == Kind::Function && part.name == "main") return true;
  if (contains_word(part.tokens, "__device__") || contains_word(part.tokens, "__constant__")) return false;  // a class for both
  return contains_word(part.tokens, "__host__") || shows_host(part.tokens);
}

bool is_function(const SourcePart& part) { return part.kind == Kind::Function || part.kind == Kind::Prototype; }

void add_words(const Tokens& tokens, std::set<std::string>& words) {
  for (const Token& token : tokens) {
    if (token.is_word()) words.insert(token.text);
  }
}

/// Words of macros, which device code may use.
void add_macro_words(const std::string& code, std::set<std::string>& words) {
  const std::string rest = without_directives(code);
  std::string directives = code;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (rest[i] == code[i] && code[i] != '\n') directives[i] = ' ';
  }
  add_words(cuda_tokens(directives), words);
}

/// By place in `parts`: whether it is left out.
std::vector<bool> host_parts(const std::vector<SourcePart>& parts, const std::string& code) {
  std::vector<bool> host(parts.size(), false);
  std::set<std::string> words;  // of what stays
  bool any = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool certain = is_host(parts[i]);
    any = any || certain;
    host[i] = certain || (is_function(parts[i]) && !parts[i].for_device && parts[i].name != "operator");
    if (!host[i]) add_words(parts[i].tokens, words);
  }
  if (!any) return std::vector<bool>(parts.size(), false);
  add_macro_words(code, words);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!host[i] || is_host(parts[i]) || !words.contains(parts[i].name)) continue;
      host[i] = false;
      changed = true;
      add_words(parts[i].tokens, words);
    }
  }
  return host;
}

/// The lines of a part without what is no directive: those of a function may define a macro that others use.
std::string emptied(const std::string& source, const std::string& code, const std::string& what) {
  const std::string rest = without_directives(code);
  std::string left = fmt::format("/* code for the host, left out: {} */", what);
  const auto lines = lines_of(code);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const SourceLine& line = lines[i];
    const std::string_view written = std::string_view(code).substr(line.begin, line.end - line.begin);
    const bool directive = written != std::string_view(rest).substr(line.begin, line.end - line.begin);
    left += '\n';
    if (directive) left += source.substr(line.begin, line.end - line.begin);
  }
  return left;
}

std::string what_of(const SourcePart& part) { return part.name.empty() ? shown(slice(part.tokens, 0, 4)) : part.name; }

struct Cut {
  std::size_t end = 0;
  std::string what, text;
};
using Cuts = std::map<std::size_t, Cut>;  // by where they begin

/// The #include of a header that the host alone has. `kept`: words of what stays.
void cut_header(const std::string& code, const SourceLine& line, const std::set<std::string>& kept, Cuts& cuts) {
  const std::string_view text = std::string_view(code).substr(line.begin, line.end - line.begin);
  const Tokens tokens = cuda_tokens(text);
  if (tokens.size() < 4 || !tokens[0].is("#") || !tokens[1].is("include") || !tokens[2].is("<")) return;
  const std::size_t close = text.find('>', tokens[2].offset);
  if (close == std::string_view::npos) return;
  const std::string header(text.substr(tokens[2].offset, close + 1 - tokens[2].offset));
  if (!spec::is_host_code(header) || (spec::is_of_thrust(header) && kept.contains("thrust"))) return;  // NVRTC compiles some of Thrust
  cuts[line.begin + tokens[0].offset] = {line.begin + close + 1, header, fmt::format("/* code for the host, left out: {} */", header)};
}

}  // namespace

DeviceCode without_host_code(const std::string& source) {
  const std::string code = without_skipped(without_comments(source));
  Cuts cuts;
  const auto parts = source_parts(code);
  const auto host = host_parts(parts, code);
  std::set<std::string> kept;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!host[i]) {
      add_words(parts[i].tokens, kept);
      continue;
    }
    const Token& last = parts[i].tokens.back();
    const std::size_t begin = parts[i].tokens.front().offset, length = last.offset + last.text.size() - begin;
    cuts[begin] = {begin + length, what_of(parts[i]), emptied(source.substr(begin, length), code.substr(begin, length), what_of(parts[i]))};
  }
  for (const SourceLine& line : lines_of(code)) cut_header(code, line, kept, cuts);
  DeviceCode left;
  std::size_t at = 0;
  for (const auto& [begin, cut] : cuts) {
    if (begin < at) continue;  // a header in a function that is left out: its line stays, as those of its other directives
    left.text += source.substr(at, begin - at) + cut.text;
    left.left_out.push_back(fmt::format("{} (line {})", cut.what, position_in(source, begin, "").line));
    at = cut.end;
  }
  left.text += source.substr(at);
  return left;
}

}  // namespace attune::importing
