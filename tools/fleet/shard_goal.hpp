#pragma once
#include <filesystem>
#include <set>
#include <string>

#include "db/database.hpp"
#include "tools/fleet/manifest.hpp"

namespace attune::tools {

/// The problems of one shard, as canonical JSON. Throws: as read_shard_problems.
[[nodiscard]] std::set<std::string> planned_problems(const std::filesystem::path& folder, const ShardEntry& entry);

/// Those of `problems` of which no search of the plan's template and policy has come to its end in `database`, on whatever device. A search
/// that found no valid configuration has come to its end. Throws: DatabaseError.
[[nodiscard]] std::set<std::string> unfinished_of(std::set<std::string> problems, const Manifest& manifest, const db::Database& database);

/// What the tasks of a plan measure.
[[nodiscard]] db::Query records_of_plan(const Manifest& manifest);

}  // namespace attune::tools
