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

std::string dump_json_replacing(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace attune::base
