#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "tuner/search/covariance.hpp"

namespace attune::search {

/// What another search measured: another GPU's, size's or type's of the same parameters.
struct Hint {
  space::Ordinal ordinal;
  std::optional<double> cost;  ///< in any unit, the same for all of a source; nothing for a configuration that failed
};
using HintSource = std::vector<Hint>;

/// What others' measurements let expect of configurations here: by how much each is slower than the best, as a logarithm, in the mean of
/// the sources. A source says what it measured; of what it did not measure, a model of it says what is likely.
/// Immutable: every member may be called from several threads.
class Hints {
 public:
  /// Sources of which fewer than three are valid are left out. Requires: the space outlives this.
  Hints(const space::SearchSpace& space, const std::vector<HintSource>& sources);

  [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
  [[nodiscard]] double log_behind(space::Ordinal ordinal) const;
  /// In how many of the sources that measured it it was valid, as a share; 1 where none did.
  [[nodiscard]] double valid_share(space::Ordinal ordinal) const;
  /// Those that some source measured, the most promising of all sources first. A failure in some makes it less so.
  [[nodiscard]] std::vector<space::Ordinal> best(std::size_t most) const;

 private:
  struct Source {
    std::unordered_map<space::Ordinal, std::optional<double>> measured;  ///< how far behind its best; nothing for what failed
    CovarianceTable covariance;
    std::vector<space::Ordinal> points;  ///< of the model
    std::vector<double> weights;         ///< of each point's covariance in what is predicted
    double mean;

    [[nodiscard]] double log_behind(space::Ordinal ordinal) const;
  };
  static std::optional<Source> source_of(const space::SearchSpace& space, const std::vector<ParameterDistances>& distances,
                                         const HintSource& hints);

  std::vector<Source> sources_;
};

}  // namespace attune::search
