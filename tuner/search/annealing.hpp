#pragma once
#include <optional>
#include <random>
#include <vector>

#include "tuner/search/strategy.hpp"
#include "tuner/search/trials.hpp"

namespace attune::search {

/// Walks to random neighbours, those that differ in one parameter: to a slower one with a chance that falls as the walk cools,
/// geometrically. A walk begins at the best of several random configurations: much of a space is so slow that a walk would be long in
/// leaving it. One that has cooled down or finds nothing new begins again. Tries everything in the end. A baseline. Differences are
/// relative: a chance of 1/e for a configuration that is slower by the temperature, times the current one. Source: Kirkpatrick, Gelatt and
/// Vecchi, Optimization by simulated annealing, Science 220 (1983).
class Annealing final : public Strategy {
 public:
  /// Requires: space outlives this.
  Annealing(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  /// Neighbours of a configuration that is left soon are of little use.
  [[nodiscard]] std::size_t most_pending() const override { return 8; }

 private:
  void step_to(space::Ordinal ordinal, double cost);
  void stand_at(space::Ordinal ordinal, double cost);
  void begin_again();

  const space::SearchSpace& space_;
  std::mt19937_64 random_;
  Trials trials_;
  std::optional<space::Ordinal> current_;  ///< nothing before a walk has begun
  double current_cost_ = 0;
  double temperature_;
  std::size_t beginnings_left_;             ///< how many more the next walk could begin at
  std::vector<space::Ordinal> neighbours_;  ///< of the current one
};

}  // namespace attune::search
