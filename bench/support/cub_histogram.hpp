#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

struct CUstream_st;

namespace attune::bench {

/// What is counted into u32: `active` of `channels` interleaved channels, each into bins of its own.
struct CubHistogram {
  enum class Sample { U8, I32, F32 } sample = Sample::I32;
  std::int64_t pixels = 0;  ///< samples, where there is one channel
  int bins = 0;
  double lower = 0;  ///< of even bins
  double upper = 0;
  const void* edges = nullptr;  ///< bins + 1 ascending values on the device, else bins are even; I32 only
  int channels = 1;
  int active = 1;
};

/// The function of CUB that computes it, e.g. "cub::DeviceHistogram::HistogramEven".
[[nodiscard]] std::string cub_histogram_name(const CubHistogram& histogram);

/// Bytes of temporary storage. Throws: EnvironmentError, UsageError when CUB is not asked for this here.
[[nodiscard]] std::size_t cub_histogram_bytes(const CubHistogram& histogram);

/// Enqueues it. `counts`: bins u32 for each active channel, one after the other. Samples are counted by int, CUB's faster
/// path. Throws: as cub_histogram_bytes.
void cub_histogram(const CubHistogram& histogram, void* temporary, std::size_t bytes, const void* samples, void* counts,
                   CUstream_st* stream);

}  // namespace attune::bench
