#include "tuner/search/importance.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/search/decision_tree.hpp"
#include "tuner/search/draws.hpp"
#include "tuner/search/random_forest.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kFewestTimes = 10;
constexpr std::size_t kMostTimes = 3000;  // a random choice of more: shares are no better known from them, and time goes with their number
constexpr std::size_t kTreesOfImportance = 100;
constexpr double kOutside = 0.1;  // share of the trees below the low end, and above the high one

using LogTimes = std::vector<std::pair<space::Ordinal, double>>;

/// Takes the mean off, which no share depends on; returns the variance.
double centred(LogTimes& log_times) {
  double sum = 0, squares = 0;
  for (const auto& [ordinal, log_time] : log_times) sum += log_time;
  const double mean = sum / static_cast<double>(log_times.size());
  for (auto& [ordinal, log_time] : log_times) {
    log_time -= mean;
    squares += log_time * log_time;
  }
  return squares / static_cast<double>(log_times.size());
}

/// By parameter: how much larger the mean square error of one tree is in what it did not learn from once the parameter's values are mixed.
class ErrorsOfMixing {
 public:
  ErrorsOfMixing(const space::SearchSpace& space, const LogTimes& log_times, const std::vector<Question>& questions,
                 std::mt19937_64& random)
      : space_(space), log_times_(log_times), questions_(questions), random_(random), rows_(space, questions, ordinals_of(log_times)) {}

  std::vector<double> of_next_tree() {
    std::vector<DecisionTree::Target> learnt;
    const std::vector<std::size_t> left_out = drawn(learnt);
    const DecisionTree tree(rows_, learnt, (questions_.size() + 1) / 2, random_);
    std::vector<double> errors(space_.width(), 0.0);
    if (left_out.size() < 2) return errors;
    const double usual = error_of(tree, left_out, left_out, space_.width());
    for (std::size_t parameter = 0; parameter < space_.width(); ++parameter) {
      if (space_.value_count(parameter) < 2) continue;
      std::vector<std::size_t> mixed = left_out;
      shuffle(mixed, random_);
      errors[parameter] = error_of(tree, left_out, mixed, parameter) - usual;
    }
    return errors;
  }

 private:
  static std::vector<space::Ordinal> ordinals_of(const LogTimes& log_times) {
    std::vector<space::Ordinal> ordinals;
    for (const auto& [ordinal, log_time] : log_times) ordinals.push_back(ordinal);
    return ordinals;
  }

  /// Draws as many as there are, with repetition; returns those that were not drawn.
  std::vector<std::size_t> drawn(std::vector<DecisionTree::Target>& learnt) {
    const auto times = drawn_with_repetition(log_times_.size(), random_);
    std::vector<std::size_t> left_out;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) left_out.push_back(i);
      if (times[i] > 0) learnt.push_back({i, log_times_[i].second, static_cast<double>(times[i])});
    }
    return left_out;
  }

  /// With the value that `parameter` has in the rows of `mixed`.
  double error_of(const DecisionTree& tree, const std::vector<std::size_t>& left_out, const std::vector<std::size_t>& mixed,
                  std::size_t parameter) {
    double squares = 0;
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const auto row = space_.row(log_times_[left_out[i]].first);
      row_.assign(row.begin(), row.end());
      if (parameter < row_.size()) row_[parameter] = space_.row(log_times_[mixed[i]].first)[parameter];
      places_of(row_, questions_, places_);
      const double error = tree.value_at(places_) - log_times_[left_out[i]].second;
      squares += error * error;
    }
    return squares / static_cast<double>(left_out.size());
  }

  const space::SearchSpace& space_;
  const LogTimes& log_times_;
  const std::vector<Question>& questions_;
  std::mt19937_64& random_;
  TrainingRows rows_;
  std::vector<std::uint16_t> row_;
  std::vector<double> places_;
};

/// Mixing errs by the difference of two values that know nothing of each other, whose mean square is twice the variance.
ParameterImportance summary_of(std::size_t parameter, std::vector<double> errors, double variance) {
  double sum = 0;
  for (double& error : errors) sum += error = error / (2 * variance);
  std::sort(errors.begin(), errors.end());
  const auto outside = static_cast<std::size_t>(kOutside * static_cast<double>(errors.size()));
  const double share = std::max(sum / static_cast<double>(errors.size()), 0.0);
  return {parameter, share, std::clamp(errors[outside], 0.0, share), std::max(errors[errors.size() - 1 - outside], share)};
}

}  // namespace

std::vector<ParameterImportance> importance_of(const space::SearchSpace& space, const LogTimes& log_times, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  LogTimes learnt = log_times;
  if (learnt.size() > kMostTimes) {
    shuffle(learnt, random);
    learnt.resize(kMostTimes);
  }
  const double variance = learnt.size() < kFewestTimes ? 0 : centred(learnt);
  std::vector<ParameterImportance> all;
  if (variance < 1e-18) {  // what rounding leaves of equal logarithms
    for (std::size_t parameter = 0; parameter < space.width(); ++parameter) all.push_back({parameter, 0, 0, 0});
    return all;
  }
  const auto questions = questions_of(space);
  ErrorsOfMixing mixing(space, learnt, questions, random);
  std::vector<std::vector<double>> errors(space.width());
  for (std::size_t tree = 0; tree < kTreesOfImportance; ++tree) {
    const auto of_tree = mixing.of_next_tree();
    for (std::size_t parameter = 0; parameter < space.width(); ++parameter) errors[parameter].push_back(of_tree[parameter]);
  }
  for (std::size_t parameter = 0; parameter < space.width(); ++parameter)
    all.push_back(summary_of(parameter, std::move(errors[parameter]), variance));
  std::stable_sort(all.begin(), all.end(), [](const ParameterImportance& a, const ParameterImportance& b) { return a.share > b.share; });
  return all;
}

}  // namespace attune::search
