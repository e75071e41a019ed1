#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/base/channel.hpp"

namespace attune::base {

/// A worker: a spawned (posix_spawn, never forked: facts of NVRTC) child that talks over a Channel on descriptor
/// kWorkerDescriptor. Destruction kills (SIGKILL) and reaps it.
/// Requires: the thread that constructs one outlives it: the kernel ties a child to its parent's thread.
class WorkerProcess {
 public:
  static constexpr int kWorkerDescriptor = 3;

  WorkerProcess() = default;
  /// Spawns `executable arguments...`; its standard output goes to our standard error, standard input is /dev/null.
  /// Throws: EnvironmentError naming the executable and the remedy (Options::worker) when it cannot be started.
  WorkerProcess(const std::filesystem::path& executable, const std::vector<std::string>& arguments);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  [[nodiscard]] bool running() const noexcept { return pid_ > 0; }
  [[nodiscard]] int pid() const noexcept { return pid_; }

  /// SIGKILL, then waits. Returns how it ended, e.g. "killed by signal 9 (SIGKILL)" or "exited with code 3". When it
  /// had already died by itself, or had closed its channel and leaves within a second, that end is told, not ours.
  std::string kill_and_reap();

 private:
  int pid_ = -1;
  Channel channel_;
};

/// Called first thing in a worker's main: ties the worker's life to the parent's (PR_SET_PDEATHSIG, and leaves at
/// once when the parent is already gone), ignores SIGINT (the parent decides) and returns its channel.
/// Throws: UsageError when the process was not started as a WorkerProcess.
[[nodiscard]] Channel enter_worker();

}  // namespace attune::base
