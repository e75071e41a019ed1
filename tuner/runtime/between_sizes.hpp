#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// What was tuned on the asked device at another size; borrowed from the ladder.
struct TunedSize {
  const spec::Problem* problem;
  const db::BestRow* row;
  const db::Database* database;  ///< where the row is, and the other measurements of its problem
  double distance;               ///< to the asked sizes, in log2; above 0
};

/// What a configuration is expected to take at the asked sizes.
struct Forecast {
  std::string configuration;
  std::size_t donor = 0;  ///< the nearest of the given results that it won; for the default that never won: the nearest one
  bool won = false;       ///< some result has it as its winner, so that its code is stored
  double ratio = 1;       ///< expected time over that of the best known one
  std::string basis;      ///< in words, for explain
};

/// Ranks the winners of all tuned sizes, and the default, for sizes that were not tuned. The winner of the nearest size alone is a poor
/// guess: what wins at one size can be a third slower a quarter of an octave away, because it fits that size by chance. How a
/// configuration does at the tuned sizes around says more: its forecast is the weighted geometric mean of its ratios to the
/// best there (out of the run-off where it took part, out of the search otherwise), times one standard deviation of them, so that a
/// configuration that is steady is preferred to an erratic one. Weights fall with the distance, and with the difference in alignment
/// (how many factors of two a size has): sizes that leave remainders behave alike.
/// `results`: nearest first. Returns the fastest first; empty when fewer than two sizes are tuned or no configuration was
/// measured at most of them: then the nearest result is all there is to go by.
/// Throws: DatabaseError. Source: docs/decisions/0008-between-sizes.md
[[nodiscard]] std::vector<Forecast> forecast_between(const spec::Problem& asked, std::span<const TunedSize> results,
                                                     const std::string& default_configuration);

/// log2 of a size. 0 has no logarithm; it counts as half an element, nearer to 1 than to 4 and different from both.
[[nodiscard]] double log_size(std::int64_t size);

}  // namespace attune::runtime
