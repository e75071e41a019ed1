#include "tuner/search/random_forest.hpp"

#include <utility>

#include "tuner/search/draws.hpp"

namespace attune::search {

std::vector<std::size_t> drawn_with_repetition(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> times(count, 0);
  for (std::size_t i = 0; i < count; ++i) ++times[draw_index(random, count)];
  return times;
}

RandomForest::RandomForest(const TrainingRows& rows, const std::vector<DecisionTree::Target>& targets, Size size, std::mt19937_64& random)
    : questions_(&rows.questions()) {
  for (std::size_t tree = 0; tree < size.trees; ++tree) {
    const auto times = drawn_with_repetition(targets.size(), random);
    std::vector<DecisionTree::Target> drawn;
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (times[i] > 0) drawn.push_back({targets[i].row, targets[i].value, targets[i].weight * static_cast<double>(times[i])});
    trees_.emplace_back(rows, std::move(drawn), size.questions_tried, random);
  }
}

double RandomForest::value_of(std::span<const std::uint16_t> row) const {
  std::vector<double> places;
  places_of(row, *questions_, places);
  double sum = 0;
  for (const DecisionTree& tree : trees_) sum += tree.value_at(places);
  return sum / static_cast<double>(trees_.size());
}

}  // namespace attune::search
