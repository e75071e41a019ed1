#include <doctest/doctest.h>

#include "bench/support/paired_run.hpp"

namespace test_paired_run {

using namespace attune;

TEST_CASE("a time over another's is that of the same rounds, however the device drifts between them") {
  session::RunOffSamples samples;
  samples.configurations = {"slow", "base", "fast"};
  samples.rounds_per_epoch = 2;
  for (int round = 0; round < 20; ++round) {
    const double drift = 1 + 0.1 * round;
    samples.rounds_us.push_back({11 * drift, 10 * drift, 9 * drift});
  }
  const auto over = bench::ratios_to(samples, "base");
  REQUIRE(over.size() == 3);
  CHECK(over.at("slow").median_ratio == doctest::Approx(1.1));
  CHECK(over.at("slow").low == doctest::Approx(1.1));
  CHECK(over.at("base").median_ratio == 1);
  CHECK(over.at("base").tie());
  CHECK(over.at("fast").median_ratio == doctest::Approx(0.9));
  CHECK(over.at("fast").faster());
}

TEST_CASE("rounds of one epoch are one observation: an epoch that differs widens the interval as one does") {
  session::RunOffSamples samples;
  samples.configurations = {"base", "other"};
  samples.rounds_per_epoch = 2;
  for (const double ratio : {1.0, 1.0, 1.2, 1.2, 1.1, 1.3}) samples.rounds_us.push_back({10, 10 * ratio});
  const auto other = bench::ratios_to(samples, "base").at("other");
  CHECK(other.median_ratio == doctest::Approx(1.2));  // of 1.0, 1.2 and 1.2
  CHECK(other.low == doctest::Approx(1.0));
  CHECK(other.high == doctest::Approx(1.2));
}

}  // namespace test_paired_run
