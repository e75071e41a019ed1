#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

// JSON is read and written by these functions rather than by the class: its parser and serialiser are templates that would be made
// and optimised again in every file that calls them (docs/building.md). The class itself is instantiated once as well, in json.cpp.
extern template class nlohmann::basic_json<>;

namespace attune::base {

/// Throws: nlohmann::json::parse_error when `text` is no JSON. A text with a zero byte in it is none, here and below.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
/// A discarded value (`is_discarded()`, of no kind) when `text` is no JSON.
[[nodiscard]] nlohmann::json try_parse_json(std::string_view text);
/// The same for text from outside, before anything walks the value: walking one that is nested a million deep would exhaust
/// the stack. Throws: Error with the message `too_deep` when a value lies in more than `depth` arrays and objects.
[[nodiscard]] nlohmann::json try_parse_shallow_json(std::string_view text, int depth, const std::string& too_deep);
/// The same with comments allowed, as template.json has them.
[[nodiscard]] nlohmann::json try_parse_commented_json(std::string_view text);

/// Without spaces, members sorted; with `indent` from 0 on in lines. Throws: nlohmann::json::type_error when a text in it is not UTF-8.
[[nodiscard]] std::string dump_json(const nlohmann::json& value, int indent = -1);
/// What is not UTF-8 is replaced: a text of others may be cut inside a character.
[[nodiscard]] std::string dump_json_replacing(const nlohmann::json& value, int indent = -1);

/// Bytes that may be no UTF-8, which a JSON text may not hold and a message in CBOR may.
[[nodiscard]] nlohmann::json json_of_bytes(std::string_view bytes);
/// Throws: nlohmann::json::type_error when the value holds no bytes.
[[nodiscard]] std::string bytes_of_json(const nlohmann::json& value);

/// A member of an object that others may have written: `otherwise` where it is missing or of another kind, or `object` is none.
[[nodiscard]] double member_or(const nlohmann::json& object, const char* name, double otherwise);
[[nodiscard]] std::int64_t member_or(const nlohmann::json& object, const char* name, std::int64_t otherwise);
[[nodiscard]] bool member_or(const nlohmann::json& object, const char* name, bool otherwise);
[[nodiscard]] std::string member_or(const nlohmann::json& object, const char* name, const char* otherwise);
[[nodiscard]] std::vector<std::string> member_or(const nlohmann::json& object, const char* name, const std::vector<std::string>& otherwise);

}  // namespace attune::base
