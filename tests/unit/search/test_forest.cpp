#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "tests/unit/search/learning.hpp"
#include "tuner/search/forest.hpp"
#include "tuner/search/random.hpp"

namespace test_forest {

using namespace attune;
using namespace attune::search;
using namespace attune::search::test;
using space::Ordinal;

namespace {

using Times = std::function<std::optional<double>(Ordinal)>;

/// What a search proposes when each result comes after `pending` later proposals.
std::vector<Ordinal> searched(Strategy& strategy, const Times& times, std::size_t budget, std::size_t pending = 0) {
  std::vector<Ordinal> proposed;
  std::deque<Ordinal> under_way;
  while (proposed.size() < budget) {
    const auto ordinal = strategy.propose();
    if (!ordinal) break;
    proposed.push_back(*ordinal);
    under_way.push_back(*ordinal);
    if (under_way.size() <= pending) continue;
    strategy.report(under_way.front(), times(under_way.front()));
    under_way.pop_front();
  }
  return proposed;
}

double best_of(const std::vector<Ordinal>& proposed, const Times& times) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto ordinal : proposed) best = std::min(best, times(ordinal).value_or(best));
  return best;
}

/// Seven choices: each has one value that is right, and two that are so only together.
struct ManyChoices {
  space::SearchSpace space =
      all_of({choices("a", 4), choices("b", 5), choices("c", 2), choices("d", 6), choices("e", 3), choices("f", 4), choices("g", 2)});

  std::optional<double> operator()(Ordinal ordinal) const {
    const auto row = space.row(ordinal);
    const bool are_together = row[0] == 2 && row[3] == 5;
    const double wrong =
        (row[1] != 1 ? 0.5 : 0) + (row[2] != 0 ? 0.1 : 0) + (row[4] != 2 ? 0.3 : 0) + (row[5] != 3 ? 0.2 : 0) + (row[6] != 1 ? 0.4 : 0);
    return std::exp(wrong + (are_together ? 0 : 0.6));
  }
};

}  // namespace

TEST_CASE("forest finds the best of choices in many fewer trials than random search") {
  const ManyChoices times;
  REQUIRE(times.space.size() == 5760);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const double near = 1.11;  // exp(0.1): two of 5760 are as fast, which 150 random trials find one time of twenty
    Forest forest(times.space, seed, std::nullopt), ahead(times.space, seed, std::nullopt);
    CHECK(best_of(searched(forest, times, 150), times) < near);
    CHECK(best_of(searched(ahead, times, 150, 7), times) < near);  // results come late
    Random random(times.space.size(), seed, std::nullopt);
    CHECK(best_of(searched(random, times, 150), times) > near);
  }
}

TEST_CASE("forest finds what is near the best of ten million in 300 trials") {
  const auto space = all_of(
      {powers_of_two("a", 10), multiples("b", 8, 32), choices("c", 8), powers_of_two("d", 16), multiples("e", 1, 16), choices("f", 16)});
  REQUIRE(space.size() == 10'485'760);
  const MadeUpKernel kernel{{6, 9, 2, 11, 3, 7}};
  const Times times = [&](Ordinal ordinal) { return kernel(space, ordinal); };
  Forest forest(space, 1, std::nullopt);
  Random random(space.size(), 1, std::nullopt);
  const double near = std::exp(0.2 * 4) + 0.001;  // four steps
  CHECK(best_of(searched(forest, times, 300), times) < near);
  CHECK(best_of(searched(random, times, 300), times) > near);
}

TEST_CASE("forest keeps away from where configurations fail") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 8)});
  const MadeUpKernel kernel{{3, 3, 2, 1}, 9};  // half of them fail
  std::ptrdiff_t failed = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Forest forest(space, seed, std::nullopt);
    const auto proposed = searched(
        forest, [&](Ordinal ordinal) { return kernel(space, ordinal); }, 80);
    failed += std::count_if(proposed.begin() + 20, proposed.end(), [&](Ordinal ordinal) { return !kernel(space, ordinal); });
  }
  CHECK(failed < 54);  // of 180; of random ones about 90
}

TEST_CASE("forest leaves a valley that is not the best") {
  const auto space = all_of({choices("a", 2), powers_of_two("b", 12), powers_of_two("c", 12), powers_of_two("d", 12)});
  const Times times = [&](Ordinal ordinal) {
    const auto row = space.row(ordinal);
    if (row[0] == 0) return 2 + 0.1 * (row[1] + row[2] + row[3]);
    return row[1] > 8 && row[2] > 8 ? 1.0 : 6.0;  // 108 of 3456
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Forest forest(space, seed, std::nullopt);
    for (Ordinal told = 0; told < 400; told += 7) forest.report(told, times(told));  // all in the valley
    CHECK(best_of(searched(forest, times, 150), times) == 1.0);
  }
}

TEST_CASE("forest proposes others while results are pending, and wants few of them while it knows little") {
  const ManyChoices times;
  Forest forest(times.space, 1, std::nullopt);
  CHECK(forest.most_pending() == 16);
  for (Ordinal told = 0; told < 5760; told += 57) forest.report(told, times(told));
  CHECK(forest.most_pending() == 25);
  searched(forest, times, 8);
  std::vector<Ordinal> pending;
  for (std::size_t i = 0; i < 16; ++i) pending.push_back(forest.propose().value());
  CHECK(std::set<Ordinal>(pending.begin(), pending.end()).size() == 16);
  std::size_t alike = 0;
  for (const auto a : pending)
    for (const auto b : pending) {
      const auto row = times.space.row(a), other = times.space.row(b);
      std::size_t differing = 0;
      for (std::size_t i = 0; i < row.size(); ++i) differing += row[i] != other[i] ? 1 : 0;
      alike += differing == 1 ? 1 : 0;
    }
  CHECK(alike < 60);  // of 240
}

TEST_CASE("forest tries the first configuration and learns at once where a search goes on, and a kernel without parameters once") {
  const ManyChoices times;
  Forest forest(times.space, 1, Ordinal{5000});
  for (Ordinal told = 0; told < 5760; told += 29) forest.report(told, times(told));
  CHECK(forest.propose() == Ordinal{5000});
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += std::log(times(forest.propose().value()).value());
  CHECK(sum / 4 < 1.2);  // of random ones 1.58
  const auto one = all_of({});
  REQUIRE(one.size() == 1);
  Forest alone(one, 1, std::nullopt);
  CHECK(alone.propose() == Ordinal{0});
  CHECK_FALSE(alone.propose());
}

TEST_CASE("rows are apart by their parameters: 1 for a choice, from a half to 1 for a number") {
  const auto space = all_of({choices("a", 4), powers_of_two("b", 5)});
  PlacedRows rows(space);
  for (const Ordinal ordinal : {0, 1, 4, 19}) rows.add(ordinal);
  CHECK(rows.size() == 4);
  CHECK(distance(rows.row(0), rows.row(0), 2) == 0);
  CHECK(distance(rows.row(0), rows.row(1), 2) == doctest::Approx(0.625));  // a quarter of the scale
  CHECK(distance(rows.row(0), rows.row(2), 2) == doctest::Approx(1));
  CHECK(distance(rows.row(0), rows.row(3), 3) == doctest::Approx(2));
  CHECK(distance(rows.row(0), rows.row(3), 1.5F) == 1.5F);  // no more than that is asked
}

TEST_CASE("forest learns from more than it takes in, and proposes all that is left") {
  const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 4)});
  REQUIRE(space.size() == 2048);
  const MadeUpKernel kernel{{5, 9, 1, 2}, 18};
  const Times times = [&](Ordinal ordinal) { return kernel(space, ordinal); };
  Forest forest(space, 1, std::nullopt);
  const auto proposed = searched(forest, times, 3000, 20);
  CHECK(proposed.size() == 2048);
  CHECK(std::set<Ordinal>(proposed.begin(), proposed.end()).size() == 2048);
  CHECK_FALSE(forest.propose());
  // Nearly all of the fastest 200 come in the first half.
  std::vector<Ordinal> sorted = proposed;
  std::stable_sort(sorted.begin(), sorted.end(), [&](Ordinal a, Ordinal b) { return times(a).value_or(1e9) < times(b).value_or(1e9); });
  std::size_t early = 0;
  for (std::size_t i = 0; i < 200; ++i)
    early += std::find(proposed.begin(), proposed.begin() + 1024, sorted[i]) - proposed.begin() < 1024 ? 1 : 0;
  CHECK(early > 190);
}

}  // namespace test_forest
