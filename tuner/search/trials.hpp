#pragma once
#include <optional>
#include <random>
#include <unordered_map>

#include "tuner/space/permutation.hpp"
#include "tuner/space/search_space.hpp"

namespace attune::search {

/// What a search has proposed, and what it was told of it.
class Trials {
 public:
  /// `first`: what `propose_any` proposes before all others.
  Trials(std::uint64_t space_size, std::optional<space::Ordinal> first) : first_(first), order_(space_size) {}

  /// Whether the configuration was proposed, or reported without that.
  [[nodiscard]] bool contains(space::Ordinal ordinal) const { return costs_.contains(ordinal); }
  /// Infinity for one that failed; nothing while there is no report.
  [[nodiscard]] std::optional<double> cost(space::Ordinal ordinal) const;
  void propose(space::Ordinal ordinal) { costs_.try_emplace(ordinal); }
  /// Proposes a random one of those that are left; nothing when none is.
  [[nodiscard]] std::optional<space::Ordinal> propose_any(std::mt19937_64& random);
  /// Returns the cost; nothing for a second report of the same configuration, which changes nothing.
  std::optional<double> report(space::Ordinal ordinal, std::optional<double> median_us);

 private:
  std::unordered_map<space::Ordinal, std::optional<double>> costs_;
  std::optional<space::Ordinal> first_;
  space::LazyPermutation order_;
};

}  // namespace attune::search
