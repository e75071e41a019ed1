#pragma once
#include <filesystem>
#include <string>

namespace attune::tools {

struct FleetMergeOptions {
  std::filesystem::path folder;    ///< of the plan
  std::filesystem::path database;  ///< created where there is none
  double tolerance = 0.05;         ///< Agreement
  bool strict = false;
  bool json = false;
};

/// Merges what the shards of a plan have come to, one after the other (db::MergeInTurn), and tells which are missing, unfinished or cannot
/// be read, on which devices they ran, and which disagree. What is missing is a warning, unless `strict`: then the exit code is 1.
/// Throws: UsageError (no plan; no shard has a result), DatabaseError of the target.
[[nodiscard]] int merge_fleet(const FleetMergeOptions& options);

}  // namespace attune::tools
