#pragma once
#include <Eigen/Core>
#include <vector>

#include "tuner/search/distances.hpp"

namespace attune::search {

/// What the covariance of two configurations' values is made of, in units of the values' variance: the product over the parameters of
/// 1 - share + share * Matérn 5/2 of their distance in length scales. Small shares make it nearly a sum, in which each parameter acts by
/// itself; with a share of 1 what another parameter does depends wholly on this one. Few measurements tell most about sums.
struct Covariance {
  Eigen::VectorXd log_lengths;  ///< by feature, those of one parameter after those of another
  Eigen::VectorXd logits;       ///< of the shares, by parameter
  double log_noise = 0;         ///< variance of one measurement

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(log_lengths.size() + logits.size()) + 1; }
};

/// What is assumed of them before anything was measured: normal, independent of each other.
struct NormalPrior {
  double mean, deviation;
};
inline constexpr NormalPrior kLengthPrior{-0.7, 1}, kSharePrior{0, 1.5}, kNoisePrior{-7, 2};

[[nodiscard]] Covariance prior_covariance(const std::vector<ParameterDistances>& distances);

/// A parameter's factor of the covariance, by the values of both configurations, and the slopes of its logarithm.
struct ParameterFactor {
  std::vector<double> factor, by_logit;            ///< [cell]
  std::vector<std::vector<double>> by_log_length;  ///< [feature][cell]
};
/// `log_lengths`: of the parameter's features.
[[nodiscard]] ParameterFactor factor_of(const ParameterDistances& distances, double logit, const Eigen::VectorXd& log_lengths);

/// The covariance of any two configurations of a space: the product of a number for each parameter that is looked up.
class CovarianceTable {
 public:
  /// Requires: the space outlives this.
  CovarianceTable(const space::SearchSpace& space, const std::vector<ParameterDistances>& distances, const Covariance& covariance);

  [[nodiscard]] double operator()(space::Ordinal a, space::Ordinal b) const {
    const auto row_a = space_->row(a), row_b = space_->row(b);
    double product = 1;
    for (const auto& [distances, table] : factors_)
      product *= table[distances.cell(row_a[distances.parameter], row_b[distances.parameter])];
    return product;
  }

 private:
  friend class CovarianceColumns;
  struct Factor {
    ParameterDistances distances;
    std::vector<double> table;  ///< as those of the distances
  };

  const space::SearchSpace* space_;
  std::vector<Factor> factors_;
};

/// The covariance of one configuration after the other with all of many: each lies here as the places that its values have in the tables,
/// so that a column of the covariance is one pass over memory for each parameter.
class CovarianceColumns {
 public:
  explicit CovarianceColumns(CovarianceTable table) : table_(std::move(table)), places_(table_.factors_.size()) {}

  [[nodiscard]] const CovarianceTable& table() const noexcept { return table_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void add(space::Ordinal ordinal);
  void clear();
  /// With each that was added, in their order.
  [[nodiscard]] Eigen::VectorXd column(space::Ordinal ordinal) const;

 private:
  CovarianceTable table_;
  std::vector<std::vector<std::uint16_t>> places_;  ///< [factor][place]
  std::size_t size_ = 0;
};

}  // namespace attune::search
