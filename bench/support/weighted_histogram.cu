#include "bench/support/weighted_histogram.hpp"

#include <string>

#include "bench/support/check_launch.cuh"

namespace attune::bench {
namespace {

constexpr int kBlock = 512;
constexpr int kBlocksPerSm = 4;

__global__ void __launch_bounds__(kBlock) shared_kernel(const std::int32_t* samples, const float* weights, std::int64_t n, int bins, float* sums) {
  __shared__ float mine[kMostWeightedBins];
  for (int bin = threadIdx.x; bin < bins; bin += kBlock) mine[bin] = 0;
  __syncthreads();
  const std::int64_t stride = std::int64_t{gridDim.x} * kBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBlock + threadIdx.x; i < n; i += stride) {
    const int bin = samples[i];
    if (bin >= 0 && bin < bins) atomicAdd(&mine[bin], weights[i]);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += kBlock) {
    if (mine[bin] != 0) atomicAdd(&sums[bin], mine[bin]);
  }
}

__global__ void __launch_bounds__(kBlock) double_kernel(const std::int32_t* samples, const float* weights, std::int64_t n, double* sums) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBlock + threadIdx.x; i < n; i += stride) atomicAdd(&sums[samples[i]], static_cast<double>(weights[i]));
}

}  // namespace

void weighted_histogram(const std::int32_t* samples, const float* weights, std::int64_t n, int bins, float* sums, int sm_count, CUstream_st* stream) {
  if (bins > kMostWeightedBins) throw UsageError("failed counting weights by hand: " + std::to_string(bins) + " bins do not fit shared memory");
  const cudaError_t cleared = cudaMemsetAsync(sums, 0, static_cast<std::size_t>(bins) * sizeof(float), stream);
  if (cleared != cudaSuccess) throw EnvironmentError(std::string("failed clearing the sums: cudaMemsetAsync returned ") + cudaGetErrorName(cleared));
  shared_kernel<<<sm_count * kBlocksPerSm, kBlock, 0, stream>>>(samples, weights, n, bins, sums);
  check_launch("adds weights");
}

void weighted_histogram_in_double(const std::int32_t* samples, const float* weights, std::int64_t n, double* sums, CUstream_st* stream) {
  double_kernel<<<kBlocksPerSm * 128, kBlock, 0, stream>>>(samples, weights, n, sums);
  check_launch("computes the reference");
}

}  // namespace attune::bench
