#include "bench/support/skewed_samples.hpp"

#include <type_traits>

#include "bench/support/check_launch.cuh"
#include "bench/support/random_bits.cuh"

namespace attune::bench {
namespace {

constexpr int kBlock = 256;
constexpr int kMostBlocks = 4096;
constexpr std::uint32_t kBinSeed = 20;
constexpr std::uint32_t kPlaceSeed = 21;
constexpr std::uint32_t kHotBelow = 3865470566u;  // 0.9 * 2^32

__device__ std::uint32_t bin_of(Skew skew, std::uint32_t bins, std::int64_t i, std::int64_t count, std::uint32_t bits) {
  switch (skew) {
    case Skew::Uniform: return __umulhi(bits, bins);
    case Skew::Zipf: {
      const float u = (static_cast<float>(bits >> 8) + 0.5f) * 0x1p-24f;
      const auto rank = static_cast<std::int64_t>(exp2f(u * log2f(static_cast<float>(bins)))) - 1;
      return static_cast<std::uint32_t>(min(max(rank, std::int64_t{0}), std::int64_t{bins} - 1));
    }
    case Skew::Hot: {
      if (bits < kHotBelow) return bins / 2;
      const std::uint32_t rest = ~0u - kHotBelow;
      return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits - kHotBelow) * bins / (std::uint64_t{rest} + 1));
    }
    case Skew::Constant: return bins / 2;
    case Skew::Sorted: return static_cast<std::uint32_t>(i * bins / count);
  }
  return 0;
}

template <class T>
__global__ void fill_kernel(T* samples, std::int64_t count, std::int64_t first, Skew skew, std::uint32_t bins, double lower, double upper, const T* edges) {
  const double width = (upper - lower) / bins;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const auto index = static_cast<std::uint64_t>(first + i);
    const std::uint32_t bin = bin_of(skew, bins, i, count, random_bits(index, kBinSeed));
    const double place = random_bits(index, kPlaceSeed) * 0x1p-32;
    if (edges != nullptr) {
      samples[i] = static_cast<T>(edges[bin] + place * (edges[bin + 1] - edges[bin]));
    } else if constexpr (std::is_integral_v<T>) {
      samples[i] = static_cast<T>(min(lower + floor((bin + place) * width), upper - 1));
    } else {
      // As far below the upper end as keeps a rounded product below `bins`: CUB would write behind its counts.
      samples[i] = static_cast<T>(min(lower + (bin + place) * width, upper - (upper - lower) * 0x1p-20));
    }
  }
}

template <class T>
void fill(const CubHistogram& histogram, Skew skew, void* samples, std::int64_t count, std::int64_t first, CUstream_st* stream) {
  const auto blocks = static_cast<int>(min((count + kBlock - 1) / kBlock, std::int64_t{kMostBlocks}));
  fill_kernel<<<blocks, kBlock, 0, stream>>>(static_cast<T*>(samples), count, first, skew, static_cast<std::uint32_t>(histogram.bins), histogram.lower,
                                             histogram.upper, static_cast<const T*>(histogram.edges));
}

}  // namespace

void fill_skewed(const CubHistogram& histogram, Skew skew, void* samples, std::int64_t count, std::int64_t first, CUstream_st* stream) {
  if (count == 0) return;
  switch (histogram.sample) {
    case CubHistogram::Sample::U8: fill<unsigned char>(histogram, skew, samples, count, first, stream); break;
    case CubHistogram::Sample::I32: fill<int>(histogram, skew, samples, count, first, stream); break;
    case CubHistogram::Sample::F32: fill<float>(histogram, skew, samples, count, first, stream); break;
  }
  check_launch("fills the samples");
}

}  // namespace attune::bench
