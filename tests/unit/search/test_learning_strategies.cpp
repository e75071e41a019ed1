// What holds for every strategy that learns from reports and finds its own way.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "small_spaces.hpp"
#include "tuner/search/draws.hpp"
#include "tuner/search/strategy.hpp"

namespace test_learning_strategies {

using namespace attune;
using search::make_strategy;
using search::StrategyKind;
using small_spaces::Row;
using small_spaces::row_of;
using small_spaces::space_of;
using space::Ordinal;
using space::SearchSpace;

namespace {

using Answers = std::function<std::optional<double>(Ordinal)>;

constexpr StrategyKind kLearning[] = {StrategyKind::Auto,         StrategyKind::Forest, StrategyKind::Local,    StrategyKind::Genetic,
                                      StrategyKind::Differential, StrategyKind::Swarm,  StrategyKind::Annealing};

/// 360 rows, of which those with an odd sum of the first two are missing, and a few more.
SearchSpace sparse_space() {
  return space_of({6, 5, 4, 3}, [](const Row& row) { return (row[0] + row[1]) % 2 == 0 && row[2] != row[3] + 1; });
}

/// Proposals in order, each answered before the next.
std::vector<Ordinal> searched(StrategyKind kind, const SearchSpace& space, std::uint64_t seed, const Answers& answers,
                              std::size_t most = 1'000'000, std::optional<Ordinal> first = {}) {
  const auto strategy = make_strategy({.kind = kind, .seed = seed, .first = first}, space);
  std::vector<Ordinal> all;
  while (all.size() < most) {
    const auto ordinal = strategy->propose();
    if (!ordinal) break;
    all.push_back(*ordinal);
    strategy->report(*ordinal, answers(*ordinal));
  }
  if (all.size() < most) CHECK_FALSE(strategy->propose());  // stays exhausted
  return all;
}

/// With up to so many proposals without a report, answered in a random order; one in `lost` is never answered.
std::vector<Ordinal> searched_ahead(StrategyKind kind, const SearchSpace& space, std::size_t pending, std::size_t lost,
                                    const Answers& answers) {
  const auto strategy = make_strategy({.kind = kind, .seed = 5}, space);
  std::mt19937_64 random(11);
  std::vector<Ordinal> all, waiting;
  for (;;) {
    const auto ordinal = strategy->propose();
    if (ordinal) {
      all.push_back(*ordinal);
      if (search::draw_index(random, lost) != 0) waiting.push_back(*ordinal);
    }
    if (!ordinal && waiting.empty()) return all;
    if (ordinal && waiting.size() < pending) continue;
    if (waiting.empty()) continue;
    std::swap(waiting[search::draw_index(random, waiting.size())], waiting.back());
    strategy->report(waiting.back(), answers(waiting.back()));
    waiting.pop_back();
  }
}

bool is_everything_once(std::vector<Ordinal> proposals, const SearchSpace& space) {
  std::sort(proposals.begin(), proposals.end());
  std::vector<Ordinal> all(space.size());
  std::iota(all.begin(), all.end(), Ordinal{0});
  return proposals == all;
}

/// A sum of parabolas with their least value within, of some thousand rows; two corners fail.
struct Valley {
  SearchSpace space = space_of({8, 6, 6, 4, 4, 2}, [](const Row& row) { return row[0] + row[1] < 10 && (row[4] != 3 || row[5] == 0); });

  std::optional<double> operator()(Ordinal ordinal) const {
    const Row row = row_of(space, ordinal);
    if ((row[0] == 7 && row[2] > 2) || (row[1] == 0 && row[3] == 0)) return std::nullopt;
    const double least[] = {5, 2, 4, 1, 2, 1}, weights[] = {0.3, 0.2, 0.4, 0.5, 0.3, 0.6};
    double sum = 10;
    for (std::size_t i = 0; i < row.size(); ++i) sum += weights[i] * (row[i] - least[i]) * (row[i] - least[i]);
    return sum;
  }
};

/// How far above the least value, in the mean over seeds.
double mean_behind(StrategyKind kind, const Valley& valley, std::size_t evaluations) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    double best = 1e9;
    for (const Ordinal ordinal : searched(kind, valley.space, seed, valley, evaluations))
      best = std::min(best, valley(ordinal).value_or(1e9));
    sum += best - 10;
  }
  return sum / 20;
}

}  // namespace

TEST_CASE("strategies that learn propose every configuration once, whatever fails") {
  const SearchSpace space = sparse_space();
  REQUIRE(space.size() > 100);
  const Answers answers[] = {[](Ordinal) { return std::nullopt; }, [](Ordinal) { return 3.0; },
                             [](Ordinal at) { return at % 2 == 0 ? std::nullopt : std::optional(1.0 + static_cast<double>(at % 7)); },
                             [](Ordinal at) { return at == 17 ? std::optional(2.0) : std::nullopt; }};
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    for (const auto& answer : answers) CHECK(is_everything_once(searched(kind, space, 3, answer), space));
  }
}

TEST_CASE("strategies that learn propose every configuration of the smallest spaces") {
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    for (std::size_t size = 1; size <= 20; ++size) {
      const SearchSpace space = space_of({size}, [](const Row&) { return true; });
      CHECK(is_everything_once(searched(kind, space, 3, [](Ordinal at) { return 1.0 + static_cast<double>(at); }), space));
    }
  }
}

TEST_CASE("strategies that learn propose the first configuration first") {
  const SearchSpace space = sparse_space();
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    const auto all = searched(
        kind, space, 3, [](Ordinal at) { return 1.0 + static_cast<double>(at % 11); }, 1'000'000, Ordinal{77});
    CHECK(all.front() == 77);
    CHECK(is_everything_once(all, space));
  }
}

TEST_CASE("strategies that learn repeat with their seed and reports, and differ with another seed or other reports") {
  const Valley valley;
  const auto mirrored = [&](Ordinal ordinal) { return valley(valley.space.size() - 1 - ordinal); };
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    const auto once = searched(kind, valley.space, 3, valley, 150);
    CHECK(once == searched(kind, valley.space, 3, valley, 150));
    CHECK(once != searched(kind, valley.space, 4, valley, 150));
    CHECK(once != searched(kind, valley.space, 3, mirrored, 150));
  }
}

TEST_CASE("strategies that learn go on while proposals wait for their reports, and when some never come") {
  const SearchSpace space = sparse_space();
  const auto answers = [](Ordinal at) { return at % 3 == 0 ? std::nullopt : std::optional(1.0 + static_cast<double>(at % 13)); };
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    for (const std::size_t pending : {2, 8, 40}) {
      CHECK(is_everything_once(searched_ahead(kind, space, pending, 1'000'000, answers), space));
      CHECK(is_everything_once(searched_ahead(kind, space, pending, 4, answers), space));
    }
    CHECK(make_strategy({.kind = kind}, space)->most_pending() >= 2);
  }
}

TEST_CASE("strategies that learn do not propose what was reported without a proposal") {
  const SearchSpace space = sparse_space();
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    const auto strategy = make_strategy({.kind = kind, .seed = 1, .first = Ordinal{60}}, space);
    std::vector<Ordinal> seen = {5, 60, 61};
    for (const Ordinal told : seen) strategy->report(told, 2.0);
    while (const auto ordinal = strategy->propose()) {
      seen.push_back(*ordinal);
      strategy->report(*ordinal, 4.0);
    }
    CHECK(is_everything_once(seen, space));
  }
}

TEST_CASE("strategies that learn are much closer to the best of a smooth function than random search") {
  const Valley valley;
  REQUIRE(valley.space.size() > 3000);
  const double random = mean_behind(StrategyKind::Random, valley, 150);
  for (const auto kind : kLearning) {
    CAPTURE(std::string(search::name(kind)));
    const double behind = mean_behind(kind, valley, 150);
    CHECK(behind < random / 2);
  }
}

}  // namespace test_learning_strategies
