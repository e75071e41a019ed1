#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/base/process.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/cubin_cache.hpp"

namespace attune::compile {

/// Spawned compile workers behind a queue, for one thread. The owner polls `descriptors()` (or calls `collect` with a
/// timeout); nothing runs in threads. A worker that dies or passes the deadline is replaced: a job whose worker died is
/// tried once more in a fresh one, then Crashed; a job past its deadline is TimedOut.
class CompilePool {
 public:
  struct Options {
    std::filesystem::path worker;  ///< the `attune` executable
    int workers = 2;
    std::chrono::milliseconds deadline{60000};  ///< per compilation
    std::filesystem::path cache;                ///< folder; empty: no cache
    std::vector<int> cpus;                      ///< processors that may compile (base::plan_cpus); empty: all of ours
    int nice = 5;                               ///< a busy pool must slow neither the parent nor a GPU worker
    std::uint64_t memory_bytes = std::uint64_t{8} << 30;  ///< address space of each worker; 0: no limit
  };
  struct Completed {
    std::uint64_t ticket = 0;
    CompileResult result;
  };

  /// Spawns the workers and waits for NVRTC. Throws: EnvironmentError (no NVRTC, no worker executable).
  explicit CompilePool(const Options& options);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  [[nodiscard]] const std::string& nvrtc_build() const noexcept { return nvrtc_build_; }
  /// Queues a request; equal requests in flight are compiled once. Answered from the cache when it can be: then the
  /// next `collect` has it at once.
  std::uint64_t submit(const CompileRequest& request);
  /// What has finished; waits up to `timeout` (negative: for ever) for the first, not at all when nothing is pending.
  /// Comes back early, possibly with nothing, when a signal arrives. Never throws for a failed compilation.
  /// Throws: EnvironmentError when no worker can be started any more.
  [[nodiscard]] std::vector<Completed> collect(std::chrono::milliseconds timeout);
  /// Descriptors whose readability means that `collect` has work. Answers from the cache and passing deadlines make
  /// none readable: call `collect` after `submit`, and now and then.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// Tickets that `collect` has not handed out yet.
  [[nodiscard]] std::size_t pending() const noexcept;
  /// Submits and waits for this one; others finish meanwhile and stay collectable.
  [[nodiscard]] CompileResult compile_now(const CompileRequest& request);

  /// Process ids of the running workers, for messages and for fault injection.
  [[nodiscard]] std::vector<int> worker_pids() const;
  /// Why the cache stores nothing; empty while it does.
  [[nodiscard]] std::string cache_warning() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;
  struct Job;
  void start(Worker& worker);
  void feed();
  /// Feeds, waits until something happens or `until`, and handles it. False when a signal ended the wait.
  bool advance(Clock::time_point until);
  void read(Worker& worker);
  void greet(Worker& worker, const nlohmann::json& message);
  void expire();
  void lose(Worker& worker, const std::string& how);
  void finish(const std::string& key, const CompileResult& result);

  Options options_;
  std::string nvrtc_build_;
  std::unique_ptr<CubinCache> cache_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unordered_map<std::string, std::unique_ptr<Job>> jobs_;  ///< by cubin key
  std::deque<std::string> queue_;                               ///< keys that no worker has yet
  std::vector<Completed> done_;
  std::uint64_t next_ticket_ = 1;
  int failed_starts_ = 0;  ///< one after the other
};

}  // namespace attune::compile
