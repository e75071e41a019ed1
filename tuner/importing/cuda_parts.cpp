#include "tuner/importing/cuda_parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attune::importing {
namespace {

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
  return token.is_word() && std::find(words.begin(), words.end(), token.text) != words.end();
}

/// Behind the `template <...>` that the tokens may begin with.
std::size_t behind_template(const Tokens& tokens) {
  std::size_t at = 0;
  while (at + 1 < tokens.size() && tokens[at].is("template") && tokens[at + 1].is("<")) {
    int angles = 0;
    for (++at; at < tokens.size(); ++at) {
      if (tokens[at].is("(")) at = std::min(closing(tokens, at), tokens.size() - 1);
      angles += tokens[at].is("<") ? 1 : tokens[at].is(">") ? -1 : tokens[at].is(">>") ? -2 : 0;
      if (angles <= 0) break;
    }
    ++at;
  }
  return at;
}

/// The word that a list of arguments or template arguments ends before `at` belongs to.
std::string word_before(const Tokens& tokens, std::size_t at) {
  if (at == 0) return "";
  if (tokens[at - 1].is(">")) {
    int angles = 0;
    while (at > 0) {
      --at;
      angles += tokens[at].is(">") ? 1 : tokens[at].is("<") ? -1 : 0;
      if (angles == 0) break;
    }
    return at > 0 && tokens[at - 1].is_word() ? tokens[at - 1].text : "";
  }
  if (tokens[at - 1].is_word()) return tokens[at - 1].text;
  return contains_word(slice(tokens, at < 3 ? 0 : at - 3, at), "operator") ? "operator" : "";
}

/// What a function is called: the word before the first brackets that are none of an attribute. Empty: there are none, or a value
/// is assigned before them.
std::string function_name(const Tokens& head) {
  for (std::size_t at = behind_template(head); at < head.size(); ++at) {
    if (head[at].is("=") && (at == 0 || !head[at - 1].is("operator"))) return "";
    if (head[at].is("[")) at = closing(head, at);
    if (at >= head.size() || !head[at].is("(")) continue;
    const bool attribute =
        at > 0 && is_one_of(head[at - 1], {"__launch_bounds__", "__attribute__", "__declspec", "__align__", "alignas", "decltype"});
    if (!attribute) return word_before(head, at);
    at = closing(head, at);
  }
  return "";
}

std::string class_name(const Tokens& head) {
  for (std::size_t at = behind_template(head); at + 1 < head.size(); ++at) {
    if (!is_one_of(head[at], {"struct", "class", "union", "enum"})) continue;
    for (++at; at < head.size(); ++at) {
      if (is_one_of(head[at], {"class", "struct"})) continue;  // enum class
      if (!is_one_of(head[at], {"__align__", "alignas"})) return head[at].is_word() ? head[at].text : "";
      at = closing(head, at + 1);
    }
  }
  return "";
}

bool opens_class(const Tokens& head) {
  if (head.empty() || head.back().is(")")) return false;
  const Tokens own = slice(head, behind_template(head), head.size());
  return std::any_of(own.begin(), own.end(), [](const Token& token) { return is_one_of(token, {"struct", "class", "union", "enum"}); });
}

/// A namespace or a block of extern "C": what stands in it stands outside of functions as well.
bool opens_scope(const Tokens& head) {
  if (contains_word(head, "namespace")) return true;
  return head.size() == 2 && head[0].is("extern") && head[1].text == "\"C\"";
}

bool is_macro_use(const Tokens& head) { return head.size() > 1 && head[0].is_word() && head[1].is("("); }

void classify(SourcePart& part, const Tokens& head, bool has_body) {
  static constexpr std::array<std::string_view, 3> kForDevice{"__global__", "__device__", "constexpr"};
  part.for_device = std::any_of(kForDevice.begin(), kForDevice.end(), [&](std::string_view word) { return contains_word(head, word); });
  if (has_body && opens_class(head)) {
    part.kind = SourcePart::Kind::Class;
    part.name = class_name(head);
    return;
  }
  if (!head.empty() && is_one_of(head[0], {"typedef", "using", "static_assert", "asm"})) return;
  const std::string name = function_name(head);
  if (name.empty() || (!has_body && is_macro_use(head))) return;
  part.kind = has_body ? SourcePart::Kind::Function : SourcePart::Kind::Prototype;
  part.name = name;
}

}  // namespace

std::vector<SourcePart> source_parts(const std::string& code) {
  const Tokens tokens = cuda_tokens(without_directives(code));
  std::vector<SourcePart> parts;
  std::size_t begin = 0, head_end = 0;  // of the part; head_end: where its body begins, 0: not yet
  const auto finish = [&](std::size_t end) {
    SourcePart part;
    part.tokens = slice(tokens, begin, end);
    classify(part, slice(tokens, begin, head_end > 0 ? head_end : end - 1), head_end > 0);
    parts.push_back(std::move(part));
    begin = end;
    head_end = 0;
  };
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].is("(") || tokens[at].is("[")) at = closing(tokens, at);
    if (at >= tokens.size()) break;
    if (tokens[at].is(";")) finish(at + 1);
    if (tokens[at].is("}")) begin = at + 1;  // of a namespace
    if (!tokens[at].is("{")) continue;
    const Tokens head = slice(tokens, begin, at);
    if (opens_scope(head)) {
      begin = at + 1;
      continue;
    }
    const std::size_t close = closing(tokens, at);
    if (close >= tokens.size()) break;  // brackets of #if and #else: nothing is known of what follows
    if (head_end == 0) head_end = at;
    at = close;
    if (!opens_class(head) && !function_name(head).empty()) finish(at + 1);
  }
  return parts;
}

}  // namespace attune::importing
