#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune::base {

struct JsonLimits {
  int depth = 32;                                      ///< arrays and objects around a value
  std::uint64_t value_bytes = std::uint64_t{1} << 30;  ///< that the values would take once read, estimated from above
};

struct JsonFault {
  std::string what;      ///< "the object has the key 'n' twice"
  std::size_t byte = 0;  ///< before which it shows
  int line = 1, column = 1;
  bool at_end = false;  ///< nothing but the end of the text was met too early
};

/// Looks through a text from outside without keeping anything of it, before it is read: no JSON, nested too deeply, a key twice in an
/// object, a number that no double holds, a zero byte (where the parser would stop and call the rest read), too many values.
/// Nothing when parse_json reads it whole, within these limits.
[[nodiscard]] std::optional<JsonFault> find_json_fault(std::string_view text, const JsonLimits& limits);

}  // namespace attune::base
