#include "tuner/search/decision_tree.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

using Target = DecisionTree::Target;

struct Sums {
  double weight = 0, value = 0;

  void add(const Target& target) {
    weight += target.weight;
    value += target.weight * target.value;
  }
  Sums& operator+=(const Sums& other) {
    weight += other.weight;
    value += other.value;
    return *this;
  }
  /// How much the squares of differences fall when each has the mean for its value instead of 0.
  [[nodiscard]] double explained() const { return weight > 0 ? value * value / weight : 0; }
};

struct Division {
  std::size_t question;
  double place;
};

/// Looks for the best division of some targets.
class Divider {
 public:
  Divider(const TrainingRows& rows, std::size_t questions_tried, std::mt19937_64& random)
      : rows_(rows), tried_(questions_tried), random_(random), order_(rows.questions().size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::size_t most = 0;
    for (std::size_t question = 0; question < order_.size(); ++question) most = std::max(most, rows.places(question).size());
    by_code_.resize(most);
  }

  /// Nothing where no question tells the targets apart.
  std::optional<Division> best_of(std::span<const Target> targets) {
    Sums all;
    double squares = 0;
    for (const Target& target : targets) {
      all.add(target);
      squares += target.weight * target.value * target.value;
    }
    best_ = {};
    tie_ = 1e-9 * squares;
    most_ = all.explained();
    for (std::size_t asked = 0; asked < order_.size() && (asked < tried_ || !best_); ++asked) {
      std::swap(order_[asked], order_[asked + draw_index(random_, order_.size() - asked)]);
      try_question(order_[asked], targets, all);
    }
    return best_;
  }

 private:
  void try_question(std::size_t question, std::span<const Target> targets, const Sums& all) {
    const auto& places = rows_.places(question);
    if (places.size() < 2) return;
    occurring_.clear();
    for (const Target& target : targets) {
      Sums& sums = by_code_[rows_.code(question, target.row)];
      if (sums.weight == 0) occurring_.push_back(rows_.code(question, target.row));
      sums.add(target);
    }
    const bool is_choice = rows_.questions()[question].kind == Question::Kind::IsThis;
    std::sort(occurring_.begin(), occurring_.end());
    Sums yes;
    for (std::size_t i = 0; i < occurring_.size() && occurring_.size() > 1; ++i) {
      if (is_choice) yes = {};
      yes += by_code_[occurring_[i]];
      if (!is_choice && i + 1 == occurring_.size()) break;
      const double explained = yes.explained() + Sums{all.weight - yes.weight, all.value - yes.value}.explained();
      if (explained <= most_ + tie_) continue;
      most_ = explained;
      const double place = places[occurring_[i]];
      best_ = {question, is_choice ? place : place + (places[occurring_[i + 1]] - place) * draw_real(random_)};
    }
    for (const auto code : occurring_) by_code_[code] = {};
  }

  const TrainingRows& rows_;
  std::size_t tried_;
  std::mt19937_64& random_;
  std::vector<std::size_t> order_;  ///< of the questions
  std::vector<Sums> by_code_;       ///< zeros between questions
  std::vector<std::uint32_t> occurring_;
  std::optional<Division> best_;
  double most_ = 0;
  double tie_ = 0;  ///< what is not further apart is the same, whatever rounding makes of it: the first that was tried is taken
};

}  // namespace

std::vector<Question> questions_of(const space::SearchSpace& space) {
  std::vector<Question> questions;
  for (std::size_t parameter = 0; parameter < space.width(); ++parameter) {
    if (space.value_count(parameter) < 2) continue;
    if (const auto& scale = space.scale(parameter); !scale.empty()) {
      questions.push_back({parameter, Question::Kind::UpTo, scale});
      if (const auto& twos = space.twos(parameter); !twos.empty()) questions.push_back({parameter, Question::Kind::UpTo, twos});
      continue;
    }
    std::vector<double> numbers(space.value_count(parameter));
    std::iota(numbers.begin(), numbers.end(), 0.0);
    questions.push_back({parameter, Question::Kind::IsThis, std::move(numbers)});
  }
  return questions;
}

void places_of(std::span<const std::uint16_t> row, const std::vector<Question>& questions, std::vector<double>& places) {
  places.resize(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) places[i] = questions[i].places[row[questions[i].parameter]];
}

TrainingRows::TrainingRows(const space::SearchSpace& space, const std::vector<Question>& questions,
                           const std::vector<space::Ordinal>& ordinals)
    : questions_(&questions), size_(ordinals.size()) {
  for (const Question& question : questions) {
    std::vector<double> occurring;
    for (const auto ordinal : ordinals) occurring.push_back(question.places[space.row(ordinal)[question.parameter]]);
    std::vector<double> places = occurring;
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const double place : occurring)
      codes_.push_back(static_cast<std::uint32_t>(std::lower_bound(places.begin(), places.end(), place) - places.begin()));
    places_.push_back(std::move(places));
  }
}

DecisionTree::DecisionTree(const TrainingRows& rows, std::vector<Target> targets, std::size_t questions_tried, std::mt19937_64& random) {
  struct Open {
    std::size_t node, begin, end;
  };
  Divider divider(rows, questions_tried, random);
  std::vector<Open> open = {{0, 0, targets.size()}};
  nodes_.emplace_back();
  while (!open.empty()) {
    const auto [node, begin, end] = open.back();
    open.pop_back();
    const std::span own = std::span(targets).subspan(begin, end - begin);
    const bool is_pure = std::all_of(own.begin(), own.end(), [&](const Target& target) { return target.value == own.front().value; });
    const auto division = is_pure ? std::nullopt : divider.best_of(own);
    auto middle = own.end();
    bool is_choice = false;
    if (division) {
      is_choice = rows.questions()[division->question].kind == Question::Kind::IsThis;
      middle = std::partition(own.begin(), own.end(), [&](const Target& target) {
        const double place = rows.places(division->question)[rows.code(division->question, target.row)];
        return is_choice ? place == division->place : place <= division->place;
      });
    }
    if (middle == own.end()) {
      Sums sums;
      for (const Target& target : own) sums.add(target);
      nodes_[node].value = sums.value / sums.weight;
      continue;
    }
    const std::size_t from = nodes_.size(), at = begin + static_cast<std::size_t>(middle - own.begin());
    nodes_[node] = {static_cast<std::uint32_t>(from), static_cast<std::uint16_t>(division->question), is_choice, division->place};
    nodes_.resize(from + 2);
    open.push_back({from + 1, at, end});
    open.push_back({from, begin, at});
  }
}

}  // namespace attune::search
