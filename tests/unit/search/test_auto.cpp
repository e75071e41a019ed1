#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "tests/unit/search/learning.hpp"
#include "tuner/search/auto.hpp"

namespace test_auto {

using namespace attune;
using namespace attune::search;
using namespace attune::search::test;
using space::Ordinal;

namespace {

constexpr std::size_t kModelled = 300, kForested = 3000;  // reports, after which others propose
constexpr std::size_t kMostWinners = 24;
constexpr std::size_t kFastest = 5;  // whose neighbours are tried

const space::SearchSpace& large_space() {
  static const auto space = all_of({powers_of_two("a", 8), multiples("b", 8, 16), choices("c", 4), powers_of_two("d", 8)});
  return space;
}

std::optional<double> time_of(Ordinal ordinal) {
  static const MadeUpKernel kernel{{6, 9, 2, 1}, 17};
  return kernel(large_space(), ordinal);
}

/// So many of the large space, from all over it, in no order.
std::vector<Ordinal> so_many(std::size_t count) {
  std::mt19937_64 random(7);
  return large_space().sample(count, random);
}

void tell(const std::vector<Ordinal>& ordinals, Strategy& strategy) {
  for (const auto ordinal : ordinals) strategy.report(ordinal, time_of(ordinal));
}

std::vector<Ordinal> proposals(Strategy& strategy, std::size_t count) {
  std::vector<Ordinal> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(strategy.propose().value());
    strategy.report(all.back(), time_of(all.back()));
  }
  return all;
}

/// Checks that it proposes what `Polish` and another strategy would by turns, each told of everything.
void check_turns(Strategy& strategy, Strategy& other, const std::vector<Ordinal>& told, int turns) {
  Polish polish(large_space(), kFastest);
  for (const auto ordinal : told) polish.report(ordinal, time_of(ordinal));
  tell(told, strategy);
  tell(told, other);
  for (int turn = 0; turn < turns; ++turn) {
    CAPTURE(turn);
    const auto expected = turn % 2 == 0 ? polish.propose() : other.propose();
    REQUIRE(expected);
    REQUIRE(strategy.propose() == expected);
    for (Strategy* one : {&strategy, &other}) one->report(*expected, time_of(*expected));
    polish.report(*expected, time_of(*expected));
  }
}

}  // namespace

TEST_CASE("auto proposes the first, then what won elsewhere in its order, each once, then what a model does") {
  const std::vector<Ordinal> first_of_all{77, 9, 3, 500};
  Auto chooses(large_space(), {.seed = 3, .first = Ordinal{77}, .winners = {9, 77, 3, 9, 500}});
  Model model(large_space(), 3, std::nullopt);
  CHECK_FALSE(chooses.expected_gain());
  for (const auto ordinal : first_of_all) {
    CHECK(chooses.propose() == ordinal);  // without waiting for the reports of those before
    model.note_proposal(ordinal);
  }
  for (int i = 0; i < 4; ++i) CHECK(chooses.propose() == model.propose());  // far from those, of which there is no report yet
  for (const auto ordinal : first_of_all) {
    chooses.report(ordinal, time_of(ordinal));
    model.report(ordinal, time_of(ordinal));
  }
  CHECK(proposals(chooses, 20) == proposals(model, 20));
  CHECK(chooses.expected_gain().value() == model.expected_gain().value());
  CHECK(chooses.most_pending() == model.most_pending());
}

TEST_CASE("auto does not propose a winner again that was reported before") {
  Auto chooses(large_space(), {.seed = 3, .first = Ordinal{77}, .winners = {9, 3, 500}});
  tell({3, 77}, chooses);
  CHECK(chooses.propose() == 9);
  CHECK(chooses.propose() == 500);
}

TEST_CASE("auto tries no more winners than a model makes up for") {
  std::vector<Ordinal> winners(40);
  std::iota(winners.begin(), winners.end(), Ordinal{1000});
  Auto chooses(large_space(), {.seed = 3, .winners = winners});
  const auto proposed = proposals(chooses, kMostWinners + 8);
  CHECK(std::equal(winners.begin(), winners.begin() + kMostWinners, proposed.begin()));
  CHECK(std::none_of(proposed.begin() + kMostWinners, proposed.end(), [&](Ordinal ordinal) { return ordinal >= 1024 && ordinal < 1040; }));
}

TEST_CASE("auto asks a model until so many reports came, whether it proposed what they are of or not") {
  auto told = so_many(kModelled);
  const Ordinal last = told.back();
  told.pop_back();
  Auto before(large_space(), {.seed = 5}), after(large_space(), {.seed = 5});
  Model model(large_space(), 5, std::nullopt);
  Polish polish(large_space(), kFastest);
  for (const auto ordinal : told) polish.report(ordinal, time_of(ordinal));
  for (Strategy* one : std::initializer_list<Strategy*>{&before, &after, &model}) tell(told, *one);
  const auto by_model = model.propose();
  CHECK(before.propose() == by_model);
  tell({last}, after);
  polish.report(last, time_of(last));
  const auto neighbour = polish.propose();
  REQUIRE(neighbour != by_model);
  CHECK(after.propose() == neighbour);
  CHECK_FALSE(after.expected_gain());
}

TEST_CASE("after the model auto proposes neighbours of the fastest by turns with what a forest proposes") {
  Auto chooses(large_space(), {.seed = 5});
  Forest forest(large_space(), 5, std::nullopt);
  check_turns(chooses, forest, so_many(kModelled), 60);
  CHECK(chooses.most_pending() == forest.most_pending());
}

TEST_CASE("after the forest auto proposes neighbours of the fastest by turns with what descents propose") {
  Auto chooses(large_space(), {.seed = 5});
  Local local(large_space(), 5, std::nullopt);
  check_turns(chooses, local, so_many(kForested), 8);
}

TEST_CASE("near the end auto proposes nothing but neighbours of the fastest while there are some") {
  const auto told = so_many(kModelled);
  Auto chooses(large_space(), {.seed = 5});
  Forest forest(large_space(), 5, std::nullopt);
  Polish polish(large_space(), kFastest);
  for (const auto ordinal : told) polish.report(ordinal, time_of(ordinal));
  tell(told, chooses);
  tell(told, forest);
  chooses.end_is_near();
  std::size_t neighbours = 0;
  for (auto neighbour = polish.propose(); neighbour; neighbour = polish.propose()) {
    REQUIRE(chooses.propose() == neighbour);
    for (Strategy* one : std::initializer_list<Strategy*>{&chooses, &forest}) one->report(*neighbour, time_of(*neighbour));
    polish.report(*neighbour, time_of(*neighbour));
    ++neighbours;
  }
  CHECK(neighbours > 50);
  CHECK(chooses.propose() == forest.propose());
}

TEST_CASE("until it is converged auto stays with the model, and tells what that expects") {
  const auto told = so_many(kModelled + 20);
  Auto chooses(large_space(), {.seed = 5, .until_converged = true});
  Model model(large_space(), 5, std::nullopt);
  tell(told, chooses);
  tell(told, model);
  CHECK(proposals(chooses, 12) == proposals(model, 12));
  CHECK(chooses.expected_gain().value() == model.expected_gain().value());
}

TEST_CASE("auto repeats with its seed where reports come in the same order, beyond the model too") {
  const auto told = so_many(kModelled - 10);  // the model has its turn, and then the others
  const auto searched = [&](std::uint64_t seed) {
    Auto chooses(large_space(), {.seed = seed, .winners = {5, 6}});
    tell(told, chooses);
    return proposals(chooses, 50);
  };
  const auto once = searched(1);
  CHECK(once == searched(1));
  CHECK(once != searched(2));
}

TEST_CASE("auto proposes every configuration once, with winners and hints, late reports, and whenever the end is near") {
  const auto space = all_of({powers_of_two("a", 6), multiples("b", 8, 9), choices("c", 2)});
  const MadeUpKernel kernel{{2, 3, 1}, 11};
  HintSource source;
  for (Ordinal ordinal = 0; ordinal < space.size(); ordinal += 3) source.push_back({ordinal, kernel(space, ordinal)});
  const auto hints = std::make_shared<const Hints>(space, std::vector<HintSource>{source});
  for (const std::size_t near_at : {0, 30, 100}) {
    CAPTURE(near_at);
    Auto chooses(space, {.seed = 1, .first = Ordinal{4}, .hints = hints, .winners = {8, 50, 4}});
    std::set<Ordinal> proposed;
    std::deque<Ordinal> waiting;
    for (std::size_t count = 0;; ++count) {
      if (count == near_at) chooses.end_is_near();
      const auto ordinal = chooses.propose();
      if (!ordinal) break;
      CHECK(proposed.insert(*ordinal).second);
      waiting.push_back(*ordinal);
      if (waiting.size() <= 5) continue;
      chooses.report(waiting.front(), kernel(space, waiting.front()));
      waiting.pop_front();
    }
    CHECK(proposed.size() == space.size());
    CHECK_FALSE(chooses.propose());
  }
}

TEST_CASE("auto tries all of a space that is larger than what a model or a forest is asked about") {
  auto left = so_many(large_space().size());
  std::vector<Ordinal> told(left.begin(), left.begin() + kForested - 20);
  left.erase(left.begin(), left.begin() + kForested - 20);
  Auto chooses(large_space(), {.seed = 5});
  tell(told, chooses);
  std::vector<Ordinal> proposed;
  while (const auto ordinal = chooses.propose()) {
    proposed.push_back(*ordinal);
    chooses.report(*ordinal, time_of(*ordinal));
  }
  std::sort(proposed.begin(), proposed.end());
  std::sort(left.begin(), left.end());
  CHECK(proposed == left);
}

}  // namespace test_auto
