// Weighted histograms and those of several channels on the device, against a plain loop on the host: every sample type, samples outside and
// NaN, at any alignment.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/gpu/histogram_fixture.hpp"
#include "tests/gpu/runtime_fixture.hpp"

namespace test_histogram_weights_channels {

using namespace attune;
using namespace attune::test;

namespace {

/// Weights are small integers, so that f32 sums are exact in any order; those of samples outside are NaN.
template <class Sample>
void check_weights(Runtime& runtime, const Bounds<Sample>& bounds) {
  CAPTURE(detail::HistogramSample<Sample>::kName);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{33}, kLarge}) {
    for (const std::int64_t bins : {1, 257, 65536}) {
      if (n == kLarge && bins != 257) continue;
      CAPTURE(n);
      CAPTURE(bins);
      const auto values = some_samples<Sample>(n);
      const auto ascending = some_edges<Sample>(bins);
      const DeviceArray<Sample> samples(values, 3), edges(ascending, 0);
      const auto histogram = runtime.weighted_histogram<Sample>(bins);
      const auto check = [&](auto&& bin, auto&& launch) {
        std::vector<float> masses(values.size(), std::nanf(""));
        const auto expected = counted(values, bins, 1, 1, bin, [&](std::size_t i) {
          masses[i] = static_cast<float>(i % 7);  // asked for samples inside only
          return i % 7;
        });
        const DeviceArray<float> weights(masses, 1);
        check_counts<float>(expected, [&](float* sums) { launch(histogram, samples.get(), weights.get(), sums); });
      };
      check([&](Sample x) { return bounds.bin(x, bins); },
            [&](const auto& front_end, const Sample* in, const float* weights, float* sums) {
              front_end.even(in, weights, n, bounds.lower, bounds.upper, sums, nullptr);
            });
      check([&](Sample x) { return bin_between(ascending, x); },
            [&](const auto& front_end, const Sample* in, const float* weights, float* sums) {
              front_end.with_edges(in, weights, n, edges.get(), sums, nullptr);
            });
    }
  }
}

template <class Sample, class Counter>
void check_channels(Runtime& runtime, int channels, int active, const Bounds<Sample>& bounds) {
  CAPTURE(detail::HistogramSample<Sample>::kName);
  CAPTURE(channels);
  for (const std::int64_t pixels : {0, 1, 33, 250001, 1100003}) {
    for (const std::int64_t bins : {1, 256, 5000}) {
      if (pixels > 33 && bins == 1) continue;
      if (pixels > 1000000 && (bins != 256 || sizeof(Sample) > 1)) continue;  // many bytes have a default of their own
      CAPTURE(pixels);
      CAPTURE(bins);
      const auto values = some_samples<Sample>(pixels * channels);
      const auto ascending = some_edges<Sample>(bins);
      const auto histogram = runtime.multi_histogram<Sample, Counter>(bins, channels, active);
      const auto one = [](std::size_t) { return 1u; };
      const auto even = counted(
          values, bins, channels, active, [&](Sample x) { return bounds.bin(x, bins); }, one);
      const auto between = counted(
          values, bins, channels, active, [&](Sample x) { return bin_between(ascending, x); }, one);
      for (const int offset :
           {0, 1, channels}) {  // vectors that begin with the first channel, with another one, and one that is not aligned
        CAPTURE(offset);
        const DeviceArray<Sample> samples(values, offset), edges(ascending, 0);
        check_counts<Counter>(even,
                              [&](Counter* counts) { histogram.even(samples.get(), pixels, bounds.lower, bounds.upper, counts, nullptr); });
        check_counts<Counter>(between, [&](Counter* counts) { histogram.with_edges(samples.get(), pixels, edges.get(), counts, nullptr); });
      }
    }
  }
}

}  // namespace

TEST_CASE_FIXTURE(RuntimeFixture, "weighted histograms sum the weights of the samples inside, and ignore those outside") {
  Runtime runtime;
  check_weights<std::uint8_t>(runtime, {0, 250});
  check_weights<std::uint16_t>(runtime, {7, 60007});
  check_weights<std::int32_t>(runtime, {-1000, 3000003});
  check_weights<std::uint32_t>(runtime, {5, 3000003});
  check_weights<float>(runtime, {-1, 1});
}

TEST_CASE_FIXTURE(RuntimeFixture, "the first channels of interleaved pixels are counted, each for itself, and the others are not") {
  Runtime runtime;
  check_channels<std::uint8_t, std::uint32_t>(runtime, 4, 3, {0, 256});
  check_channels<std::uint8_t, std::uint32_t>(runtime, 2, 1, {0, 256});
  check_channels<std::uint8_t, std::uint32_t>(runtime, 3, 2, {0, 250});
  check_channels<std::uint8_t, std::uint64_t>(runtime, 3, 3, {-3, 250});
  check_channels<std::uint16_t, std::uint32_t>(runtime, 2, 1, {0, 65536});
  check_channels<std::int32_t, std::uint32_t>(runtime, 4, 3, {-1000, 3000003});
  check_channels<std::uint32_t, std::uint64_t>(runtime, 4, 3, {0, 3000003});
  check_channels<float, std::uint32_t>(runtime, 4, 3, {-1, 1});
}

}  // namespace test_histogram_weights_channels
