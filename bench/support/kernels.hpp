#pragma once
#include <cstddef>
#include <cstdint>

#include "bench/support/element.hpp"

struct CUstream_st;

namespace attune::bench {

/// Fills with random elements: floating-point ones are uniform in [0, 1), so that sums of them do not cancel and a missing
/// part shows; integers are any. All functions here enqueue on `stream`. Throw: Error when the launch is refused.
void fill_random(Element element, void* data, std::size_t bytes, std::uint32_t seed, CUstream_st* stream);

/// Adds the sum of floating-point elements to `*sum`, in double precision.
void add_in_double(Element element, const void* data, std::int64_t count, double* sum, CUstream_st* stream);

/// How a kernel that only reads is launched. items: 16-byte loads in flight per thread, one of kReadItems.
struct ReadShape {
  int block_size = 256;
  int items = 4;
  int blocks_per_sm = 8;
};
inline constexpr int kReadItems[] = {2, 4, 8};

/// Reads `bytes` (a multiple of 16) once. `sink`: a word that is written only to keep the loads alive.
void read(const void* data, std::size_t bytes, const ReadShape& shape, int sm_count, unsigned* sink, CUstream_st* stream);

}  // namespace attune::bench
