#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "tests/unit/search/learning.hpp"
#include "tuner/search/random_forest.hpp"

namespace test_decision_tree {

using namespace attune;
using namespace attune::search;
using namespace attune::search::test;
using space::Ordinal;
using Target = DecisionTree::Target;

namespace {

/// The ordinals and targets of some configurations of a space, each of weight 1.
struct Learnt {
  std::vector<Ordinal> ordinals;
  std::vector<Target> targets;

  void add(Ordinal ordinal, double value, double weight = 1) {
    targets.push_back({ordinals.size(), value, weight});
    ordinals.push_back(ordinal);
  }
};

double value_of(const DecisionTree& tree, std::span<const std::uint16_t> row, const std::vector<Question>& questions) {
  std::vector<double> places;
  places_of(row, questions, places);
  return tree.value_at(places);
}

}  // namespace

TEST_CASE("questions are asked of places, of how often two divides, and of choices; none of a parameter with one value") {
  const auto space = all_of({powers_of_two("a", 4), multiples("b", 8, 6), choices("c", 3), powers_of_two("d", 1)});
  const auto questions = questions_of(space);
  REQUIRE(questions.size() == 4);
  CHECK((questions[0].parameter == 0 && questions[0].kind == Question::Kind::UpTo));
  CHECK((questions[1].parameter == 1 && questions[1].places == space.scale(1)));
  CHECK((questions[2].parameter == 1 && questions[2].places == space.twos(1)));
  CHECK((questions[3].parameter == 2 && questions[3].kind == Question::Kind::IsThis));
}

TEST_CASE("a tree gives back what it learnt where all rows differ") {
  const auto space = all_of({powers_of_two("a", 6), choices("b", 4), multiples("c", 3, 5)});
  const auto questions = questions_of(space);
  std::mt19937_64 random(1);
  Learnt learnt;
  for (Ordinal ordinal = 0; ordinal < space.size(); ordinal += 2) learnt.add(ordinal, static_cast<double>(ordinal * 37 % 101));
  const DecisionTree tree(TrainingRows(space, questions, learnt.ordinals), learnt.targets, 2, random);
  for (const Target& target : learnt.targets) CHECK(value_of(tree, space.row(learnt.ordinals[target.row]), questions) == target.value);
}

TEST_CASE("a tree divides where the targets do: a threshold between two places, a choice against the others") {
  const auto space = all_of({powers_of_two("a", 9), choices("b", 4)});
  const auto questions = questions_of(space);
  std::mt19937_64 random(1);
  std::set<double> of_the_middle;
  for (int i = 0; i < 40; ++i) {
    Learnt by_number, by_choice;
    for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) {
      const auto row = space.row(ordinal);
      if (row[0] < 3 || row[0] > 5) by_number.add(ordinal, row[0] < 3 ? 1 : 0);
      if (row[0] % 2 == 0) by_choice.add(ordinal, row[1] == 2 ? 1 : 0);
    }
    const DecisionTree numbers(TrainingRows(space, questions, by_number.ordinals), by_number.targets, 2, random);
    const DecisionTree choice(TrainingRows(space, questions, by_choice.ordinals), by_choice.targets, 2, random);
    for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) {
      const auto row = space.row(ordinal);
      if (row[0] < 3 || row[0] > 5) CHECK(value_of(numbers, row, questions) == (row[0] < 3 ? 1 : 0));
      if (row[0] == 4) of_the_middle.insert(value_of(numbers, row, questions));
      CHECK(value_of(choice, row, questions) == (row[1] == 2 ? 1 : 0));  // also where nothing was learnt
    }
  }
  CHECK(of_the_middle == std::set<double>{0, 1});  // by chance
}

TEST_CASE("a leaf is the mean of its targets by their weights") {
  const auto space = all_of({choices("a", 2)});
  const auto questions = questions_of(space);
  std::mt19937_64 random(1);
  Learnt learnt;
  learnt.add(0, 1, 3);
  learnt.add(0, 0, 1);
  learnt.add(1, 5);
  const DecisionTree tree(TrainingRows(space, questions, learnt.ordinals), learnt.targets, 1, random);
  CHECK(value_of(tree, space.row(0), questions) == doctest::Approx(0.75));
  CHECK(value_of(tree, space.row(1), questions) == 5);
}

TEST_CASE("a random forest is between what its trees are, and closer to what it did not learn from than one of them") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 8)});
  const auto questions = questions_of(space);
  const MadeUpKernel kernel{{6, 9, 2, 1}};
  const auto log_time = [&](Ordinal ordinal) { return std::log(kernel(space, ordinal).value()); };
  std::mt19937_64 random(1);
  Learnt learnt;
  for (const Ordinal ordinal : space.sample(200, random)) learnt.add(ordinal, log_time(ordinal));
  const TrainingRows rows(space, questions, learnt.ordinals);
  const RandomForest forest(rows, learnt.targets, {100, 3}, random), one(rows, learnt.targets, {1, 3}, random);
  double error = 0, error_of_one = 0;
  for (Ordinal ordinal = 0; ordinal < space.size(); ++ordinal) {
    error += std::pow(forest.value_of(space.row(ordinal)) - log_time(ordinal), 2);
    error_of_one += std::pow(one.value_of(space.row(ordinal)) - log_time(ordinal), 2);
  }
  CHECK(error < 0.5 * error_of_one);
}

}  // namespace test_decision_tree
