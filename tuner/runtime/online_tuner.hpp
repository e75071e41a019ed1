#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tuner/runtime/tuning_allowance.hpp"
#include "tuner/runtime/tuning_worker.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::detail {
struct KernelState;
}  // namespace attune::detail

namespace attune::runtime {

/// A problem to tune, and the kernel whose plans gain by it.
struct TuningJob {
  std::string key;    ///< of template, problem, device and policy: what is tuned once
  std::string title;  ///< for messages: "kernel 'reduce' at {...}"
  detail::KernelState* kernel = nullptr;
  spec::DeviceInfo device;
  spec::TuningRequest request;
  TuningPriority priority = TuningPriority::Background;
};

/// The queue of problems that a Runtime wants tuned, and the thread that has them tuned one at a time. Every problem is
/// tuned at most once; one that failed is not tried again. Thread-safe.
class OnlineTuner {
 public:
  struct Counters {
    std::uint64_t started = 0, finished = 0, failed = 0;
  };
  /// What the thread works with. All are called on it, without any lock of the tuner's held.
  struct Hooks {
    /// Whether the problem still wants tuning: another process may have done it while it was queued.
    std::function<bool(const TuningJob&)> still_missing;
    std::function<TuningOutcome(const TuningJob&, const std::function<bool()>& stop)> tune;
    /// Makes a result known to dispatch; whoever waits for the problem goes on afterwards.
    std::function<void(const TuningJob&, TuningOutcome&)> adopt;
    /// Units: seconds since the Runtime was made.
    std::function<double()> elapsed_s;
  };

  OnlineTuner(Hooks hooks, double share) : hooks_(std::move(hooks)), allowance_(share) {}
  /// Stops what is being tuned, forgets the queue, waits for the thread.
  ~OnlineTuner();
  OnlineTuner(const OnlineTuner&) = delete;
  OnlineTuner& operator=(const OnlineTuner&) = delete;

  /// Nothing happens when the problem is queued, being tuned, or was tuned before. Another one makes the thread look at the clock.
  void enqueue(TuningJob job);
  /// Enqueues and waits until the problem's tuning has come to its end, whichever.
  void tune_now(TuningJob job);

  /// "queued", "running", "failed: ...", or empty: never asked for, or done.
  [[nodiscard]] std::string status(const std::string& key) const;
  /// Units: seconds. False when something is still queued or running then.
  [[nodiscard]] bool wait_idle(double timeout_s) const;
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] std::vector<std::string> notices() const;

 private:
  enum class State { Queued, Running, Done, Failed };
  struct Entry {
    State state = State::Queued;
    std::string why;
  };

  void start_thread();
  void work();
  /// The next job whose time has come; nothing when it is time to end.
  [[nodiscard]] bool wait_for_job(std::unique_lock<std::mutex>& lock);
  void run(const TuningJob& job);
  /// What the hooks throw is told and fails the problem: an exception would end the program.
  [[nodiscard]] TuningOutcome attempt(const TuningJob& job);
  void close(const TuningJob& job, const TuningOutcome& outcome);
  [[nodiscard]] bool stopping() const;

  const Hooks hooks_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  TuningAllowance allowance_;
  std::deque<TuningJob> queue_;
  std::map<std::string, Entry> entries_;
  Counters counters_;
  std::vector<std::string> notices_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace attune::runtime
