#include "tuner/search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace attune::search {

using Eigen::Index;
using Eigen::VectorXd;

GaussianProcess::GaussianProcess(CovarianceTable covariance, double noise, std::vector<space::Ordinal> candidates, std::size_t most_points)
    : covariance_(std::move(covariance)),
      noise_(noise),
      candidates_(std::move(candidates)),
      factor_(Eigen::MatrixXd::Zero(static_cast<Index>(most_points), static_cast<Index>(most_points))),
      rows_(static_cast<Index>(most_points), static_cast<Index>(candidates_.size())),
      values_(static_cast<Index>(most_points)),
      variances_(VectorXd::Ones(static_cast<Index>(candidates_.size()))) {}

VectorXd GaussianProcess::solved_for(space::Ordinal ordinal) const {
  const auto n = static_cast<Index>(points_.size());
  VectorXd column(n);
  for (Index i = 0; i < n; ++i) column[i] = covariance_(points_[static_cast<std::size_t>(i)], ordinal);
  factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(column);
  return column;
}

VectorXd GaussianProcess::solved_values() const {
  const auto n = static_cast<Index>(points_.size());
  VectorXd solved = values_.head(n);
  factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(solved);
  return solved;
}

VectorXd GaussianProcess::weights() const {
  const auto n = static_cast<Index>(points_.size());
  VectorXd weights = solved_values();
  factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().transpose().solveInPlace(weights);
  return weights;
}

void GaussianProcess::add_candidate(space::Ordinal candidate) {
  constexpr Index kFewest = 64;
  const auto n = static_cast<Index>(points_.size()), m = static_cast<Index>(candidates_.size());
  const VectorXd column = solved_for(candidate);
  candidates_.push_back(candidate);
  if (m == rows_.cols()) rows_.conservativeResize(Eigen::NoChange, std::max(2 * m, kFewest));
  rows_.col(m).head(n) = column;
  variances_.conservativeResize(m + 1);
  variances_[m] = 1 - column.squaredNorm();
  means_hold_ = false;
}

std::size_t GaussianProcess::add_point(space::Ordinal point, double value) {
  constexpr double kLeast = 1e-8;  // of the new diagonal element: two configurations may be the same to the covariance
  const auto n = static_cast<Index>(points_.size()), m = static_cast<Index>(candidates_.size());
  const VectorXd row = solved_for(point);
  const double diagonal = std::sqrt(std::max(1 + noise_ - row.squaredNorm(), kLeast));
  factor_.row(n).head(n) = row;
  factor_(n, n) = diagonal;
  VectorXd of_candidates = rows_.topLeftCorner(n, m).transpose() * row;
  for (Index c = 0; c < m; ++c)
    of_candidates[c] = (covariance_(candidates_[static_cast<std::size_t>(c)], point) - of_candidates[c]) / diagonal;
  rows_.row(n).head(m) = of_candidates;
  variances_.array() -= of_candidates.array().square();
  points_.push_back(point);
  values_[n] = value;
  means_hold_ = false;
  return static_cast<std::size_t>(n);
}

void GaussianProcess::set_value(std::size_t point, double value) {
  values_[static_cast<Index>(point)] = value;
  means_hold_ = false;
}

const VectorXd& GaussianProcess::means() {
  if (!means_hold_) {
    const auto n = static_cast<Index>(points_.size()), m = static_cast<Index>(candidates_.size());
    means_ = rows_.topLeftCorner(n, m).transpose() * solved_values();
    means_hold_ = true;
  }
  return means_;
}

double GaussianProcess::signal_variance() const { return solved_values().squaredNorm() / static_cast<double>(points_.size()); }

}  // namespace attune::search
