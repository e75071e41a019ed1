#pragma once
#include <Eigen/Core>
#include <vector>

#include "tuner/search/covariance.hpp"

namespace attune::search {

/// A Gaussian process of mean 0 that knows some points and is asked of some candidates. A point more costs candidates times points, another
/// value of a point candidates times the points after it: what every candidate has to do with the points is kept.
/// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2.2.
class GaussianProcess {
 public:
  /// `noise`: variance of a measurement, in units of the signal's.
  GaussianProcess(CovarianceTable covariance, double noise, std::vector<space::Ordinal> candidates, std::size_t most_points);

  [[nodiscard]] const std::vector<space::Ordinal>& candidates() const noexcept { return candidates_; }
  [[nodiscard]] std::size_t points() const noexcept { return points_.size(); }
  [[nodiscard]] bool is_full() const noexcept { return points() == static_cast<std::size_t>(factor_.rows()); }

  void add_candidate(space::Ordinal candidate);
  /// Returns the point's number. Requires: !is_full().
  std::size_t add_point(space::Ordinal point, double value);
  /// Another value for a point of `add_point`.
  void set_value(std::size_t point, double value);

  /// By point: what its covariance with a configuration counts in that one's mean.
  [[nodiscard]] Eigen::VectorXd weights() const;
  /// Of any configuration.
  [[nodiscard]] double mean_of(space::Ordinal ordinal) const {
    return solved_for(ordinal).dot(solved_values_.head(static_cast<Eigen::Index>(points())));
  }
  /// By candidate.
  [[nodiscard]] const Eigen::VectorXd& means() const noexcept { return means_; }
  /// By candidate, in units of the signal's variance.
  [[nodiscard]] const Eigen::VectorXd& variances() const noexcept { return variances_; }
  /// The variance of the signal that explains the points' values best. Requires: a point.
  [[nodiscard]] double signal_variance() const;

 private:
  [[nodiscard]] Eigen::VectorXd solved_for(space::Ordinal ordinal) const;

  CovarianceColumns covariance_;  ///< of the candidates
  double noise_;
  std::vector<space::Ordinal> candidates_, points_;
  Eigen::MatrixXd factor_;  ///< Cholesky factor of the points' covariance, the lower half
  Eigen::MatrixXf rows_;    ///< [point][candidate]: factor^-1 * covariance of points and candidates; most of what is read for each proposal
  Eigen::VectorXd values_, solved_values_;  ///< [point]: as they are, and factor^-1 times them
  Eigen::VectorXd means_, variances_;       ///< [candidate]
};

}  // namespace attune::search
