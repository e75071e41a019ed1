#include "tuner/search/random_expectation.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace test_random_expectation {

using attune::search::expected_best;

// Five configurations, two of which fail; those that work take 1, 3 and 9.
TEST_CASE("what random search is expected to have found is the mean over all draws") {
  const std::vector<double> valid = {1, 3, 9};
  // One draw: 1, 3, 9, or a failure, for which the slowest counts: (1 + 3 + 9 + 9 + 9)/5.
  CHECK(expected_best(valid, 5, 1) == doctest::Approx(31.0 / 5));
  // Two: four of the ten pairs have the 1, three more the 3; {9, failed} twice and both failures give 9.
  CHECK(expected_best(valid, 5, 2) == doctest::Approx((4 * 1 + 3 * 3 + 3 * 9) / 10.0));
  // Three: six of ten have the 1, three more the 3, {9, both failures} gives 9.
  CHECK(expected_best(valid, 5, 3) == doctest::Approx((6 * 1 + 3 * 3 + 9) / 10.0));
}

TEST_CASE("random search is sure of the fastest once no draw can miss it") {
  const std::vector<double> valid = {1, 3, 9};
  CHECK(expected_best(valid, 3, 3) == 1.0);
  CHECK(expected_best(valid, 5, 5) == 1.0);
  // Only the two failures need not be drawn: four of five draws have two that work at least.
  CHECK(expected_best(valid, 5, 4) == doctest::Approx((4 * 1 + 3) / 5.0));
}

TEST_CASE("of n configurations that take 1 to n the least of k draws is (n + 1)/(k + 1) in the mean") {
  std::vector<double> valid;
  for (int i = 1; i <= 999; ++i) valid.push_back(i);
  for (const std::size_t draws : {1, 9, 99, 499}) {
    CAPTURE(draws);
    CHECK(expected_best(valid, 999, draws) == doctest::Approx(1000.0 / static_cast<double>(draws + 1)));
  }
}

}  // namespace test_random_expectation
