#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <unordered_set>
#include <vector>

#include "tuner/search/placed_rows.hpp"
#include "tuner/search/random_forest.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/trials.hpp"

namespace attune::search {

/// A random forest learns which configurations are among the fastest tenth, where those count the more that are the faster, and what failed
/// is none. It proposes what is likely to be one and differs from all that was tried. It learns from more
/// measurements than `Model` does, and what `Model` finds earlier in short searches it finds later. Tries everything in the end.
/// Source: Song, Yu, Neiswanger and Ermon, A general recipe for likelihood-free Bayesian optimization; docs/decisions/0020-forest.md
class Forest final : public Strategy {
 public:
  /// Requires: space outlives this.
  Forest(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first);

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override;

 private:
  struct Known {
    space::Ordinal ordinal;
    double log_us;  ///< infinity of what failed
  };
  struct Candidate {
    space::Ordinal ordinal;
    double chance;
    float apart;           ///< at most so far from the nearest that was tried; 0 once it was itself
    std::size_t compared;  ///< with so many of those that were tried
    std::size_t row;       ///< of the candidates' rows
  };

  std::optional<space::Ordinal> begun(std::optional<space::Ordinal> ordinal);
  void learn();
  [[nodiscard]] RandomForest grown();
  [[nodiscard]] std::vector<std::size_t> chosen_known(std::size_t good) const;
  void choose_candidates(const RandomForest& forest);
  void add_candidate(const RandomForest& forest, space::Ordinal ordinal);
  void add_neighbours(const RandomForest& forest, space::Ordinal ordinal);
  void likeliest_first();
  [[nodiscard]] std::optional<space::Ordinal> most_promising();

  const space::SearchSpace& space_;
  std::vector<Question> questions_;
  std::mt19937_64 random_;
  Trials trials_;
  std::vector<Known> known_;             ///< the fastest first when it has learnt, then what was reported since
  std::vector<space::Ordinal> pending_;  ///< in the order of their proposals
  std::size_t proposed_ = 0, valid_ = 0;
  std::size_t learn_at_known_ = 0, learn_at_proposed_ = 0;
  PlacedRows tried_;                   ///< proposed, or reported without that
  std::vector<Candidate> candidates_;  ///< the likeliest first
  PlacedRows candidate_rows_;
  std::unordered_set<space::Ordinal> were_candidates_;  ///< of this forest
};

}  // namespace attune::search
