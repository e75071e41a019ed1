#pragma once
#include <optional>
#include <random>
#include <vector>

#include "tuner/search/ranks.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/trials.hpp"
#include "tuner/search/turns.hpp"

namespace attune::search {

/// A particle swarm: each particle flies on, drawn to the best place that it has seen and to the best that any has. Particles take turns
/// and do not wait for each other, so that several may be measured. One that comes to known places only is put somewhere else. Tries
/// everything in the end. A baseline. Source: Clerc and Kennedy, The particle swarm, IEEE Transactions on Evolutionary Computation 6
/// (2002): constriction, w = 0.7298 and c = 1.49618 each; walls and first velocities as in Clerc, Standard particle swarm optimisation,
/// 2012.
class Swarm final : public Strategy {
 public:
  /// Requires: space outlives this.
  Swarm(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override { return turns_.size(); }

 private:
  struct Best {
    space::Ordinal at;
    double cost;
  };
  struct Particle {
    space::Ordinal at = 0;
    std::vector<double> position = {}, velocity = {};  ///< empty before it is put somewhere
    std::optional<Best> best = {};                     ///< nothing while all that it has seen failed
    int known_places = 0;                              ///< one after the other
  };

  [[nodiscard]] std::optional<space::Ordinal> put_anywhere(std::size_t member);
  void put(Particle& particle, space::Ordinal ordinal);
  void fly(Particle& particle);
  void see(Particle& particle, space::Ordinal ordinal, double cost);

  Ranks ranks_;
  std::mt19937_64 random_;
  Trials trials_;
  Turns turns_;
  std::vector<Particle> particles_;
  std::optional<Best> best_;
};

}  // namespace attune::search
