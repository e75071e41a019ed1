// When a task of a fleet copies its results.
#include <doctest/doctest.h>

#include "tools/fleet/publish_rule.hpp"

namespace test_publish_rule {

using attune::tools::PublishRule;
using Seconds = PublishRule::Seconds;

TEST_CASE("results are copied after the first problem, and while one is tuned as often as was asked for") {
  const PublishRule rule(Seconds(60));
  CHECK(rule.due_after_problem(Seconds(0.1)));
  CHECK_FALSE(rule.due_within_problem(Seconds(59)));
  CHECK(rule.due_within_problem(Seconds(60)));
}

TEST_CASE("copying takes a fiftieth of the time, unless it is asked for more often than that") {
  PublishRule rule(Seconds(60));
  rule.copied(Seconds(0.1));
  CHECK_FALSE(rule.due_after_problem(Seconds(4.9)));
  CHECK(rule.due_after_problem(Seconds(5.1)));
  rule.copied(Seconds(20));
  CHECK_FALSE(rule.due_after_problem(Seconds(59)));
  CHECK(rule.due_after_problem(Seconds(60)));
}

TEST_CASE("a shard of many equal problems spends as little on copies as one of few") {
  PublishRule rule(Seconds(1e6));
  constexpr double kProblem = 1.3, kCopyOfOne = 0.002;
  double since = 0, copying = 0, tuning = 0;
  for (int problem = 1; problem <= 10'000; ++problem) {
    since += kProblem;
    tuning += kProblem;
    if (!rule.due_after_problem(Seconds(since))) continue;
    const double took = kCopyOfOne * problem;
    rule.copied(Seconds(took));
    copying += took;
    since = 0;
  }
  CHECK(copying < 0.03 * tuning);
}

}  // namespace test_publish_rule
