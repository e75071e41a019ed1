#pragma once
#include <filesystem>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/process.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::measure {

/// A worker that ended without a word.
class WorkerLost : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

struct StartedWorker {
  base::WorkerProcess process;
  spec::DeviceInfo device;
};

/// Spawns a GPU worker for the device of this ordinal and waits until it has a context there. The driver shows it as few others as it
/// can: on a host of several it starts and ends sooner then. A device that is not found so is looked for among all.
/// `waits`: as WorkerProcess::hear takes it. Throws: WorkerLost, EnvironmentError (no driver, no answer), UsageError (no such device), what
/// `waits` throws.
[[nodiscard]] StartedWorker start_gpu_worker(const std::filesystem::path& executable, int ordinal, const std::vector<int>& cpus,
                                             const base::WorkerProcess::Waits& waits = {});

}  // namespace attune::measure
