#pragma once
#include <optional>
#include <random>
#include <vector>

#include "tuner/search/ranks.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/trials.hpp"

namespace attune::search {

/// A genetic algorithm: crosses parents that won tournaments of two, value by value, and changes a value in the mean. A child that is
/// faster than the slowest takes its place as soon as it is measured ("steady state"), so that several may be measured. A population whose
/// children are all known begins again, but for its best. Tries everything in the end. A baseline. Source: Syswerda, Uniform crossover in
/// genetic algorithms, 1989, and A study of reproduction in generational and steady-state genetic algorithms, 1991; mutation 1/width:
/// Muehlenbein, How genetic algorithms really work, 1992.
class Genetic final : public Strategy {
 public:
  /// Requires: space outlives this.
  Genetic(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override;

 private:
  struct Member {
    space::Ordinal at;
    double cost;
  };

  [[nodiscard]] const Member& parent();
  [[nodiscard]] space::Ordinal child();

  Ranks ranks_;
  std::mt19937_64 random_;
  Trials trials_;
  std::vector<Member> members_;  ///< the fastest first
};

}  // namespace attune::search
