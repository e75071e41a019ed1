#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace attune::measure {

enum class Outcome { Ok, CompileFailed, ExceedsLimits, LaunchFailed, WrongResult, Crashed, TimedOut };
enum class Stage { None, Screened, Measured, RunOff };
enum class CachePolicy { Cold, Hot };
enum class LaunchMode { Graph, Stream };

[[nodiscard]] const char* name(Outcome outcome);  ///< "ok", "compile_failed", "exceeds_limits", ...
[[nodiscard]] const char* name(Stage stage);      ///< "none", "screened", "measured", "run_off"
/// Throw: Error listing the known names.
[[nodiscard]] Outcome outcome_from_name(const std::string& text);
[[nodiscard]] Stage stage_from_name(const std::string& text);

/// How a time was taken; part of every record.
struct Policy {
  CachePolicy cache = CachePolicy::Cold;
  LaunchMode launch = LaunchMode::Graph;
  bool operator==(const Policy&) const = default;
};
[[nodiscard]] std::string to_text(const Policy& policy);         ///< "cold/graph"
[[nodiscard]] Policy policy_from_text(const std::string& text);  ///< throws UsageError

/// Timing of one configuration. Units: microseconds per call.
struct Timing {
  double median_us = 0;
  double low_us = 0;  ///< order-statistic interval of the median, 95 %, widened by the spread between visits
  double high_us = 0;
  double min_us = 0;
  double within_spread = 0;   ///< half interval of the pooled samples / median
  double between_spread = 0;  ///< half range of the visits' medians / median
  int samples = 0;
  int visits = 0;
  int calls_per_sample = 0;
};

/// Resources of the configuration's heaviest kernel (most registers).
struct Resources {
  int registers = 0;
  int shared_bytes = 0;  ///< static + dynamic
  int stack_bytes = 0;
  int spill_bytes = 0;  ///< stores + loads
  double occupancy = 0;
  double compile_ms = 0;
};

/// The device's power while calls of a configuration follow each other without a gap.
struct Power {
  double watts = 0;       ///< 0: not measured
  double resolution = 0;  ///< how far off it may be by when the driver counts, relative
};

/// Outcome, timing and resources of one configuration on one problem and device.
struct Measurement {
  std::string configuration;  ///< spec::to_text
  Outcome outcome = Outcome::Ok;
  Stage stage = Stage::None;
  bool verified = false;
  Timing timing;
  Resources resources;
  int sm_clock_mhz = 0;  ///< 0: not read
  std::string throttle;  ///< active throttle reasons, empty: none or not read
  std::string detail;    ///< why it failed, in a sentence
  Power power;           ///< where the template asks for it
};

[[nodiscard]] nlohmann::json to_json(const Measurement& measurement);
/// Throws: Error naming the field that is missing, mistyped or out of range.
[[nodiscard]] Measurement measurement_from_json(const nlohmann::json& json);

/// How long a batch of calls must take so that the clock's resolution does not matter. Units: microseconds.
[[nodiscard]] double batch_target_us(double call_us);

/// Median and distribution-free 95 % interval of it (min..max below six samples) from visits' samples; visits without
/// samples do not count. Between visits decides when it is larger: samples of one visit are not independent.
/// docs/measurement.md argues the estimator.
/// Throws: Error when there is no sample, or one is not finite and above 0.
[[nodiscard]] Timing summarise(const std::vector<std::vector<double>>& visits, int calls_per_sample);

/// Whether a candidate beats the incumbent in interleaved rounds: `ratios[i]` = candidate / incumbent of round i.
struct PairedComparison {
  double median_ratio = 1;
  double low = 1;  ///< order-statistic interval of the median ratio
  double high = 1;
  [[nodiscard]] bool faster() const { return high < 1; }
  [[nodiscard]] bool tie() const { return low <= 1 && high >= 1; }
};
/// `confidence` of the interval: the smallest to the largest ratio when there are too few for it.
/// Throws: Error when there is no ratio, or one is not finite and above 0.
[[nodiscard]] PairedComparison compare_paired(const std::vector<double>& ratios, double confidence = 0.95);

}  // namespace attune::measure
