#pragma once
#include "tuner/search/covariance.hpp"

namespace attune::search {

/// How well a covariance explains values that were measured, under the priors of its parameters.
struct Posterior {
  double log_density;        ///< up to a constant; -infinity where the covariance is not positive definite
  Eigen::VectorXd gradient;  ///< by log length, logit and log noise, in this order
};

/// Costs the third power of the number of points. The variance of the signal is the one that explains the values best.
/// Requires: as many values as points, of mean 0.
[[nodiscard]] Posterior posterior_of(const Covariance& covariance, const space::SearchSpace& space,
                                     const std::vector<ParameterDistances>& distances, const std::vector<space::Ordinal>& points,
                                     const Eigen::VectorXd& values);

/// The covariance of the greatest posterior density that `steps` evaluations find, from `begin` on.
[[nodiscard]] Covariance fit_covariance(const Covariance& begin, const space::SearchSpace& space,
                                        const std::vector<ParameterDistances>& distances, const std::vector<space::Ordinal>& points,
                                        const Eigen::VectorXd& values, int steps);

}  // namespace attune::search
