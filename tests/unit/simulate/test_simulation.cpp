#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "attune/error.hpp"
#include "tests/unit/simulate/spaces.hpp"
#include "tuner/simulate/simulation.hpp"

namespace test_simulation {

using namespace attune;
using search::StrategyKind;
using simulate::run_search;
using simulate::run_searches;
using space::Ordinal;

namespace {

/// `a` from 0 to 39 by `b` from 0 to 24: a valley, with every thirteenth configuration failing.
simulate::RecordedSpace valley() {
  nlohmann::json cache;
  for (int a = 0; a < 40; ++a) {
    for (int b = 0; b < 25; ++b) {
      const double time = 1 + std::pow(a - 29, 2) + 2 * std::pow(b - 7, 2);
      nlohmann::json entry = {{"a", a}, {"b", b}, {"time", time}};
      if ((a * 25 + b) % 13 == 5) entry["time"] = "InvalidConfig";
      cache[std::to_string(a) + "," + std::to_string(b)] = entry;
    }
  }
  return test::one_space(base::dump_json({{"tune_params_keys", {"a", "b"}}, {"cache", cache}}));
}

/// Proposes these, whatever comes of them, and keeps what it was told.
class Listed : public search::Strategy {
 public:
  explicit Listed(std::vector<Ordinal> ordinals) : ordinals_(std::move(ordinals)) {}
  std::optional<Ordinal> propose() override {
    return told.size() < ordinals_.size() ? std::optional(ordinals_[told.size()]) : std::nullopt;
  }
  void report(Ordinal, std::optional<double> cost) override { told.push_back(cost); }

  std::vector<std::optional<double>> told;

 private:
  std::vector<Ordinal> ordinals_;
};

std::vector<simulate::Trace> traces_of(const simulate::RecordedSpace& recorded, const std::vector<std::vector<Ordinal>>& runs) {
  std::vector<simulate::Trace> traces;
  for (const auto& run : runs) traces.push_back(simulate::trace_of(recorded, run));
  return traces;
}

}  // namespace

TEST_CASE("a search proposes each configuration at most once, and ends with its budget or with the space") {
  const auto recorded = valley();
  for (const auto kind : {StrategyKind::Random, StrategyKind::Exhaustive}) {
    CHECK(run_search(recorded, {.kind = kind, .seed = 3}, 17).size() == 17);
    auto all = run_search(recorded, {.kind = kind, .seed = 3}, 5000);
    CHECK(all.size() == 1000);
    std::sort(all.begin(), all.end());
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  }
  CHECK(run_search(recorded, {.kind = StrategyKind::Exhaustive}, 3) == std::vector<Ordinal>{0, 1, 2});
}

TEST_CASE("a strategy is told what the file says, at once after each proposal") {
  const auto recorded = valley();
  Listed strategy({0, 5, 29 * 25 + 7, 1});
  CHECK(run_search(recorded, strategy, 3) == std::vector<Ordinal>{0, 5, 29 * 25 + 7});
  CHECK(strategy.told == std::vector<std::optional<double>>{1.0 + 29 * 29 + 2 * 7 * 7, std::nullopt, 1.0});
}

TEST_CASE("a proposal that was made before, or is not in the space, is an error") {
  const auto recorded = valley();
  Listed twice({4, 2, 4}), outside({4, 1000});
  CHECK_THROWS_WITH_AS((void)run_search(recorded, twice, 10), doctest::Contains("proposal 3 is configuration 4, which was proposed before"),
                       Error);
  CHECK_THROWS_WITH_AS((void)run_search(recorded, outside, 10), doctest::Contains("configuration 1000, which is not in the space"), Error);
}

TEST_CASE("a search is the same for its seed, and another for another") {
  const auto recorded = valley();
  const search::StrategyOptions options = {.kind = StrategyKind::Random, .seed = 3};
  CHECK(run_search(recorded, options, 100) == run_search(recorded, options, 100));
  CHECK(run_search(recorded, options, 100) != run_search(recorded, {.kind = StrategyKind::Random, .seed = 4}, 100));
}

TEST_CASE("run r has the seed of the options and r more, in order, however many threads there are") {
  const auto recorded = valley();
  const auto runs = run_searches(recorded, {.kind = StrategyKind::Random, .seed = 40}, 60, 25);
  REQUIRE(runs.size() == 25);
  for (std::size_t run = 0; run < runs.size(); ++run)
    CHECK(runs[run] == run_search(recorded, {.kind = StrategyKind::Random, .seed = 40 + run}, 60));
}

TEST_CASE("a trace is what the file says of each proposal") {
  const auto recorded = valley();
  const auto trace = simulate::trace_of(recorded, {0, 5, 29 * 25 + 7});
  CHECK(trace == simulate::Trace{1.0 + 29 * 29 + 2 * 7 * 7, std::nullopt, 1.0});
}

TEST_CASE("random search scores about 0") {
  const auto recorded = valley();
  const simulate::SearchScore scale(recorded.costs);
  for (const std::uint64_t seed : {1, 1001, 2001}) {
    const auto runs = run_searches(recorded, {.kind = StrategyKind::Random, .seed = seed}, 220, 400);
    CHECK(std::abs(scale.score(traces_of(recorded, runs)).value()) < 0.1);
  }
  // One that begins with the optimum is an oracle, whatever it does then.
  const auto optimum = recorded.space.find({{29, 7}});
  const auto runs = run_searches(recorded, {.kind = StrategyKind::Random, .seed = 1, .first = optimum}, 220, 3);
  CHECK(scale.score(traces_of(recorded, runs)).value() == doctest::Approx(1.0));
}

TEST_CASE("what a strategy throws in any of the runs is thrown") {
  const auto recorded = valley();
  CHECK_THROWS_AS((void)run_searches(recorded, {.kind = StrategyKind::Random, .first = Ordinal{1000}}, 10, 20), UsageError);
}

}  // namespace test_simulation
