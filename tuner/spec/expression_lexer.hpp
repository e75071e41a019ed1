#pragma once
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::spec {

struct Token {
  enum class Kind { End, Literal, Name, Symbol };
  Kind kind = Kind::End;
  std::string_view text;   ///< as written; a view into the expression
  std::size_t offset = 0;  ///< of its first byte inside the expression
  Value value;             ///< Literals only

  [[nodiscard]] bool is(std::string_view what) const { return (kind == Kind::Name || kind == Kind::Symbol) && text == what; }
};

/// The tokens of `text`, ended by one End token. Throws: SpecError at the first character that starts no token.
[[nodiscard]] std::vector<Token> tokenise(std::string_view text, const SourcePosition& position);

/// Throws SpecError at `offset` inside the expression, naming the expression.
[[noreturn]] void fail_parsing(std::string_view text, const SourcePosition& position, std::size_t offset, const std::string& message);

}  // namespace attune::spec
