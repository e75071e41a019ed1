#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "attune/error.hpp"
#include "tests/unit/measure/noise.hpp"
#include "tuner/base/json.hpp"
#include "tuner/measure/measurement.hpp"

namespace test_measurement {

using namespace attune;
using namespace attune::measure;
using attune::test::Noise;
using doctest::Approx;
using nlohmann::json;

namespace {

std::vector<double> ascending(int first, int last) {
  std::vector<double> values(static_cast<std::size_t>(last - first + 1));
  std::iota(values.begin(), values.end(), first);
  return values;
}

bool covers(const Timing& timing, double truth) { return timing.low_us <= truth && truth <= timing.high_us; }

Measurement sample_measurement() {
  Measurement measurement;
  measurement.configuration = R"({"block_size":256})";
  measurement.outcome = Outcome::WrongResult;
  measurement.stage = Stage::RunOff;
  measurement.verified = true;
  measurement.timing = {2.5, 2.25, 2.75, 2.125, 0.1, 0.05, 18, 3, 400};
  measurement.resources = {32, 1024, 16, 8, 0.75, 31.5};
  measurement.sm_clock_mhz = 1980;
  measurement.throttle = "sw_power_cap";
  measurement.detail = "out[3] is 4, not 5";
  return measurement;
}

/// The message of reading `object`; empty when it is accepted.
std::string reading_error(const json& object) {
  try {
    static_cast<void>(measurement_from_json(object));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("every outcome, stage and policy reads back from its name") {
  for (const auto outcome : {Outcome::Ok, Outcome::CompileFailed, Outcome::ExceedsLimits, Outcome::LaunchFailed, Outcome::WrongResult,
                             Outcome::Crashed, Outcome::TimedOut}) {
    CHECK(outcome_from_name(name(outcome)) == outcome);
  }
  for (const auto stage : {Stage::None, Stage::Screened, Stage::Measured, Stage::RunOff}) CHECK(stage_from_name(name(stage)) == stage);
  for (const auto cache : {CachePolicy::Cold, CachePolicy::Hot}) {
    for (const auto launch : {LaunchMode::Graph, LaunchMode::Stream}) {
      CHECK(policy_from_text(to_text(Policy{cache, launch})) == Policy{cache, launch});
    }
  }
  CHECK(std::string(name(Outcome::CompileFailed)) == "compile_failed");
  CHECK(std::string(name(Stage::RunOff)) == "run_off");
  CHECK(to_text(Policy{}) == "cold/graph");
}

TEST_CASE("an unknown name is refused with the known ones") {
  CHECK_THROWS_WITH_AS(static_cast<void>(outcome_from_name("fine")), doctest::Contains("'fine' is unknown; known: ok, compile_failed"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(stage_from_name("")), doctest::Contains("none, screened, measured, run_off"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(policy_from_text("cold")), doctest::Contains("cold/graph, cold/stream, hot/graph, hot/stream"),
                       UsageError);
}

TEST_CASE("a measurement reads back from its JSON unchanged") {
  const Measurement original = sample_measurement();
  const json written = to_json(original);
  const Measurement read = measurement_from_json(base::parse_json(base::dump_json(written)));
  CHECK(to_json(read) == written);
  CHECK(read.configuration == original.configuration);
  CHECK(read.outcome == Outcome::WrongResult);
  CHECK(read.timing.between_spread == original.timing.between_spread);
  CHECK(read.timing.calls_per_sample == 400);
  CHECK(read.resources.spill_bytes == 8);
  CHECK(read.detail == original.detail);
}

TEST_CASE("every field of a measurement is required, and named when it is missing") {
  const json whole = to_json(sample_measurement()).flatten();
  for (const auto& [pointer, value] : whole.items()) {
    json object = to_json(sample_measurement());
    const json::json_pointer place(pointer);
    object.at(place.parent_pointer()).erase(place.back());
    CAPTURE(pointer);
    const std::string error = reading_error(object);
    CHECK(error.find("is missing") != std::string::npos);
    CHECK(error.find(place.back() + "'") != std::string::npos);
  }
}

TEST_CASE("a mistyped or impossible field is named with what it should be") {
  const auto error_with = [](const char* pointer, const json& value) {
    json object = to_json(sample_measurement());
    object[json::json_pointer(pointer)] = value;
    return reading_error(object);
  };
  CHECK(error_with("/timing/median_us", "fast").find("'timing.median_us' must be a number from 0 to 1000000000000, not \"fast\"") !=
        std::string::npos);
  CHECK(error_with("/timing/median_us", -1.0).find("'timing.median_us'") != std::string::npos);
  CHECK(error_with("/timing/samples", 1.5).find("'timing.samples' must be a whole number") != std::string::npos);
  CHECK(error_with("/resources/registers", 3000000000LL).find("'resources.registers'") != std::string::npos);
  CHECK(error_with("/resources/registers", -1).find("'resources.registers'") != std::string::npos);
  CHECK(error_with("/resources", 5).find("'resources' must be an object, not 5") != std::string::npos);
  CHECK(error_with("/verified", 1).find("'verified' must be true or false") != std::string::npos);
  CHECK(error_with("/detail", 1).find("'detail' must be a string") != std::string::npos);
  CHECK(error_with("/outcome", "fine").find("'fine' is unknown") != std::string::npos);
  CHECK_FALSE(reading_error(json::array()).empty());
}

TEST_CASE("the median is the middle sample, or the mean of the middle two") {
  CHECK(summarise({{3, 1, 2}}, 1).median_us == 2);
  CHECK(summarise({{4, 1, 2, 3}}, 1).median_us == 2.5);
  CHECK(summarise({{7}}, 1).median_us == 7);
}

TEST_CASE("the interval is the exact order-statistic one of published tables") {
  // Ranks of the 95 % interval of a median: n = 9: 2 and 8, 10: 2 and 9, 15: 4 and 12, 20: 6 and 15, 31: 10 and 22.
  const auto ranks = [](int n) {
    const Timing timing = summarise({ascending(1, n)}, 1);
    return std::pair{timing.low_us, timing.high_us};
  };
  CHECK(ranks(9) == std::pair{2.0, 8.0});
  CHECK(ranks(10) == std::pair{2.0, 9.0});
  CHECK(ranks(15) == std::pair{4.0, 12.0});
  CHECK(ranks(20) == std::pair{6.0, 15.0});
  CHECK(ranks(31) == std::pair{10.0, 22.0});
  // From exact integer binomials; 2^-2000 is no double.
  CHECK(ranks(2000) == std::pair{956.0, 1045.0});
}

TEST_CASE("below six samples the interval is all there is") {
  for (int n = 1; n <= 8; ++n) {
    const Timing timing = summarise({ascending(1, n)}, 1);
    CHECK(timing.low_us == 1);
    CHECK(timing.high_us == n);
  }
}

TEST_CASE("the interval of independent samples covers the true median as often as it says") {
  // Exact coverage by the binomial distribution: n = 20: 0.9586, n = 31: 0.9706, whatever the samples' distribution.
  Noise noise(1);
  const double truth = 10 + std::numbers::ln2;
  for (const auto& [n, coverage] : {std::pair{20, 0.9586}, std::pair{31, 0.9706}}) {
    constexpr int kTrials = 5000;
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> visit;
      for (int i = 0; i < n; ++i) visit.push_back(noise.skewed());
      covered += covers(summarise({visit}, 1), truth);
    }
    CHECK(std::abs(static_cast<double>(covered) / kTrials - coverage) < 0.011);  // four binomial deviations
  }
}

TEST_CASE("drift between visits widens the interval") {
  const std::vector<std::vector<double>> visits = {{9.99, 10, 10.01}, {10.19, 10.2, 10.21}, {10.09, 10.1, 10.11}};
  const Timing timing = summarise(visits, 5);
  CHECK(timing.median_us == 10.1);
  CHECK(timing.between_spread == Approx(0.1 / 10.1));
  CHECK(timing.low_us <= 10.0);
  CHECK(timing.high_us >= 10.2);
  CHECK(timing.samples == 9);
  CHECK(timing.visits == 3);
  CHECK(timing.calls_per_sample == 5);
  CHECK(timing.min_us == 9.99);
}

TEST_CASE("visits that each drift are covered far more often when they are told apart") {
  // 40 samples a visit with 0.05 % noise, visits 1 % apart: pooled as if independent, the interval is the middle
  // visit's. Told apart it is the median -+ half the range of three offsets, which covers the truth in 72 % of cases
  // (simulated apart).
  Noise noise(2);
  int apart = 0, pooled = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> visits;
    std::vector<double> together;
    for (int visit = 0; visit < 3; ++visit) {
      const double offset = noise.normal();
      visits.emplace_back();
      for (int i = 0; i < 40; ++i) visits.back().push_back(100 + offset + 0.05 * noise.normal());
      together.insert(together.end(), visits.back().begin(), visits.back().end());
    }
    apart += covers(summarise(visits, 1), 100);
    pooled += covers(summarise({together}, 1), 100);
  }
  CHECK(apart > 650);
  CHECK(pooled < 200);
}

TEST_CASE("steady visits leave the order-statistic interval as it is") {
  const std::vector<double> visit = {1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9};
  const Timing timing = summarise({visit, visit}, 1);
  CHECK(timing.between_spread == 0);
  // 20 samples: ranks 6 and 15 of the doubled values.
  CHECK(timing.low_us == 1.2);
  CHECK(timing.high_us == 1.7);
  CHECK(timing.within_spread == Approx(0.25 / 1.45));
}

TEST_CASE("one huge outlier moves neither median nor interval beyond its neighbours") {
  std::vector<double> samples = ascending(1, 21);
  const Timing clean = summarise({samples}, 1);
  samples.back() = 1e9;
  const Timing disturbed = summarise({samples}, 1);
  CHECK(disturbed.median_us == clean.median_us);
  CHECK(disturbed.low_us == clean.low_us);
  CHECK(disturbed.high_us == clean.high_us);
}

TEST_CASE("visits far apart keep the low end at the samples' minimum") {
  // Median 10, half the range of the visits' medians 49.5: 10 - 49.5 would be a negative time.
  const Timing timing = summarise({{1}, {10}, {100}}, 1);
  CHECK(timing.between_spread == Approx(4.95));
  CHECK(timing.low_us == 1);
}

TEST_CASE("visits without samples do not count") {
  const Timing timing = summarise({{}, {2, 3, 4}, {}}, 1);
  CHECK(timing.visits == 1);
  CHECK(timing.between_spread == 0);
  CHECK(timing.median_us == 3);
}

TEST_CASE("no samples, or impossible ones, are refused") {
  CHECK_THROWS_AS(static_cast<void>(summarise({}, 1)), Error);
  CHECK_THROWS_AS(static_cast<void>(summarise({{}, {}}, 1)), Error);
  CHECK_THROWS_AS(static_cast<void>(summarise({{1, 0}}, 1)), Error);
  CHECK_THROWS_AS(static_cast<void>(summarise({{1, -1}}, 1)), Error);
  CHECK_THROWS_AS(static_cast<void>(summarise({{1, std::numeric_limits<double>::quiet_NaN()}}, 1)), Error);
  CHECK_THROWS_AS(static_cast<void>(summarise({{std::numeric_limits<double>::infinity()}}, 1)), Error);
}

TEST_CASE("paired ratios find a difference far below the noise that both share") {
  // Rounds drift by 5 % together; the candidate is 0.5 % faster, its own noise is 0.2 %.
  Noise noise(3);
  std::vector<double> ratios, candidate, incumbent;
  for (int round = 0; round < 31; ++round) {
    const double shared = 100 * (1 + 0.05 * noise.normal());
    incumbent.push_back(shared * (1 + 0.002 * noise.normal()));
    candidate.push_back(shared * 0.995 * (1 + 0.002 * noise.normal()));
    ratios.push_back(candidate.back() / incumbent.back());
  }
  const PairedComparison paired = compare_paired(ratios);
  CHECK(paired.faster());
  CHECK_FALSE(paired.tie());
  CHECK(paired.median_ratio == Approx(0.995).epsilon(0.002));
  // The same times unpaired cannot tell them apart.
  CHECK(summarise({candidate}, 1).high_us > summarise({incumbent}, 1).low_us);
}

TEST_CASE("equal configurations tie, and are called different no more often than the interval allows") {
  Noise noise(4);
  int told_apart = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> ratios;
    for (int round = 0; round < 20; ++round) ratios.push_back(std::exp(0.01 * noise.normal()));
    told_apart += !compare_paired(ratios).tie();
  }
  // 1 - 0.9586 = 4.1 % by the binomial distribution.
  CHECK(std::abs(static_cast<double>(told_apart) / kTrials - 0.0414) < 0.013);
}

TEST_CASE("a configuration compared with itself is a tie of ratio one") {
  const PairedComparison paired = compare_paired(std::vector<double>(21, 1.0));
  CHECK(paired.median_ratio == 1);
  CHECK(paired.tie());
  CHECK_FALSE(paired.faster());
}

TEST_CASE("no rounds, or impossible ratios, are refused") {
  CHECK_THROWS_AS(static_cast<void>(compare_paired({})), Error);
  CHECK_THROWS_AS(static_cast<void>(compare_paired({1, 0})), Error);
}

}  // namespace test_measurement
