#pragma once
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace attune::search {

/// What is untried around the fastest: the configurations that differ from it in one parameter, then from the second, and so on. Told of
/// every proposal and every report, whoever made it. Proposes nothing else.
class Polish {
 public:
  /// The neighbours of so many are worth a look. Requires: the space outlives this.
  Polish(const space::SearchSpace& space, std::size_t fastest) : space_(space), most_(fastest) {}

  void note_proposal(space::Ordinal ordinal) { proposed_.insert(ordinal); }
  void report(space::Ordinal ordinal, std::optional<double> median_us);
  /// Nothing where all of them were proposed.
  [[nodiscard]] std::optional<space::Ordinal> propose();
  [[nodiscard]] bool was_proposed(space::Ordinal ordinal) const { return proposed_.contains(ordinal); }

 private:
  struct Fast {
    double median_us;
    space::Ordinal ordinal;
    std::vector<space::Ordinal> neighbours = {};  ///< that may be left, those to propose first at the end
    bool is_expanded = false;
  };

  const space::SearchSpace& space_;
  std::size_t most_;
  std::vector<Fast> fastest_;  ///< the fastest first
  std::unordered_set<space::Ordinal> proposed_;
};

}  // namespace attune::search
