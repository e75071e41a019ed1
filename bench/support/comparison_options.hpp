#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
  void add_to(CLI::App& app) {
    app.add_option("--db", databases, "Tuning database layers in order; default: the user's, then the shipped one");
    app.add_option("--output", output, "Folder of the results; default: bench/results of the source tree");
    app.add_option("--policies", policies, "cold, hot or both")->check(CLI::IsMember({"cold", "hot", "both"}))->capture_default_str();
    app.add_option("--device", device, "Ordinal of the device")->capture_default_str();
    app.add_option("--rounds", rounds, "Interleaved samples of each")->check(CLI::Range(1, 10001))->capture_default_str();
    app.add_flag("--quick", quick, "At most 7 rounds; for trying out, not for publishing");
  }
  [[nodiscard]] int rounds_taken() const { return quick ? std::min(rounds, 7) : rounds; }
  /// Cold before hot.
  [[nodiscard]] std::vector<measure::CachePolicy> caches() const {
    if (policies == "both") return {measure::CachePolicy::Cold, measure::CachePolicy::Hot};
    return {policies == "hot" ? measure::CachePolicy::Hot : measure::CachePolicy::Cold};
  }
};

/// Of a program whose rows say in "error" why they could not be measured.
[[nodiscard]] inline int exit_code_of(const std::vector<nlohmann::ordered_json>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.contains("error"); }) ? 1 : 0;
}

}  // namespace attune::bench
