#pragma once
#include <optional>
#include <random>
#include <vector>

#include "tuner/search/ranks.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/trials.hpp"
#include "tuner/search/turns.hpp"

namespace attune::search {

/// Differential evolution: moves the best of a population by the difference of two others, crosses that with a member and keeps the faster.
/// Members take turns and do not wait for each other, so that several may be measured. A population that finds nothing new begins again,
/// but for its best. Tries everything in the end. A baseline.
/// Source: Storn and Price, Differential evolution, Journal of Global Optimization 11 (1997): F = 0.8, CR = 0.9; DE/best/1/bin of Price,
/// Storn and Lampinen, Differential Evolution, 2005, since searches are short.
class Differential final : public Strategy {
 public:
  /// Requires: space outlives this.
  Differential(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override { return turns_.size(); }

 private:
  struct Member {
    std::optional<space::Ordinal> at;  ///< nothing before its first report
    double cost = 0;
  };

  [[nodiscard]] std::optional<space::Ordinal> waits_for_any(std::size_t member);
  [[nodiscard]] std::optional<space::Ordinal> child_of(std::size_t member);
  void keep_faster(Member& member, space::Ordinal ordinal, double cost);
  [[nodiscard]] Member& best();
  void begin_again();

  Ranks ranks_;
  std::mt19937_64 random_;
  Trials trials_;
  Turns turns_;
  std::vector<Member> members_;
};

}  // namespace attune::search
