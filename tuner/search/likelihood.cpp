#include "tuner/search/likelihood.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::search {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kJitter = 1e-8;  // keeps a factor of equal points positive definite

/// Calls `visit(i, j, cell)` for each two points, with the place of their values in the parameter's tables.
template <typename Visit>
void each_pair(const ParameterDistances& one, const space::SearchSpace& space, const std::vector<space::Ordinal>& points, Visit&& visit) {
  std::vector<std::uint16_t> values;
  for (const auto point : points) values.push_back(space.row(point)[one.parameter]);
  for (std::size_t j = 0; j < points.size(); ++j)
    for (std::size_t i = 0; i < points.size(); ++i) visit(static_cast<Index>(i), static_cast<Index>(j), one.cell(values[i], values[j]));
}

VectorXd packed(const Covariance& covariance) {
  VectorXd logs(static_cast<Index>(covariance.width()));
  logs << covariance.log_lengths, covariance.logits, covariance.log_noise;
  return logs;
}

Covariance unpacked(const VectorXd& logs, const Covariance& like) {
  const Index lengths = like.log_lengths.size();
  return {logs.head(lengths), logs.segment(lengths, like.logits.size()), logs[logs.size() - 1]};
}

const NormalPrior& prior_of(const Covariance& covariance, Index place) {
  if (place < covariance.log_lengths.size()) return kLengthPrior;
  return place + 1 < static_cast<Index>(covariance.width()) ? kSharePrior : kNoisePrior;
}

void add_prior(const Covariance& covariance, Posterior& posterior) {
  const VectorXd logs = packed(covariance);
  for (Index place = 0; place < logs.size(); ++place) {
    const auto& [mean, deviation] = prior_of(covariance, place);
    const double off = (logs[place] - mean) / deviation;
    posterior.log_density -= 0.5 * off * off;
    posterior.gradient[place] -= off / deviation;
  }
}

}  // namespace

Posterior posterior_of(const Covariance& covariance, const space::SearchSpace& space, const std::vector<ParameterDistances>& distances,
                       const std::vector<space::Ordinal>& points, const VectorXd& values) {
  const Index n = values.size();
  MatrixXd signal = MatrixXd::Ones(n, n);
  std::vector<ParameterFactor> factors;
  Index first = 0;
  for (std::size_t p = 0; p < distances.size(); ++p) {
    const auto features = static_cast<Index>(distances[p].features.size());
    factors.push_back(factor_of(distances[p], covariance.logits[static_cast<Index>(p)], covariance.log_lengths.segment(first, features)));
    each_pair(distances[p], space, points, [&](Index i, Index j, std::size_t cell) { signal(i, j) *= factors.back().factor[cell]; });
    first += features;
  }
  const double noise = std::exp(covariance.log_noise);
  const Eigen::LLT<MatrixXd> llt(signal + (noise + kJitter) * MatrixXd::Identity(n, n));
  Posterior posterior{-std::numeric_limits<double>::infinity(), VectorXd::Zero(static_cast<Index>(covariance.width()))};
  if (llt.info() != Eigen::Success) return posterior;
  const VectorXd solved = llt.solve(values);
  const double variance = std::max(values.dot(solved) / static_cast<double>(n), 1e-12);
  posterior.log_density = -0.5 * static_cast<double>(n) * std::log(variance) - llt.matrixLLT().diagonal().array().log().sum();
  // Half the trace of this times a derivative of the covariance is the density's. Source: Rasmussen and Williams, 5.9.
  const MatrixXd pull = solved * solved.transpose() / variance - llt.solve(MatrixXd::Identity(n, n));
  const MatrixXd pulled = pull.cwiseProduct(signal);
  Index length = 0;
  for (std::size_t p = 0; p < distances.size(); ++p) {
    VectorXd sums = VectorXd::Zero(static_cast<Index>(factors[p].factor.size()));
    each_pair(distances[p], space, points, [&](Index i, Index j, std::size_t cell) { sums[static_cast<Index>(cell)] += pulled(i, j); });
    const auto slope = [&](const std::vector<double>& of) { return 0.5 * sums.dot(Eigen::Map<const VectorXd>(of.data(), sums.size())); };
    for (const auto& by_log_length : factors[p].by_log_length) posterior.gradient[length++] = slope(by_log_length);
    posterior.gradient[first + static_cast<Index>(p)] = slope(factors[p].by_logit);
  }
  posterior.gradient[posterior.gradient.size() - 1] = 0.5 * noise * pull.trace();
  add_prior(covariance, posterior);
  return posterior;
}

/// Resilient steps: each direction has a length of its own, which grows while the slope keeps its sign. They need no line search, and the
/// parameters differ widely in what they do. Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning.
Covariance fit_covariance(const Covariance& begin, const space::SearchSpace& space, const std::vector<ParameterDistances>& distances,
                          const std::vector<space::Ordinal>& points, const VectorXd& values, int steps) {
  constexpr double kFirst = 0.3, kLonger = 1.2, kShorter = 0.5, kLongest = 1, kDeviations = 4;
  VectorXd logs = packed(begin), best = logs;
  VectorXd step = VectorXd::Constant(logs.size(), kFirst), before = VectorXd::Zero(logs.size());
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < steps; ++i) {
    const Posterior now = posterior_of(unpacked(logs, begin), space, distances, points, values);
    if (now.log_density > most) {
      most = now.log_density;
      best = logs;
    }
    for (Index place = 0; place < logs.size(); ++place) {
      const double slope = now.gradient[place], turn = slope * before[place];
      step[place] = turn > 0 ? std::min(step[place] * kLonger, kLongest) : turn < 0 ? step[place] * kShorter : step[place];
      if (slope != 0) logs[place] += std::copysign(step[place], slope);
      const auto& [mean, deviation] = prior_of(begin, place);
      logs[place] = std::clamp(logs[place], mean - kDeviations * deviation, mean + kDeviations * deviation);
    }
    before = now.gradient;
  }
  return unpacked(best, begin);
}

}  // namespace attune::search
