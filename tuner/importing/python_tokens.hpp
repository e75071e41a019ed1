#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::importing {

struct PythonToken {
  enum class Kind { End, Number, String, Name, Symbol } kind = Kind::End;
  std::string text;        ///< numbers and strings as attune writes them
  std::size_t offset = 0;  ///< of its first byte inside the expression

  [[nodiscard]] bool is(std::string_view what) const { return (kind == Kind::Name || kind == Kind::Symbol) && text == what; }
};

/// The tokens of a Python expression, ended by one End token. Throws: SpecError at the first character that starts none.
[[nodiscard]] std::vector<PythonToken> python_tokens(std::string_view text, const spec::SourcePosition& position);

}  // namespace attune::importing
