#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/spec/expression.hpp"
#include "tuner/spec/value.hpp"

namespace attune::spec {

/// A JSON value that knows where it stands; members keep their order. Comments (`//` and `/* */`) are allowed.
struct JsonNode {
  enum class Kind { Object, Array, Scalar, Null };
  struct Member;

  Kind kind = Kind::Null;
  Value scalar;
  std::vector<Member> members;
  std::vector<JsonNode> items;
  SourcePosition position;

  /// Takes time in proportion to the text.
  /// Throws: SpecError with line and column: malformed text, a key given twice, a number that does not fit, a zero byte, a text beyond
  /// spec_limits.hpp.
  [[nodiscard]] static JsonNode parse(const std::string& text, const std::string& path);

  [[nodiscard]] const JsonNode* find(std::string_view key) const;
  [[nodiscard]] bool is_string() const { return kind == Kind::Scalar && std::holds_alternative<std::string>(scalar); }
  [[nodiscard]] bool is_bool() const { return kind == Kind::Scalar && std::holds_alternative<bool>(scalar); }
  /// "an object", "a string", ... for messages.
  [[nodiscard]] const char* describe() const;

  // Each throws SpecError at the value when it is something else; `what` names the thing: "the default of 'items'".
  [[nodiscard]] const std::string& string(std::string_view what) const;
  [[nodiscard]] std::int64_t integer(std::string_view what) const;
  [[nodiscard]] double number(std::string_view what) const;
  [[nodiscard]] bool boolean(std::string_view what) const;
  [[nodiscard]] const Value& value(std::string_view what) const;
  [[nodiscard]] const std::vector<JsonNode>& array(std::string_view what) const;
  [[nodiscard]] const std::vector<Member>& object(std::string_view what) const;
  /// Where the contents of a string begin: behind the quote.
  [[nodiscard]] SourcePosition inside() const;
};

struct JsonNode::Member {
  std::string key;
  SourcePosition position;  ///< of the key
  JsonNode value;
};

/// An object with a closed set of keys.
class ObjectReader {
 public:
  /// Throws: SpecError when `node` is no object or holds a key outside `keys` (with a suggestion).
  ObjectReader(const JsonNode& node, std::string what, const std::vector<std::string>& keys);
  [[nodiscard]] const JsonNode* find(std::string_view key) const { return node_.find(key); }
  /// Throws: SpecError at the object, with `remedy`, when the key is missing.
  [[nodiscard]] const JsonNode& require(std::string_view key, std::string_view remedy) const;
  [[nodiscard]] const std::string& what() const { return what_; }

 private:
  const JsonNode& node_;
  std::string what_;
};

}  // namespace attune::spec
