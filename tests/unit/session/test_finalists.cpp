#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/session/finalists.hpp"

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
  const std::vector<Candidate> all = {searched("slow", 9), searched("a", 1), searched("dropped", 0.5, Stage::Screened), searched("b", 2),
                                      searched("default", 5), searched("c", 3)};
  CHECK(session::choose_finalists(all, "default", {.fewest = 2, .most = 2, .ratio = 1}) == Names{"a", "b", "default"});
}

TEST_CASE("everybody close to the best is a finalist, up to the most, and the fewest are there however far behind they lie") {
  const std::vector<Candidate> all = {searched("far", 20), searched("c", 10.29), searched("a", 10), searched("d", 10.4), searched("b", 10.1)};
  CHECK(session::choose_finalists(all, "none", {.fewest = 1, .most = 9, .ratio = 1.03}) == Names{"a", "b", "c"});
  CHECK(session::choose_finalists(all, "none", {.fewest = 4, .most = 9, .ratio = 1.03}) == Names{"a", "b", "c", "d"});
  CHECK(session::choose_finalists(all, "none", {.fewest = 1, .most = 2, .ratio = 1.03}) == Names{"a", "b"});
  CHECK(session::choose_finalists(all, "none", {.fewest = 9, .most = 9, .ratio = 1.03}).size() == all.size());
}

TEST_CASE("neither a failed nor an unverified configuration nor one without a time is a finalist") {
  auto failed = searched("failed", 1);
  failed.outcome = Outcome::Crashed;
  auto unverified = searched("unverified", 1);
  unverified.verified = false;
  CHECK(session::choose_finalists({failed, unverified, searched("untimed", 0), searched("good", 2)}, "none", {}) == Names{"good"});
}

TEST_CASE("equal medians are ordered by their texts, whatever came first") {
  CHECK(session::choose_finalists({searched("y", 1), searched("x", 1)}, "none", {}) == Names{"x", "y"});
}

TEST_CASE("a default that screening dropped still joins the run-off, a failed one does not") {
  const std::vector<Candidate> with_screened = {searched("a", 1), searched("default", 50, Stage::Screened)};
  CHECK(session::choose_finalists(with_screened, "default", {}) == Names{"a", "default"});
  Candidate failed = searched("default", 0, Stage::None);
  failed.outcome = Outcome::WrongResult;
  CHECK(session::choose_finalists({searched("a", 1), failed}, "default", {}) == Names{"a"});
}

TEST_CASE("without any verified measurement there is no finalist, not even the default") {
  CHECK(session::choose_finalists({searched("default", 2, Stage::Screened)}, "default", {}).empty());
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
  CHECK_THROWS_AS((void)session::decide({.configurations = {"x"}, .rounds_us = {}, .left = {}, .failed = {}}, {made("x", 1)}, "x"), Error);
}
