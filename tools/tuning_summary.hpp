#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/session/fleet/run_result.hpp"

namespace attune::tools {

/// Utilisation summed over problems and devices. Units: seconds of devices and of compile workers, not of the clock.
struct Workload {
  double wall_s = 0, gpu_busy_s = 0, verifying_s = 0, idle_waiting_compile_s = 0, recovering_s = 0, idle_other_s = 0, searching_s = 0;
  double compile_busy_s = 0, compile_worker_s = 0;
  int compile_workers = 0;  ///< of one device, the most that any had

  void add(const session::Utilisation& utilisation);
  /// A replay takes time and keeps nothing busy.
  [[nodiscard]] bool known() const { return gpu_busy_s > 0; }
};

/// Counts of a command over its problems and devices.
struct Totals {
  std::uint64_t measured = 0, reused = 0;
  std::map<std::string, std::uint64_t> failed;  ///< by outcome name
  std::map<std::string, session::FailureExample> failure_examples;
  Workload workload;
  bool nothing_left = false;  ///< in every problem

  void add(const session::ProblemResult& result);
};
[[nodiscard]] Totals totals_of(const session::RunResult& result);

/// {"wall_s":..., "gpu_busy_s":..., ...}; null when nothing is known.
[[nodiscard]] nlohmann::json to_json(const Workload& workload);
/// "GPU busy 93 % (verifying 38 %), waiting 4 % for compiles and 3 % for other reasons; compile workers busy 41 %".
[[nodiscard]] std::string workload_text(const Workload& workload);
/// What was lost: one line a kind with its count and an example, and where to look further. Empty when nothing failed.
[[nodiscard]] std::string failures_text(const Totals& totals);
/// The first line of a reason, cut to what a terminal line holds.
[[nodiscard]] std::string first_line(const std::string& reason);

/// "gave up tuning n=2^20 on NVIDIA H200: <why>".
[[nodiscard]] std::string given_up_text(const session::GivenUp& given_up);

/// The table of the best, the counts, what was lost, how busy everything was, and what could not be done.
void print_summary(const session::RunResult& result, bool replay);

}  // namespace attune::tools
