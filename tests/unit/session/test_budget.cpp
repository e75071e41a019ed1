#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/session/tune/budget.hpp"

namespace test_budget {

using attune::UsageError;
using attune::session::Budget;
using attune::session::run_off_seconds;

TEST_CASE("a budget with a time unit limits seconds and leaves the whole space open") {
  const Budget budget = Budget::parse("2m");
  REQUIRE(budget.seconds.has_value());
  CHECK(*budget.seconds == 120.0);
  CHECK(budget.limit(1000) == 1000);
}

TEST_CASE("a run-off may take a fifth of its search, and all of a command together at least three seconds") {
  CHECK(run_off_seconds(60, 1) == doctest::Approx(12));
  CHECK(run_off_seconds(4, 1) == doctest::Approx(3));
  CHECK(run_off_seconds(0, 10) == doctest::Approx(0.3));
  CHECK(run_off_seconds(6, 10) == doctest::Approx(1.2));
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
  for (const char* text :
       {"", "%", "0", "-5", "0%", "101%", "abc", "0s", "5x", "10%%", "60s,", ",500", "60s,,500", "separate", "60s 500"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)Budget::parse(text), doctest::Contains("a count of configurations (500)"), UsageError);
  }
}

TEST_CASE("of several limits the smallest number of configurations holds, and time and separation end the search besides") {
  const Budget budget = Budget::parse("5m,500,25%,separated");
  CHECK(budget.seconds == 300.0);
  CHECK(budget.until_separated);
  CHECK(budget.limit(1000) == 250);
  CHECK(budget.limit(10000) == 500);
  CHECK(budget.limit(3) == 1);
  const Budget plain = Budget::parse("separated");
  CHECK(plain.until_separated);
  CHECK(plain.limit(1000) == 1000);
  CHECK_FALSE(Budget::parse("60s").until_separated);
}

TEST_CASE("two limits of one kind are refused rather than one of them ignored") {
  for (const char* text : {"60s,5m", "500,600", "25%,50%", "separated,separated"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)Budget::parse(text), doctest::Contains("two limits of one kind"), UsageError);
  }
}

TEST_CASE("a budget's text reads back as the same budget") {
  for (const char* text : {"60s", "0.5s", "500", "7%", "12.5%", "100%", "separated", "60s,500,25%,separated"}) {
    CAPTURE(text);
    const Budget budget = Budget::parse(text);
    CHECK(budget.text() == text);
    const Budget again = Budget::parse(budget.text());
    CHECK(again.seconds == budget.seconds);
    CHECK(again.configurations == budget.configurations);
    CHECK(again.fraction == budget.fraction);
    CHECK(again.until_separated == budget.until_separated);
  }
}

}  // namespace test_budget
