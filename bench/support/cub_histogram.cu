#include "bench/support/cub_histogram.hpp"

#include <climits>
#include <cub/device/device_histogram.cuh>

#include "attune/error.hpp"

namespace attune::bench {
namespace {

using Sample = CubHistogram::Sample;

struct Call {
  const CubHistogram& histogram;
  void* temporary;
  std::size_t& bytes;
  const void* samples;
  unsigned* counts;
  CUstream_st* stream;
};

template <class T, class Level>
cudaError_t even(const Call& call) {
  const CubHistogram& of = call.histogram;
  return cub::DeviceHistogram::HistogramEven(call.temporary, call.bytes, static_cast<const T*>(call.samples), call.counts, of.bins + 1,
                                             static_cast<Level>(of.lower), static_cast<Level>(of.upper), static_cast<int>(of.pixels), call.stream);
}

cudaError_t range(const Call& call) {
  const CubHistogram& of = call.histogram;
  return cub::DeviceHistogram::HistogramRange(call.temporary, call.bytes, static_cast<const int*>(call.samples), call.counts, of.bins + 1,
                                              static_cast<const int*>(of.edges), static_cast<int>(of.pixels), call.stream);
}

/// The first three channels of four, e.g. the colours of an image with an alpha channel.
cudaError_t three_of_four(const Call& call) {
  const CubHistogram& of = call.histogram;
  const int levels = of.bins + 1, lower = static_cast<int>(of.lower), upper = static_cast<int>(of.upper);
  return cub::DeviceHistogram::MultiHistogramEven<4, 3>(
      call.temporary, call.bytes, static_cast<const unsigned char*>(call.samples),
      ::cuda::std::array<unsigned*, 3>{call.counts, call.counts + of.bins, call.counts + 2 * of.bins}, ::cuda::std::array<int, 3>{levels, levels, levels},
      ::cuda::std::array<int, 3>{lower, lower, lower}, ::cuda::std::array<int, 3>{upper, upper, upper}, static_cast<int>(of.pixels), call.stream);
}

cudaError_t dispatch(const Call& call) {
  const CubHistogram& of = call.histogram;
  if (of.pixels * of.channels <= INT_MAX) {
    if (of.channels == 4 && of.active == 3 && of.sample == Sample::U8 && of.edges == nullptr) return three_of_four(call);
    if (of.channels == 1 && of.edges != nullptr && of.sample == Sample::I32) return range(call);
    if (of.channels == 1 && of.edges == nullptr) {
      switch (of.sample) {
        case Sample::U8: return even<unsigned char, int>(call);
        case Sample::I32: return even<int, int>(call);
        case Sample::F32: return even<float, float>(call);
      }
    }
  }
  throw UsageError("failed counting with CUB: the benchmarks have no such peer");
}

void run(const Call& call) {
  const cudaError_t result = dispatch(call);
  if (result == cudaSuccess) return;
  throw EnvironmentError("failed counting " + std::to_string(call.histogram.pixels) + " pixels into " + std::to_string(call.histogram.bins) +
                         " bins: " + cub_histogram_name(call.histogram) + " returned " + cudaGetErrorName(result) + " (" + cudaGetErrorString(result) + ")");
}

}  // namespace

std::string cub_histogram_name(const CubHistogram& histogram) {
  return std::string("cub::DeviceHistogram::") + (histogram.channels > 1 ? "Multi" : "") + (histogram.edges != nullptr ? "HistogramRange" : "HistogramEven");
}

std::size_t cub_histogram_bytes(const CubHistogram& histogram) {
  std::size_t bytes = 0;
  run({histogram, nullptr, bytes, nullptr, nullptr, nullptr});
  return bytes;
}

void cub_histogram(const CubHistogram& histogram, void* temporary, std::size_t bytes, const void* samples, void* counts, CUstream_st* stream) {
  run({histogram, temporary, bytes, samples, static_cast<unsigned*>(counts), stream});
}

}  // namespace attune::bench
