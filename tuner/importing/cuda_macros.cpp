#include "tuner/importing/cuda_macros.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

#include "attune/error.hpp"
#include "tuner/importing/kernel_source.hpp"

namespace attune::importing {
namespace {

/// "BLOCK_SIZE_X", "blockSizeX" -> BLOCK, SIZE, X.
std::vector<std::string> name_words(const std::string& name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool hump = std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if ((c == '_' || hump) && !words.back().empty()) words.emplace_back();
    if (c != '_') words.back() += static_cast<char>(std::toupper(c));
  }
  return words;
}

/// A literal without its suffix; empty: it is no whole number.
std::string whole_literal(const std::string& text) {
  std::string digits = text;
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != std::string_view::npos) digits.pop_back();
  const std::string_view allowed = hex ? "0123456789abcdefABCDEFxX" : "0123456789";
  if (digits.empty() || digits.find_first_not_of(allowed) != std::string::npos) return "";
  return digits.size() > 1 && digits.front() == '0' && !hex ? "" : digits;  // an octal number means another in attune
}

struct Line {
  std::size_t begin = 0;
  Tokens tokens;
};

std::vector<Line> directive_lines(const std::string& code) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    Line line{at, cuda_tokens(std::string_view(code).substr(at, end - at))};
    if (!line.tokens.empty()) lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

bool guards(const Tokens& line, const std::string& name) {
  if (line.size() == 3 && line[0].is("#") && line[1].is("ifndef")) return line[2].is(name);
  return line.size() >= 5 && line[0].is("#") && line[1].is("if") && line[2].is("!") && line[3].is("defined") &&
         line[line.size() == 5 ? 4 : 5].is(name);
}

/// Blanks in place of the definition, and of the guard before it.
void count_uses(std::vector<SourceName>& names, const std::vector<Line>& lines, const std::string& code) {
  std::string rest = without_directives(code);
  for (const Line& line : lines) {
    if (!line.tokens[0].is("#")) continue;
    const bool names_only =
        line.tokens.size() > 2 && (line.tokens[1].is("define") || line.tokens[1].is("ifndef") || line.tokens[1].is("undef"));
    for (std::size_t i = names_only ? 3 : 1; i < line.tokens.size(); ++i) {
      if (line.tokens.size() > 4 && line.tokens[1].is("if") && line.tokens[2].is("!") && line.tokens[3].is("defined")) continue;
      rest += " " + line.tokens[i].text;
    }
  }
  for (SourceName& name : names) {
    if (name.kind == SourceName::Kind::Constant) {
      std::size_t uses = 0;
      for (const Token& token : cuda_tokens(rest)) uses += token.is(name.name) ? 1U : 0U;
      name.used = uses > 1;
    } else {
      name.used = has_word(rest, name.name);
    }
  }
}

void add_constants(std::vector<SourceName>& names, const std::string& code, const std::string& file) {
  const Tokens tokens = cuda_tokens(without_directives(code));
  for (std::size_t i = 2; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("=") || !tokens[i - 1].is_word()) continue;
    std::size_t begin = i - 1;
    while (begin > 0 && tokens[begin - 1].is_word()) --begin;
    const Tokens type = slice(tokens, begin, i - 1);
    if (!contains_word(type, "constexpr") && !(contains_word(type, "const") && contains_word(type, "int"))) continue;
    Tokens value;
    for (std::size_t k = i + 1; k < tokens.size() && !tokens[k].is(";"); ++k) value.push_back(tokens[k]);
    names.push_back(
        {SourceName::Kind::Constant, tokens[i - 1].text, shown(value), {}, false, position_in(code, tokens[i - 1].offset, file)});
  }
}

}  // namespace

std::optional<std::int64_t> macro_number(const std::string& value, const std::map<std::string, std::string>& known) {
  const auto text = whole_expression(cuda_tokens(value), known);
  if (!text) return std::nullopt;
  try {
    return spec::Expression::parse(*text).integer([](std::string_view) { return std::nullopt; });
  } catch (const SpecError&) {  // it divides by zero, or is too large: no number to tune
    return std::nullopt;
  }
}

std::vector<SourceName> source_names(const std::string& code, const std::string& file) {
  const std::vector<Line> lines = directive_lines(code);
  std::vector<SourceName> names;
  int conditions = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Tokens& line = lines[i].tokens;
    if (line.size() > 1 && line[0].is("#")) conditions += line[1].text.starts_with("if") ? 1 : line[1].is("endif") ? -1 : 0;
    if (line.size() < 4 || !line[0].is("#") || !line[1].is("define")) continue;
    const std::size_t behind = line[2].offset + line[2].text.size();
    if (line[3].is("(") && line[3].offset == behind) continue;  // it has arguments
    const bool guarded = i > 0 && guards(lines[i - 1].tokens, line[2].text);
    const std::size_t begin = lines[i].begin + line[3].offset;
    std::string value = code.substr(begin, lines[i].begin + line.back().offset + line.back().text.size() - begin);
    names.push_back({guarded ? SourceName::Kind::Guarded : SourceName::Kind::Defined,
                     line[2].text,
                     std::move(value),
                     {},
                     false,
                     position_in(code, lines[i].begin + line[2].offset, file),
                     conditions});
  }
  add_constants(names, code, file);
  std::map<std::string, std::string> known;
  for (int round = 0; round < 3; ++round) {
    for (SourceName& name : names) {
      name.number = macro_number(name.value, known);
      if (name.number) known[name.name] = std::to_string(*name.number);
    }
  }
  count_uses(names, lines, code);
  return names;
}

NameLook look_of(const std::string& name) {
  static const std::map<NameLook, std::set<std::string>> kWords = {
      {NameLook::Changes,
       {"RADIUS", "HALO", "FILTER", "MASK", "BINS", "PI", "EPS", "MAX", "MIN", "DIMS", "CHANNELS", "STEPS", "ITERATIONS"}},
      {NameLook::Switch, {"USE", "ENABLE", "ENABLED", "WITH"}},
      {NameLook::Vector, {"VEC", "VECTOR", "VW"}},
      {NameLook::Work,
       {"UNROLL", "ITEMS", "ITEM", "WORK", "WPT", "COARSEN", "COARSENING", "COARSE", "BATCH", "STAGES", "TM", "TN", "PER", "ILP"}},
      {NameLook::Threads, {"BLOCK", "BLOCKSIZE", "BLOCKDIM", "THREADS", "NTHREADS", "THREAD", "BX", "BY", "BZ", "WARPS"}},
      {NameLook::Tile, {"TILE", "TILES", "CHUNK", "BM", "BN", "BK", "TX", "TY", "SIZE"}},
  };
  const auto words = name_words(name);
  for (const NameLook look : {NameLook::Changes, NameLook::Switch, NameLook::Vector, NameLook::Work, NameLook::Threads, NameLook::Tile}) {
    if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return kWords.at(look).contains(word); })) return look;
  }
  return NameLook::Nothing;
}

char axis_of(const std::string& name) {
  const std::string last = name_words(name).back();
  for (const auto& [word, axis] : {std::pair{"X", 'x'},
                                   {"BX", 'x'},
                                   {"TX", 'x'},
                                   {"WIDTH", 'x'},
                                   {"COLS", 'x'},
                                   {"Y", 'y'},
                                   {"BY", 'y'},
                                   {"TY", 'y'},
                                   {"HEIGHT", 'y'},
                                   {"ROWS", 'y'},
                                   {"Z", 'z'},
                                   {"BZ", 'z'},
                                   {"DEPTH", 'z'}}) {
    if (last == word) return axis;
  }
  return 0;
}

std::vector<std::int64_t> values_around(NameLook look, std::int64_t given) {
  if (look == NameLook::Switch && (given == 0 || given == 1)) return {0, 1};
  constexpr std::int64_t kMostGiven = 1 << 16;
  if (given < 0 || given > kMostGiven) return {given};
  std::set<std::int64_t> values = {given};
  const std::int64_t low = look == NameLook::Threads && given >= 32 ? 32 : std::max<std::int64_t>(1, given / 4);
  const std::int64_t high = look == NameLook::Threads && given >= 32 ? 1024
                            : look == NameLook::Vector               ? 4
                            : look == NameLook::Work                 ? std::max<std::int64_t>(8, given * 2)
                                                                     : given * 4;
  for (std::int64_t power = 1; power <= std::min(high, kMostGiven); power *= 2) {
    if (power >= (look == NameLook::Work || look == NameLook::Vector ? 1 : low)) values.insert(power);
  }
  return {values.begin(), values.end()};
}

std::optional<std::string> whole_expression(const Tokens& tokens, const std::map<std::string, std::string>& replaced) {
  std::string text;
  for (const Token& token : tokens) {
    std::string part = token.text;
    if (token.kind == Token::Kind::Number) part = whole_literal(token.text);
    if (token.is_word()) {
      const auto found = replaced.find(token.text);
      if (found == replaced.end()) return std::nullopt;
      part = found->second;
    }
    if (token.is("/")) part = "//";
    static constexpr std::array<std::string_view, 7> kSigns{"+", "-", "*", "/", "%", "(", ")"};
    if (part.empty() || token.kind == Token::Kind::Quoted) return std::nullopt;
    if (token.kind == Token::Kind::Sign && std::find(kSigns.begin(), kSigns.end(), token.text) == kSigns.end()) return std::nullopt;
    const bool tight = text.empty() || text.back() == '(' || token.is(")");
    text += (tight ? "" : " ") + part;
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace attune::importing
