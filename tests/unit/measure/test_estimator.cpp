// Why a time is a median with an order-statistic interval, why the winner comes from paired rounds, and why its time is
// published from there (docs/measurement.md): counted over many seeds of noise like that of kernels. Numbers that are
// not worked out beside their check were simulated with a program that shares nothing with this one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/unit/measure/noise.hpp"
#include "tuner/measure/measurement.hpp"

namespace test_estimator {

using namespace attune::measure;
using attune::test::Noise;

namespace {

using Samples = std::vector<double>;

Samples samples_of(std::size_t count, const std::function<double()>& draw) {
  Samples samples(count);
  std::generate(samples.begin(), samples.end(), draw);
  return samples;
}

double mean_of(const Samples& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double minimum_of(const Samples& samples) { return *std::min_element(samples.begin(), samples.end()); }

double median_of(const Samples& samples) { return summarise({samples}, 1).median_us; }

/// The textbook's 95 % interval of a mean covers `truth`. `student`: of the t distribution for so many samples.
bool mean_interval_covers(const Samples& samples, double student, double truth) {
  const double mean = mean_of(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const auto count = static_cast<double>(samples.size());
  return std::abs(mean - truth) <= student * std::sqrt(squares / (count - 1) / count);
}

/// Visits that each meet another state of the device: everything in one is longer or shorter by the same factor.
std::vector<Samples> drifting_visits(Noise& noise, double floor_us, double drift, std::size_t visits, std::size_t each) {
  std::vector<Samples> all;
  for (std::size_t visit = 0; visit < visits; ++visit) {
    const double state = 1 + drift * noise.normal();
    all.push_back(samples_of(each, [&] { return noise.kernel_us(floor_us * state); }));
  }
  return all;
}

/// How often in `trials`. Binomial deviations at 4000 trials: at most 0.8 %.
double share(int trials, const std::function<bool()>& happens) {
  int count = 0;
  for (int trial = 0; trial < trials; ++trial) count += happens() ? 1 : 0;
  return static_cast<double>(count) / trials;
}

constexpr int kTrials = 4000;
constexpr double kFourDeviations = 0.011;  // of a share near 0.97 in 4000 trials

}  // namespace

TEST_CASE("the median's interval covers under a heavy tail as often as it says, the mean's does not") {
  Noise noise(11);
  int median = 0, mean = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Samples samples = samples_of(24, [&] { return noise.kernel_us(100); });
    const Timing timing = summarise({samples}, 1);
    median += timing.low_us <= Noise::kernel_median_us(100) && Noise::kernel_median_us(100) <= timing.high_us;
    mean += mean_interval_covers(samples, 2.069, Noise::kernel_mean_us(100));
  }
  // Ranks 7 and 18 of 24: 1 - 2 P(Bin(24, 1/2) <= 6) = 1 - 380102 / 2^24 = 0.9773.
  CHECK(std::abs(median / static_cast<double>(kTrials) - 0.9773) < kFourDeviations);
  // Without a disturbed sample (0.95^24 = 29 % of cases) nothing hints at the tail, and the mean's interval stays far
  // below the mean, which the tail decides: it can cover in 71 % at best.
  CHECK(mean / static_cast<double>(kTrials) < 1 - std::pow(1 - Noise::kTailShare, 24) + kFourDeviations);
}

TEST_CASE("the mean picks the slower of two configurations for its luck with disturbances, the median does not") {
  // 1 % apart, five times the jitter; a single large disturbance of the faster one is enough for the mean.
  Noise noise(12);
  int median = 0, mean = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Samples faster = samples_of(12, [&] { return noise.kernel_us(100); });
    const Samples slower = samples_of(12, [&] { return noise.kernel_us(101); });
    median += median_of(slower) < median_of(faster);
    mean += mean_of(slower) < mean_of(faster);
  }
  CHECK(median < kTrials / 500);
  CHECK(mean > kTrials / 10);  // simulated: 17 %
}

TEST_CASE("the minimum picks a configuration that is seldom fast, the median the one that usually is") {
  // One sample in ten of the second finds a lucky state and takes 98, the others take 103; the first takes 100.
  Noise noise(13);
  int median = 0, minimum = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Samples steady = samples_of(12, [&] { return noise.kernel_us(100); });
    const Samples lucky = samples_of(12, [&] { return noise.kernel_us(noise.uniform() < 0.1 ? 98 : 103); });
    median += median_of(lucky) < median_of(steady);
    minimum += minimum_of(lucky) < minimum_of(steady);
  }
  CHECK(median < kTrials / 500);
  CHECK(minimum > kTrials * 6 / 10);  // 1 - 0.9^12 = 72 % have a lucky sample; a few of those are disturbed
}

TEST_CASE("of two equal configurations the minimum prefers the one measured more often, the median neither") {
  // All 27 samples are alike, so the smallest is among the 24 with probability 24 / 27.
  Noise noise(14);
  int median = 0, minimum = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Samples often = samples_of(24, [&] { return noise.kernel_us(100); });
    const Samples seldom = samples_of(3, [&] { return noise.kernel_us(100); });
    median += median_of(often) < median_of(seldom);
    minimum += minimum_of(often) < minimum_of(seldom);
  }
  CHECK(std::abs(minimum / static_cast<double>(kTrials) - 24.0 / 27) < 0.02);
  CHECK(std::abs(median / static_cast<double>(kTrials) - 0.5) < 0.05);
}

TEST_CASE("more visits make the interval cover under drift, more samples in each visit do not") {
  // Visits 0.5 % apart. Simulated coverage: 3 visits of 4 samples 0.81, 3 of 24 0.73, 6 of 4 0.97.
  Noise noise(15);
  const auto coverage = [&](std::size_t visits, std::size_t each) {
    return share(kTrials / 2, [&] {
      const Timing timing = summarise(drifting_visits(noise, 100, 0.005, visits, each), 1);
      const double truth = Noise::kernel_median_us(100);
      return timing.low_us <= truth && truth <= timing.high_us;
    });
  };
  const double few = coverage(3, 4);
  const double longer = coverage(3, 24);
  const double more = coverage(6, 4);
  CHECK(more > 0.94);
  CHECK(more > few + 0.1);
  CHECK(longer < few);
}

TEST_CASE("under drift paired rounds find a difference of half a per cent that separate visits get wrong") {
  // The device's state moves by 1 %. Measured one after the other, three visits of ten samples each; in the run-off,
  // 31 rounds that both share.
  Noise noise(16);
  int separate = 0, paired_wrong = 0, paired_clear = 0;
  constexpr int kSeeds = 2000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    separate += summarise(drifting_visits(noise, 100.5, 0.01, 3, 10), 1).median_us <
                summarise(drifting_visits(noise, 100, 0.01, 3, 10), 1).median_us;
    const auto paired = compare_paired(samples_of(31, [&] {
      const double state = 1 + 0.01 * noise.normal();
      return noise.kernel_us(100 * state) / noise.kernel_us(100.5 * state);
    }));
    paired_wrong += paired.median_ratio > 1;
    paired_clear += paired.faster();
  }
  CHECK(separate > kSeeds / 5);  // simulated: 30 %
  CHECK(paired_wrong == 0);
  CHECK(paired_clear > kSeeds * 99 / 100);
}

TEST_CASE("equal configurations are told apart by the run-off no more often than its interval allows") {
  // Ranks 10 and 22 of 31 rounds: 1 - 0.9706.
  Noise noise(17);
  const double told_apart = share(kTrials, [&] {
    return !compare_paired(samples_of(31, [&] {
              const double state = 1 + 0.01 * noise.normal();
              return noise.kernel_us(100 * state) / noise.kernel_us(100 * state);
            })).tie();
  });
  CHECK(std::abs(told_apart - 0.0294) < kFourDeviations);
}

TEST_CASE("the search's best time is too short, the run-off's is not") {
  // 100 equal configurations under 0.5 % of drift. Simulated: the smallest median lies 0.77 % below the truth, the
  // smallest sample 1.5 %, the run-off's median of a configuration that was not chosen by its run-off time 0.08 % off.
  Noise noise(18);
  const double truth = Noise::kernel_median_us(100);
  constexpr int kRuns = 60;
  int too_short = 0;
  double search_bias = 0, minimum_bias = 0, run_off_bias = 0;
  for (int run = 0; run < kRuns; ++run) {
    double best_median = 1e9, best_sample = 1e9;
    for (int configuration = 0; configuration < 100; ++configuration) {
      const Timing timing = summarise(drifting_visits(noise, 100, 0.005, 3, 4), 1);
      best_median = std::min(best_median, timing.median_us);
      best_sample = std::min(best_sample, timing.min_us);
    }
    const Samples rounds = samples_of(31, [&] { return noise.kernel_us(100 * (1 + 0.005 * noise.normal())); });
    too_short += best_median < truth;
    search_bias += (best_median / truth - 1) / kRuns;
    minimum_bias += (best_sample / truth - 1) / kRuns;
    run_off_bias += (median_of(rounds) / truth - 1) / kRuns;
  }
  CHECK(too_short == kRuns);
  CHECK(search_bias < -0.005);
  CHECK(minimum_bias < search_bias);
  CHECK(std::abs(run_off_bias) < 0.002);
}

}  // namespace test_estimator
