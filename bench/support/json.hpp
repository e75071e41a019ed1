#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// As tuner/base/json.hpp, for rows whose members stay in the order in which they are written.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace attune::bench {

using Json = nlohmann::ordered_json;

/// Throws: nlohmann::json::parse_error when `text` is no JSON.
[[nodiscard]] Json parse_json(std::string_view text);
[[nodiscard]] std::string dump_json(const Json& value, int indent = -1);

}  // namespace attune::bench
