#pragma once
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "tuner/base/escape.hpp"

namespace attune::base {

// What attune says to people. Whatever the texts hold, nothing acts on the terminal: a text among the arguments stays on its
// line, and the whole is escaped (tuner/base/escape.hpp). The format itself is ours; its line ends are.

/// An argument that may have several lines: a table, a log, the message of an error.
struct Lines {
  std::string_view text;
};

namespace detail {

template <class T>
inline constexpr bool is_text = std::is_convertible_v<const T&, std::string_view>;

template <class T>
struct ShownAs {
  using Type = std::conditional_t<is_text<T> || std::is_same_v<T, Lines>, std::string, T>;
};

template <class T>
decltype(auto) shown(const T& value) {
  if constexpr (std::is_same_v<T, Lines>)
    return escape_lines(value.text);
  else if constexpr (is_text<T>)
    return escape_line(value);
  else
    return (value);
}

template <class... T>
std::string say(std::string_view format, const T&... values) {
  return escape_lines(fmt::vformat(fmt::string_view(format.data(), format.size()), fmt::make_format_args(values...)));
}

template <class... T>
using Said = fmt::format_string<typename ShownAs<T>::Type...>;

}  // namespace detail

/// Standard output, as it is. Throws: EnvironmentError when it cannot be written to.
void write_standard_output(std::string_view text);
/// The same, and whatever was written before is out as well.
void flush_standard_output();
/// Standard error, as it is. What cannot be said is not said: a full disk or a closed descriptor there changes nothing else.
void write_standard_error(std::string_view text) noexcept;

/// Says something on standard output. Throws: as write_standard_output.
template <class... T>
void print(detail::Said<T...> format, const T&... values) {
  const fmt::string_view text = format;
  write_standard_output(detail::say({text.data(), text.size()}, detail::shown(values)...));
}

/// Says something on standard error; never throws.
template <class... T>
void tell(detail::Said<T...> format, const T&... values) noexcept {
  try {
    const fmt::string_view text = format;
    write_standard_error(detail::say({text.data(), text.size()}, detail::shown(values)...));
  } catch (...) {  // no memory for the message
    write_standard_error("attune: failed saying why: out of memory\n");
  }
}

/// "attune: " and the message of an error or a notice on standard error. Its further lines are indented: none of them, whatever
/// text it quotes, looks like a message of its own.
void tell_message(std::string_view message) noexcept;

}  // namespace attune::base
