// The typed front end of plain histograms on the device, against a plain loop on the host: every sample and counter type, bounds
// of every mapping, samples outside and NaN, at any alignment. Samples are uploaded once for all bins: a binary code for
// each type, counter and mapping is compiled, and no more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/gpu/histogram_fixture.hpp"
#include "tests/gpu/runtime_fixture.hpp"

namespace test_histogram_runtime {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kCounts[] = {0, 1, 31, 33, kLarge};
constexpr std::int64_t kBins[] = {1, 2, 255, 256, 257, 65536, 1000000};

/// Every mapping that the type has: one integer a bin, 16 of them, widths that are none of either.
template <class Sample>
std::vector<Bounds<Sample>> some_bounds(std::int64_t bins) {
  if constexpr (std::is_same_v<Sample, float>) {
    return {{-1, 1}, {-0.5f, 0.3f}, {0, static_cast<float>(bins)}};
  } else {
    const auto of = [](std::int64_t lower, std::int64_t width) {
      return Bounds<Sample>{static_cast<Level<Sample>>(lower), static_cast<Level<Sample>>(lower + width)};
    };
    const std::int64_t lower = std::is_same_v<Sample, std::uint32_t> ? 5 : -17;
    // The widest that there are, and one of fewer values than bins.
    using Limits = std::numeric_limits<Sample>;
    const bool narrow = sizeof(Sample) < 4;
    const auto least = narrow ? std::int64_t{std::numeric_limits<int>::min()} : std::int64_t{Limits::min()};
    const auto widest = narrow ? (std::int64_t{1} << 32) - 1 : std::int64_t{1} << 32;
    return {of(lower, bins),       of(3, bins * 16), of(lower, bins == 1 ? 3 : bins * 3 + 1), of(0, 250), of(least, widest),
            of(least, widest - 1), of(1, 7)};
  }
}

/// Both counters, even bins of every mapping and given edges.
template <class Sample>
void check_type(Runtime& runtime) {
  CAPTURE(detail::HistogramSample<Sample>::kName);
  for (const std::int64_t n : kCounts) {
    CAPTURE(n);
    const auto values = some_samples<Sample>(n);
    const DeviceArray<Sample> samples(values, static_cast<std::size_t>(n % 4 == 3 ? 3 : 1));
    for (const std::int64_t bins : kBins) {
      // What would only cost the host's time: many bins of few samples, many samples in like numbers of bins.
      if (bins > 65536 && (n == 1 || n == 31)) continue;
      if (n == kLarge && (bins == 1 || bins == 255 || bins == 256)) continue;
      CAPTURE(bins);
      const auto narrow = runtime.histogram<Sample>(bins);
      const auto wide = runtime.histogram<Sample, std::uint64_t>(bins);
      std::size_t which = 0;
      for (const auto& bounds : some_bounds<Sample>(bins)) {
        if (++which > 4 && n == kLarge) break;  // the hard ones on few samples
        CAPTURE(bounds.upper);
        const auto expected = counted(values, bins, [&](Sample x) { return bounds.bin(x, bins); });
        check_counts<std::uint32_t>(expected,
                                    [&](auto* counts) { narrow.even(samples.get(), n, bounds.lower, bounds.upper, counts, nullptr); });
        check_counts<std::uint64_t>(expected,
                                    [&](auto* counts) { wide.even(samples.get(), n, bounds.lower, bounds.upper, counts, nullptr); });
      }
      if (n == kLarge && bins != 257 && bins != 1000000) continue;  // the host's search takes long
      const auto ascending = some_edges<Sample>(bins);
      const DeviceArray<Sample> edges(ascending, 1);
      const auto expected = counted(values, bins, [&](Sample x) { return bin_between(ascending, x); });
      check_counts<std::uint32_t>(expected, [&](auto* counts) { narrow.with_edges(samples.get(), n, edges.get(), counts, nullptr); });
      check_counts<std::uint64_t>(expected, [&](auto* counts) { wide.with_edges(samples.get(), n, edges.get(), counts, nullptr); });
    }
  }
}

}  // namespace

TEST_CASE_FIXTURE(
    RuntimeFixture,
    "histograms of every type and counter are the host's: even bins of every mapping and given edges, any n, bins and alignment") {
  Runtime runtime;
  check_type<std::uint8_t>(runtime);
  check_type<std::uint16_t>(runtime);
  check_type<std::int32_t>(runtime);
  check_type<std::uint32_t>(runtime);
  check_type<float>(runtime);
}

TEST_CASE_FIXTURE(RuntimeFixture, "a stated skew changes no count, whatever the data are") {
  Runtime runtime;
  constexpr std::int64_t kBinCount = 2048;
  const Bounds<int> bounds{-24, 1000003};
  auto values = some_samples<int>(kLarge);
  const std::vector<int> constant(values.size(), 77);
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i % 10 != 0) values[i] = 500000;  // hot
  for (const Skew skew : {Skew::Unknown, Skew::Hot, Skew::Constant, Skew::Sorted}) {
    CAPTURE(static_cast<int>(skew));
    const auto histogram = runtime.histogram<int>(kBinCount, skew);
    for (const auto& data : {values, constant, sorted}) {
      const DeviceArray<int> samples(data, 1);
      check_counts<std::uint32_t>(counted(data, kBinCount, [&](int x) { return bounds.bin(x, kBinCount); }), [&](std::uint32_t* counts) {
        histogram.even(samples.get(), kLarge, bounds.lower, bounds.upper, counts, nullptr);
      });
    }
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "a prepared histogram is captured, and every replay counts what the samples are then") {
  Runtime runtime;
  const auto first = some_samples<std::uint8_t>(kLarge);
  const std::vector<std::uint8_t> second(first.rbegin() + 1000, first.rend());
  const auto histogram = runtime.histogram<std::uint8_t>(256);
  const auto expected = [](const auto& values) {
    std::vector<std::uint32_t> counts(256);
    for (const auto value : values) ++counts[value];
    return counts;
  };
  const auto n = static_cast<std::int64_t>(second.size());
  const DeviceArray<std::uint8_t> samples(std::vector<std::uint8_t>(first.begin(), first.begin() + n), 1);
  const std::vector<std::uint8_t> before = samples.read();
  const DeviceArray<std::uint32_t> counts(256, 1);
  histogram.prepare(n);
  histogram.prepare_edges(n);
  const auto built = runtime.counters().plans_built;
  const Plan plan = histogram.plan_even(n, 0, 256);
  CHECK(runtime.counters().plans_built == built);
  const auto workspace = workspace_of(plan);
  const gpu::Stream stream;
  const auto replayed = [&](const gpu::Graph& graph) {
    for (const auto* values : {&before, &second, &before}) {
      samples.write(*values);
      graph.launch(stream);
      CHECK(counts.read() == expected(*values));
    }
    CHECK(counts.is_whole());
  };
  replayed(gpu::Graph::capture(stream, [&] {
    plan.launch(histogram.arguments(samples.get(), 0, 256, counts.get()), reinterpret_cast<void*>(workspace.address()), stream.get());
  }));
  if (plan.workspace_bytes() == 0) {
    replayed(gpu::Graph::capture(stream, [&] { histogram.even(samples.get(), n, 0, 256, counts.get(), stream.get()); }));
  }
}

TEST_CASE_FIXTURE(RuntimeFixture, "addresses that are null or misaligned are refused, and nothing is launched") {
  Runtime runtime;
  const auto histogram = runtime.histogram<int>(16);
  const DeviceArray<int> samples(std::vector<int>(64, 3));
  const DeviceArray<std::uint32_t> counts(16, 0);
  const auto* const between = reinterpret_cast<const int*>(reinterpret_cast<const char*>(samples.get()) + 1);
  CHECK_THROWS_AS(histogram.even(between, 8, 0, 16, counts.get(), nullptr), UsageError);
  CHECK_THROWS_AS(histogram.even(samples.get(), 8, 0, 16, nullptr, nullptr), UsageError);
  CHECK_THROWS_AS(histogram.with_edges(samples.get(), 8, nullptr, counts.get(), nullptr), UsageError);
  CHECK(runtime.counters().launches == 0);
  CHECK_NOTHROW(histogram.even(nullptr, 0, 0, 16, counts.get(), nullptr));
  CHECK(counts.read() == std::vector<std::uint32_t>(16, 0));
}

}  // namespace test_histogram_runtime
