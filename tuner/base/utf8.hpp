#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attune::base {

/// A character that a text begins with, or its first byte where that begins none.
struct Utf8Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;  ///< else one byte that is no UTF-8; `code` is the byte
};

/// What RFC 3629 allows: no surrogates, nothing above U+10FFFF, no longer form than needed. Requires: `text` is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text) noexcept;

/// Whether nothing in the text is anything else; dump_json takes it then.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace attune::base
