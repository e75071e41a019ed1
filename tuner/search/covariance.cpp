#include "tuner/search/covariance.hpp"

#include <cmath>

namespace attune::search {

using Eigen::Index;
using Eigen::VectorXd;

Covariance prior_covariance(const std::vector<ParameterDistances>& distances) {
  Index features = 0;
  for (const auto& one : distances) features += static_cast<Index>(one.features.size());
  return {VectorXd::Constant(features, kLengthPrior.mean), VectorXd::Constant(static_cast<Index>(distances.size()), kSharePrior.mean),
          kNoisePrior.mean};
}

double matern_5_2(double squared_distance) {
  const double r = std::sqrt(5 * squared_distance);
  return (1 + r + r * r / 3) * std::exp(-r);
}

CovarianceTable::CovarianceTable(const space::SearchSpace& space, const std::vector<ParameterDistances>& distances,
                                 const Covariance& covariance)
    : space_(&space) {
  Index first = 0;
  for (std::size_t parameter = 0; parameter < distances.size(); ++parameter) {
    const auto& one = distances[parameter];
    const double share = 1 / (1 + std::exp(-covariance.logits[static_cast<Index>(parameter)]));
    Factor factor{{one.parameter, one.bins, one.bin_of, {}}, std::vector<double>(one.bins * one.bins)};
    for (std::size_t cell = 0; cell < factor.table.size(); ++cell) {
      double squared = 0;
      for (std::size_t f = 0; f < one.features.size(); ++f)
        squared += one.features[f][cell] * std::exp(-2 * covariance.log_lengths[first + static_cast<Index>(f)]);
      factor.table[cell] = 1 - share + share * matern_5_2(squared);
    }
    first += static_cast<Index>(one.features.size());
    factors_.push_back(std::move(factor));
  }
}

}  // namespace attune::search
