#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune::spec {

/// An `#include <header>` in a source.
struct HeaderLine {
  std::string header;     ///< with its brackets
  std::string file;       ///< as the #line before it names it, in quotes; empty without one
  std::int64_t line = 0;  ///< likewise
};

/// Every such line outside of comments and strings, in order. Conditions are not evaluated.
[[nodiscard]] std::vector<HeaderLine> header_lines(std::string_view source);

/// The source with replacements in the places of headers that have one; every other line keeps its number. The same text where there is
/// none.
[[nodiscard]] std::string with_replaced_headers(std::string source);

}  // namespace attune::spec
