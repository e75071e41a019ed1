#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::bench {

/// What every program takes that compares attune with a library.
struct ComparisonOptions {
  std::vector<std::filesystem::path> databases;
  std::filesystem::path output;
  std::string policies;  ///< "cold", "hot" or "both"
  int device = 0;
  int rounds = 1;
  bool quick = false;

  /// What stands in the members is the default that the help tells.
  void add_to(CommandLine& line) {
    line.option("--db", databases, "Tuning database layers in order; default: the user's, then the shipped one");
    line.option("--output", output, "Folder of the results; default: bench/results of the source tree");
    line.option("--policies", policies, "cold, hot or both").among({"cold", "hot", "both"}).with_default();
    line.option("--device", device, "Ordinal of the device").with_default();
    line.option("--rounds", rounds, "Interleaved samples of each").within(1, 10001).with_default();
    line.flag("--quick", quick, "At most 7 rounds; for trying out, not for publishing");
  }
  [[nodiscard]] int rounds_taken() const { return quick ? std::min(rounds, 7) : rounds; }
  /// Cold before hot.
  [[nodiscard]] std::vector<measure::CachePolicy> caches() const {
    if (policies == "both") return {measure::CachePolicy::Cold, measure::CachePolicy::Hot};
    return {policies == "hot" ? measure::CachePolicy::Hot : measure::CachePolicy::Cold};
  }
};

/// The exit code of a program whose rows say in "error" why they could not be measured.
[[nodiscard]] inline int exit_code_of(const std::vector<Json>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.contains("error"); }) ? 1 : 0;
}

}  // namespace attune::bench
