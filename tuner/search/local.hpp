#pragma once
#include <optional>
#include <random>
#include <vector>

#include "tuner/search/strategy.hpp"
#include "tuner/search/trials.hpp"

namespace attune::search {

/// Descends from a random configuration to neighbours that are faster, those that differ in one parameter, until none is; then begins again
/// elsewhere. It goes to the first neighbour that is faster, of a random order: a configuration has dozens of neighbours, and a search of
/// some hundred measurements that looked at all of them before each step would take only a few steps. A descent begins at the best of
/// several random configurations, since many fail, and those that do have no slope to descend. Tries everything in the end.
/// Source: Hoos and Stuetzle, Stochastic Local Search: Foundations and Applications, 2004 (random-restart first improvement).
class Local final : public Strategy {
 public:
  /// Requires: space outlives this.
  Local(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  /// Neighbours of a configuration that is left soon are of little use.
  [[nodiscard]] std::size_t most_pending() const override { return 8; }

 private:
  struct Place {
    space::Ordinal ordinal;
    double cost;
  };

  void descend_from(Place place);
  [[nodiscard]] std::optional<space::Ordinal> untried_neighbour();

  const space::SearchSpace& space_;
  std::mt19937_64 random_;
  Trials trials_;
  std::optional<Place> current_;            ///< of the descent; a local minimum while the starts of the next are tried
  std::vector<space::Ordinal> neighbours_;  ///< of the current one, in random order: those that may be left
  bool choosing_start_ = true;
  std::size_t starts_ = 0;           ///< how many the next descent could begin at
  std::optional<Place> best_start_;  ///< nothing while all of them failed
};

}  // namespace attune::search
