#include "tuner/base/json.hpp"

#include "attune/error.hpp"

template class nlohmann::basic_json<>;

namespace attune::base {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text); }

json try_parse_json(std::string_view text) { return json::parse(text, nullptr, false); }

json try_parse_shallow_json(std::string_view text, int depth, const std::string& too_deep) {
  const auto shallow = [&](int at, json::parse_event_t, const json&) {
    if (at > depth) throw Error(too_deep);
    return true;
  };
  return json::parse(text, shallow, false);
}

json try_parse_commented_json(std::string_view text) { return json::parse(text, nullptr, false, true); }

std::string dump_json(const json& value, int indent) { return value.dump(indent); }

std::string dump_json_replacing(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace attune::base
