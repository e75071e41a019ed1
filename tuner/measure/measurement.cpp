#include "tuner/measure/measurement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"
#include "tuner/base/median.hpp"

namespace attune::measure {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Outcome, const char*>, 7> kOutcomes{{{Outcome::Ok, "ok"},
                                                                    {Outcome::CompileFailed, "compile_failed"},
                                                                    {Outcome::ExceedsLimits, "exceeds_limits"},
                                                                    {Outcome::LaunchFailed, "launch_failed"},
                                                                    {Outcome::WrongResult, "wrong_result"},
                                                                    {Outcome::Crashed, "crashed"},
                                                                    {Outcome::TimedOut, "timed_out"}}};
constexpr std::array<std::pair<Stage, const char*>, 4> kStages{
    {{Stage::None, "none"}, {Stage::Screened, "screened"}, {Stage::Measured, "measured"}, {Stage::RunOff, "run_off"}}};
constexpr std::array<std::pair<Policy, const char*>, 4> kPolicies{{{{CachePolicy::Cold, LaunchMode::Graph}, "cold/graph"},
                                                                   {{CachePolicy::Cold, LaunchMode::Stream}, "cold/stream"},
                                                                   {{CachePolicy::Hot, LaunchMode::Graph}, "hot/graph"},
                                                                   {{CachePolicy::Hot, LaunchMode::Stream}, "hot/stream"}}};

template <class Names>
std::string listed(const Names& names) {
  std::vector<std::string> texts;
  for (const auto& entry : names) texts.emplace_back(entry.second);
  return fmt::format("{}", fmt::join(texts, ", "));
}

template <class Names, class Key>
const char* name_in(const Names& names, const Key& key) {
  return std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == key; })->second;
}

template <class Thrown, class Names>
auto key_in(const Names& names, const std::string& text, const char* what) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.second == text; });
  if (found == names.end()) {
    throw Thrown(fmt::format("failed reading {}: '{}' is unknown; known: {}", what, text, listed(names)));
  }
  return found->first;
}

constexpr std::size_t kMostNameBytes = 64;
constexpr double kLongestUs = 1e12;                              // eleven days
constexpr std::size_t kMostDetailBytes = std::size_t{16} << 20;  // as db/exchange takes

Timing timing_from_json(const base::JsonFields& read) {
  Timing timing;
  timing.median_us = read.number("median_us", 0, kLongestUs);
  timing.low_us = read.number("low_us", 0, kLongestUs);
  timing.high_us = read.number("high_us", 0, kLongestUs);
  timing.min_us = read.number("min_us", 0, kLongestUs);
  timing.within_spread = read.number("within_spread");
  timing.between_spread = read.number("between_spread");
  timing.samples = read.integer<int>("samples");
  timing.visits = read.integer<int>("visits");
  timing.calls_per_sample = read.integer<int>("calls_per_sample");
  return timing;
}

Resources resources_from_json(const base::JsonFields& read) {
  Resources resources;
  resources.registers = read.integer<int>("registers");
  resources.shared_bytes = read.integer<int>("shared_bytes");
  resources.stack_bytes = read.integer<int>("stack_bytes");
  resources.spill_bytes = read.integer<int>("spill_bytes");
  resources.occupancy = read.number("occupancy");
  resources.compile_ms = read.number("compile_ms");
  return resources;
}

/// How many values may be cut off at each end so that what remains still covers the median with the probability
/// `confidence`.
/// Each of n independent values lies below the median with probability 1/2, so the number below is binomial, whatever
/// the distribution of the values: the k-th smallest lies above the median with probability P(Bin(n, 1/2) < k).
/// Nothing can be cut off below n = 6: min..max is then all there is, and its coverage stays under 95 %.
std::size_t cut_off_count(std::size_t n, double confidence) {
  double log_probability = -static_cast<double>(n) * std::log(2.0);  // logarithms: 2^-n underflows from n = 1075 on
  double below = 0;
  std::size_t cut = 0;
  for (std::size_t k = 0; k < n / 2; ++k) {
    below += std::exp(log_probability);
    if (below > (1 - confidence) / 2) break;
    cut = k;
    log_probability += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  return cut;
}

struct Interval {
  double low = 0;
  double high = 0;
};

Interval median_interval(const std::vector<double>& sorted, double confidence) {
  const std::size_t cut = cut_off_count(sorted.size(), confidence);
  return {sorted[cut], sorted[sorted.size() - 1 - cut]};
}

void require_positive(const std::vector<double>& values, const char* what) {
  for (const double value : values) {
    if (std::isfinite(value) && value > 0) continue;
    throw Error(fmt::format("failed summarising {}: {} is no finite number above 0", what, value));
  }
}

}  // namespace

const char* name(Outcome outcome) { return name_in(kOutcomes, outcome); }
const char* name(Stage stage) { return name_in(kStages, stage); }
Outcome outcome_from_name(const std::string& text) { return key_in<Error>(kOutcomes, text, "an outcome"); }
Stage stage_from_name(const std::string& text) { return key_in<Error>(kStages, text, "a stage"); }
std::string to_text(const Policy& policy) { return name_in(kPolicies, policy); }
Policy policy_from_text(const std::string& text) { return key_in<UsageError>(kPolicies, text, "a policy"); }

json to_json(const Measurement& measurement) {
  const Timing& timing = measurement.timing;
  const Resources& resources = measurement.resources;
  json object = {{"configuration", measurement.configuration},
                 {"outcome", name(measurement.outcome)},
                 {"stage", name(measurement.stage)},
                 {"verified", measurement.verified},
                 {"timing",
                  {{"median_us", timing.median_us},
                   {"low_us", timing.low_us},
                   {"high_us", timing.high_us},
                   {"min_us", timing.min_us},
                   {"within_spread", timing.within_spread},
                   {"between_spread", timing.between_spread},
                   {"samples", timing.samples},
                   {"visits", timing.visits},
                   {"calls_per_sample", timing.calls_per_sample}}},
                 {"resources",
                  {{"registers", resources.registers},
                   {"shared_bytes", resources.shared_bytes},
                   {"stack_bytes", resources.stack_bytes},
                   {"spill_bytes", resources.spill_bytes},
                   {"occupancy", resources.occupancy},
                   {"compile_ms", resources.compile_ms}}},
                 {"sm_clock_mhz", measurement.sm_clock_mhz},
                 {"throttle", measurement.throttle},
                 {"detail", measurement.detail}};
  // Only where there is one: every other record says the same as those of older versions.
  if (measurement.power.watts > 0) object["power"] = {{"watts", measurement.power.watts}, {"resolution", measurement.power.resolution}};
  return object;
}

Measurement measurement_from_json(const json& object) {
  const base::JsonFields read(object, "failed reading a measurement: ");
  Measurement measurement;
  measurement.configuration = read.text("configuration");
  measurement.outcome = outcome_from_name(read.text("outcome", kMostNameBytes));
  measurement.stage = stage_from_name(read.text("stage", kMostNameBytes));
  measurement.verified = read.flag("verified");
  measurement.timing = timing_from_json(read.object("timing"));
  measurement.resources = resources_from_json(read.object("resources"));
  measurement.sm_clock_mhz = read.integer<int>("sm_clock_mhz");
  measurement.throttle = read.text("throttle");
  measurement.detail = read.text("detail", kMostDetailBytes);
  if (read.has("power")) {
    const auto power = read.object("power");
    measurement.power = {power.number("watts"), power.number("resolution")};
  }
  return measurement;
}

Timing summarise(const std::vector<std::vector<double>>& visits, int calls_per_sample) {
  std::vector<double> pooled;
  std::vector<double> visit_medians;
  for (const auto& visit : visits) {
    if (visit.empty()) continue;
    require_positive(visit, "samples");
    visit_medians.push_back(base::median(visit));
    pooled.insert(pooled.end(), visit.begin(), visit.end());
  }
  if (pooled.empty()) throw Error("failed summarising samples: there are none");
  std::sort(pooled.begin(), pooled.end());

  Timing timing;
  timing.median_us = base::median(pooled);
  timing.min_us = pooled.front();
  timing.samples = static_cast<int>(pooled.size());
  timing.visits = static_cast<int>(visit_medians.size());
  timing.calls_per_sample = calls_per_sample;
  const Interval within = median_interval(pooled, 0.95);
  timing.within_spread = (within.high - within.low) / 2 / timing.median_us;
  const auto [lowest, highest] = std::minmax_element(visit_medians.begin(), visit_medians.end());
  timing.between_spread = (*highest - *lowest) / 2 / timing.median_us;
  // Visits that lie far apart must not push the low end under every sample there is.
  timing.low_us = std::min(within.low, std::max(timing.min_us, timing.median_us * (1 - timing.between_spread)));
  timing.high_us = std::max(within.high, timing.median_us * (1 + timing.between_spread));
  return timing;
}

PairedComparison compare_paired(const std::vector<double>& ratios, double confidence) {
  if (ratios.empty()) throw Error("failed comparing two configurations: there are no rounds");
  require_positive(ratios, "ratios");
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  const Interval interval = median_interval(sorted, confidence);
  return {base::median(sorted), interval.low, interval.high};
}

double batch_target_us(double call_us) { return call_us < 10.0 ? 1000.0 : 200.0; }

}  // namespace attune::measure
