#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace attune::simulate {

/// What a run tried, in order: costs as in RecordedSpace, nothing for what failed.
using Trace = std::vector<std::optional<double>>;

/// How good searches of one recorded space are, beside random search: 0 is as good as it, 1 is the optimum at once, below 0 is worse.
/// The score is the mean over budgets k of (E - mean best of k over the runs) / (E - optimum), where E is what random search without
/// replacement, over valid and invalid configurations, is expected to have found after k. Budgets are those from where E has come 1 % of
/// the way from the median of the valid to the optimum to where it has come 95 %, at most 220. Before its first valid configuration a
/// search stands at the worst valid one.
class SearchScore {
 public:
  /// Throws: Error with exit code NothingValid when no configuration is valid.
  explicit SearchScore(const std::vector<std::optional<double>>& costs);

  [[nodiscard]] double optimum() const { return valid_.front(); }
  /// Element k - 1: after k evaluations.
  [[nodiscard]] const std::vector<double>& expected_of_random() const { return random_; }
  /// What the runs had found after k evaluations in the mean, at k - 1. A run that ended keeps what it found.
  [[nodiscard]] std::vector<double> mean_best(const std::vector<Trace>& runs, std::size_t evaluations) const;
  /// Nothing where every budget finds the optimum at random, so that there is nothing to be good at.
  [[nodiscard]] std::optional<double> score(const std::vector<Trace>& runs) const;
  /// The optimum over the mean best after so many evaluations, above 0, at most 1.
  [[nodiscard]] double fraction_of_optimum(const std::vector<Trace>& runs, std::size_t evaluations) const;

 private:
  void choose_window();

  std::vector<double> valid_;  ///< ascending
  std::size_t configurations_ = 0;
  std::vector<double> random_;
  std::vector<std::size_t> window_;  ///< places in random_ that count
};

}  // namespace attune::simulate
