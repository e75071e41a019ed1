#include <doctest/doctest.h>

#include "tuner/session/source/visit_rule.hpp"

namespace test_visit_rule {

using attune::measure::Timing;
using attune::session::VisitRule;

namespace {

/// A median of 100 us whose interval reaches `half` to either side, after so many visits.
Timing timing(int visits, double half) {
  Timing timing;
  timing.median_us = 100;
  timing.low_us = 100 - half;
  timing.high_us = 100 + half;
  timing.visits = visits;
  return timing;
}

constexpr VisitRule kRule{.fewest = 3, .most = 6, .goal = 0.01, .promising = 1.05};

}  // namespace

TEST_CASE("a narrow interval is enough, but not before the fewest visits") {
  CHECK_FALSE(kRule.is_enough(timing(2, 0.5), 100));
  CHECK(kRule.is_enough(timing(3, 0.5), 100));
  CHECK(kRule.is_enough(timing(3, 1.0), 100));
  CHECK_FALSE(kRule.is_enough(timing(3, 1.1), 100));
}

TEST_CASE("a wide interval is enough after the most visits") {
  CHECK_FALSE(kRule.is_enough(timing(5, 20), 100));
  CHECK(kRule.is_enough(timing(6, 20), 100));
}

TEST_CASE("who is not promising gets the fewest visits, however wide its interval") {
  CHECK(kRule.is_enough(timing(3, 20), 95));        // 5.3 % slower than the fastest
  CHECK_FALSE(kRule.is_enough(timing(3, 20), 96));  // 4.2 %
  CHECK_FALSE(kRule.is_enough(timing(2, 20), 10));
}

TEST_CASE("where calls take a millisecond, who is not promising gets one visit") {
  Timing costly = timing(1, 20);
  costly.median_us = 1060;
  CHECK(kRule.is_enough(costly, 1000));
  CHECK_FALSE(kRule.is_enough(costly, 1050));
  costly.median_us = 1050;
  CHECK_FALSE(kRule.is_enough(costly, 999));  // no millisecond
}

}  // namespace test_visit_rule
