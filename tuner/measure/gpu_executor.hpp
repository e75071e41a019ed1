#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tuner/base/process.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/measure/visit.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::measure {

/// The parent's view of one GPU worker: spawns it, prepares problems, enforces deadlines, replaces it when it dies.
/// No CUDA in this process; the owner polls `descriptor()`.
/// The worker holds up to kQueueLength visits and measures them one after the other, so that it need not wait for this
/// process between two. A configuration during which the worker dies or hangs is tried once more in a fresh worker, then
/// answered as Crashed or TimedOut; never an exception. What was queued behind it is handed to the fresh worker and not
/// blamed.
class GpuExecutor {
 public:
  struct Options {
    std::filesystem::path worker;  ///< the `attune` executable
    int device = 0;                ///< ordinal
    Policy policy;
    std::vector<int> cpus;      ///< the worker's own cores; empty: any
    std::string support_cubin;  ///< see `set_support`
  };

  /// Called some ten times a second while a worker starts, prepares or runs off. What it throws ends the worker and is passed on, and
  /// nothing is queued any more; the next request starts another.
  using Waits = base::WorkerProcess::Waits;

  /// Spawns a worker and reads the device. Throws: EnvironmentError (no driver, no such device).
  explicit GpuExecutor(const Options& options);

  [[nodiscard]] const spec::DeviceInfo& device() const noexcept { return device_; }
  /// attune's own device kernels (verify/support.cu: fill, guard, plant, compare, evict), compiled for the device by the owner.
  void set_support(std::string cubin) { options_.support_cubin = std::move(cubin); }

  /// Allocates and fills buffers and computes the references. Throws: EnvironmentError when the problem does not fit
  /// the device's memory (says how much it needs), SpecError when the template's reference fails.
  /// `reference_cubin`: the code that answers are computed with, compiled for the device; empty where there are none. `setup_cubin`: that
  /// of the setup that all configurations share (verify::setup_program). `waits`: while this waits, and whichever request has to start a
  /// fresh worker and prepare the problem there.
  void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& reference_cubin,
               const std::string& setup_cubin = {}, const Waits& waits = {});

  static constexpr std::size_t kQueueLength = 2;
  /// Whether `submit` may be called with this request now: a place is free, and a request that has to wait behind another
  /// is small enough for the channel to take it at once.
  [[nodiscard]] bool has_room(const VisitRequest& request) const;
  void submit(VisitRequest request);
  /// The reply to the oldest request once it is there; nothing within `timeout`. A worker that was lost is replaced first.
  [[nodiscard]] std::optional<VisitReply> collect(std::chrono::milliseconds timeout);
  [[nodiscard]] bool busy() const noexcept { return !queue_.empty(); }
  [[nodiscard]] bool running() const noexcept { return worker_.running(); }
  /// Replaces a worker that was lost or ended, and hands over what is queued; every request does that by itself. Throws: as `prepare`.
  void ensure_running();
  /// Whether this configuration of the prepared problem was verified, by whichever worker.
  [[nodiscard]] bool has_verified(const std::string& configuration) const { return verified_.contains(configuration); }
  /// Configurations handed over and not answered, the one being measured first.
  [[nodiscard]] std::vector<std::string> in_hand() const;
  [[nodiscard]] int descriptor() noexcept { return worker_.running() ? worker_.channel().fd() : -1; }
  /// Forgets what was submitted: waits up to `grace` for its end, then kills the worker (the next request starts another).
  void abandon(std::chrono::milliseconds grace);
  /// `waits`: for the answer.
  [[nodiscard]] RunOffReply run_off(const RunOffRequest& request, const Waits& waits = {});
  /// What a pure read of 4 GiB reaches on this device, best of a few grid shapes; cold. Units: bytes per second.
  /// Requires: set_support. 0 when the device has too little free memory. A worker that was lost is replaced without the problem, which has
  /// to be prepared anew then.
  [[nodiscard]] double read_ceiling_bytes_per_s();
  /// Time spent on visits that ended in a worker's death or deadline, and on starting fresh workers, since the start.
  [[nodiscard]] double recovering_s() const noexcept { return recovering_s_; }
  /// How often a worker had to be replaced since the start.
  [[nodiscard]] int replacements() const noexcept { return replacements_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class End { Died, TimedOut };

  struct Visit {
    VisitRequest request;
    bool retried = false;
    bool sent = false;  ///< to the worker of now
  };

  void start();
  void restart();
  /// Sends the current problem to a worker that has just started.
  void send_prepare();
  /// `message` says why the worker is lost. Throws: SpecError (the template), where the code of the reference was the cause.
  void throw_of_reference(const nlohmann::json& message);
  /// Whether it can be sent while the worker is at another visit.
  [[nodiscard]] bool fits_behind(const VisitRequest& request) const;
  void send(Visit& visit);
  void send_queue();
  void send_waiting();
  /// Turns to the visit that is the oldest now.
  void go_on();
  void start_clock();
  /// A message of the worker about the oldest visit; nothing when that is not its end.
  [[nodiscard]] std::optional<VisitReply> handle(const nlohmann::json& message);
  /// The worker died or was hung: the oldest visit is to be tried once more, or this is the reply that says how it ended.
  [[nodiscard]] std::optional<VisitReply> after_failure(End end, const std::string& how);
  [[nodiscard]] VisitReply accept(const nlohmann::json& message);
  [[nodiscard]] RunOffReply try_run_off(const RunOffRequest& request, const Waits& waits);
  [[nodiscard]] std::chrono::milliseconds deadline_for(double best_us, bool power) const;
  void forget_dropped(const nlohmann::json& message);

  Options options_;
  spec::DeviceInfo device_;
  base::WorkerProcess worker_;
  std::shared_ptr<const nlohmann::json> prepare_message_;  ///< of the last prepare, sent again to a fresh worker
  Waits waits_;                                            ///< likewise
  std::unordered_set<std::string> loaded_;                 ///< cubin keys this worker holds
  std::unordered_set<std::string> verified_;               ///< configurations of this problem that passed verification
  std::deque<Visit> queue_;                                ///< handed over, the oldest first
  double best_us_ = 0;                                     ///< of this problem; 0: nothing succeeded yet
  double batch_us_ = 0;                                    ///< longest batch of this problem's successes
  std::chrono::milliseconds prepare_time_{0};
  Clock::time_point started_;   ///< of the oldest visit
  Clock::time_point deadline_;  ///< likewise
  double recovering_s_ = 0;
  int replacements_ = 0;
};

}  // namespace attune::measure
