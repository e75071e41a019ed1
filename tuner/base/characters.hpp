#pragma once
#include <algorithm>
#include <string_view>

namespace attune::base {

// Of ASCII, whatever the locale of the program says.

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }

/// Of an identifier: it begins with a letter or '_' and goes on with these and digits.
[[nodiscard]] constexpr bool is_name_start(char c) { return is_letter(c) || c == '_'; }
[[nodiscard]] constexpr bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
[[nodiscard]] constexpr bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) && std::all_of(text.begin(), text.end(), is_name_part);
}

}  // namespace attune::base
