#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "attune/error.hpp"
#include "tuner/simulate/score.hpp"

namespace test_score {

using namespace attune;
using simulate::SearchScore;
using simulate::Trace;

namespace {

constexpr std::nullopt_t kFailed = std::nullopt;

// Four configurations: 1, 2, 4, and one that fails. Of the four draws of one, the fastest is 1, 2, 4, or none (for which the worst counts,
// 4): 11/4 in the mean. Of the six pairs three have the 1, {2, 4} and {2, failed} give 2, {4, failed} gives 4: (3 + 4 + 4)/6 = 11/6. Of the
// four triples three have the 1, the other gives 2: 5/4. All four: 1. The median of the valid is 2. 1 % of the way from it to the optimum
// is 1.99: first reached with two draws (11/6). 95 % is 1.05: with four. With four random search stands at the optimum, so that two and
// three draws count.
SearchScore tiny() { return SearchScore({4.0, kFailed, 1.0, 2.0}); }

}  // namespace

TEST_CASE("random search is expected to find what counting all draws gives") {
  const auto expected = tiny().expected_of_random();
  REQUIRE(expected.size() == 4);
  CHECK(expected[0] == doctest::Approx(11.0 / 4));
  CHECK(expected[1] == doctest::Approx(11.0 / 6));
  CHECK(expected[2] == doctest::Approx(5.0 / 4));
  CHECK(expected[3] == doctest::Approx(1.0));
  CHECK(tiny().optimum() == 1.0);
}

TEST_CASE("the score of a run is what it gained on random search, in the mean over the budgets that count") {
  // The best of this run: 2, 2, 1, 1. ((11/6 - 2)/(11/6 - 1) + (5/4 - 1)/(5/4 - 1))/2 = (-1/5 + 1)/2.
  CHECK(tiny().score({{2.0, kFailed, 1.0, 4.0}}).value() == doctest::Approx(0.4));
  // 4, 4, 2, 1, the first by failing: ((11/6 - 4)/(5/6) + (5/4 - 2)/(1/4))/2 = (-2.6 - 3)/2.
  CHECK(tiny().score({{kFailed, 4.0, 2.0, 1.0}}).value() == doctest::Approx(-2.8));
  // Both together have the mean best 3 and 1.5, so ((11/6 - 3)/(5/6) + (5/4 - 1.5)/(1/4))/2 = (-1.4 - 1)/2.
  CHECK(tiny().score({{2.0, kFailed, 1.0, 4.0}, {kFailed, 4.0, 2.0, 1.0}}).value() == doctest::Approx(-1.2));
}

TEST_CASE("an oracle scores 1, and keeps what it found when it ends") {
  CHECK(tiny().score({{1.0}}).value() == doctest::Approx(1.0));
  CHECK(tiny().score({{1.0, 2.0, kFailed, 4.0}}).value() == doctest::Approx(1.0));
}

TEST_CASE("the fraction of the optimum is of the mean over the runs") {
  const std::vector<Trace> runs = {{2.0, kFailed, 1.0, 4.0}, {kFailed, 4.0, 2.0, 1.0}};
  CHECK(tiny().mean_best(runs, 5) == std::vector<double>{3.0, 3.0, 1.5, 1.0, 1.0});
  CHECK(tiny().fraction_of_optimum(runs, 1) == doctest::Approx(1.0 / 3));
  CHECK(tiny().fraction_of_optimum(runs, 3) == doctest::Approx(1 / 1.5));
  CHECK(tiny().fraction_of_optimum(runs, 400) == 1.0);
}

TEST_CASE("in the mean over every order of a space, random search scores 0") {
  std::vector<std::optional<double>> costs = {7.0, kFailed, 3.0, 5.0, kFailed, 4.0};
  std::sort(costs.begin(), costs.end());
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Trace> runs;
  do {
    Trace run;
    for (const std::size_t i : order) run.push_back(costs[i]);
    runs.push_back(run);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(runs.size() == 720);
  CHECK(std::abs(SearchScore(costs).score(runs).value()) < 1e-9);
}

TEST_CASE("no more than 220 evaluations count") {
  std::vector<std::optional<double>> costs(20000, 1000.0);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = 1.0 + static_cast<double>(i);
  const SearchScore scale(costs);
  CHECK(scale.expected_of_random().size() == 220);
  // Where n configurations have the costs 1 to n, the least of k draws is (n + 1)/(k + 1) in the mean.
  for (const std::size_t draws : {std::size_t{1}, std::size_t{2}, std::size_t{50}, std::size_t{220}})
    CHECK(scale.expected_of_random()[draws - 1] == doctest::Approx(20001.0 / static_cast<double>(draws + 1)));
}

TEST_CASE("a space where nothing can be gained has no score, and one where nothing is valid is an error") {
  CHECK_FALSE(SearchScore({3.0, 3.0, 3.0}).score({{3.0}}).has_value());
  CHECK_FALSE(SearchScore({3.0}).score({{3.0}}).has_value());
  try {
    const SearchScore none({kFailed, kFailed});
    FAIL("a space without a valid configuration was taken");
  } catch (const Error& error) {
    CHECK(error.exit_code() == ExitCode::NothingValid);
  }
}

}  // namespace test_score
