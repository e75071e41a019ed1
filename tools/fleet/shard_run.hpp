#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "tools/commands.hpp"

namespace attune::tools {

struct ShardRunOptions {
  std::filesystem::path folder;      ///< of the plan
  std::optional<std::size_t> shard;  ///< nothing: $SLURM_ARRAY_TASK_ID, else $JOB_COMPLETION_INDEX
  std::string scratch;               ///< empty: $SLURM_TMPDIR, $TMPDIR, /tmp
  std::string device;                ///< as of `tune`; empty: 0
  std::optional<int> compile_workers;
  std::string publish_every = "60s";
  bool json = false;
};

/// Tunes one shard of a plan (docs/fleet.md). What is measured is published into the plan's folder now and then (publishing.hpp), and
/// when it ends or is stopped; a later task of the shard, on whatever node, goes on from there. Returns the exit code of `tune`; 0 for
/// a shard that was finished before.
/// Throws: UsageError (no such plan or shard; the template is of another content than when it was planned), EnvironmentError (another
/// task of this node works at the shard; a folder that cannot be written), what `tune` throws.
[[nodiscard]] int run_shard(const ShardRunOptions& options, const CommandContext& context);

}  // namespace attune::tools
