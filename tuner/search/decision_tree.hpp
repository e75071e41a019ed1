#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// What trees ask of one parameter's value.
struct Question {
  enum class Kind {
    UpTo,   ///< whether its place is not beyond a threshold
    IsThis  ///< whether it is one value: a choice against all others
  };
  std::size_t parameter;  ///< of the space
  Kind kind;
  std::vector<double> places;  ///< by value: on the scale, or how often two divides it; of choices their number
};

/// One or two questions of each parameter that has more than one value.
[[nodiscard]] std::vector<Question> questions_of(const space::SearchSpace& space);

/// A configuration's places, by question. Requires: value indices of the parameters of the questions.
void places_of(std::span<const std::uint16_t> row, const std::vector<Question>& questions, std::vector<double>& places);

/// Configurations from which trees learn, arranged for it.
class TrainingRows {
 public:
  /// Requires: questions and space outlive this and its trees.
  TrainingRows(const space::SearchSpace& space, const std::vector<Question>& questions, const std::vector<space::Ordinal>& ordinals);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<Question>& questions() const { return *questions_; }
  /// The number of a row's place among those that occur, in ascending order.
  [[nodiscard]] std::uint32_t code(std::size_t question, std::size_t row) const { return codes_[question * size_ + row]; }
  [[nodiscard]] const std::vector<double>& places(std::size_t question) const { return places_[question]; }

 private:
  const std::vector<Question>* questions_;
  std::size_t size_;
  std::vector<std::uint32_t> codes_;  ///< [question][row]
  std::vector<std::vector<double>> places_;
};

/// A tree of questions, each of which divides the rows so that the squares of the targets' differences from their means fall the most;
/// where targets are 0 and 1 that is Gini's index. Thresholds lie anywhere between two places, by chance: the trees of a forest then differ
/// where nothing was measured. A leaf's value is the mean of its targets by their weights.
class DecisionTree {
 public:
  struct Target {
    std::size_t row;  ///< of the training rows
    double value, weight;
  };

  /// `questions_tried`: so many of them, drawn for each division. Requires: at least one target; positive weights.
  DecisionTree(const TrainingRows& rows, std::vector<Target> targets, std::size_t questions_tried, std::mt19937_64& random);

  /// `places`: of a configuration, by question.
  [[nodiscard]] double value_at(std::span<const double> places) const {
    const Node* node = nodes_.data();
    while (node->below != 0) {
      const double place = places[node->question];
      const bool yes = node->is_choice ? place == node->value : place <= node->value;
      node = &nodes_[node->below + (yes ? 0 : 1)];
    }
    return node->value;
  }

 private:
  struct Node {
    std::uint32_t below = 0;  ///< where the node for "yes" is, followed by that for "no"; 0 of a leaf
    std::uint16_t question = 0;
    bool is_choice = false;  ///< whether the place is asked for itself, and not up to it
    double value = 0;        ///< of a leaf; else the place that is asked for
  };

  std::vector<Node> nodes_;
};

}  // namespace attune::search
