// The methods of Support whose kernels are those of support_histogram.cu.
#include <algorithm>
#include <cmath>

#include "tuner/measure/support.hpp"

namespace attune::measure {
namespace {

struct Histogram {  // as in support_histogram.cu
  std::int64_t lower;
  std::uint64_t range;
  std::uint64_t bins;
  std::uint64_t pixels;
  std::uint64_t numbers_per_bin;
  std::uint64_t bins_per_pixel;
  std::int64_t lowest;
  std::int64_t highest;
  float lower_f32;
  float upper_f32;
  float width_f32;
  std::uint32_t channels;
  std::uint32_t active;
  int by_edges;
};

struct HistogramData {  // likewise
  int part;
  int spread;
  int treacherous;
  std::uint64_t seed;
};

constexpr int kFractionBits = 40;  // likewise

Histogram parameters_of(const HistogramCase& of) {
  const auto range = static_cast<std::uint64_t>(of.upper - of.lower), bins = static_cast<std::uint64_t>(of.bins);
  const auto pixels = static_cast<std::uint64_t>(of.n);
  // A little below what it is, so that the last pixel's position rounds to no bin too far, nor beyond 64 bits.
  const double bins_per_pixel = std::ldexp(static_cast<double>(bins), kFractionBits) / std::max(static_cast<double>(pixels), 1.0) * (1 - 0x1p-52);
  return {of.lower,
          range,
          bins,
          pixels,
          (range << (64 - kFractionBits)) / bins,
          static_cast<std::uint64_t>(bins_per_pixel),
          of.floating() ? 0 : static_cast<std::int64_t>(extend(of.sample, lowest_bits(of.sample))),
          of.floating() ? 0 : static_cast<std::int64_t>(extend(of.sample, highest_bits(of.sample))),
          of.lower_f32,
          of.upper_f32,
          (of.upper_f32 - of.lower_f32) / static_cast<float>(of.bins),
          static_cast<std::uint32_t>(of.channels),
          static_cast<std::uint32_t>(of.active),
          of.mapping == HistogramMapping::Edges ? 1 : 0};
}

HistogramData data_of(const HistogramFilling& filling, std::uint64_t seed) {
  return {static_cast<int>(filling.part), static_cast<int>(filling.spread), filling.treacherous ? 1 : 0, seed};
}

}  // namespace

void Support::fill_histogram(CUdeviceptr target, std::int64_t count, const HistogramFilling& filling, std::uint64_t seed) {
  auto elements = static_cast<std::uint64_t>(count);
  int type_code = static_cast<int>(filling.of.sample);
  Histogram of = parameters_of(filling.of);
  HistogramData data = data_of(filling, seed);
  CUdeviceptr slot = 0;
  void* parameters[] = {&target, &elements, &type_code, &of, &data, &slot};
  launch(fill_histogram_, blocks_for(elements), kThreads, parameters);
}

void Support::check_histogram(const std::string& what, CUdeviceptr source, std::int64_t count, const HistogramFilling& filling,
                              std::uint64_t seed) {
  auto elements = static_cast<std::uint64_t>(count);
  int type_code = static_cast<int>(filling.of.sample);
  Histogram of = parameters_of(filling.of);
  HistogramData data = data_of(filling, seed);
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&source, &elements, &type_code, &of, &data, &slot};
  launch(fill_histogram_, blocks_for(elements), kThreads, parameters);
}

HistogramAnswers Support::count_histogram(const HistogramCall& call) {
  const std::size_t bytes = static_cast<std::size_t>(call.of.counts()) * sizeof(std::uint64_t);
  const std::size_t sum_bytes = call.of.weighted() ? bytes : 0;
  HistogramAnswers answers{gpu::Buffer(bytes), gpu::Buffer(sum_bytes), gpu::Buffer(sum_bytes)};
  for (const gpu::Buffer* buffer : {&answers.counts, &answers.sums, &answers.magnitudes}) set_bytes(buffer->address(), buffer->bytes(), 0);
  if (call.of.n == 0) return answers;
  CUdeviceptr samples = call.samples, edges = call.edges, weights = call.of.weighted() ? call.weights : 0;
  int type_code = static_cast<int>(call.of.sample);
  Histogram of = parameters_of(call.of);
  CUdeviceptr counts = answers.counts.address(), sums = answers.sums.address(), magnitudes = answers.magnitudes.address();
  void* parameters[] = {&samples, &edges, &weights, &type_code, &of, &counts, &sums, &magnitudes};
  launch(count_, blocks_for(static_cast<std::uint64_t>(call.of.samples())), kThreads, parameters);
  return answers;
}

void Support::compare_counts(const std::string& what, const HistogramCall& call, const HistogramAnswers& answers, double unit) {
  auto total = static_cast<std::uint64_t>(call.of.counts());
  int type_code = static_cast<int>(call.of.counter);
  CUdeviceptr got = call.counts;
  CUdeviceptr counts = answers.counts.address(), sums = answers.sums.address(), magnitudes = answers.magnitudes.address();
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&got, &type_code, &total, &counts, &sums, &magnitudes, &unit, &slot};
  launch(compare_counts_, blocks_for(total), kThreads, parameters);
}

}  // namespace attune::measure
