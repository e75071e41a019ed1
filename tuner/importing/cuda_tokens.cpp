#include "tuner/importing/cuda_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "tuner/base/characters.hpp"

namespace attune::importing {
namespace {

using base::is_digit;
using base::is_name_part;

constexpr std::array<std::string_view, 22> kLongSigns{
    "<<=", ">>=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "->", "::", "&&", "||", "<<", ">>"};

std::size_t sign_end(std::string_view code, std::size_t at) {
  for (const std::string_view sign : kLongSigns) {
    if (code.substr(at, sign.size()) == sign) return at + sign.size();
  }
  return at + 1;
}

std::size_t quoted_end(std::string_view code, std::size_t at) {
  const char quote = code[at];
  for (++at; at < code.size() && code[at] != quote && code[at] != '\n'; ++at) {
    if (code[at] == '\\') ++at;
  }
  return std::min(at + 1, code.size());
}

int depth_step(const Token& token) {
  if (token.kind != Token::Kind::Sign) return 0;
  if (token.text == "(" || token.text == "[" || token.text == "{") return 1;
  return token.text == ")" || token.text == "]" || token.text == "}" ? -1 : 0;
}

}  // namespace

Tokens cuda_tokens(std::string_view code) {
  Tokens tokens;
  for (std::size_t at = 0; at < code.size();) {
    const char c = code[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
      continue;
    }
    Token::Kind kind = Token::Kind::Sign;
    std::size_t end = at;
    if (is_digit(c) || (c == '.' && at + 1 < code.size() && is_digit(code[at + 1]))) {
      kind = Token::Kind::Number;
      while (end < code.size() && (is_name_part(code[end]) || code[end] == '.')) ++end;
    } else if (is_name_part(c)) {
      kind = Token::Kind::Word;
      while (end < code.size() && is_name_part(code[end])) ++end;
    } else if (c == '"' || c == '\'') {
      kind = Token::Kind::Quoted;
      end = quoted_end(code, at);
    } else {
      end = sign_end(code, at);
    }
    tokens.push_back({kind, std::string(code.substr(at, end - at)), at});
    at = end;
  }
  return tokens;
}

std::string without_directives(std::string_view code) {
  std::string left(code);
  for (std::size_t at = 0; at < left.size();) {
    std::size_t end = std::min(left.find('\n', at), left.size());
    const std::size_t first = left.find_first_not_of(" \t\r", at);
    if (first < end && left[first] == '#') {
      const auto continues = [&] {
        const std::size_t last = left.find_last_not_of(" \t\r", end - 1);
        return end < left.size() && last != std::string::npos && last >= at && left[last] == '\\';
      };
      while (continues()) end = std::min(left.find('\n', end + 1), left.size());
      for (std::size_t i = at; i < end; ++i) {
        if (left[i] != '\n') left[i] = ' ';
      }
    }
    at = end + 1;
  }
  return left;
}

spec::SourcePosition position_in(std::string_view source, std::size_t offset, const std::string& file) {
  const std::string_view before = source.substr(0, offset);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return {file, line + 1, static_cast<int>(column) + 1};
}

std::size_t closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    depth += depth_step(tokens[at]);
    if (depth == 0) return at;
  }
  return tokens.size();
}

std::size_t opening(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t at = close + 1; at-- > 0;) {
    depth += depth_step(tokens[at]);
    if (depth == 0) return at;
  }
  return tokens.size();
}

Tokens slice(const Tokens& tokens, std::size_t begin, std::size_t end) {
  end = std::min(end, tokens.size());
  if (begin >= end) return {};
  return {tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool contains_word(const Tokens& tokens, std::string_view word) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) { return token.is_word() && token.text == word; });
}

std::vector<Tokens> split_at_commas(const Tokens& tokens) {
  std::vector<Tokens> parts;
  if (tokens.empty()) return parts;
  parts.emplace_back();
  int depth = 0;
  for (const Token& token : tokens) {
    depth += depth_step(token) + (token.is("<") ? 1 : 0) - (token.is(">") ? 1 : 0);
    if (token.is(",") && depth == 0)
      parts.emplace_back();
    else
      parts.back().push_back(token);
  }
  return parts;
}

std::vector<Tokens> split_template_list(const Tokens& tokens, std::size_t begin) {
  std::vector<Tokens> parts(1);
  int brackets = 0, angles = 0;
  for (std::size_t at = begin; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    brackets += depth_step(token);
    if (brackets == 0) {
      angles += token.is("<") ? 1 : token.is(">") ? -1 : token.is(">>") ? -2 : 0;
      if (angles < 0) break;
    }
    if (token.is(",") && brackets == 0 && angles == 0)
      parts.emplace_back();
    else
      parts.back().push_back(token);
  }
  if (parts.size() == 1 && parts.front().empty()) parts.clear();
  return parts;
}

std::string text_of(std::string_view code, const Tokens& tokens) {
  if (tokens.empty()) return "";
  const std::size_t begin = tokens.front().offset;
  return std::string(code.substr(begin, tokens.back().offset + tokens.back().text.size() - begin));
}

std::string shown(const Tokens& tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool tight = i == 0 || tokens[i].is(",") || tokens[i].is("]") || tokens[i].is("[") || tokens[i].is(")") ||
                       tokens[i - 1].is("(") || tokens[i - 1].is("[") || tokens[i].is("::") || tokens[i - 1].is("::");
    text += (tight ? "" : " ") + tokens[i].text;
  }
  return text;
}

}  // namespace attune::importing
