#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "attune/error.hpp"
#include "tuner/search/strategy.hpp"

using namespace attune;
using attune::search::make_strategy;
using attune::search::StrategyKind;
using attune::space::Ordinal;

namespace {

space::SearchSpace space_of(std::int64_t size) {
  spec::Parameter parameter;
  parameter.name = "a";
  for (std::int64_t value = 0; value < size; ++value) parameter.values.emplace_back(value);
  return space::SearchSpace::build({parameter}, {}, [](std::string_view) { return std::nullopt; });
}

std::vector<Ordinal> proposals(StrategyKind kind, std::int64_t size, search::StrategyOptions options) {
  options.kind = kind;
  const auto strategy = make_strategy(options, space_of(size));
  std::vector<Ordinal> all;
  while (const auto ordinal = strategy->propose()) {
    all.push_back(*ordinal);
    strategy->report(*ordinal, all.size() % 2 == 0 ? std::nullopt : std::optional<double>(1.5));
  }
  CHECK_FALSE(strategy->propose());  // stays exhausted
  return all;
}

std::vector<Ordinal> ascending(std::size_t size) {
  std::vector<Ordinal> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

TEST_CASE("exhaustive proposes every configuration in enumeration order") {
  CHECK(proposals(StrategyKind::Exhaustive, 5, {}) == ascending(5));
}

TEST_CASE("exhaustive proposes the first configuration first and only once") {
  CHECK(proposals(StrategyKind::Exhaustive, 5, {.seed = 0, .first = Ordinal{3}}) == std::vector<Ordinal>{3, 0, 1, 2, 4});
  CHECK(proposals(StrategyKind::Exhaustive, 3, {.seed = 0, .first = Ordinal{0}}) == std::vector<Ordinal>{0, 1, 2});
  CHECK(proposals(StrategyKind::Exhaustive, 3, {.seed = 0, .first = Ordinal{2}}) == std::vector<Ordinal>{2, 0, 1});
}

TEST_CASE("random proposes every configuration exactly once") {
  auto all = proposals(StrategyKind::Random, 200, {.seed = 4, .first = std::nullopt});
  CHECK_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  CHECK(all == ascending(200));
}

TEST_CASE("random repeats with its seed and differs with another") {
  CHECK(proposals(StrategyKind::Random, 50, {.seed = 4, .first = std::nullopt}) ==
        proposals(StrategyKind::Random, 50, {.seed = 4, .first = std::nullopt}));
  CHECK(proposals(StrategyKind::Random, 50, {.seed = 4, .first = std::nullopt}) !=
        proposals(StrategyKind::Random, 50, {.seed = 5, .first = std::nullopt}));
  // From an independent implementation in Python: the order is the same on every platform.
  CHECK(proposals(StrategyKind::Random, 12, {.seed = 7, .first = std::nullopt}) ==
        std::vector<Ordinal>{3, 8, 10, 6, 9, 0, 4, 2, 5, 11, 7, 1});
}

TEST_CASE("random proposes the first configuration first and leaves the order of the others as it was") {
  for (Ordinal first = 0; first < 12; ++first) {
    auto expected = proposals(StrategyKind::Random, 12, {.seed = 7, .first = std::nullopt});
    std::erase(expected, first);
    expected.insert(expected.begin(), first);
    CHECK(proposals(StrategyKind::Random, 12, {.seed = 7, .first = first}) == expected);
  }
}

TEST_CASE("portfolio proposes the first configuration, then what won elsewhere, each once, and nothing else") {
  search::StrategyOptions options;
  options.first = Ordinal{3};
  options.winners = {7, 3, 1, 7};
  CHECK(proposals(StrategyKind::Portfolio, 10, options) == std::vector<Ordinal>{3, 7, 1});
  options.first.reset();
  CHECK(proposals(StrategyKind::Portfolio, 10, options) == std::vector<Ordinal>{7, 3, 1});
  CHECK(proposals(StrategyKind::Portfolio, 10, {}).empty());
  CHECK(proposals(StrategyKind::Winners, 10, options) == std::vector<Ordinal>{7, 3, 1});
}

TEST_CASE("strategies have nothing to propose in an empty space") {
  const auto empty = space_of(0);
  for (const auto& name : search::strategy_names()) CHECK_FALSE(make_strategy({.kind = search::strategy_named(name)}, empty)->propose());
}

TEST_CASE("strategies that propose by what is reported learn, and those with a model say what they expect") {
  for (const auto& name : search::strategy_names()) {
    CAPTURE(name);
    const auto kind = search::strategy_named(name);
    CHECK(name == search::name(kind));
    const bool learns_nothing = name == "exhaustive" || name == "random" || name == "portfolio" || name == "winners";
    CHECK(search::learns(kind) == !learns_nothing);
    const bool says_what_it_expects = name == "auto" || name == "model";
    CHECK(search::expects(kind) == says_what_it_expects);
    CHECK(search::needs_winners(kind) == (name == "portfolio" || name == "winners"));

    // What they say is what they do.
    spec::Parameter a{"a", {}}, b{"b", {}};
    for (std::int64_t value = 1; value <= 12; ++value) a.values.emplace_back(value), b.values.emplace_back(value);
    const auto space = space::SearchSpace::build({a, b}, {}, [](std::string_view) { return std::nullopt; });
    std::vector<Ordinal> falling, rising;
    for (auto* proposed : {&falling, &rising}) {
      const auto one = make_strategy({.kind = kind, .seed = 2, .winners = {3, 5, 7}}, space);
      bool told = false;
      while (const auto ordinal = one->propose()) {
        proposed->push_back(*ordinal);
        told = told || one->expected_gain();
        const auto at = static_cast<double>(space.row(*ordinal)[0]);
        one->report(*ordinal, proposed == &falling ? 100 - at : 1 + at);
      }
      CHECK(told == says_what_it_expects);
    }
    CHECK((falling != rising) == !learns_nothing);
  }
}

TEST_CASE("an unknown strategy is refused with the known names and a suggestion") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(search::strategy_named("randon")),
      doctest::Contains(
          "known: annealing, auto, differential, exhaustive, forest, genetic, local, model, portfolio, random, swarm, winners; did you mean 'random'?"),
      UsageError);
}

TEST_CASE("a first configuration outside of the space is refused") {
  for (const auto& name : search::strategy_names()) {
    CHECK_THROWS_AS(static_cast<void>(make_strategy({.kind = search::strategy_named(name), .first = Ordinal{3}}, space_of(3))), UsageError);
  }
}
