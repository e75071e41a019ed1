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

ParameterFactor factor_of(const ParameterDistances& one, double logit, const VectorXd& log_lengths) {
  const double share = 1 / (1 + std::exp(-logit));
  const std::size_t cells = one.bins * one.bins, features = one.features.size();
  ParameterFactor made{std::vector<double>(cells), std::vector<double>(cells), {features, std::vector<double>(cells)}};
  // Matérn 5/2. Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 4.17.
  const VectorXd weights = (-2 * log_lengths.array()).exp();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double squared = 0;
    for (std::size_t f = 0; f < features; ++f) squared += weights[static_cast<Index>(f)] * one.features[f][cell];
    const double r = std::sqrt(5 * squared), decay = std::exp(-r), correlation = (1 + r + r * r / 3) * decay;
    made.factor[cell] = 1 - share + share * correlation;
    made.by_logit[cell] = share * (1 - share) * (correlation - 1) / made.factor[cell];
    for (std::size_t f = 0; f < features; ++f) {
      made.by_log_length[f][cell] =
          share * 5 / 3 * (1 + r) * decay * weights[static_cast<Index>(f)] * one.features[f][cell] / made.factor[cell];
    }
  }
  return made;
}

CovarianceTable::CovarianceTable(const space::SearchSpace& space, const std::vector<ParameterDistances>& distances,
                                 const Covariance& covariance)
    : space_(&space) {
  Index first = 0;
  for (std::size_t parameter = 0; parameter < distances.size(); ++parameter) {
    const auto& one = distances[parameter];
    const auto features = static_cast<Index>(one.features.size());
    const auto factor = factor_of(one, covariance.logits[static_cast<Index>(parameter)], covariance.log_lengths.segment(first, features));
    first += features;
    factors_.push_back({{one.parameter, one.bins, one.bin_of, {}}, factor.factor});
  }
}

void CovarianceColumns::add(space::Ordinal ordinal) {
  const auto row = table_.space_->row(ordinal);
  for (std::size_t f = 0; f < places_.size(); ++f) {
    const auto& distances = table_.factors_[f].distances;
    places_[f].push_back(distances.bin_of[row[distances.parameter]]);
  }
  ++size_;
}

void CovarianceColumns::clear() {
  for (auto& places : places_) places.clear();
  size_ = 0;
}

VectorXd CovarianceColumns::column(space::Ordinal ordinal) const {
  VectorXd column = VectorXd::Ones(static_cast<Index>(size_));
  const auto row = table_.space_->row(ordinal);
  for (std::size_t f = 0; f < places_.size(); ++f) {
    const auto& [distances, table] = table_.factors_[f];
    const double* of_value = table.data() + distances.bin_of[row[distances.parameter]] * distances.bins;
    const std::uint16_t* place = places_[f].data();
    for (Index i = 0; i < column.size(); ++i) column[i] *= of_value[*place++];
  }
  return column;
}

}  // namespace attune::search
