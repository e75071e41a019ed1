// The typed front ends of histogram on the device, against a plain loop on the host: every sample and counter type, bounds
// of every mapping, samples outside and NaN, at any alignment. Samples are uploaded once for all bins: a binary code for
// each type, counter and mapping is compiled, and no more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/gpu/runtime_fixture.hpp"

namespace test_histogram_runtime {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kCounts[] = {0, 1, 31, 33, kLarge};
constexpr std::int64_t kBins[] = {1, 2, 255, 256, 257, 65536, 1000000};

void wait() { gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting"); }

/// An array on the device that starts `offset` elements behind an aligned address.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values, std::size_t offset = 0) : DeviceArray(values.size(), offset) { write(values); }
  DeviceArray(std::size_t count, std::size_t offset) : count_(count), offset_(offset), memory_((count + offset + 1) * sizeof(T)) {
    gpu::check(gpu::Driver::get().cuMemsetD8Async(memory_.address(), 0xEE, memory_.bytes(), nullptr), "cuMemsetD8Async", "poisoning");
    wait();
  }
  void write(const std::vector<T>& values) const {
    if (!values.empty())
      gpu::check(gpu::Driver::get().cuMemcpyHtoDAsync(at(0), values.data(), values.size() * sizeof(T), nullptr), "cuMemcpyHtoDAsync",
                 "writing");
    wait();
  }
  /// Waits for the whole context.
  [[nodiscard]] std::vector<T> read() const {
    wait();
    std::vector<T> values(count_);
    gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(values.data(), at(0), count_ * sizeof(T), nullptr), "cuMemcpyDtoHAsync", "reading");
    wait();
    return values;
  }
  /// Nothing was written behind the last element.
  [[nodiscard]] bool is_whole() const {
    unsigned char behind[sizeof(T)];
    gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(behind, at(count_), sizeof behind, nullptr), "cuMemcpyDtoHAsync", "reading");
    wait();
    return std::all_of(std::begin(behind), std::end(behind), [](unsigned char byte) { return byte == 0xEE; });
  }
  [[nodiscard]] T* get() const { return reinterpret_cast<T*>(at(0)); }

 private:
  [[nodiscard]] CUdeviceptr at(std::size_t index) const { return memory_.address() + (offset_ + index) * sizeof(T); }
  std::size_t count_, offset_;
  gpu::Buffer memory_;
};

std::uint32_t mixed(std::int64_t i) {
  auto x = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  return static_cast<std::uint32_t>((x * 0xBF58476D1CE4E5B9u) >> 32);
}

/// Most inside the bounds below, some below and above; extremes of the type, of f32 NaN, infinities and the bounds themselves.
template <class Sample>
std::vector<Sample> some_samples(std::int64_t n) {
  std::vector<Sample> samples;
  samples.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t any = mixed(i);
    using Limits = std::numeric_limits<Sample>;
    if constexpr (std::is_same_v<Sample, float>) {
      constexpr float kSpecial[] = {
          -1, 1, -0.0f, 0.25f, 300, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::lowest(), Limits::denorm_min()};
      samples.push_back(i % 31 == 7 ? kSpecial[any % 10] : static_cast<float>(any) * 6e-10f - 1.28f);
    } else if constexpr (sizeof(Sample) <= 2) {
      samples.push_back(static_cast<Sample>(any));
    } else {
      samples.push_back(i % 31 == 7  ? (any % 2 == 0 ? Limits::min() : Limits::max())
                        : i % 4 == 0 ? static_cast<Sample>(any % 320 - (Limits::is_signed ? 20 : 0))
                                     : static_cast<Sample>(any % 4000000 - (Limits::is_signed ? 600000 : 0)));
    }
  }
  return samples;
}

template <class Sample>
using Level = typename detail::HistogramSample<Sample>::Level;

template <class Sample>
struct Bounds {
  Level<Sample> lower, upper;
  /// As docs/histogram.md says; -1: nowhere.
  [[nodiscard]] std::int64_t bin(Sample x, std::int64_t bins) const {
    if constexpr (std::is_same_v<Sample, float>) {
      if (!(lower <= x && x < upper)) return -1;
      const float scale = static_cast<float>(bins) / (upper - lower);
      return std::min(static_cast<std::int64_t>((x - lower) * scale), bins - 1);
    } else {
      const auto value = static_cast<std::int64_t>(x), from = static_cast<std::int64_t>(lower), to = static_cast<std::int64_t>(upper);
      return value < from || value >= to ? -1 : (value - from) * bins / (to - from);
    }
  }
};

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

/// Ascending, some of them equal where the type has too few values.
template <class Sample>
std::vector<Sample> some_edges(std::int64_t bins) {
  std::vector<Sample> edges;
  for (std::int64_t i = 0; i <= bins; ++i) {
    if constexpr (std::is_same_v<Sample, float>) {
      edges.push_back(-1 + 2 * static_cast<float>(i) / static_cast<float>(bins));
    } else if constexpr (sizeof(Sample) <= 2) {
      edges.push_back(static_cast<Sample>(3 + i * (std::numeric_limits<Sample>::max() - 9) / bins));
    } else {
      edges.push_back(static_cast<Sample>(i * 3 + mixed(i) % 3 + (std::is_signed_v<Sample> ? -999 : 1)));
    }
  }
  return edges;
}

template <class Sample>
std::int64_t bin_between(const std::vector<Sample>& edges, Sample x) {
  if (!(edges.front() <= x && x < edges.back())) return -1;
  return std::upper_bound(edges.begin(), edges.end(), x) - edges.begin() - 1;
}

/// What the host counts: every sample of channel c below `active` with its weight.
template <class Sample, class Bin, class Weight>
std::vector<std::uint64_t> counted(const std::vector<Sample>& samples, std::int64_t bins, std::int64_t channels, std::int64_t active,
                                   Bin&& bin, Weight&& weight) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins * active));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto channel = static_cast<std::int64_t>(i) % channels;
    const std::int64_t b = channel < active ? bin(samples[i]) : -1;
    if (b >= 0) counts[static_cast<std::size_t>(channel * bins + b)] += weight(i);
  }
  return counts;
}

template <class Sample, class Bin>
std::vector<std::uint64_t> counted(const std::vector<Sample>& samples, std::int64_t bins, Bin&& bin) {
  return counted(samples, bins, 1, 1, bin, [](std::size_t) { return 1u; });
}

/// Poisoned counts, one element off any larger alignment; `launch` sets them.
template <class Counter, class Launch>
void check_counts(const std::vector<std::uint64_t>& expected, Launch&& launch) {
  const DeviceArray<Counter> counts(expected.size(), 1);
  launch(counts.get());
  const auto found = counts.read();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += found[i] != static_cast<Counter>(expected[i]);
  CHECK(wrong == 0);
  CHECK(counts.is_whole());
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
