#include "tuner/session/source/recording_parts.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

namespace attune::session::recording {

using nlohmann::json;

namespace {

constexpr std::size_t kMostShownBytes = 200;

/// Whoever ran off was measured, and is there once.
std::string finalists_contradiction(const RecordedProblem& problem, const std::unordered_set<std::string_view>& measured) {
  std::vector<std::string> all = problem.finalists;
  for (const auto& left : problem.left) all.push_back(left.configuration);
  if (const auto twice = first_double(all)) return fmt::format("the finalist {} is there twice", shortened(*twice));
  for (const auto& finalist : all) {
    if (!measured.contains(finalist)) return fmt::format("the finalist {} is not among the measurements", shortened(finalist));
  }
  return "";
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"outcome", json::json_pointer("/outcome"), 0},
      {"stage", json::json_pointer("/stage"), 0},
      {"verified", json::json_pointer("/verified"), 0},
      {"median_us", json::json_pointer("/timing/median_us"), 1e-4},
      {"low_us", json::json_pointer("/timing/low_us"), 1e-4},
      {"high_us", json::json_pointer("/timing/high_us"), 1e-4},
      {"min_us", json::json_pointer("/timing/min_us"), 1e-4},
      {"within_spread", json::json_pointer("/timing/within_spread"), 1e-5},
      {"between_spread", json::json_pointer("/timing/between_spread"), 1e-5},
      {"samples", json::json_pointer("/timing/samples"), 0},
      {"visits", json::json_pointer("/timing/visits"), 0},
      {"calls_per_sample", json::json_pointer("/timing/calls_per_sample"), 0},
      {"registers", json::json_pointer("/resources/registers"), 0},
      {"shared_bytes", json::json_pointer("/resources/shared_bytes"), 0},
      {"stack_bytes", json::json_pointer("/resources/stack_bytes"), 0},
      {"spill_bytes", json::json_pointer("/resources/spill_bytes"), 0},
      {"occupancy", json::json_pointer("/resources/occupancy"), 1e-5},
      {"compile_ms", json::json_pointer("/resources/compile_ms"), 1e-2},
      {"sm_clock_mhz", json::json_pointer("/sm_clock_mhz"), 0},
      {"throttle", json::json_pointer("/throttle"), 0},
      {"detail", json::json_pointer("/detail"), 0},
  };
  return all;
}

const std::vector<Column>& power_columns() {
  static const std::vector<Column> both = {{"power_w", json::json_pointer("/power/watts"), 1e-3},
                                           {"power_resolution", json::json_pointer("/power/resolution"), 1e-5}};
  return both;
}

std::string shortened(const std::string& text) { return text.size() <= kMostShownBytes ? text : text.substr(0, kMostShownBytes) + "..."; }

std::optional<std::string> first_double(const std::vector<std::string>& texts) {
  std::unordered_set<std::string_view> seen;
  for (const auto& text : texts) {
    if (!seen.insert(text).second) return text;
  }
  return std::nullopt;
}

std::string contradiction(const RecordedProblem& problem) {
  if (problem.space_size < problem.measurements.size()) {
    return fmt::format("field 'space_size' is {}, but there are {} measurements", problem.space_size, problem.measurements.size());
  }
  std::unordered_set<std::string_view> measured;
  for (const auto& measurement : problem.measurements) {
    if (!measured.insert(measurement.configuration).second) {
      return fmt::format("the configuration {} is measured twice", shortened(measurement.configuration));
    }
  }
  for (std::size_t round = 0; round < problem.rounds_us.size(); ++round) {
    const std::size_t width = problem.rounds_us[round].size();
    if (width != problem.finalists.size()) {
      return fmt::format("rounds_us[{}] has {} times for {} finalists", round, width, problem.finalists.size());
    }
  }
  return finalists_contradiction(problem, measured);
}

}  // namespace attune::session::recording
