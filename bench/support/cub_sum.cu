#include "bench/support/cub_sum.hpp"

#include <climits>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#include "attune/error.hpp"

namespace attune::bench {
namespace {

void sum(void* temporary, std::size_t& bytes, const float* in, float* out, std::int64_t count, CUstream_st* stream) {
  const cudaError_t result = count <= INT_MAX
                                 ? cub::DeviceReduce::Sum(temporary, bytes, in, out, static_cast<int>(count), stream)
                                 : cub::DeviceReduce::Sum(temporary, bytes, in, out, count, stream);
  if (result == cudaSuccess) return;
  throw EnvironmentError("failed summing " + std::to_string(count) + " elements: cub::DeviceReduce::Sum returned " +
                         cudaGetErrorName(result) + " (" + cudaGetErrorString(result) + ")");
}

}  // namespace

std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

std::size_t cub_sum_bytes(std::int64_t count) {
  std::size_t bytes = 0;
  sum(nullptr, bytes, nullptr, nullptr, count, nullptr);
  return bytes;
}

void cub_sum(void* temporary, std::size_t bytes, const float* in, float* out, std::int64_t count, CUstream_st* stream) {
  sum(temporary, bytes, in, out, count, stream);
}

}  // namespace attune::bench
