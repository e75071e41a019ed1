#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::importing {

/// A part of a Python expression.
struct PythonNode {
  enum class Kind {
    Literal,      ///< `text`: a number as attune writes it, a string in quotes, True or False
    Name,         ///< `text`, dots included
    Call,         ///< `text`: the function; `parts`: its arguments
    Subscript,    ///< parts[0][parts[1]]
    List,         ///< [..], (..) of several, {..}
    Unary,        ///< `text`: - + ~
    Binary,       ///< `text`: + - * / // % ** << >> & | ^
    Compare,      ///< a chain: `parts`, and between them `operators`: < <= == != > >= in "not in"
    And,          ///< of two or more
    Or,           ///< likewise
    Not,          ///<
    Conditional,  ///< parts[0] if parts[1] else parts[2]
  } kind = Kind::Literal;
  std::string text;
  std::vector<PythonNode> parts;
  std::vector<std::string> operators;
  std::size_t offset = 0;  ///< of its first byte, or of its operator
  int depth = 1;           ///< levels of parts
};

/// Reads the expressions that files of tuners hold: more of Python than attune's own language has, and nothing is run. `lambda p: ...`
/// before it is read over. Throws: SpecError with the place of what is no such expression.
[[nodiscard]] PythonNode parse_python(std::string_view text, const spec::SourcePosition& position);

}  // namespace attune::importing
