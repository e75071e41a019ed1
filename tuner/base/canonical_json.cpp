// Walks a value beside its text. Millions of rows are looked at in a merge, and writing each value again would take a tenth of it.
#include "tuner/base/canonical_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "tuner/base/json.hpp"

namespace attune::base {
namespace {

using nlohmann::json;

class CanonicalWalk {
 public:
  explicit CanonicalWalk(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool takes(const json& value) {
    switch (value.type()) {
      case json::value_t::object:
        return takes_object(value);
      case json::value_t::array:
        return takes_array(value);
      case json::value_t::string:
        return takes_string(value.get_ref<const std::string&>());
      case json::value_t::number_integer:
        return takes_number(value.get<std::int64_t>());
      case json::value_t::number_unsigned:
        return takes_number(value.get<std::uint64_t>());
      default:
        return takes(std::string_view(dump_json_replacing(value)));  // the shortest form of a number is the serialiser's business
    }
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  [[nodiscard]] bool takes(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool takes(std::string_view part) {
    if (!rest_.starts_with(part)) return false;
    rest_.remove_prefix(part.size());
    return true;
  }

  [[nodiscard]] bool takes_object(const json& value) {
    if (!takes('{')) return false;
    bool first = true;
    for (const auto& [name, member] : value.get_ref<const json::object_t&>()) {
      if (!first && !takes(',')) return false;
      if (!takes_string(name) || !takes(':') || !takes(member)) return false;
      first = false;
    }
    return takes('}');
  }

  [[nodiscard]] bool takes_array(const json& value) {
    if (!takes('[')) return false;
    bool first = true;
    for (const auto& element : value) {
      if (!first && !takes(',')) return false;
      if (!takes(element)) return false;
      first = false;
    }
    return takes(']');
  }

  [[nodiscard]] bool takes_string(std::string_view string) {
    if (!takes('"')) return false;
    while (!string.empty()) {
      const auto escaped = std::find_if(string.begin(), string.end(), [](char c) { return c == '"' || c == '\\' || is_control(c); });
      const auto plain = static_cast<std::size_t>(escaped - string.begin());
      if (!takes(string.substr(0, plain))) return false;
      string.remove_prefix(plain);
      if (string.empty()) break;
      if (!takes_escaped(string.front())) return false;
      string.remove_prefix(1);
    }
    return takes('"');
  }

  [[nodiscard]] static bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

  [[nodiscard]] bool takes_escaped(char c) {
    constexpr std::string_view kNamed = "\"\\\b\t\n\f\r", kNames = "\"\\btnfr";
    if (!takes('\\')) return false;
    if (const auto at = kNamed.find(c); at != std::string_view::npos) return takes(kNames[at]);
    return takes(std::string_view(fmt::format("u{:04x}", static_cast<unsigned char>(c))));
  }

  template <class Number>
  [[nodiscard]] bool takes_number(Number number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return takes(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }

  std::string_view rest_;
};

}  // namespace

bool is_canonical_json(const json& value, std::string_view text) {
  CanonicalWalk walk(text);
  return walk.takes(value) && walk.at_end();
}

}  // namespace attune::base
