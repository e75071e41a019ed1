#pragma once
#include <random>
#include <span>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// Configurations as points, for strategies that calculate with them: a coordinate is the rank of the value among the parameter's, from the
/// least to the greatest; choices, which have no order, stand as they are listed.
class Ranks {
 public:
  /// Requires: space outlives this.
  explicit Ranks(const space::SearchSpace& space);

  [[nodiscard]] std::size_t width() const { return ranks_.size(); }
  [[nodiscard]] std::size_t value_count(std::size_t parameter) const { return ranks_[parameter].size(); }
  [[nodiscard]] std::vector<double> point(space::Ordinal ordinal) const;
  /// The configuration at a point, rounded. Where there is none, the nearest to it of those that differ from it in one parameter; else the
  /// first on a random way from it to `inside`, which takes over one parameter's value after the other.
  [[nodiscard]] space::Ordinal configuration_at(std::span<const double> point, space::Ordinal inside, std::mt19937_64& random) const;

 private:
  [[nodiscard]] std::optional<space::Ordinal> nearest_by_one(spec::Configuration at, std::mt19937_64& random) const;

  const space::SearchSpace& space_;
  std::vector<std::vector<std::uint16_t>> ranks_;   ///< by parameter and value index
  std::vector<std::vector<std::uint16_t>> values_;  ///< value indices, by parameter and rank
};

}  // namespace attune::search
