#pragma once
#include <random>
#include <span>
#include <vector>

#include "tuner/search/decision_tree.hpp"

namespace attune::search {

/// Trees of which each learns from as many targets as there are, drawn with repetition, and asks of questions drawn for each division.
/// Source: Breiman, Random forests; Geurts, Ernst and Wehenkel, Extremely randomized trees (the thresholds)
class RandomForest {
 public:
  struct Size {
    std::size_t trees, questions_tried;
  };

  /// Requires: at least one target; positive weights; the questions outlive this.
  RandomForest(const TrainingRows& rows, const std::vector<DecisionTree::Target>& targets, Size size, std::mt19937_64& random);

  /// The mean of what the trees say. Requires: value indices of a configuration.
  [[nodiscard]] double value_of(std::span<const std::uint16_t> row) const;

 private:
  const std::vector<Question>* questions_;
  std::vector<DecisionTree> trees_;
};

/// How often each of `count` is among as many drawn with repetition.
[[nodiscard]] std::vector<std::size_t> drawn_with_repetition(std::size_t count, std::mt19937_64& random);

}  // namespace attune::search
