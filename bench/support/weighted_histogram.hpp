#pragma once
#include <cstdint>

struct CUstream_st;

namespace attune::bench {

/// Bins of a weighted histogram, whose sample is its bin.
inline constexpr int kMostWeightedBins = 4096;

/// What a caller would write by hand, as CUB has no weights: a histogram in shared memory for each block, added to `sums`
/// (bins f32) at its end. Enqueues; throws: Error when the launch is refused, UsageError above kMostWeightedBins.
void weighted_histogram(const std::int32_t* samples, const float* weights, std::int64_t n, int bins, float* sums, int sm_count,
                        CUstream_st* stream);

/// The same in double precision, slowly. Requires: `sums` is zero.
void weighted_histogram_in_double(const std::int32_t* samples, const float* weights, std::int64_t n, double* sums, CUstream_st* stream);

}  // namespace attune::bench
