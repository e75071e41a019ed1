#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tools/fleet/manifest.hpp"

namespace attune::tools {

struct PlanOptions {
  TuningOptions tuning;  ///< `budget`: a time in it is for each problem
  std::filesystem::path folder;
  std::size_t shards = 0;
  std::size_t controls = 1;            ///< `--overlap`; none where there is one shard, which has nobody to be compared with
  std::string architecture = "sm_90";  ///< whose figures stand for the fleet's devices when spaces are counted
};

/// Writes the plan: DIR/shards/NNNN.jsonl, DIR/try/N.db of what `--try` names, DIR/results/, and last, in one step, DIR/manifest.json: a
/// folder without it is no plan, and the same command begins it again. One that is there and the same stays. Returns the exit code.
/// Throws: UsageError (a plan that differs is there; more shards than problems), EnvironmentError (a folder that cannot be written).
[[nodiscard]] int plan_fleet(const PlanOptions& options, const std::vector<std::string>& arguments);

}  // namespace attune::tools
