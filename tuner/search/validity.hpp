#pragma once
#include <Eigen/Core>
#include <utility>
#include <vector>

#include "tuner/search/covariance.hpp"

namespace attune::search {

/// How likely candidates are to be valid, that is, to compile, to be launched and to be right: the share of those that were, the more
/// alike the more they count.
class Validity {
 public:
  explicit Validity(CovarianceTable likeness) : likeness_(CovarianceColumns(std::move(likeness))) {}

  /// Other candidates from now on; what was reported is kept.
  void set_candidates(const std::vector<space::Ordinal>& candidates);
  void add_candidate(space::Ordinal candidate);
  void report(space::Ordinal ordinal, bool valid);
  /// Of a candidate, by its place among them.
  [[nodiscard]] double chance(std::size_t candidate) const;

 private:
  void count(space::Ordinal ordinal, bool valid);

  CovarianceColumns likeness_;  ///< of the candidates
  std::vector<std::pair<space::Ordinal, bool>> reported_;
  std::size_t valid_ = 0;
  Eigen::VectorXd alike_, valid_alike_;  ///< by candidate: how much was reported of its like
};

}  // namespace attune::search
