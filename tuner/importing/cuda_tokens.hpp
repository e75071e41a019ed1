#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::importing {

/// A word, number, text in quotes or operator of CUDA C++.
struct Token {
  enum class Kind { Word, Number, Quoted, Sign } kind = Kind::Sign;
  std::string text;
  std::size_t offset = 0;  ///< into the source

  [[nodiscard]] bool is(std::string_view wanted) const { return text == wanted && kind != Kind::Quoted; }
  [[nodiscard]] bool is_word() const { return kind == Kind::Word; }
};
using Tokens = std::vector<Token>;

/// Requires: a source without comments.
[[nodiscard]] Tokens cuda_tokens(std::string_view code);
/// The source with blanks in place of lines that begin with '#', continued ones included.
[[nodiscard]] std::string without_directives(std::string_view code);
[[nodiscard]] spec::SourcePosition position_in(std::string_view source, std::size_t offset, const std::string& file);

/// The bracket that closes the one at `open`; the number of tokens where none does.
[[nodiscard]] std::size_t closing(const Tokens& tokens, std::size_t open);
/// The bracket that opens the one at `close`; the number of tokens where none does.
[[nodiscard]] std::size_t opening(const Tokens& tokens, std::size_t close);
[[nodiscard]] Tokens slice(const Tokens& tokens, std::size_t begin, std::size_t end);
[[nodiscard]] bool contains_word(const Tokens& tokens, std::string_view word);
/// Parts between commas that stand in no bracket.
[[nodiscard]] std::vector<Tokens> split_at_commas(const Tokens& tokens);
/// Parts between commas of a list in angle brackets, from `begin` to the bracket that closes it, or to the end. "<" and ">" in parentheses
/// compare.
[[nodiscard]] std::vector<Tokens> split_template_list(const Tokens& tokens, std::size_t begin);
/// The text that they are read from, with what stands between them. Requires: consecutive tokens of `code`.
[[nodiscard]] std::string text_of(std::string_view code, const Tokens& tokens);
/// The tokens with blanks between them, for messages.
[[nodiscard]] std::string shown(const Tokens& tokens);

}  // namespace attune::importing
