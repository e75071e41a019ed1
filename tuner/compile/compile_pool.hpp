#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tuner/base/process.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/cubin_cache.hpp"

namespace attune::compile {

/// Spawned compile workers behind a queue. The owner polls `descriptors()` (or calls `collect` with a timeout); nothing
/// runs in threads. A worker that dies or passes the deadline is replaced and loses only its own job.
class CompilePool {
 public:
  struct Options {
    std::filesystem::path worker;             ///< the `attune` executable
    int workers = 2;
    std::chrono::milliseconds deadline{60000};  ///< per compilation
    std::filesystem::path cache;              ///< folder; empty: no cache
  };
  struct Completed {
    std::uint64_t ticket = 0;
    CompileResult result;
  };

  /// Spawns the workers and waits for NVRTC. Throws: EnvironmentError (no NVRTC, no worker executable).
  explicit CompilePool(const Options& options);
  ~CompilePool();

  [[nodiscard]] const std::string& nvrtc_build() const noexcept { return nvrtc_build_; }
  /// Queues a request; equal requests in flight are compiled once. Answered from the cache when it can be.
  std::uint64_t submit(const CompileRequest& request);
  /// What has finished; waits up to `timeout` for the first. Never throws for a failed compilation.
  [[nodiscard]] std::vector<Completed> collect(std::chrono::milliseconds timeout);
  /// Descriptors whose readability means that `collect` has work.
  [[nodiscard]] std::vector<int> descriptors() const;
  [[nodiscard]] std::size_t pending() const noexcept;
  /// Submits and waits for this one; others finish meanwhile and stay collectable.
  [[nodiscard]] CompileResult compile_now(const CompileRequest& request);

 private:
  struct Worker;
  struct Job;
  void start(Worker& worker);
  void feed();
  void finish(const std::string& key, const CompileResult& result);

  Options options_;
  std::string nvrtc_build_;
  std::unique_ptr<CubinCache> cache_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unordered_map<std::string, std::unique_ptr<Job>> jobs_;  ///< by cubin key
  std::deque<std::string> queue_;                               ///< keys that no worker has yet
  std::vector<Completed> done_;
  std::uint64_t next_ticket_ = 1;
};

}  // namespace attune::compile
