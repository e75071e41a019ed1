#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/session/budget.hpp"

using attune::UsageError;
using attune::session::Budget;

TEST_CASE("a budget with a time unit limits seconds and leaves the whole space open") {
  const Budget budget = Budget::parse("2m");
  REQUIRE(budget.seconds.has_value());
  CHECK(*budget.seconds == 120.0);
  CHECK(budget.limit(1000) == 1000);
}

TEST_CASE("a plain number is a count of configurations, capped by the space") {
  CHECK(Budget::parse("500").limit(1000) == 500);
  CHECK(Budget::parse("500").limit(80) == 80);
}

TEST_CASE("a share of the space rounds up, so that a small space keeps at least one configuration") {
  CHECK(Budget::parse("25%").limit(1000) == 250);
  CHECK(Budget::parse("1%").limit(10) == 1);
  CHECK(Budget::parse("100%").limit(7) == 7);
}

TEST_CASE("a budget that is no time, count or share is refused") {
  for (const char* text : {"", "%", "0", "-5", "0%", "101%", "abc", "0s", "5x", "10%%"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)Budget::parse(text), UsageError);
  }
}
