#pragma once
#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/session/source/race.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// attune's own kernels cannot be compiled for the device: no problem can be tuned there.
class UnusableDevice : public Error {
 public:
  using Error::Error;
};

/// What nothing can be measured without was not there when the waiting for it was to end.
class PreparingStopped : public Error {
 public:
  /// `doing`: what was under way, "compiling the reference of ...".
  explicit PreparingStopped(std::string doing) : Error("stopped " + doing, ExitCode::Interrupted), doing_(std::move(doing)) {}
  [[nodiscard]] const std::string& doing() const noexcept { return doing_; }

 private:
  std::string doing_;
};

/// A finalist that no longer works when it is verified or run again.
struct FailedFinalist {
  std::string configuration;
  measure::Outcome outcome = measure::Outcome::WrongResult;
  std::string detail;
};

/// A finalist that was slower than the leader beyond doubt before the run-off was over.
struct LeftFinalist {
  std::string configuration;
  measure::PairedComparison to_best;  ///< paired ratio to the fastest, over the epochs that it ran
  std::size_t observations = 0;       ///< those epochs
};

/// Interleaved samples of the finalists that ran to the end: `rounds_us[round][i]` belongs to `configurations[i]`.
struct RunOffSamples {
  std::vector<std::string> configurations;
  std::vector<std::vector<double>> rounds_us;
  int rounds_per_epoch = 1;  ///< consecutive rounds that share where code and data lay, and count as one observation
  std::vector<LeftFinalist> left;
  std::vector<FailedFinalist> failed;  ///< asked for and left out
  bool lacked_time = false;            ///< nothing was run off: not two of them were expected to be done in time, or it was stopped
  bool stopped = false;                ///< by Race::Options::goes_on, before the race was over
};

/// The sentinel: one configuration measured again and again, so that drift of the device shows.
struct Sentinel {
  struct Point {
    double at_s;  ///< since the problem was prepared
    double median_us;
  };
  std::string configuration;
  std::vector<Point> points;
  /// Largest over smallest median of five consecutive points: single ones are noisy. 1 when there are fewer.
  [[nodiscard]] double drift() const;
  /// How much slower the device is by the last three points than it was by the fastest: 1 and more.
  [[nodiscard]] double slowdown() const;
};

/// How well the GPU and the compile workers were kept at work. All 0: the backend does not know.
struct Utilisation {
  double wall_s = 0;          ///< from the first compile request to the end of the search
  double gpu_busy_s = 0;      ///< the GPU worker had a configuration
  double verifying_s = 0;     ///< of that: guarded calls and comparing
  double compile_busy_s = 0;  ///< summed over the compile workers
  int compile_workers = 0;
  std::uint64_t compilations = 0;     ///< that ended, not answered from a cache
  double idle_waiting_compile_s = 0;  ///< of the GPU worker: nothing was compiled yet
  double recovering_s = 0;            ///< visits that ended in a worker's death, and fresh workers after it
  double idle_other_s = 0;            ///< of the GPU worker, for any other reason
  double searching_s = 0;             ///< the strategy proposed, beside all that, and learned
};

/// The compiled code of a configuration, for the database.
struct CompiledCode {
  std::string cubin_key;
  std::string cubin;
  std::string source_key;  ///< compile::source_key: what dispatch can check without NVRTC
};

/// For a session's summary.
[[nodiscard]] nlohmann::json to_json(const Utilisation& utilisation);
[[nodiscard]] nlohmann::json to_json(const Sentinel& sentinel);
/// What to tell the user about a device that drifted; empty when it did not.
[[nodiscard]] std::string drift_notice(const Sentinel& sentinel, const std::string& problem);

/// Where measurements come from: a GPU (LiveBackend) or a recording (ReplayBackend). Single-threaded; configurations
/// are evaluated asynchronously between `submit` and `collect`.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const spec::DeviceInfo& device() const = 0;
  [[nodiscard]] virtual std::string nvrtc_build() const = 0;
  /// "measured", or "recording:<file>".
  [[nodiscard]] virtual std::string origin() const = 0;
  /// When the measurements were made, for a recording; empty: as they come.
  [[nodiscard]] virtual std::string measured_at() const { return {}; }
  /// Units: bytes per second; 0 when unknown.
  [[nodiscard]] virtual double read_ceiling_bytes_per_s() = 0;
  /// Makes `problem` current. Requires: nothing in flight. Throws: PreparingStopped; no problem is current then. A worker that is lost
  /// later prepares it anew: without the time for that `collect` ends as by `end_by`, and `run_off` throws PreparingStopped.
  virtual void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) = 0;
  /// Whether another `submit` keeps the pipeline fed; more than that only takes memory.
  [[nodiscard]] virtual bool wants_more() const = 0;
  /// Whether a recording has the configuration by this name, for the problem that was prepared. A GPU takes every name.
  [[nodiscard]] virtual bool has_of_recording(const spec::Configuration&) const { return false; }
  virtual void submit(const spec::Configuration& configuration) = 0;
  /// What has been decided since the last call; waits up to `timeout` for the first. A replay leaves out what its
  /// recording does not hold.
  [[nodiscard]] virtual std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  /// Configurations that were asked for and that a recording does not hold.
  [[nodiscard]] virtual std::uint64_t missing() const { return 0; }
  /// Forgets everything in flight.
  virtual void abandon() = 0;
  /// Whether a configuration that is far behind after one call may be let go unverified. Not where the search of a part is to find its own
  /// fastest, however slow.
  virtual void let_go_unverified(bool) {}
  /// The search of the prepared problem ends by then (nothing: when it likes): nothing is begun that is not expected to end in time, by
  /// what others of this problem took. What was sampled until then counts as measured, what was not is forgotten.
  virtual void end_by(std::optional<std::chrono::steady_clock::time_point>) {}
  /// Whether that is so: nothing is in flight, and nothing that would be submitted could be measured any more.
  [[nodiscard]] virtual bool time_is_up() const { return false; }
  /// Nothing when these configurations cannot be run off: a recording without them, or they fail only together. Requires: prepared.
  [[nodiscard]] virtual std::optional<RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists, const Race::Options& race,
                                                             std::uint64_t seed) = 0;
  /// Since the problem was prepared; `wall_s`, `idle_other_s` and `searching_s` are the session's to fill in.
  [[nodiscard]] virtual Utilisation utilisation() const { return {}; }
  /// The sentinel of the prepared problem.
  [[nodiscard]] virtual Sentinel sentinel() const { return {}; }
  [[nodiscard]] virtual std::optional<CompiledCode> code(const spec::Configuration& configuration) = 0;
  /// What the user should know of this machine, each once.
  [[nodiscard]] virtual std::vector<std::string> take_warnings() { return {}; }
  /// Called with the configurations that a GPU worker is about to hold, the one being measured first, right before another
  /// is handed over.
  std::function<void(const std::vector<std::string>&)> on_hand_over = [](const std::vector<std::string>&) {};
  /// Asked some ten times a second while what nothing can be measured without is waited for (`doing`: "compiling the reference of ..."), by
  /// `prepare` and wherever that has to be made anew: whether to go on.
  std::function<bool(const std::string& doing)> on_wait = [](const std::string&) { return true; };
};

}  // namespace attune::session
