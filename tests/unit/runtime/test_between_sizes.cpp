// What is dispatched for sizes that were not tuned: forecasts out of the measurements of tuned ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/runtime/between_sizes_fixture.hpp"

namespace test_between_sizes {

using namespace attune;
using namespace attune::test;

TEST_CASE_FIXTURE(BetweenSizes, "what does well at both neighbours is taken, not what fits the nearer one by chance") {
  tuned(1000, kA, {{kA, 10.0}, {kB, 10.2}, {kC, 20.0}});
  tuned(4000, kC, {{kA, 30.0}, {kB, 20.4}, {kC, 20.0}});
  tuned(64000, kB, {{kA, 90.0}, {kB, 60.0}, {kC, 99.0}});
  const auto choice = choose(1800);
  CHECK(choice.decision.tier == Tier::NearestSize);
  CHECK(choice.decision.configuration == kB);
  CHECK(choice.decision.donor_problem == R"({"T":"f32","n":64000})");  // who it is known from
  CHECK(choice.decision.forecast.find("10.2 us at {\"n\":1000}") != std::string::npos);
  CHECK(choice.decision.forecast.find("20.4 us at {\"n\":4000}") != std::string::npos);
  CHECK(choice.decision.forecast.find("the default") == std::string::npos);  // it was not measured
  // Both nearer results are told, with what they were expected to cost.
  REQUIRE(choice.decision.passed_over.size() == 2);
  CHECK(choice.decision.passed_over[0].find("\"n\":1000") != std::string::npos);
  CHECK(choice.decision.passed_over[0].find("expected to take") != std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes, "a tuned size itself is dispatched with its own winner, whatever its neighbours say") {
  tuned(1000, kA, {{kA, 10.0}, {kB, 10.2}});
  tuned(2000, kC, {{kA, 30.0}, {kB, 20.4}, {kC, 20.0}});
  tuned(4000, kB, {{kA, 90.0}, {kB, 60.0}});
  CHECK(choose(2000).decision.tier == Tier::ExactSize);
  CHECK(choose(2000).decision.configuration == kC);
  CHECK(choose(2000).decision.forecast.empty());
}

TEST_CASE_FIXTURE(BetweenSizes, "of two equally good on average the steady one is preferred to the erratic one") {
  // Around 2400 both are expected at about 14: kA jumps around its line, kB lies on one.
  tuned(1000, kA, {{kA, 8.0}, {kB, 9.0}});
  tuned(2000, kC, {{kA, 15.0}, {kB, 12.8}, {kC, 12.0}});
  tuned(4000, kA, {{kA, 14.5}, {kB, 18.0}, {kC, 30.0}});
  tuned(100000, kB, {{kA, 400.0}, {kB, 400.0}});
  CHECK(choose(2400).decision.configuration == kB);
}

TEST_CASE_FIXTURE(BetweenSizes,
                  "what grows with the work is foreseen to grow: where two configurations cross is found between tuned sizes") {
  // kA has the lower start and the steeper line; they meet at 2^13.
  for (int log = 10; log <= 16; ++log) {
    const double a = 4 * std::exp2(0.5 * (log - 10)), b = 8 * std::exp2(0.1667 * (log - 10));
    tuned(std::int64_t{1} << log, a < b ? kA : kB, {{kA, a}, {kB, b}});
  }
  CHECK(choose(5000).decision.configuration == kA);
  CHECK(choose(13000).decision.configuration == kB);
}

TEST_CASE_FIXTURE(BetweenSizes, "the default stands unless the evidence clearly beats it") {
  const auto with_winner_at = [&](double us) {
    for (const std::int64_t n : {1000, 2000, 4000}) tuned(n, kA, {{kA, us}, {kDefault, 10.0}});
    return choose(2500).decision.configuration;
  };
  CHECK(with_winner_at(9.8) == kDefault);  // expected to be faster, but surely only by less than what is not known
  CHECK(with_winner_at(9.5) == kA);
  CHECK(choose(2500).decision.forecast.find("; the default: 10") != std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes, "what was measured only so far away that it counts for nothing is no forecast") {
  // A regression over weights that are 0 is no number, and no number is below another.
  for (const std::int64_t n : {1400, 1600}) tuned(n, kA, {{kA, 5.0}});
  tuned(10'000'000, kA, {{kA, 50.0}, {kDefault, 60.0}});
  const auto choice = choose(1500);
  CHECK(choice.decision.configuration == kA);
  CHECK(choice.decision.forecast.find("nan") == std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes, "that the default is erratic is no reason to leave it for what is no faster") {
  double us = 6.0;
  for (const std::int64_t n : {1000, 1400, 2000, 2800, 4000}) tuned(n, kA, {{kA, 8.1}, {kDefault, us = 20 - us}});
  CHECK(choose(2500).decision.configuration == kDefault);
}

TEST_CASE_FIXTURE(BetweenSizes, "ratios of the run-off count before those of the search") {
  const auto detail = [](double a, double b) {
    return base::dump_json(nlohmann::json{{"finalists", {{{"configuration", kA}, {"ratio", a}}, {{"configuration", kB}, {"ratio", b}}}},
                                          {"left", nlohmann::json::array()}});
  };
  tuned(1000, kA, {{kA, 10.0}, {kB, 15.0}}, detail(1.02, 1.0));
  tuned(4000, kB, {{kA, 10.0}, {kB, 15.0}}, detail(1.02, 1.0));
  CHECK(choose(1900).decision.configuration == kB);
}

TEST_CASE_FIXTURE(BetweenSizes, "without measurements of the others the nearest winner is all there is to go by") {
  tuned(1000, kA, {});
  tuned(100000, kC, {});
  CHECK(choose(9000).decision.configuration == kA);
  CHECK(choose(11000).decision.configuration == kC);
}

TEST_CASE_FIXTURE(BetweenSizes, "what failed at a neighbour is not expected to work between") {
  tuned(1000, kA, {{kA, 10.0}, {kB, 10.1}});
  tuned(3000, kC, {{kA, 0}, {kB, 0}, {kC, 10.0}});
  tuned(9000, kC, {{kA, 0}, {kB, 10.1}, {kC, 10.0}});
  // kA works at one of three sizes only, and kC is not measured at 1000.
  CHECK(choose(2900).decision.configuration == kC);
}

TEST_CASE_FIXTURE(BetweenSizes,
                  "the default is taken where it is expected to be the fastest, though it never won; no stored code is claimed for it") {
  tuned(1000, kA, {{kA, 10.0}, {kC, 14.0}, {kDefault, 10.1}});
  tuned(4000, kC, {{kA, 14.0}, {kC, 10.0}, {kDefault, 10.1}});
  const auto choice = choose(2000);
  CHECK(choice.decision.configuration == spec::to_text(kernel, spec::default_configuration(kernel)));
  CHECK(choice.cubin_key.empty());
  CHECK(choice.decision.forecast.find("the default stands: ") == 0);
  CHECK(choice.decision.forecast.find("; the fastest that won around: ") != std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes, "the best forecast that violates a constraint at the asked size gives way to the next, and that is told") {
  const std::string narrow = configuration(32, "plain", 1);  // allowed up to 4096
  tuned(2000, narrow, {{narrow, 9.0}, {kB, 10.3}});
  tuned(4000, narrow, {{narrow, 9.0}, {kB, 10.3}});
  tuned(9000, kB, {{kB, 10.0}});
  const auto choice = choose(5000);
  CHECK(choice.decision.configuration == kB);
  CHECK(choice.decision.passed_over.at(0).find("violates 'block_size > 32 or n <= 4096' here") != std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes,
                  "where the best forecast violates a constraint the default stands before the next that does not clearly beat it") {
  const std::string narrow = configuration(32, "plain", 1);  // allowed up to 4096
  for (const std::int64_t n : {2000, 4000}) tuned(n, narrow, {{narrow, 9.0}, {kB, 9.98}, {kDefault, 10.0}});
  tuned(9000, kB, {{kB, 9.98}, {kDefault, 10.0}});
  CHECK(choose(5000).decision.configuration == kDefault);
}

TEST_CASE_FIXTURE(BetweenSizes, "a detail that cannot be read leaves what the search measured") {
  for (const char* detail : {"[1]", "{\"finalists\": 3}", "{\"finalists\": [{\"ratio\": \"x\"}]}", "not json"}) {
    tuned(1000, kA, {{kA, 10.0}, {kB, 10.2}}, "{}");
    const auto row = best_row(kernel, twice_problem(1000), here, kA);
    CAPTURE(detail);
    const auto problem = twice_problem(1000), other = twice_problem(4000);
    auto damaged = row;
    damaged.detail_json = detail;
    tuned(4000, kC, {{kA, 30.0}, {kB, 20.4}, {kC, 20.0}});
    const auto far = best_row(kernel, twice_problem(4000), here, kC);
    const std::vector<runtime::TunedSize> results{{&problem, &damaged, &user.database(), 0.8}, {&other, &far, &user.database(), 1.2}};
    const auto facts = [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; };
    const auto forecasts = forecast_between(twice_problem(2000), results, launches(always(kB), facts));
    REQUIRE(!forecasts.empty());
    CHECK(forecasts.front().configuration == kB);
    CHECK(forecasts.front().expected_us == doctest::Approx(10.2 * std::sqrt(2.0)).epsilon(0.05));
  }
}

TEST_CASE_FIXTURE(BetweenSizes, "the default is weighed also where more winners are known than are looked at") {
  for (int i = 0; i < 70; ++i) {  // each with a winner of its own, which does badly elsewhere
    const std::string winner = base::dump_json(nlohmann::json{{"block_size", 64}, {"blocks_per_sm", i}, {"style", "plain"}});
    tuned(1000 + 10 * i, winner, {{winner, 10.0}, {kDefault, 10.1}});
  }
  const auto choice = choose(1345);
  CHECK(choice.decision.tier == Tier::NearestSize);
  CHECK(choice.decision.configuration == kDefault);
}

TEST_CASE_FIXTURE(BetweenSizes, "of a default that differs by size its own times count, whichever configuration it was where") {
  const auto p1 = twice_problem(1000), p4 = twice_problem(4000);
  tuned(1000, kC, {{kA, 10.0}, {kB, 20.0}, {kC, 9.5}});
  tuned(4000, kC, {{kA, 20.0}, {kB, 10.0}, {kC, 9.5}});
  const auto r1 = best_row(kernel, p1, here, kC), r4 = best_row(kernel, p4, here, kC);
  const std::vector<runtime::TunedSize> results{{&p1, &r1, &user.database(), 0.6}, {&p4, &r4, &user.database(), 1.4}};
  const auto facts = [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; };
  const auto by_size = [](const spec::Problem& at) { return at.sizes.at("n") < 2000 ? kA : kB; };
  const auto forecasts = forecast_between(twice_problem(1516), results, launches(by_size, facts));
  REQUIRE(forecasts.size() == 2);
  CHECK(forecasts[0].configuration == kC);
  CHECK(forecasts[1].configuration == kA);
  CHECK(forecasts[1].expected_us == doctest::Approx(10.0).epsilon(0.03));
}

TEST_CASE_FIXTURE(BetweenSizes, "what a single block took says nothing about grids") {
  const auto p1 = twice_problem(1000), p2 = twice_problem(2000), p4 = twice_problem(4000);
  tuned(1000, kA, {{kA, 2.0}, {kB, 6.0}});
  tuned(2000, kA, {{kA, 2.5}, {kB, 7.0}});
  tuned(4000, kB, {{kA, 9.0}, {kB, 8.0}});
  const auto r1 = best_row(kernel, p1, here, kA), r2 = best_row(kernel, p2, here, kA), r4 = best_row(kernel, p4, here, kB);
  const std::vector<runtime::TunedSize> results{
      {&p4, &r4, &user.database(), 0.3}, {&p2, &r2, &user.database(), 0.7}, {&p1, &r1, &user.database(), 1.7}};
  // One block up to 2000 elements; a grid above, which only one size tells of.
  const auto facts = [](const std::string& configuration, const spec::Problem& at) {
    return runtime::LaunchFacts{configuration == kA && at.sizes.at("n") <= 2000};
  };
  const auto forecasts = forecast_between(twice_problem(3250), results, launches(always(kDefault), facts));
  REQUIRE(forecasts.size() == 2);
  CHECK(forecasts[0].configuration == kB);
  CHECK(forecasts[0].basis.find("{\"n\":2000}") != std::string::npos);
  CHECK(forecasts[1].configuration == kA);
  CHECK(forecasts[1].basis.find("{\"n\":2000}") == std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes, "a default that is another kind of launch here than anywhere around is foreseen from those all the same") {
  const auto p4 = twice_problem(4000), p8 = twice_problem(8000), p16 = twice_problem(16000);
  tuned(4000, kDefault, {{kDefault, 3.0}, {kA, 5.0}});
  tuned(8000, kDefault, {{kDefault, 3.2}, {kA, 5.2}});
  tuned(16000, kA, {{kDefault, 5.6}, {kA, 5.4}});
  const auto r4 = best_row(kernel, p4, here, kDefault), r8 = best_row(kernel, p8, here, kDefault), r16 = best_row(kernel, p16, here, kA);
  const std::vector<runtime::TunedSize> results{
      {&p4, &r4, &user.database(), 0.4}, {&p8, &r8, &user.database(), 1.4}, {&p16, &r16, &user.database(), 2.4}};
  const auto facts = [](const std::string& configuration, const spec::Problem& at) {
    return runtime::LaunchFacts{configuration == kDefault && at.sizes.at("n") <= 3000};
  };
  const auto first = forecast_between(twice_problem(3000), results, launches(always(kDefault), facts)).front();
  CHECK(first.configuration == kDefault);
  CHECK(first.basis.find("{\"n\":4000}") != std::string::npos);
}

TEST_CASE_FIXTURE(BetweenSizes, "of several launches none makes a configuration a single block") {
  // The first of two launches is one block up to 2048 elements, and two at the asked size.
  std::string text = kTwiceJson;
  const std::string launch = R"({"kernel": "twice", "grid": "grid",)";
  text.insert(text.find(launch),
              R"json({"kernel": "twice", "grid": "ceil_div(n, 2048)", "block": "block_size", "args": ["x", "n", "y"]}, )json");
  kernel = spec::KernelTemplate::parse(text, {{"twice.cu", kTwiceSource}}, "twice/template.json");
  tuned(1000, kA, {{kDefault, 10.0}, {kA, 8.0}, {kC, 12.0}});
  tuned(2000, kA, {{kDefault, 10.0}, {kA, 8.0}, {kC, 12.0}});
  tuned(4000, kC, {{kDefault, 10.0}, {kC, 9.0}});
  CHECK(choose(2200).decision.configuration == kA);
}

TEST_CASE_FIXTURE(BetweenSizes,
                  "where another configuration makes the same launches its time counts, and where it does not it counts for nothing") {
  const auto p1 = twice_problem(1000), p2 = twice_problem(2000), p4 = twice_problem(4000);
  tuned(1000, kB, {{kB, 10.0}});
  tuned(2000, kB, {{kB, 10.0}});
  tuned(4000, kA, {{kA, 10.0}, {kB, 10.0}});
  const auto r1 = best_row(kernel, p1, here, kB), r2 = best_row(kernel, p2, here, kB), r4 = best_row(kernel, p4, here, kA);
  const std::vector<runtime::TunedSize> results{
      {&p4, &r4, &user.database(), 0.4}, {&p2, &r2, &user.database(), 0.6}, {&p1, &r1, &user.database(), 1.6}};
  auto asking = launches(always(kDefault), [](const std::string&, const spec::Problem&) { return runtime::LaunchFacts{}; });
  const auto forecast_of_a = [&] {
    const auto forecasts = forecast_between(twice_problem(3000), results, asking);
    const auto found = std::find_if(forecasts.begin(), forecasts.end(), [](const auto& forecast) { return forecast.configuration == kA; });
    REQUIRE(found != forecasts.end());
    return *found;
  };
  const auto of_one_size = forecast_of_a();
  CHECK(of_one_size.basis.find("{\"n\":2000}") == std::string::npos);
  asking.key = [](const std::string& configuration, const spec::Problem& at) {
    return std::optional(configuration == kA && at.sizes.at("n") < 3000 ? kB : configuration);
  };
  CHECK(forecast_of_a().basis.find("{\"n\":2000}") != std::string::npos);
  CHECK(forecast_of_a().deviation < of_one_size.deviation);
}

TEST_CASE_FIXTURE(BetweenSizes, "how a grid's times grow says nothing about those of a single block") {
  // The default is a grid, whose times hardly grow; kA is one block, whose times double with the size.
  std::map<std::int64_t, double> of_default{{1 << 13, 3.90}, {1 << 14, 3.95}, {1 << 16, 4.00}, {1 << 17, 4.10}};
  std::vector<spec::Problem> problems;
  std::vector<db::BestRow> rows;
  for (const auto& [n, us] : of_default) {
    tuned(
        n, n == 1 << 14 ? kA : kB,
        n == 1 << 14 ? std::map<std::string, double>{{kDefault, us}, {kA, 3.0}} : std::map<std::string, double>{{kDefault, us}, {kB, us}});
    problems.push_back(twice_problem(n));
    rows.push_back(best_row(kernel, problems.back(), here, n == 1 << 14 ? kA : kB));
  }
  const std::vector<runtime::TunedSize> results{{&problems[1], &rows[1], &user.database(), 1.0},
                                                {&problems[2], &rows[2], &user.database(), 1.0},
                                                {&problems[0], &rows[0], &user.database(), 2.0},
                                                {&problems[3], &rows[3], &user.database(), 2.0}};
  const auto facts = [](const std::string& configuration, const spec::Problem&) { return runtime::LaunchFacts{configuration == kA}; };
  CHECK(forecast_between(twice_problem(1 << 15), results, launches(always(kDefault), facts)).front().configuration == kDefault);
}

TEST_CASE_FIXTURE(BetweenSizes,
                  "decisions that share their evidence are those that each would make alone, also after something was tuned in between") {
  for (const std::int64_t n : {1000, 2000, 4000, 8000}) tuned(n, kA, {{kA, 9.0}, {kB, 9.5}, {kDefault, 10.0}});
  const auto opened = runtime::open_layers({user.path()});
  runtime::Evidence evidence;
  const auto same = [&](std::int64_t n) {
    const auto alone = runtime::choose(kernel, twice_problem(n), here, opened.layers, {"cold/graph"});
    const auto shared = runtime::choose(kernel, twice_problem(n), here, opened.layers, {"cold/graph"}, evidence);
    CHECK(shared.decision.configuration == alone.decision.configuration);
    CHECK(shared.decision.forecast == alone.decision.forecast);
    return shared.decision.configuration;
  };
  CHECK(same(1500) == kA);
  CHECK(same(3000) == kA);
  CHECK(same(1500) == kA);
  // Another process, as this layer's connection sees it: kB wins now.
  for (const std::int64_t n : {1400, 1600, 2800, 3200}) tuned(n, kB, {{kA, 9.0}, {kB, 5.0}, {kDefault, 10.0}});
  CHECK(same(1500) == kB);
  CHECK(same(3000) == kB);
  const auto elsewhere = device("sm_90", "Elsewhere", 66);
  const auto alone = runtime::choose(kernel, twice_problem(1500), elsewhere, opened.layers, {"cold/graph"});
  const auto shared = runtime::choose(kernel, twice_problem(1500), elsewhere, opened.layers, {"cold/graph"}, evidence);
  CHECK(shared.decision.configuration == alone.decision.configuration);
  CHECK(shared.decision.tier == alone.decision.tier);
}

}  // namespace test_between_sizes
