#pragma once
// Samples of histograms, and what a plain loop on the host counts of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "attune/runtime.hpp"
#include "tests/gpu/runtime_fixture.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::test {

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
  static void wait() { gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting"); }
  [[nodiscard]] CUdeviceptr at(std::size_t index) const { return memory_.address() + (offset_ + index) * sizeof(T); }
  std::size_t count_, offset_;
  gpu::Buffer memory_;
};

inline std::uint32_t mixed(std::int64_t i) {
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

}  // namespace attune::test
