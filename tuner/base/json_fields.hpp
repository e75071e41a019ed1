#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attune::base {

/// Reads the fields of one JSON object that somebody else wrote: every one by name, type and range, so that nothing is
/// narrowed, rounded or taken for something else in silence.
/// Throws: Error (exit code Spec) "<context>field '<prefix><name>' is missing" or "... must be <what fits>, not <what is there>".
class JsonFields {
 public:
  static constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;
  static constexpr double kMostNumber = 1e15;

  /// `context` stands in front of every message: "failed reading a device: ". Requires: `object` outlives the reader.
  JsonFields(const nlohmann::json& object, std::string context, std::string prefix = "");

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] const nlohmann::json& at(const char* name) const;
  [[nodiscard]] std::string text(const char* name, std::size_t most_bytes = kMostTextBytes) const;
  [[nodiscard]] bool flag(const char* name) const;
  /// Finite.
  [[nodiscard]] double number(const char* name, double low = 0, double high = kMostNumber) const;
  /// A whole number; "1.0" is none.
  template <std::integral Int>
  [[nodiscard]] Int integer(const char* name, Int low = 0, Int high = std::numeric_limits<Int>::max()) const {
    if constexpr (std::unsigned_integral<Int>) {
      return static_cast<Int>(unsigned_integer(name, low, high));
    } else {
      return static_cast<Int>(signed_integer(name, low, high));
    }
  }
  /// The fields of an object in this one; messages name them "<name>.<field>".
  [[nodiscard]] JsonFields object(const char* name) const;
  [[nodiscard]] const nlohmann::json& array(const char* name) const;
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;

  [[noreturn]] void fail(const std::string& message) const;
  /// "field '<prefix><name>' must be <expected>, not <value>".
  [[noreturn]] void fail(const char* name, const std::string& expected, const nlohmann::json& value) const;

 private:
  [[nodiscard]] std::int64_t signed_integer(const char* name, std::int64_t low, std::int64_t high) const;
  [[nodiscard]] std::uint64_t unsigned_integer(const char* name, std::uint64_t low, std::uint64_t high) const;

  const nlohmann::json& object_;
  std::string context_;
  std::string prefix_;
};

/// A value for a message: short, whatever it is.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace attune::base
