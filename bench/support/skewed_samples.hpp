#pragma once
#include <cstdint>

#include "bench/support/cub_histogram.hpp"

namespace attune::bench {

/// How samples spread over b bins. Uniform: every bin alike. Zipf: bin floor(b^u) - 1, u uniform in (0, 1). Hot: 90 % in bin
/// b / 2, the rest uniform. Constant: all in bin b / 2. Sorted: ascending through all bins.
enum class Skew { Uniform, Zipf, Hot, Constant, Sorted };

/// Enqueues filling `count` samples of every channel, all inside the bins and at any place in theirs. `first`: number of
/// the first sample in the random sequence, so that windows differ. Throws: Error when the launch is refused.
void fill_skewed(const CubHistogram& histogram, Skew skew, void* samples, std::int64_t count, std::int64_t first, CUstream_st* stream);

}  // namespace attune::bench
