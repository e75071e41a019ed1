#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/base/process.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/job_queue.hpp"
#include "tuner/compile/stored_results.hpp"

namespace attune::compile {

/// Spawned compile workers behind a queue, for one thread. The owner polls `descriptors()` (or calls `collect` with a
/// timeout); nothing runs in threads. A worker that dies or passes the deadline is replaced: a job whose worker died is
/// tried once more in a fresh one, then Crashed; a job past its deadline is TimedOut; no other job is lost with it. What another process
/// that shares the cache compiles now is waited for, while other jobs are compiled, for 15 s at most.
///
/// Back-pressure: the pool takes whatever is submitted. Its owner keeps the queue short, by submitting only while
/// `queued()` is below what it wants to wait for (as many as there are workers keeps all of them busy).
class CompilePool {
 public:
  struct Options {
    std::filesystem::path worker;  ///< the `attune` executable
    int workers = 2;
    /// Per compilation. While others hold the processors, and it computes, what counts is the processor time that it has used.
    std::chrono::milliseconds deadline{60000};
    std::filesystem::path cache;                          ///< folder; empty: no cache
    std::vector<int> cpus;                                ///< processors that may compile (base::plan_cpus); empty: all of ours
    int nice = 5;                                         ///< a busy pool must slow neither the parent nor a GPU worker
    std::uint64_t memory_bytes = std::uint64_t{8} << 30;  ///< address space of each worker; 0: no limit
  };
  struct Completed {
    std::uint64_t ticket = 0;
    CompileResult result;
  };

  /// Waits until a first worker has loaded NVRTC, and spawns the others, which get ready at the same time.
  /// Throws: EnvironmentError (no NVRTC, no worker executable).
  explicit CompilePool(const Options& options);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  [[nodiscard]] const std::string& nvrtc_build() const noexcept { return nvrtc_build_; }
  /// Queues a request; equal requests in flight are compiled once. Answered from memory (the last 64 MiB of results) or
  /// from the cache when it can be: then the next `collect` has it at once.
  std::uint64_t submit(const CompileRequest& request);
  /// What has finished; waits up to `timeout` (negative: for ever) for the first, not at all when nothing is pending.
  /// Comes back early, possibly with nothing, when a signal arrives. Never throws for a failed compilation.
  /// Throws: EnvironmentError when no worker can be started any more.
  [[nodiscard]] std::vector<Completed> collect(std::chrono::milliseconds timeout);
  /// Descriptors whose readability means that `collect` has work. Answers from memory or the cache and passing
  /// deadlines make none readable: call `collect` after `submit`, and at `look_at` or now and then.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// When another process may have compiled what is waited for.
  [[nodiscard]] std::chrono::steady_clock::time_point look_at() const noexcept { return queue_.look_at(); }
  /// Forgets all tickets and ends what is under way: a compiler cannot be stopped but by killing its worker. Others take their places.
  void abandon();
  /// A job that takes longer than this makes way for one that waits and that no other process compiles: it is stopped, and compiled from
  /// the beginning when no other waits, on any worker but the last that is free. The longest first, one at a time: not while a worker
  /// starts. Each does so once. 0: none does.
  void make_way_after(std::chrono::milliseconds limit) noexcept { make_way_after_ = limit; }
  /// Tickets of jobs that made way, and that no worker has again yet.
  [[nodiscard]] std::size_t aside() const;
  /// Submits and waits for this one; others finish meanwhile and stay collectable.
  [[nodiscard]] CompileResult compile_now(const CompileRequest& request);

  /// Jobs that no worker has yet; several equal requests are one.
  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size(); }
  [[nodiscard]] int workers() const noexcept { return options_.workers; }
  /// Time that workers spent on jobs since construction, summed over the workers, up to now; retries and compilations
  /// that were killed at their deadline included.
  [[nodiscard]] double busy_seconds() const;
  /// Since construction: that a worker finished, was killed over or died in; retries not counted.
  [[nodiscard]] std::uint64_t compilations() const noexcept { return compilations_; }
  /// What is not used because others could have written it, with the remedy, and why the cache stores nothing; each once.
  [[nodiscard]] std::vector<std::string> take_warnings();

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;
  struct Job;
  void start(Worker& worker);
  void feed();
  /// What a free worker is to compile.
  [[nodiscard]] std::optional<JobQueue::Taken> next_job();
  /// Whether another process has compiled it since it was submitted; then it is done.
  bool answer_from_cache(const std::string& key);
  /// Feeds, waits until something happens or `until`, and handles it. False when a signal ended the wait.
  bool advance(Clock::time_point until);
  void read(Worker& worker);
  void greet(Worker& worker, const nlohmann::json& message);
  void expire();
  /// The worker whose job has taken longest of those that may make way; null: none may now.
  [[nodiscard]] Worker* next_to_make_way() const;
  /// When that is; never, if none may.
  [[nodiscard]] Clock::time_point makes_way_at() const;
  void make_way();
  void lose(Worker& worker, const std::string& how);
  /// The worker's job has ended, one way or another. Returns its key; empty when it had none.
  std::string release(Worker& worker);
  void finish(const std::string& key, const CompileResult& result);
  /// Hands the result to all who asked.
  void hand_out(const std::string& key, const CompileResult& result);

  Options options_;
  std::string nvrtc_build_;
  StoredResults results_;
  std::string headers_refusal_;  ///< the first that a worker told
  bool told_headers_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unordered_map<std::string, std::unique_ptr<Job>> jobs_;  ///< by cubin key
  JobQueue queue_;                                              ///< keys that no worker here has yet
  std::chrono::milliseconds make_way_after_{0};
  std::vector<Completed> done_;
  std::uint64_t next_ticket_ = 1;
  Clock::time_point returned_ = Clock::now();  ///< when `advance` last came to its end
  std::uint64_t compilations_ = 0;
  std::chrono::duration<double> busy_{0};  ///< of jobs that have ended
  int failed_starts_ = 0;                  ///< one after the other
};

}  // namespace attune::compile
