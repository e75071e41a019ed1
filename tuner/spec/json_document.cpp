#include "tuner/spec/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostMessageBytes = 300;

/// Walks JSON text that nlohmann has found well-formed, and check_limits not too deep: it keeps the positions and the order of members,
/// which a nlohmann value forgets. Numbers and strings are decoded by nlohmann.
class Walker {
 public:
  Walker(const std::string& text, std::string path) : text_(text), here_{std::move(path), 1, 1} {
    if (text.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  JsonNode run() {
    skip();
    return value();
  }

  /// Position of a byte; used when nlohmann rejected the text there.
  SourcePosition locate(std::size_t byte) {
    while (at_ < std::min(byte, text_.size())) step();
    return here_;
  }

 private:
  void step() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++here_.line;
      here_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++here_.column;
    }
  }

  void skip_comment() {
    if (text_[at_ + 1] == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') step();
      return;
    }
    const std::size_t end = text_.find("*/", at_ + 2) + 2;
    while (at_ < end) step();
  }

  void skip() {
    for (; at_ < text_.size();) {
      if (text_[at_] == '/') {
        skip_comment();
      } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        step();
      } else {
        return;
      }
    }
  }

  JsonNode value() {
    JsonNode node;
    node.position = here_;
    if (text_[at_] == '{') {
      node.kind = JsonNode::Kind::Object;
      read_members(node);
    } else if (text_[at_] == '[') {
      node.kind = JsonNode::Kind::Array;
      read_items(node);
    } else {
      read_leaf(node);
    }
    return node;
  }

  /// Steps over the opening bracket or a comma; false at the closing one, which is stepped over too.
  bool next_element(char closer) {
    step();
    skip();
    if (text_[at_] != closer) return true;
    step();
    return false;
  }

  void read_members(JsonNode& node) {
    std::unordered_set<std::string> keys;
    while (next_element('}')) {
      JsonNode::Member member;
      member.position = here_;
      member.key = token().get<std::string>();
      if (!keys.insert(member.key).second) fail(member.position, fmt::format("the key '{}' is given twice", member.key));
      skip();
      step();  // the colon
      skip();
      member.value = value();
      node.members.push_back(std::move(member));
      skip();
      if (text_[at_] == '}') return step();
    }
  }

  void read_items(JsonNode& node) {
    while (next_element(']')) {
      node.items.push_back(value());
      skip();
      if (text_[at_] == ']') return step();
    }
  }

  void read_leaf(JsonNode& node) {
    const Json leaf = token();
    if (leaf.is_null()) return;
    node.kind = JsonNode::Kind::Scalar;
    try {
      node.scalar = value_from_json(leaf);
    } catch (const Error& error) {
      fail(node.position, error.what());
    }
  }

  /// The string, number or literal that starts here.
  Json token() {
    const std::size_t begin = at_;
    const SourcePosition position = here_;
    if (text_[at_] == '"') {
      for (step(); text_[at_] != '"'; step()) {
        if (text_[at_] == '\\') step();
      }
      step();
    } else {
      while (at_ < text_.size() && std::string_view(",]}/ \t\r\n").find(text_[at_]) == std::string_view::npos) step();
    }
    try {
      return Json::parse(text_.substr(begin, at_ - begin));
    } catch (const Json::exception&) {
      fail(position, fmt::format("the number {} is out of range", text_.substr(begin, at_ - begin)));
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
  SourcePosition here_;
};

/// nlohmann's own words for a syntax error, without its prefix, which repeats the position.
std::string syntax_message(const Json::parse_error& error) {
  std::string text = error.what();
  const std::size_t cut = text.find(": ");
  if (cut != std::string::npos) text.erase(0, cut + 2);
  // It quotes the token that it stopped at, however long.
  if (text.size() > kMostMessageBytes)
    text = text.substr(0, kMostMessageBytes / 2) + " ... " + text.substr(text.size() - kMostMessageBytes / 2);
  return "malformed JSON: " + text;
}

/// Before anything is built of the text: how deep it is nested, how many values it may hold at most, and whether it is text at all.
/// Whether it is well-formed, the parser says; what is not is counted somehow.
void check_limits(const std::string& text, const std::string& path) {
  if (text.size() > kMostSpecBytes) {
    throw SpecError(path, 0, 0, fmt::format("the file has {} bytes; at most {} are read", text.size(), kMostSpecBytes));
  }
  // nlohmann would take it for the end of the text, and what follows it for read.
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos)
    fail(Walker(text, path).locate(zero), "the file holds a zero byte; remove it");
  int depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
    } else if (c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*')) {
      const bool line = text[at + 1] == '/';
      const std::size_t end = text.find(line ? "\n" : "*/", at + 2);
      if (end == std::string::npos) return;
      at = line ? end : end + 1;
    } else if (c == '{' || c == '[') {
      if (++depth > kMostSpecDepth)
        fail(Walker(text, path).locate(at), fmt::format("the values are nested too deeply, more than {} in each other", kMostSpecDepth));
      ++values;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == ',' && ++values > kMostSpecValues) {
      fail(Walker(text, path).locate(at), fmt::format("the file has more than {} members and items", kMostSpecValues));
    }
  }
}

void check_syntax(const std::string& text, const std::string& path) {
  try {
    const Json parsed = Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& error) {
    // `byte` counts from 1 and names the last character read.
    fail(Walker(text, path).locate(error.byte > 0 ? error.byte - 1 : 0), syntax_message(error));
  } catch (const Json::out_of_range&) {
    // A number too large for a double: the text before it is well-formed, and the walker stops there with its place.
    static_cast<void>(Walker(text, path).run());
  }
}

[[noreturn]] void wrong_kind(const JsonNode& node, std::string_view what, const char* wanted) {
  fail(node.position, fmt::format("{} must be {}, not {}", what, wanted, node.describe()));
}

}  // namespace

JsonNode JsonNode::parse(const std::string& text, const std::string& path) {
  check_limits(text, path);
  check_syntax(text, path);
  return Walker(text, path).run();
}

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

const char* JsonNode::describe() const {
  switch (kind) {
    case Kind::Object:
      return "an object";
    case Kind::Array:
      return "a list";
    case Kind::Null:
      return "null";
    case Kind::Scalar:
      break;
  }
  static constexpr std::array<const char*, 4> kScalars = {"a boolean", "an integer", "a number with a fraction", "a string"};
  return kScalars[scalar.index()];
}

const std::string& JsonNode::string(std::string_view what) const {
  if (!is_string()) wrong_kind(*this, what, "a string");
  return std::get<std::string>(scalar);
}

std::int64_t JsonNode::integer(std::string_view what) const {
  if (kind != Kind::Scalar || !std::holds_alternative<std::int64_t>(scalar)) wrong_kind(*this, what, "an integer");
  return std::get<std::int64_t>(scalar);
}

double JsonNode::number(std::string_view what) const {
  if (kind == Kind::Scalar) {
    if (const double* real = std::get_if<double>(&scalar)) return *real;
    if (const std::int64_t* integer = std::get_if<std::int64_t>(&scalar)) return static_cast<double>(*integer);
  }
  wrong_kind(*this, what, "a number");
}

bool JsonNode::boolean(std::string_view what) const {
  if (!is_bool()) wrong_kind(*this, what, "true or false");
  return std::get<bool>(scalar);
}

const Value& JsonNode::value(std::string_view what) const {
  if (kind != Kind::Scalar) wrong_kind(*this, what, "a number, a boolean or a string");
  return scalar;
}

const std::vector<JsonNode>& JsonNode::array(std::string_view what) const {
  if (kind != Kind::Array) wrong_kind(*this, what, "a list");
  return items;
}

const std::vector<JsonNode::Member>& JsonNode::object(std::string_view what) const {
  if (kind != Kind::Object) wrong_kind(*this, what, "an object");
  return members;
}

SourcePosition JsonNode::inside() const {
  SourcePosition inside = position;
  if (is_string()) ++inside.column;
  return inside;
}

ObjectReader::ObjectReader(const JsonNode& node, std::string what, const std::vector<std::string>& keys)
    : node_(node), what_(std::move(what)) {
  for (const JsonNode::Member& member : node.object(what_)) {
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) {
      fail(member.position, fmt::format("unknown key '{}' in {}{}", member.key, what_, hint(member.key, keys)));
    }
  }
}

const JsonNode& ObjectReader::require(std::string_view key, std::string_view remedy) const {
  if (const JsonNode* found = find(key)) return *found;
  fail(node_.position, fmt::format("{} lacks \"{}\"; {}", what_, key, remedy));
}

}  // namespace attune::spec
