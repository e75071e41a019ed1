#include "tuner/base/json.hpp"

#include <algorithm>

#include "attune/error.hpp"

template class nlohmann::basic_json<>;

namespace attune::base {

using nlohmann::json;

namespace {

/// nlohmann takes a zero byte for the end of the text, and what follows it for read.
bool has_zero_byte(std::string_view text) { return text.find('\0') != std::string_view::npos; }

json discarded() { return json(json::value_t::discarded); }

}  // namespace

json parse_json(std::string_view text) {
  if (!has_zero_byte(text)) return json::parse(text);
  std::string refused(text);
  std::replace(refused.begin(), refused.end(), '\0', '\1');  // no more JSON than the zero byte is, and the parser says where
  return json::parse(refused);
}

json try_parse_json(std::string_view text) { return has_zero_byte(text) ? discarded() : json::parse(text, nullptr, false); }

json try_parse_shallow_json(std::string_view text, int depth, const std::string& too_deep) {
  const auto shallow = [&](int at, json::parse_event_t, const json&) {
    if (at > depth) throw Error(too_deep);
    return true;
  };
  return has_zero_byte(text) ? discarded() : json::parse(text, shallow, false);
}

json try_parse_commented_json(std::string_view text) { return has_zero_byte(text) ? discarded() : json::parse(text, nullptr, false, true); }

std::string dump_json(const json& value, int indent) { return value.dump(indent); }

std::string dump_json_replacing(const json& value, int indent) { return value.dump(indent, ' ', false, json::error_handler_t::replace); }

json json_of_bytes(std::string_view bytes) { return json::binary({bytes.begin(), bytes.end()}); }

std::string bytes_of_json(const json& value) {
  const json::binary_t& bytes = value.get_binary();
  return {bytes.begin(), bytes.end()};
}

namespace {

/// Nothing where `accepts` refuses it.
template <class Accepts>
const nlohmann::json* member(const nlohmann::json& object, const char* name, Accepts&& accepts) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && accepts(*found) ? &*found : nullptr;
}

}  // namespace

double member_or(const nlohmann::json& object, const char* name, double otherwise) {
  const auto* const found = member(object, name, [](const auto& value) { return value.is_number(); });
  return found == nullptr ? otherwise : found->get<double>();
}

std::int64_t member_or(const nlohmann::json& object, const char* name, std::int64_t otherwise) {
  const auto* const found = member(object, name, [](const auto& value) { return value.is_number_integer(); });
  return found == nullptr ? otherwise : found->get<std::int64_t>();
}

bool member_or(const nlohmann::json& object, const char* name, bool otherwise) {
  const auto* const found = member(object, name, [](const auto& value) { return value.is_boolean(); });
  return found == nullptr ? otherwise : found->get<bool>();
}

std::string member_or(const nlohmann::json& object, const char* name, const char* otherwise) {
  const auto* const found = member(object, name, [](const auto& value) { return value.is_string(); });
  return found == nullptr ? otherwise : found->get<std::string>();
}

std::vector<std::string> member_or(const nlohmann::json& object, const char* name, const std::vector<std::string>& otherwise) {
  const auto* const found = member(object, name, [](const auto& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& item) { return item.is_string(); });
  });
  return found == nullptr ? otherwise : found->get<std::vector<std::string>>();
}

}  // namespace attune::base
