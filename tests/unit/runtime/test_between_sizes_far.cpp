// How far measurements of tuned sizes hold: doubt by distance, and when the default stands.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/runtime/between_sizes_fixture.hpp"

namespace test_between_sizes_far {

using namespace attune;
using namespace attune::test;

TEST_CASE_FIXTURE(BetweenSizes, "far from all that was tuned a default that a table chose stands, and only such a one") {
  tuned(1000, kA, {{kA, 5.0}});
  CHECK(choose(400'000).decision.configuration == kA);  // one tuned size
  spec::DefaultRow row;
  row.values = {{0, 1}};
  kernel.defaults = {row};
  const std::string standard = spec::to_text(kernel, spec::default_configuration(kernel, twice_problem(400'000), here));
  REQUIRE(standard != kA);
  CHECK(choose(400'000).decision.configuration == standard);
  CHECK(choose(400'000).decision.forecast.find("nothing was measured near enough") != std::string::npos);
  CHECK(choose(1100).decision.configuration == kA);
  tuned(2000, kB, {{kB, 5.0}});
  CHECK(choose(400'000).decision.configuration == standard);  // several
}

TEST_CASE_FIXTURE(BetweenSizes,
                  "the default is expected to take no more than its configuration took around, where other defaults took longer") {
  const auto p1 = twice_problem(1000), p4 = twice_problem(4000);
  tuned(1000, kA, {{kA, 10.0}, {kB, 30.0}});
  tuned(4000, kA, {{kA, 10.0}, {kB, 30.0}});
  const auto r1 = best_row(kernel, p1, here, kA), r4 = best_row(kernel, p4, here, kA);
  const std::vector<runtime::TunedSize> results{{&p1, &r1, &user.database(), 1.0}, {&p4, &r4, &user.database(), 1.0}};
  const auto facts = [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; };
  const auto by_size = [](const spec::Problem& at) { return at.sizes.at("n") < 3000 ? kA : kB; };
  const auto forecasts = forecast_between(twice_problem(2000), results, launches(by_size, facts));
  REQUIRE(forecasts.size() == 1);
  CHECK(forecasts[0].configuration == kA);
  CHECK(forecasts[0].expected_us == doctest::Approx(10.0).epsilon(0.03));
}

TEST_CASE_FIXTURE(BetweenSizes, "one far time of the default's own configuration is no better than what defaults took all around") {
  // Times double with the size; kA is 15 % faster everywhere. kDefault is the default at the asked size only, and kB elsewhere.
  constexpr std::int64_t kAsked = 1 << 22;
  const auto first = [&](bool with_own) {
    const std::map<std::int64_t, double> of_size{{kAsked / 2, 20.0}, {2 * kAsked, 80.0}, {4 * kAsked, 160.0}};
    std::vector<spec::Problem> problems;
    std::vector<db::BestRow> rows;
    for (const auto& [n, us] : of_size) {
      std::map<std::string, double> times{{kB, us}, {kA, 0.85 * us}};
      if (with_own && n < kAsked) times.emplace(kDefault, 20.5);
      tuned(n + (with_own ? 0 : 1), kA, times);
      problems.push_back(twice_problem(n + (with_own ? 0 : 1)));
      rows.push_back(best_row(kernel, problems.back(), here, kA));
    }
    const std::vector<runtime::TunedSize> results{{&problems[0], &rows[0], &user.database(), 1.0},
                                                  {&problems[1], &rows[1], &user.database(), 1.0},
                                                  {&problems[2], &rows[2], &user.database(), 2.0}};
    const auto facts = [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; };
    const auto by_size = [&](const spec::Problem& at) { return at.sizes.at("n") == kAsked ? kDefault : kB; };
    return forecast_between(twice_problem(kAsked), results, launches(by_size, facts)).front().configuration;
  };
  CHECK(first(false) == kA);
  CHECK(first(true) == kA);
}

TEST_CASE_FIXTURE(BetweenSizes, "the farther away a winner has won, the faster it must be to take the default's place") {
  const auto p1 = twice_problem(1000), p2 = twice_problem(2000);
  tuned(1000, kA, {{kA, 8.0}, {kDefault, 10.0}});
  tuned(2000, kA, {{kA, 8.0}, {kDefault, 10.0}});
  const auto r1 = best_row(kernel, p1, here, kA), r2 = best_row(kernel, p2, here, kA);
  const auto facts = [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; };
  auto of_all = launches(always(kDefault), facts), of_this_problem = of_all;
  of_this_problem.standard_is_chosen = [](const spec::Problem&) { return true; };
  const auto first_at = [&](double octaves, const runtime::LaunchesAt& default_chosen) {
    const std::vector<runtime::TunedSize> results{{&p2, &r2, &user.database(), octaves}, {&p1, &r1, &user.database(), octaves + 1}};
    return forecast_between(twice_problem(3000), results, default_chosen).front().configuration;
  };
  CHECK(first_at(0.5, of_all) == kA);
  CHECK(first_at(2, of_all) == kA);
  CHECK(first_at(4, of_all) == kDefault);
  // A default that a table chose for the problem stands sooner, but not beside what was tuned.
  CHECK(first_at(0.5, of_this_problem) == kA);
  CHECK(first_at(2, of_this_problem) == kDefault);
}

TEST_CASE_FIXTURE(BetweenSizes, "where nothing is known of a default that a table chose, only what won near takes its place") {
  const auto problem = twice_problem(1000);
  tuned(1000, kA, {{kA, 8.0}});
  tuned(1100, kA, {{kA, 8.0}});
  const auto row = best_row(kernel, problem, here, kA), other = best_row(kernel, twice_problem(1100), here, kA);
  const auto other_problem = twice_problem(1100);
  auto chosen = launches(always(kDefault), [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; });
  chosen.standard_is_chosen = [](const spec::Problem&) { return true; };
  const auto first_at = [&](double octaves) {
    const std::vector<runtime::TunedSize> results{{&problem, &row, &user.database(), octaves},
                                                  {&other_problem, &other, &user.database(), octaves}};
    return forecast_between(twice_problem(1050), results, chosen).front().configuration;
  };
  CHECK(first_at(0.8) == kA);
  CHECK(first_at(1.5) == kDefault);
}

TEST_CASE_FIXTURE(BetweenSizes, "what was measured on one side only, far away, is known less surely than what was measured around") {
  const auto p1 = twice_problem(1000), p2 = twice_problem(2000), p4 = twice_problem(4000), p8 = twice_problem(8000);
  tuned(1000, kA, {{kA, 10.0}, {kB, 10.0}});
  tuned(2000, kA, {{kA, 10.0}, {kB, 10.0}});
  tuned(4000, kA, {{kB, 10.0}, {kA, 10.0}});
  tuned(8000, kB, {{kB, 10.0}});
  const auto r1 = best_row(kernel, p1, here, kA), r2 = best_row(kernel, p2, here, kA), r4 = best_row(kernel, p4, here, kA),
             r8 = best_row(kernel, p8, here, kB);
  const std::vector<runtime::TunedSize> results{{&p8, &r8, &user.database(), 0.3},
                                                {&p4, &r4, &user.database(), 0.7},
                                                {&p2, &r2, &user.database(), 1.7},
                                                {&p1, &r1, &user.database(), 2.7}};
  const auto forecasts =
      forecast_between(twice_problem(6500), results,
                       launches(always(kDefault), [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; }));
  REQUIRE(forecasts.size() == 2);
  CHECK(forecasts[0].configuration == kB);
  CHECK(forecasts[0].deviation < forecasts[1].deviation);
}

TEST_CASE_FIXTURE(BetweenSizes, "what was measured at one size alone is expected to grow with the size as the default does") {
  // Times are those of the memory: twice as long for twice as much.
  const auto p1 = twice_problem(1 << 20), p2 = twice_problem(1 << 21), p8 = twice_problem(1 << 23);
  tuned(1 << 20, kA, {{kDefault, 10.0}, {kA, 9.5}});
  tuned(1 << 21, kA, {{kDefault, 20.0}, {kA, 19.0}});
  tuned(1 << 23, kB, {{kDefault, 80.0}, {kB, 80.0}});
  const auto r1 = best_row(kernel, p1, here, kA), r2 = best_row(kernel, p2, here, kA), r8 = best_row(kernel, p8, here, kB);
  const auto expected_of_b = [&](const std::string& standard) {
    const std::vector<runtime::TunedSize> results{
        {&p8, &r8, &user.database(), 1.0}, {&p2, &r2, &user.database(), 1.0}, {&p1, &r1, &user.database(), 2.0}};
    const auto facts = [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; };
    const auto forecasts = forecast_between(twice_problem(1 << 22), results, launches(always(standard), facts));
    const auto found = std::find_if(forecasts.begin(), forecasts.end(), [](const auto& forecast) { return forecast.configuration == kB; });
    REQUIRE(found != forecasts.end());
    return found->expected_us;
  };
  CHECK(expected_of_b(kDefault) == doctest::Approx(40.0).epsilon(0.08));
  CHECK(expected_of_b(kC) > 1.5 * 40.0);  // nothing is known of this default: B might as well take as long at any size
}

TEST_CASE_FIXTURE(BetweenSizes, "beyond the sizes where it was measured a winner must be much faster to take the default's place") {
  tuned(1000, kA, {{kDefault, 10.0}, {kA, 9.0}});
  tuned(2000, kA, {{kDefault, 10.0}, {kA, 9.0}});
  tuned(8000, kC, {{kDefault, 10.0}, {kC, 10.0}});
  CHECK(choose(1500).decision.configuration == kA);
  CHECK(choose(4000).decision.configuration == kDefault);
}

}  // namespace test_between_sizes_far
