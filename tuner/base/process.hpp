#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tuner/base/channel.hpp"
#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// What a worker may use. Its children and threads inherit all of it.
struct WorkerLimits {
  std::vector<int> cpus;           ///< processors it may run on; empty: ours
  int nice = 0;                    ///< added to our niceness, 0 to 19: the scheduler prefers others
  std::uint64_t memory_bytes = 0;  ///< of address space (RLIMIT_AS); 0: no limit of its own; less where our hard limit is; none in
                                   ///< sanitizer builds, whose shadow memory alone is larger than any
};

/// Where a worker's standard output and error go: to our standard error, or into memory, to be read after its death.
enum class WorkerOutput { Shared, Kept };

/// What came of waiting for a worker's word.
struct Heard {
  enum class What { Message, Nothing, Death } what = What::Nothing;
  nlohmann::json message;  ///< of Message
  std::string end;         ///< of Death: how it ended, as kill_and_reap tells it

  [[nodiscard]] bool message_came() const { return what == What::Message; }
  [[nodiscard]] bool died() const { return what == What::Death; }
};

/// A worker: a spawned (posix_spawn, never forked: facts of NVRTC) child that talks over a Channel on descriptor
/// kWorkerDescriptor. Destruction kills (SIGKILL) and reaps it.
/// Requires: the thread that constructs one outlives it: the kernel ties a child to its parent's thread.
class WorkerProcess {
 public:
  static constexpr int kWorkerDescriptor = 3;
  /// What a worker is given to say its first word, which loads a library or opens a context: a fraction of a second, and many times that
  /// under load, on a cold disk or among many devices.
  static constexpr std::chrono::seconds kStartLimit{60};

  WorkerProcess() = default;
  /// Spawns `executable arguments...`; standard input is /dev/null.
  /// Throws: EnvironmentError naming the executable and the remedy (Options::worker) when it cannot be started, or a
  /// limit that the system refuses.
  WorkerProcess(const std::filesystem::path& executable, const std::vector<std::string>& arguments, const WorkerLimits& limits = {},
                WorkerOutput output = WorkerOutput::Shared);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  [[nodiscard]] Channel& channel() noexcept { return channel_; }

  /// Sends a message. Returns false when the worker is gone: it is reaped, and `end` says how it ended.
  [[nodiscard]] bool tell(const nlohmann::json& message);
  /// The next message, within `timeout` (as Channel::receive takes it). A worker that is gone is reaped.
  [[nodiscard]] Heard hear(std::chrono::milliseconds timeout);
  /// The same; `waits` is called some ten times a second meanwhile. What it throws ends the worker and is passed on.
  using Waits = std::function<void()>;
  [[nodiscard]] Heard hear(std::chrono::milliseconds timeout, const Waits& waits);
  /// Both: the answer to a question.
  [[nodiscard]] Heard ask(const nlohmann::json& question, std::chrono::milliseconds timeout, const Waits& waits = {});

  [[nodiscard]] bool running() const noexcept { return pid_ > 0; }
  [[nodiscard]] int pid() const noexcept { return pid_; }

  /// SIGKILL without waiting, so that many can die at once; the destructor or `kill_and_reap` reaps it.
  void kill() const noexcept;
  /// SIGKILL, then waits. Returns how it ended, e.g. "killed by signal 9 (SIGKILL)" or "exited with code 3". When it
  /// had already died by itself, or had closed its channel and leaves within a second, that end is told, not ours.
  std::string kill_and_reap();

  /// How it ended, as kill_and_reap told it; empty before.
  [[nodiscard]] const std::string& end() const noexcept { return end_; }

  /// The last 4 KiB of what it printed, also after its end; empty unless the output is Kept.
  [[nodiscard]] std::string output() const;

 private:
  int pid_ = -1;
  std::string end_;  ///< how it ended, once it was reaped
  Channel channel_;
  FileDescriptor output_;
};

/// Called first thing in a worker's main: ties the worker's life to the parent's (PR_SET_PDEATHSIG, and leaves at
/// once when the parent is already gone), ignores SIGINT and SIGTERM (the parent decides) and returns its channel.
/// Throws: UsageError when the process was not started as a WorkerProcess.
[[nodiscard]] Channel enter_worker();

}  // namespace attune::base
