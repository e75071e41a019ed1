#include "tuner/importing/pointer_uses.hpp"

#include <algorithm>

namespace attune::importing {
namespace {

bool is_update(const Token& token) {
  if (token.kind != Token::Kind::Sign || token.text.size() < 2) return false;
  if (token.is("++") || token.is("--")) return true;
  return token.text.back() == '=' && !token.is("==") && !token.is("!=") && !token.is("<=") && !token.is(">=");
}

const Token& token_at(const Tokens& tokens, std::size_t at) {
  static const Token kNone;
  return at < tokens.size() ? tokens[at] : kNone;
}

/// Whether the first argument of an atomic function begins at `at`.
bool is_atomic_argument(const Tokens& body, std::size_t at) {
  return at >= 2 && body[at - 1].is("(") && body[at - 2].is_word() && body[at - 2].text.starts_with("atomic");
}

/// An element that is used: `before` is the token in front of it, `after` the one behind it.
void note_element(const Token& before, const Token& after, PointerUse& use) {
  if (after.is("="))
    use.written = true;
  else if (is_update(after) || before.is("++") || before.is("--"))
    use.updated = true;
  else
    use.read = true;
}

/// Behind the members of a vector or struct: .x, ->cells[2].y
std::size_t behind_members(const Tokens& body, std::size_t at) {
  for (;;) {
    if (token_at(body, at).is(".") || token_at(body, at).is("->"))
      at += 2;
    else if (token_at(body, at).is("["))
      at = closing(body, at) + 1;
    else
      return at;
  }
}

void note_use(const Tokens& body, std::size_t at, PointerUse& use) {
  const Token before = at > 0 ? body[at - 1] : Token();
  const bool address = before.is("&") && at > 1 && is_atomic_argument(body, at - 1);
  if (token_at(body, at + 1).is("[")) {
    const std::size_t end = closing(body, at + 1);
    use.indices.push_back(slice(body, at + 2, end));
    std::size_t after = end + 1;
    after = behind_members(body, after);
    if (address)
      use.updated = true;
    else if (before.is("&") && at > 1 && (body[at - 2].is("(") || body[at - 2].is("=") || body[at - 2].is(",")))
      use.escapes = true;
    else
      note_element(before, token_at(body, after), use);
    return;
  }
  if (token_at(body, at + 1).is("->")) {
    use.indices.push_back({{Token::Kind::Number, "0", 0}});
    if (address)
      use.updated = true;
    else
      note_element(before, token_at(body, behind_members(body, at + 1)), use);
    return;
  }
  if (is_atomic_argument(body, at)) {
    use.updated = true;
    std::size_t end = at + 1;
    while (end < body.size() && !body[end].is(",") && !body[end].is(")")) ++end;
    Tokens index = slice(body, at + 2, end);
    if (index.empty()) index.push_back({Token::Kind::Number, "0", 0});
    use.indices.push_back(std::move(index));
    return;
  }
  if (before.is("*")) {
    use.indices.push_back({{Token::Kind::Number, "0", 0}});
    note_element(at > 1 ? body[at - 2] : Token(), token_at(body, at + 1), use);
    return;
  }
  use.escapes = true;
}

/// Whether the words say threadIdx.x, or a variable that is nothing but threadIdx.
bool is_thread_index(const Tokens& index, const std::map<std::string, std::set<std::string>>& depends) {
  if (index.size() == 3) return index[0].is("threadIdx") && index[2].is("x");
  if (index.size() != 1) return false;
  const auto found = depends.find(index[0].text);
  return found != depends.end() && found->second == std::set<std::string>{"threadIdx"};
}

}  // namespace

PointerUse pointer_use(const Tokens& body, const std::string& name) {
  PointerUse use;
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (!body[at].is_word() || body[at].text != name) continue;
    if (at > 0 && (body[at - 1].is(".") || body[at - 1].is("->"))) continue;
    note_use(body, at, use);
  }
  return use;
}

namespace {

/// Reads a name with its dimensions. Where it ends.
std::size_t read_declarator(const Tokens& body, std::size_t at, SharedArray& array) {
  array.name = body[at].text;
  std::size_t end = at + 1;
  if (!token_at(body, end).is("[")) array.dimensions.push_back({{Token::Kind::Number, "1", 0}});
  for (; token_at(body, end).is("["); end = closing(body, end) + 1) {
    const Tokens dimension = slice(body, end + 1, closing(body, end));
    if (!dimension.empty()) array.dimensions.push_back(dimension);
  }
  return end;
}

}  // namespace

std::vector<SharedArray> shared_arrays(const Tokens& declared, const Tokens& body,
                                       const std::map<std::string, std::set<std::string>>& depends) {
  std::vector<SharedArray> arrays;
  for (std::size_t at = 0; at < declared.size(); ++at) {
    if (!declared[at].is("__shared__")) continue;
    std::string type;
    for (++at; at + 1 < declared.size() && declared[at].is_word(); ++at) {
      if (declared[at].is("__align__") || declared[at].is("alignas")) {
        at = closing(declared, at + 1);
        continue;
      }
      if (!declared[at + 1].is_word()) break;  // the name
      type += (type.empty() ? "" : " ") + declared[at].text;
    }
    while (at < declared.size() && declared[at].is_word()) {
      SharedArray array;
      array.type = type;
      at = read_declarator(declared, at, array);
      const PointerUse use = pointer_use(body, array.name);
      array.by_thread =
          std::any_of(use.indices.begin(), use.indices.end(), [&](const Tokens& index) { return is_thread_index(index, depends); });
      arrays.push_back(std::move(array));
      if (token_at(declared, at).is(",")) ++at;
    }
  }
  return arrays;
}

}  // namespace attune::importing
