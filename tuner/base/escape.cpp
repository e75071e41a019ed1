#include "tuner/base/escape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tuner/base/characters.hpp"
#include "tuner/base/utf8.hpp"

namespace attune::base {
namespace {

struct Range {
  std::uint32_t first, last;
};

/// Characters that act on others or cannot be seen; U+200C and U+200D are letters' business.
bool acts(std::uint32_t code) {
  constexpr std::array<Range, 11> kRanges{{{0, 0x1F},
                                           {0x7F, 0x9F},
                                           {0x61C, 0x61C},
                                           {0x200B, 0x200B},
                                           {0x200E, 0x200F},
                                           {0x2028, 0x202E},
                                           {0x2060, 0x206F},
                                           {0xFEFF, 0xFEFF},
                                           {0xFFF9, 0xFFFB},
                                           {0x1D173, 0x1D17A},
                                           {0xE0000, 0xE007F}}};
  return std::any_of(kRanges.begin(), kRanges.end(), [code](const Range& range) { return range.first <= code && code <= range.last; });
}

std::string number_of(const Utf8Character& character) {
  if (!character.valid || character.code < 0x80) return fmt::format("\\x{:02x}", character.code);
  return character.code > 0xFFFF ? fmt::format("\\U{:08x}", character.code) : fmt::format("\\u{:04x}", character.code);
}

std::string json_number_of(const Utf8Character& character) {
  if (!character.valid) return "\\ufffd";
  if (character.code <= 0xFFFF) return fmt::format("\\u{:04x}", character.code);
  const std::uint32_t offset = character.code - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (offset >> 10U), 0xDC00 + (offset & 0x3FFU));
}

/// `put(character, its bytes, out)` for each character of the text.
template <class Put>
std::string each(std::string_view text, Put put) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    put(character, text.substr(0, character.bytes), out);
    text.remove_prefix(character.bytes);
  }
  return out;
}

bool hidden(const Utf8Character& character) { return !character.valid || acts(character.code); }

const char* html_entity(std::uint32_t code) {
  switch (code) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return nullptr;
  }
}

/// Whether "1." or "1)" at `i` begins a numbered list.
bool numbers_list(std::string_view line, std::size_t i) {
  return line.find_first_not_of("0123456789") == i && (i + 1 == line.size() || line[i + 1] == ' ');
}

/// Whether the ASCII character at `i` could be markup there.
bool is_markup(std::string_view line, std::size_t i) {
  constexpr std::string_view kAnywhere = "\\`*[]|~#$";
  const char c = line[i];
  if (kAnywhere.find(c) != std::string_view::npos) return true;
  const bool after_word = i > 0 && is_letter_or_digit(line[i - 1]), before_word = i + 1 < line.size() && is_letter_or_digit(line[i + 1]);
  if (c == '_') return !after_word || !before_word;                                                      // block_size is no emphasis
  if (c == '/') return i > 0 && (line[i - 1] == ':' || line[i - 1] == '/');                              // https:// is a link by itself
  if (c == '.') return numbers_list(line, i) || (i >= 3 && (line[i - 1] == 'w' || line[i - 1] == 'W'));  // and so is www.
  if (c == ')') return numbers_list(line, i);
  const bool lists = c == '-' || c == '+';
  return lists && i == 0 && line.size() > 1 && (line[1] == ' ' || line[1] == c);  // a list or a ruler, no number
}

}  // namespace

std::string escape_line(std::string_view text) {
  return each(text, [](const Utf8Character& character, std::string_view bytes, std::string& out) {
    if (!hidden(character))
      out += bytes;
    else if (character.code == '\n')
      out += "\\n";
    else if (character.code == '\r')
      out += "\\r";
    else if (character.code == '\t')
      out += "\\t";
    else
      out += number_of(character);
  });
}

std::string escape_lines(std::string_view text) {
  return each(text, [](const Utf8Character& character, std::string_view bytes, std::string& out) {
    if (!hidden(character) || character.code == '\n' || character.code == '\t')
      out += bytes;
    else if (character.code == '\r')
      out += "\\r";
    else
      out += number_of(character);
  });
}

std::string escape_json(std::string_view json) {
  return each(json, [](const Utf8Character& character, std::string_view bytes, std::string& out) {
    if (character.code < 0x20 || !hidden(character))
      out += bytes;  // between values: line ends and spaces
    else
      out += json_number_of(character);
  });
}

std::string escape_script_json(std::string_view json) {
  return each(json, [](const Utf8Character& character, std::string_view bytes, std::string& out) {
    // Outside strings JSON has none of these, inside them the escape means the same character.
    const bool markup = character.code == '<' || character.code == '>' || character.code == '&';
    if (markup || (character.code >= 0x20 && hidden(character)))
      out += json_number_of(character);
    else
      out += bytes;
  });
}

std::string escape_html(std::string_view text) {
  return each(text, [](const Utf8Character& character, std::string_view bytes, std::string& out) {
    const char* const entity = html_entity(character.code);
    if (entity != nullptr)
      out += entity;
    else if (!hidden(character) || character.code == '\n' || character.code == '\t')
      out += bytes;
    else if (character.code == '\r')
      out += "\\r";
    else
      out += number_of(character);
  });
}

std::string escape_markdown(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  line.erase(0, line.find_first_not_of(' '));  // four spaces would make it code
  line = escape_line(line);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool entity = line[i] == '&' || line[i] == '<' || line[i] == '>';
    if (entity)
      out += html_entity(static_cast<unsigned char>(line[i]));
    else if (is_markup(line, i))
      out.append(1, '\\').append(1, line[i]);
    else
      out += line[i];
  }
  return out;
}

std::string escape_csv(std::string_view text) {
  std::string field = escape_lines(text);
  if (!field.empty() && std::string_view("=+-@\t\n").find(field.front()) != std::string_view::npos) field.insert(field.begin(), '\'');
  if (field.find_first_of(",\"\n\t") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+=:,./@%-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char letter : word) {
    if (letter == '\'')
      quoted += "'\\''";
    else
      quoted += letter;
  }
  return quoted + "'";
}

}  // namespace attune::base
