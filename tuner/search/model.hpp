#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/hints.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/validity.hpp"
#include "tuner/space/permutation.hpp"

namespace attune::search {

/// Learns a Gaussian process of the logarithms of the times, and proposes what is expected to improve on the best most, times its chance
/// to be valid. Begins with configurations far from each other. What is proposed and not reported yet is taken to be as predicted, so that
/// several may be under way. It tries everything in the end. With hints it begins with what they find best, and learns how it differs from
/// what they let expect.
/// Source: Jones, Schonlau and Welch, Efficient global optimization of expensive black-box functions; Ginsbourger, Le Riche and Carraro,
/// Kriging is well-suited to parallelize optimization (the "believer").
class Model final : public Strategy {
 public:
  /// `promise`: StrategyOptions::promise. Requires: space outlives this.
  Model(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first, std::shared_ptr<const Hints> hints = {},
        std::function<double(space::Ordinal)> promise = {});

  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal ordinal, std::optional<double> median_us) override;
  [[nodiscard]] std::size_t most_pending() const override;
  [[nodiscard]] std::optional<double> expected_gain() const override { return expected_gain_; }
  /// From now on what is predicted to be the fastest of the best one's neighbours.
  void end_is_near() override { is_near_end_ = true; }
  /// Another strategy has proposed it, so that this one does not.
  void note_proposal(space::Ordinal ordinal) { trial_of(ordinal); }

 private:
  struct Trial {
    space::Ordinal ordinal;
    bool reported = false;
    std::optional<double> log_us = {};
    std::optional<std::size_t> point = {};  ///< of the process
  };

  /// What hints say of a configuration: its logarithm, up to a constant, and a factor of its chance to be valid.
  struct Told {
    double expected = 0, chance = 1;
  };

  Trial& trial_of(space::Ordinal ordinal);
  [[nodiscard]] std::optional<space::Ordinal> first_trial();
  [[nodiscard]] std::vector<space::Ordinal> likely_draws();
  [[nodiscard]] std::optional<space::Ordinal> any_left();
  [[nodiscard]] std::vector<const Trial*> fastest_and_others(std::size_t most) const;
  [[nodiscard]] double trust_in_hints(const std::vector<const Trial*>& trials) const;
  void learn();
  [[nodiscard]] Eigen::VectorXd targets_of(const std::vector<const Trial*>& trials) const;
  [[nodiscard]] std::vector<space::Ordinal> chosen_candidates();
  [[nodiscard]] Told told_of(space::Ordinal ordinal) const;
  void note_failure(Trial& trial);
  void add_candidate(space::Ordinal ordinal);
  /// What hints let expect of its logarithm, up to a constant.
  [[nodiscard]] double expected(space::Ordinal ordinal) const { return hints_ ? trust_ * hints_->log_behind(ordinal) : 0; }
  [[nodiscard]] double target(space::Ordinal ordinal, double log_us) const { return (log_us - expected(ordinal) - mean_) / deviation_; }
  [[nodiscard]] std::optional<space::Ordinal> expected_best();
  [[nodiscard]] std::optional<std::size_t> most_promising();
  [[nodiscard]] std::optional<space::Ordinal> fastest_neighbour() const;

  const space::SearchSpace& space_;
  std::vector<ParameterDistances> distances_;
  std::mt19937_64 random_;
  space::LazyPermutation order_;
  std::optional<space::Ordinal> first_;
  std::vector<Trial> trials_;
  std::unordered_map<space::Ordinal, std::size_t> trial_by_ordinal_;
  std::size_t first_trials_ = 0, reported_ = 0, valid_ = 0, learn_at_ = 0;
  std::optional<double> least_log_us_;
  space::Ordinal fastest_ = 0;  ///< where least_log_us_ is known
  std::optional<double> expected_gain_;
  bool is_near_end_ = false;

  Covariance fitted_;
  std::function<double(space::Ordinal)> promise_;
  std::shared_ptr<const Hints> hints_;  ///< nothing where there are none
  std::vector<space::Ordinal> hinted_;  ///< the most promising of the hints
  double trust_ = 1;                    ///< how much a difference of the hints' is one here
  double mean_ = 0, deviation_ = 1;     ///< of the logarithms that were learnt, less what was expected
  std::vector<Told> told_;              ///< by candidate
  double signal_variance_ = 1;
  std::optional<GaussianProcess> process_;  ///< nothing until there is something to learn from
  std::vector<bool> is_candidate_;          ///< by ordinal
  CovarianceTable alike_;                   ///< before anything was measured
  Validity validity_;
};

}  // namespace attune::search
