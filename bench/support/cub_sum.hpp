#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

struct CUstream_st;

namespace attune::bench {

/// "13.0.2" of the toolkit's CUB; part of the peer's name in result files.
[[nodiscard]] std::string cub_version();

/// Bytes of temporary storage that `cub_sum` needs for this count. Throws: EnvironmentError.
[[nodiscard]] std::size_t cub_sum_bytes(std::int64_t count);

/// cub::DeviceReduce::Sum of f32. Counts below 2^31 are passed as int, CUB's faster path. Throws: EnvironmentError.
void cub_sum(void* temporary, std::size_t bytes, const float* in, float* out, std::int64_t count, CUstream_st* stream);

}  // namespace attune::bench
