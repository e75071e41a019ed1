#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tuner/base/cpu_claims.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/tune/session.hpp"

namespace attune::session {

/// One device of several and its share of the host.
struct DeviceSettings {
  int ordinal = 0;
  int compile_workers = 1;
  std::chrono::milliseconds compile_deadline{60000};  ///< of one compilation
  std::filesystem::path cache;                        ///< of cubins; empty: none
  std::vector<int> timing_cpus;                       ///< of its GPU worker alone (base::plan_cpus); empty: any
  std::vector<int> compile_cpus;                      ///< of everything else, shared by all devices; empty: any
  std::shared_ptr<const base::CpuClaims> claims;  ///< keeps the processors of all of a run's devices from later runs; null: nothing does
};

/// What a device process cannot know by itself; the `attune` executable fills in the real ones, tests others.
struct DeviceHooks {
  /// Devices of this machine. Throws: EnvironmentError (no driver).
  std::function<int()> device_count;
  /// Throws: EnvironmentError (no such device, no NVRTC). Requires: the template outlives the backend.
  std::function<std::unique_ptr<Backend>(const DeviceSettings&, const spec::KernelTemplate&, const measure::Policy&)> open;
};

/// Main of `attune worker-tune`, the process of one device among several: tunes the problems that it is sent, one at a
/// time, over a backend and a database connection of its own. SIGINT and SIGTERM are the parent's business: it says when
/// to stop. Ends when the parent does, or after it told an error.
int device_process_main(const DeviceHooks& hooks);

}  // namespace attune::session
