#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace attune::base {

/// Whether `text` is what dump_json_replacing makes of the value that was parsed from it, without making that. Requires: it was.
[[nodiscard]] bool is_canonical_json(const nlohmann::json& value, std::string_view text);

}  // namespace attune::base
