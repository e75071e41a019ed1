// The strategies that try what won elsewhere: portfolio, of other sizes, and winners, of every problem of the template.
#include <doctest/doctest.h>

#include "tests/unit/session/replay_fixture.hpp"

namespace test_portfolio {

using namespace attune;
using test::kFast;
using Fixture = test::ReplayFixture;

namespace {

/// Of the device and policy of a result that is there.
void put_winner_of_another_family(db::Database& database) {
  auto foreign = database.best({}).front();
  foreign.family = R"({"T":"f64"})";
  foreign.problem = R"({"T":"f64","n":1000})";
  foreign.configuration = R"({"block_size":64,"items":1,"waves":1})";
  database.put(foreign);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the portfolio strategy tries the default and what won at other sizes, and decides among them") {
  auto replay = backend();
  auto first = request();
  first.problems = {problems[0]};
  (void)session::tune(kernel, first, replay, database, {});
  put_winner_of_another_family(database);  // none of its business
  auto second = request();
  second.problems = {problems[1]};
  second.strategy = "portfolio";
  const auto result = session::tune(kernel, second, replay, database, {});
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].measured == 2);
  REQUIRE(result.problems[0].best);
  CHECK(result.problems[0].best->configuration == kFast);
}

TEST_CASE_FIXTURE(Fixture, "the winners strategy tries what won for other types and choices of the template as well") {
  auto replay = backend();
  auto first = request();
  first.problems = {problems[0]};
  (void)session::tune(kernel, first, replay, database, {});
  put_winner_of_another_family(database);
  auto second = request();
  second.problems = {problems[1]};
  second.strategy = "winners";
  const auto result = session::tune(kernel, second, replay, database, {});
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].measured == 3);
}

TEST_CASE_FIXTURE(Fixture, "the portfolio strategy says so when nothing was tuned that it could try") {
  auto replay = backend();
  auto only = request();
  only.strategy = "portfolio";
  only.problems = {problems[0]};
  std::vector<std::string> notices;
  session::Observer observer;
  observer.notice = [&](const std::string& text) { notices.push_back(text); };
  const auto result = session::tune(kernel, only, replay, database, observer);
  CHECK(result.problems[0].measured == 1);
  REQUIRE(!notices.empty());
  CHECK(notices.front().find("no size of") != std::string::npos);
}

}  // namespace test_portfolio
