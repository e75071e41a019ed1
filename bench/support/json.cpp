#include "bench/support/json.hpp"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace attune::bench {

Json parse_json(std::string_view text) { return Json::parse(text); }

std::string dump_json(const Json& value, int indent) { return value.dump(indent); }

}  // namespace attune::bench
