#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/runtime/evidence.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// What was tuned on the asked device at another size; borrowed from the lookup.
struct TunedSize {
  const spec::Problem* problem;
  const db::BestRow* row;
  const db::Database* database;  ///< where the row is, and the other measurements of its problem
  double distance;               ///< to the asked sizes, in log2; above 0
  /// What won, where that is specialised on its sizes and the row names its general form instead; null: the row names it.
  const std::string* specialised = nullptr;
  double specialised_us = 0;
};

/// What of a configuration's launches a forecast goes by.
struct LaunchFacts {
  bool one_block =
      false;  ///< all is done by the single block of a single launch: what it takes says nothing about others, and the other way round
};
/// What a configuration is expected to take at the asked sizes.
struct Forecast {
  std::string configuration;
  std::size_t donor = 0;  ///< the nearest of the given results that it won; for the default that never won: the nearest one
  bool won = false;       ///< some result has it as its winner, so that its code is stored
  double expected_us = 0;
  double deviation = 0;  ///< standard deviation of what is expected, relative; and what the distance to where it won adds
  std::string basis;     ///< in words, for explain

  /// What configurations are compared by: a steady one is preferred to an erratic one.
  [[nodiscard]] double cautious_us() const { return expected_us * (1 + deviation); }
};

/// What forecasts ask of the template and the device. Configurations are texts.
struct LaunchesAt {
  /// The default at a problem. It may be another one at every size: what it took around is what its table took.
  std::function<std::string(const spec::Problem& problem)> standard;
  /// Nothing where it cannot be launched.
  std::function<std::optional<LaunchFacts>(const std::string& configuration, const spec::Problem& problem)> facts;
  /// Equal for configurations that make the same launches of the same code there, under whatever name they were measured. Nothing where it
  /// cannot be launched.
  std::function<std::optional<std::string>(const std::string& configuration, const spec::Problem& problem)> key;
  /// Whether the default was chosen for problems like this one (a row of a table of defaults), rather than for all: better than what won
  /// far away.
  std::function<bool(const spec::Problem& problem)> standard_is_chosen;
};

/// Ranks the winners of all tuned sizes, and the default, for a size that was not tuned.
///
/// The winner of the nearest size is a poor guess: it may fit that size by chance, and be a third slower a quarter of an octave away. So
/// each configuration gets a forecast from its times at all tuned sizes around:
/// - A Bayesian linear regression of the logarithm of the time over the logarithms of the sizes. Weights fall with the distance. Where the
///   configuration launches one block here, only launches of one block count (LaunchFacts), else only the others.
/// - Its prior: times grow with the sizes as the default's do. Few points, or points far away on one side, leave it uncertain.
/// - A winner is compared by its expected time plus one deviation. Beyond the sizes where it was measured, and where nothing near was
///   tuned, the deviation grows with the distance.
/// - The default was not chosen by these times, so it is compared by its expected time alone. There are two forecasts of it: from the
///   defaults around, and from the times of its configuration. The surer one counts; where both are sure, the lower.
///
/// `results`: nearest first; `evidence`: what earlier decisions have read. The first that is returned is the one to take: the fastest by
/// Forecast::cautious_us, but the default unless that one is clearly faster. Returns nothing when fewer than two sizes are tuned, or no
/// configuration was measured at any of them. Then only the nearest result is known; a default that was chosen for the problem is better
/// than one that is far.
/// Throws: DatabaseError. Source: docs/decisions/0013-between-ragged-sizes.md
[[nodiscard]] std::vector<Forecast> forecast_between(const spec::Problem& asked, std::span<const TunedSize> results,
                                                     const LaunchesAt& launches, Evidence& evidence);

/// log2 of a size. 0 has no logarithm; it counts as half an element, nearer to 1 than to 4 and different from both.
[[nodiscard]] double log_size(std::int64_t size);

}  // namespace attune::runtime
