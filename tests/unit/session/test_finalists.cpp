#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/session/finalists.hpp"

using namespace attune;
using measure::Measurement;
using measure::Outcome;
using measure::Stage;

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

/// Rounds in which column 0 takes 10 us and column i takes factor[i] x as long, plus a round-wise wobble that both share.
session::RunOffSamples rounds(const std::vector<std::string>& names, const std::vector<double>& factor, double private_noise = 0) {
  session::RunOffSamples samples;
  samples.configurations = names;
  for (int round = 0; round < 21; ++round) {
    const double shared = 1 + 0.05 * ((round * 7) % 5);
    std::vector<double> row;
    for (std::size_t i = 0; i < factor.size(); ++i) {
      const double sign = (round + static_cast<int>(i)) % 2 == 0 ? 1 : -1;
      row.push_back(10 * shared * factor[i] * (1 + sign * private_noise));
    }
    samples.rounds_us.push_back(row);
  }
  return samples;
}

}  // namespace

TEST_CASE("finalists are the fastest measured configurations and the default, never a screened one") {
  const std::vector<Measurement> all = {made("slow", 9), made("a", 1), made("dropped", 0.5, Stage::Screened), made("b", 2),
                                        made("default", 5), made("c", 3)};
  const auto finalists = session::choose_finalists(all, "default", 2);
  REQUIRE(finalists.size() == 3);
  CHECK(finalists[0]->configuration == "a");
  CHECK(finalists[1]->configuration == "b");
  CHECK(finalists[2]->configuration == "default");
}

TEST_CASE("a default that screening dropped still joins the run-off, a failed one does not") {
  const std::vector<Measurement> with_screened = {made("a", 1), made("default", 50, Stage::Screened)};
  const auto screened = session::choose_finalists(with_screened, "default", 1);
  REQUIRE(screened.size() == 2);
  CHECK(screened[1]->configuration == "default");
  Measurement failed = made("default", 0, Stage::None);
  failed.outcome = Outcome::WrongResult;
  const std::vector<Measurement> with_failed = {made("a", 1), failed};
  CHECK(session::choose_finalists(with_failed, "default", 1).size() == 1);
}

TEST_CASE("without any verified measurement there is no finalist, not even the default") {
  const std::vector<Measurement> only_screened = {made("default", 2, Stage::Screened)};
  CHECK(session::choose_finalists(only_screened, "default", 3).empty());
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
  const auto decided = session::decide(rounds({"many", "few", "default"}, {1.0, 1.0001, 2.0}, 0.01),
                                       {made("many", 10, Stage::Measured, 64), made("few", 10, Stage::Measured, 24), made("default", 20)}, "default");
  CHECK(decided.tie);
  CHECK(decided.placed[decided.winner].configuration == "few");
  CHECK_FALSE(decided.placed.back().tied);
}

TEST_CASE("deciding without rounds is an error, not a winner") {
  CHECK_THROWS_AS((void)session::decide({{"x"}, {}, {}}, {made("x", 1)}, "x"), Error);
}
