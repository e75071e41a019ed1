#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/measurement.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace attune::session {

/// One value of a tabulated parameter: the fastest configuration with it.
struct LadderCell {
  std::string value;
  std::string configuration;
  double median_us = 0;  ///< by the search
};

/// What one rung came to on one problem.
struct RungResult {
  std::string name;
  std::uint64_t size = 0;     ///< configurations of the rung; 0: it is empty here
  std::uint64_t decided = 0;  ///< of them, those that have an outcome
  std::uint64_t failed = 0;
  std::uint64_t measured = 0;  ///< by this command
  std::string emptied_by;      ///< the condition that left nothing, when size is 0
  std::string configuration;   ///< the fastest; empty: none has worked
  std::string launches;        ///< the configuration that stands for all of the same launches: rungs may differ in names only
  double median_us = 0;        ///< of the run-off of the rungs, else of the search
  double low_us = 0, high_us = 0;
  /// Paired, to the fastest rung; nothing without a run-off.
  std::optional<measure::PairedComparison> to_best;
  /// Its time is of the search's few samples: everything of the rung was dropped early for being slow.
  bool screened = false;
  std::vector<std::vector<LadderCell>> tables;  ///< for each of VariantLadder::tables
};

/// What the ladder came to on one problem.
struct LadderResult {
  ProblemResult tuned;            ///< of the searches and the best of all known
  std::vector<RungResult> rungs;  ///< in order; fewer than the ladder has when interrupted
  std::uint64_t planned = 0;      ///< at most so many configurations are tried; 0: the space is empty
  bool ran_off = false;           ///< the rungs' times are of one run-off, else each of its own search
  bool cut_short = false;         ///< that run-off lacked the time for all its epochs: a later ladder makes it anew
  bool complete = false;
  double read_ceiling_bytes_per_s = 0;  ///< 0: not known
  double peak_operations_per_s = 0;     ///< of the device (base/roofline.hpp); 0: not known

  /// The first of the rungs whose configuration is the fastest; nothing when none has worked.
  [[nodiscard]] std::optional<std::size_t> winner() const;
  /// Time of the nearest rung above `index` that has one, over its own: the step. Nothing for the first.
  [[nodiscard]] std::optional<double> step(std::size_t index) const;
};

/// What a session's summary keeps, reports show and events tell: docs/ladder.md lists it.
[[nodiscard]] nlohmann::json to_json(const LadderResult& result, const spec::VariantLadder& ladder);
[[nodiscard]] nlohmann::json to_json(const RungResult& rung);

/// Configurations of the rungs, one of each launch, the first rung's first.
[[nodiscard]] std::vector<std::string> winners_of(const std::vector<RungResult>& rungs);
/// The first rung of the same launches, itself perhaps: by its time both go.
[[nodiscard]] const RungResult* spokesman_of(const std::vector<RungResult>& rungs, const RungResult& of);

/// Takes the times of an earlier ladder of this JSON when it ran off the same configurations. False: it did not.
[[nodiscard]] bool take_times(LadderResult& result, const nlohmann::json& earlier);

}  // namespace attune::session
