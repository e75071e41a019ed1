#include "tuner/search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace attune::search {

using Eigen::Index;
using Eigen::VectorXd;

GaussianProcess::GaussianProcess(CovarianceTable covariance, double noise, std::vector<space::Ordinal> candidates, std::size_t most_points)
    : covariance_(CovarianceColumns(std::move(covariance))),
      noise_(noise),
      candidates_(std::move(candidates)),
      factor_(Eigen::MatrixXd::Zero(static_cast<Index>(most_points), static_cast<Index>(most_points))),
      rows_(static_cast<Index>(most_points), static_cast<Index>(candidates_.size())),
      values_(static_cast<Index>(most_points)),
      solved_values_(static_cast<Index>(most_points)),
      means_(VectorXd::Zero(static_cast<Index>(candidates_.size()))),
      variances_(VectorXd::Ones(static_cast<Index>(candidates_.size()))) {
  for (const auto candidate : candidates_) covariance_.add(candidate);
}

VectorXd GaussianProcess::solved_for(space::Ordinal ordinal) const {
  const auto n = static_cast<Index>(points_.size());
  VectorXd column(n);
  for (Index i = 0; i < n; ++i) column[i] = covariance_.table()(points_[static_cast<std::size_t>(i)], ordinal);
  factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(column);
  return column;
}

VectorXd GaussianProcess::weights() const {
  const auto n = static_cast<Index>(points_.size());
  VectorXd weights = solved_values_.head(n);
  factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().transpose().solveInPlace(weights);
  return weights;
}

void GaussianProcess::add_candidate(space::Ordinal candidate) {
  constexpr Index kFewest = 64;
  const auto n = static_cast<Index>(points_.size()), m = static_cast<Index>(candidates_.size());
  const VectorXd column = solved_for(candidate);
  candidates_.push_back(candidate);
  covariance_.add(candidate);
  if (m == rows_.cols()) rows_.conservativeResize(Eigen::NoChange, std::max(2 * m, kFewest));
  rows_.col(m).head(n) = column.cast<float>();
  variances_.conservativeResize(m + 1);
  variances_[m] = 1 - column.squaredNorm();
  means_.conservativeResize(m + 1);
  means_[m] = column.dot(solved_values_.head(n));
}

std::size_t GaussianProcess::add_point(space::Ordinal point, double value) {
  constexpr double kLeast = 1e-8;  // of the new diagonal element: two configurations may be the same to the covariance
  const auto n = static_cast<Index>(points_.size()), m = static_cast<Index>(candidates_.size());
  const VectorXd row = solved_for(point);
  const double diagonal = std::sqrt(std::max(1 + noise_ - row.squaredNorm(), kLeast));
  factor_.row(n).head(n) = row;
  factor_(n, n) = diagonal;
  VectorXd of_candidates = (rows_.topLeftCorner(n, m).transpose() * row.cast<float>()).cast<double>();
  of_candidates = (covariance_.column(point) - of_candidates) / diagonal;
  rows_.row(n).head(m) = of_candidates.cast<float>();
  variances_.array() -= of_candidates.array().square();
  points_.push_back(point);
  values_[n] = value;
  solved_values_[n] = (value - row.dot(solved_values_.head(n))) / diagonal;
  means_ += of_candidates * solved_values_[n];
  return static_cast<std::size_t>(n);
}

/// What is solved for the points before this one stays as it is.
void GaussianProcess::set_value(std::size_t point, double value) {
  const auto first = static_cast<Index>(point), n = static_cast<Index>(points_.size()), later = n - first;
  VectorXd change = VectorXd::Zero(later);
  change[0] = value - values_[first];
  factor_.block(first, first, later, later).triangularView<Eigen::Lower>().solveInPlace(change);
  values_[first] = value;
  solved_values_.segment(first, later) += change;
  means_ += (rows_.block(first, 0, later, means_.size()).transpose() * change.cast<float>()).cast<double>();
}

double GaussianProcess::signal_variance() const {
  const auto n = static_cast<Index>(points_.size());
  return solved_values_.head(n).squaredNorm() / static_cast<double>(n);
}

}  // namespace attune::search
