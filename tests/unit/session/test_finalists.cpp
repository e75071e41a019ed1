#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/session/tune/finalists.hpp"

namespace test_finalists {

using namespace attune;
using measure::Measurement;
using measure::Outcome;
using measure::Stage;
using session::Candidate;
using Names = std::vector<std::string>;

namespace {

Measurement made(const std::string& configuration, double us, Stage stage = Stage::Measured, int registers = 32) {
  Measurement measurement;
  measurement.configuration = configuration;
  measurement.stage = stage;
  measurement.verified = true;
  measurement.timing.median_us = us;
  measurement.timing.samples = 9;
  measurement.resources.registers = registers;
  return measurement;
}

Candidate searched(const std::string& configuration, double us, Stage stage = Stage::Measured) {
  return {configuration, Outcome::Ok, stage, true, us};
}

/// Rounds in which column i takes 10 us x factor[i], times a wobble that a round shares. All but the first column are slower
/// by `private_noise` in a third of the rounds and faster in another third.
session::RunOffSamples rounds(const std::vector<std::string>& names, const std::vector<double>& factor, double private_noise = 0) {
  session::RunOffSamples samples;
  samples.configurations = names;
  for (int round = 0; round < 21; ++round) {
    const double shared = 1 + 0.05 * ((round * 7) % 5);
    std::vector<double> row;
    for (std::size_t i = 0; i < factor.size(); ++i) {
      const double sign = i == 0 ? 0 : round % 3 - 1;
      row.push_back(10 * shared * factor[i] * (1 + sign * private_noise));
    }
    samples.rounds_us.push_back(row);
  }
  return samples;
}

}  // namespace

TEST_CASE("finalists are the fastest measured configurations and the default, never a screened one") {
  const std::vector<Candidate> all = {searched("slow", 9), searched("a", 1),       searched("dropped", 0.5, Stage::Screened),
                                      searched("b", 2),    searched("default", 5), searched("c", 3)};
  CHECK(session::choose_finalists(all, {"default"}, {.fewest = 2, .most = 2, .ratio = 1}) == Names{"a", "b", "default"});
}

TEST_CASE("everybody close to the best is a finalist, up to the most, and the fewest are there however far behind they lie") {
  const std::vector<Candidate> all = {searched("far", 20), searched("c", 10.29), searched("a", 10), searched("d", 10.4),
                                      searched("b", 10.1)};
  CHECK(session::choose_finalists(all, {"none"}, {.fewest = 1, .most = 9, .ratio = 1.03}) == Names{"a", "b", "c"});
  CHECK(session::choose_finalists(all, {"none"}, session::FinalistRule::of_at_most(1)) == Names{"a"});
  CHECK(session::choose_finalists(all, {"none"}, {.fewest = 4, .most = 9, .ratio = 1.03}) == Names{"a", "b", "c", "d"});
  CHECK(session::choose_finalists(all, {"none"}, {.fewest = 1, .most = 2, .ratio = 1.03}) == Names{"a", "b"});
  CHECK(session::choose_finalists(all, {"none"}, {.fewest = 9, .most = 9, .ratio = 1.03}).size() == all.size());
}

TEST_CASE("of a large search more run off, by a hundredth of what it tried, unless a bound was asked for") {
  const session::FinalistRule rule;
  CHECK(rule.for_search_of(300).most == rule.most);
  CHECK(rule.for_search_of(100 * rule.most + 99).most == rule.most);
  CHECK(rule.for_search_of(12'164).most == 121);
  CHECK(rule.for_search_of(1'000'000).most == 125);
  CHECK(rule.for_search_of(12'164).ratio == rule.ratio);
  CHECK(session::FinalistRule::of_at_most(24).for_search_of(12'164).most == 24);
}

TEST_CASE("neither a failed nor an unverified configuration nor one without a time is a finalist") {
  auto failed = searched("failed", 1);
  failed.outcome = Outcome::Crashed;
  auto unverified = searched("unverified", 1);
  unverified.may_win = false;
  CHECK(session::choose_finalists({failed, unverified, searched("untimed", 0), searched("good", 2)}, {"none"}, {}) == Names{"good"});
}

TEST_CASE("equal medians are ordered by their texts, whatever came first") {
  CHECK(session::choose_finalists({searched("y", 1), searched("x", 1)}, {"none"}, {}) == Names{"x", "y"});
}

TEST_CASE("a default that screening dropped still joins the run-off, a failed one does not") {
  const std::vector<Candidate> with_screened = {searched("a", 1), searched("default", 50, Stage::Screened)};
  CHECK(session::choose_finalists(with_screened, {"default"}, {}) == Names{"a", "default"});
  Candidate failed = searched("default", 0, Stage::None);
  failed.outcome = Outcome::WrongResult;
  CHECK(session::choose_finalists({searched("a", 1), failed}, {"default"}, {}) == Names{"a"});
}

TEST_CASE("several may join the run-off, each of them once") {
  const std::vector<Candidate> all = {searched("a", 1), searched("former", 3), searched("default", 2), searched("other", 2.5)};
  CHECK(session::choose_finalists(all, {"default", "former"}, session::FinalistRule::of_at_most(1)) == Names{"a", "default", "former"});
  CHECK(session::choose_finalists(all, {"default", "a", "default"}, session::FinalistRule::of_at_most(1)) == Names{"a", "default"});
}

TEST_CASE("without any verified measurement there is no finalist, not even the default") {
  CHECK(session::choose_finalists({searched("default", 2, Stage::Screened)}, {"default"}, {}).empty());
}

TEST_CASE("a configuration that is faster in every round wins without a tie, whatever both share") {
  const auto decided = session::decide(rounds({"x", "y"}, {1.0, 0.98}), {made("x", 10), made("y", 9.8)}, "x");
  CHECK(decided.placed[decided.winner].configuration == "y");
  CHECK_FALSE(decided.tie);
  CHECK(decided.placed[1].to_best.median_ratio == doctest::Approx(1 / 0.98));
}

TEST_CASE("a tie goes to the default and is called a tie") {
  const auto decided = session::decide(rounds({"x", "default"}, {1.0, 1.0001}, 0.01), {made("x", 10), made("default", 10)}, "default");
  CHECK(decided.tie);
  CHECK(decided.placed[decided.winner].configuration == "default");
}

TEST_CASE("a tie without the default goes to the configuration with fewer registers") {
  const auto decided =
      session::decide(rounds({"many", "few", "default"}, {1.0, 1.0001, 2.0}, 0.01),
                      {made("many", 10, Stage::Measured, 64), made("few", 10, Stage::Measured, 24), made("default", 20)}, "default");
  CHECK(decided.tie);
  CHECK(decided.placed[decided.winner].configuration == "few");
  CHECK_FALSE(decided.placed.back().tied);
}

TEST_CASE("who is faster in most rounds is placed first, also where drift makes another's median smaller") {
  session::RunOffSamples samples;
  samples.configurations = {"x", "y"};
  samples.rounds_us = {{10, 9.9}, {20, 21}, {30, 29.7}};  // the medians, 20 and 21, come from the one round y lost
  const auto decided = session::decide(samples, {made("x", 10), made("y", 10)}, "none");
  CHECK(decided.placed[0].configuration == "y");
  CHECK(decided.placed[1].to_best.median_ratio == doctest::Approx(1 / 0.99));
}

TEST_CASE("an epoch counts as one observation, the median of its rounds' ratios") {
  session::RunOffSamples samples;
  samples.configurations = {"x", "y"};
  samples.rounds_per_epoch = 3;
  for (const double epoch : {1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07}) {
    for (const double round : {1.0, 0.9, 1.2}) samples.rounds_us.push_back({10, 10 * epoch * round});
  }
  const auto decided = session::decide(samples, {made("x", 10), made("y", 10)}, "none");
  const auto& y = decided.placed.at(1);
  CHECK(y.observations == 7);
  CHECK(y.to_best.median_ratio == doctest::Approx(1.04));
  CHECK(y.to_best.low == doctest::Approx(1.01));  // the whole range: seven cannot tell 99 % any better
  CHECK(y.to_best.high == doctest::Approx(1.07));
  CHECK(y.median_us == doctest::Approx(10.4));
  CHECK_FALSE(y.tied);
}

TEST_CASE("rounds that share an epoch do not pass for independent ones") {
  // y is slower in every round of six epochs and faster in every round of the seventh.
  session::RunOffSamples samples;
  samples.configurations = {"x", "y"};
  for (int epoch = 0; epoch < 7; ++epoch) samples.rounds_us.insert(samples.rounds_us.end(), 5, {10, epoch == 6 ? 9.99 : 10.03});
  samples.rounds_per_epoch = 5;
  CHECK(session::decide(samples, {made("x", 10), made("y", 10)}, "none").tie);
  samples.rounds_per_epoch = 1;  // as 35 observations, 5 of them on the other side: told apart
  CHECK_FALSE(session::decide(samples, {made("x", 10), made("y", 10)}, "none").tie);
}

TEST_CASE("a finalist that left is placed behind the others, its time told by its ratio to the fastest") {
  auto samples = rounds({"x", "y"}, {1.0, 1.5});
  samples.left = {{"early", {1.2, 1.1, 1.3}, 5}, {"earlier", {1.1, 1.05, 1.2}, 1}};
  const auto decided = session::decide(samples, {made("x", 10), made("y", 15)}, "early");
  REQUIRE(decided.placed.size() == 4);
  const auto& early = decided.placed[2];
  const double fastest_us = decided.placed[0].median_us;
  CHECK(early.configuration == "early");
  CHECK(early.median_us == doctest::Approx(1.2 * fastest_us));
  CHECK(early.low_us == doctest::Approx(1.1 * fastest_us));
  CHECK(early.high_us == doctest::Approx(1.3 * fastest_us));
  CHECK(early.observations == 5);
  CHECK_FALSE(early.tied);
  CHECK(decided.placed[3].configuration == "earlier");
  CHECK(decided.winner == 0);
  CHECK_FALSE(decided.tie);
}

TEST_CASE("an interval that reaches one is no tie when the ratio itself is far from it") {
  // Every other round goes to the other side: nothing is told apart, but only so much counts as equal.
  const auto tied = [](double factor) {
    session::RunOffSamples samples;
    samples.configurations = {"x", "y"};
    for (int round = 0; round < 9; ++round) samples.rounds_us.push_back({10, round < 3 ? 9.9 : 10 * factor});
    return session::decide(samples, {made("x", 10), made("y", 10)}, "none").tie;
  };
  CHECK(tied(session::kFarthestTie - 0.0001));
  CHECK_FALSE(tied(session::kFarthestTie + 0.0001));
}

TEST_CASE("at most as many finalists as the race calls few are tied: the fastest ones") {
  std::vector<double> factor;
  Names names;
  std::vector<Measurement> resources;
  for (std::size_t i = 0; i < session::Race::kFew + 3; ++i) {
    factor.push_back(1 + 0.0002 * static_cast<double>(i));
    names.push_back(std::to_string(i));
    resources.push_back(made(names.back(), 10));
  }
  const auto decided = session::decide(rounds(names, factor, 0.01), resources, "none");
  for (std::size_t i = 0; i < decided.placed.size(); ++i) CHECK(decided.placed[i].tied == (i < session::Race::kFew));
}

TEST_CASE("the default and fewer registers are preferred within a tenth of a per cent, not in every tie") {
  const auto winner = [](double factor, const std::string& default_name, int registers) {
    const auto decided = session::decide(rounds({"x", "y"}, {1.0, factor}, 0.01),
                                         {made("x", 10, Stage::Measured, 32), made("y", 10, Stage::Measured, registers)}, default_name);
    CHECK(decided.tie);
    return decided.placed[decided.winner].configuration;
  };
  CHECK(winner(1.0005, "y", 32) == "y");
  CHECK(winner(1.002, "y", 32) == "x");
  CHECK(winner(1.0005, "none", 24) == "y");
  CHECK(winner(1.002, "none", 24) == "x");
  CHECK(winner(1.0005, "none", 40) == "x");
  CHECK(winner(1.0005, "x", 24) == "x");  // the default comes before fewer registers
}

TEST_CASE("a finalist without a stored measurement is an error only where it could win") {
  auto samples = rounds({"x", "y"}, {1.0, 1.0001}, 0.01);
  CHECK_THROWS_WITH_AS((void)session::decide(samples, {made("x", 10)}, "none"), doctest::Contains("finalist y"), Error);
  samples = rounds({"x", "y"}, {1.0, 1.5});
  CHECK_NOTHROW((void)session::decide(samples, {made("x", 10)}, "none"));
}

TEST_CASE("deciding without rounds is an error, not a winner") {
  CHECK_THROWS_AS((void)session::decide({.configurations = {"x"}, .rounds_us = {}, .left = {}, .failed = {}}, {made("x", 1)}, "x"), Error);
}

}  // namespace test_finalists
