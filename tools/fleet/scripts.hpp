#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tools/fleet/manifest.hpp"

namespace attune::tools {

struct SlurmOptions {
  std::filesystem::path folder;
  std::filesystem::path executable;
  std::filesystem::path database;  ///< of the merge job; empty: DIR/merged.db
  int gpus = 1;                    ///< of a task; 0: none is asked for
  int cpus = 8;                    ///< of a task: compilers run beside the measuring
  std::string partition;           ///< empty: the cluster's default
  std::string time = "04:00:00";   ///< of a task, as sbatch(1) writes it; one that runs out is requeued, and goes on; 0: no limit
  int grace_s = 60;                ///< between the signal and the end of that time
  int at_once = 0;                 ///< tasks that run at a time; 0: as many as fit
  int most_restarts = 20;          ///< of a task: one that is killed again and again is left alone
  std::vector<std::string> more;   ///< further options of sbatch, as they are: "--account=abc"
};

/// A script for bash that submits the shards as one job array, and the merge as a job that depends on its end, however each task ended.
/// Throws: UsageError (an option that would begin another line of the script, or that sbatch would not read; a time that Slurm does not
/// take, or that is over within the grace).
[[nodiscard]] std::string slurm_script(const Manifest& manifest, const SlurmOptions& options);

struct KubernetesOptions {
  std::filesystem::path folder;  ///< absolute, the same within the pods
  std::string image;
  std::string claim;            ///< a volume that all nodes may write (ReadWriteMany)
  std::filesystem::path mount;  ///< where it is mounted; empty: the folder's parent
  std::string name = "attune-fleet";
  int gpus = 1;
  int cpus = 8;
  int parallelism = 0;  ///< pods at a time; 0: all
  int most_restarts = 20;
  int grace_s = 60;
};

/// An Indexed Job, a pod a shard. Throws: UsageError (the folder is not below the mount; a name that Kubernetes does not take).
[[nodiscard]] std::string kubernetes_job(const Manifest& manifest, const KubernetesOptions& options);

}  // namespace attune::tools
