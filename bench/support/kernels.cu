#include "bench/support/kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <string>
#include <type_traits>

#include "attune/error.hpp"
#include "bench/support/check_launch.cuh"
#include "bench/support/random_bits.cuh"

namespace attune::bench {
namespace {

constexpr int kBlock = 256;
constexpr int kBlocks = 2048;

template <class T>
__global__ void fill_kernel(T* data, std::int64_t count, std::uint32_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const std::uint32_t bits = random_bits(static_cast<std::uint64_t>(i), seed);
    if constexpr (std::is_integral_v<T>) data[i] = static_cast<T>(bits);
    else data[i] = static_cast<T>(static_cast<float>(bits >> 8) * 0x1p-24f);
  }
}

template <class T>
__global__ void add_kernel(const T* data, std::int64_t count, double* sum) {
  double mine = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) mine += static_cast<double>(data[i]);
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(~0u, mine, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

template <class Use>
void with_type(Element element, Use&& use) {
  switch (element) {
    case Element::F32: return use(float{});
    case Element::F64: return use(double{});
    case Element::F16: return use(__half{});
    case Element::Bf16: return use(__nv_bfloat16{});
    case Element::I32: return use(int{});
    case Element::I8: return use(static_cast<signed char>(0));
  }
}

template <int Items>
__global__ void __launch_bounds__(1024) read_kernel(const uint4* data, std::int64_t count, unsigned* sink) {
  const std::int64_t tile = std::int64_t{blockDim.x} * Items;
  unsigned seen = 0;
  for (std::int64_t first = blockIdx.x * tile + threadIdx.x; first < count; first += gridDim.x * tile) {
    uint4 v[Items];
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      const std::int64_t i = first + std::int64_t{k} * blockDim.x;
      v[k] = i < count ? data[i] : uint4{};
    }
#pragma unroll
    for (int k = 0; k < Items; ++k) seen ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  // Random data never leaves this word in every thread; the compiler cannot know and keeps the loads.
  if (seen == 0x9E3779B9u) *sink = seen;
}

}  // namespace

void fill_random(Element element, void* data, std::size_t bytes, std::uint32_t seed, CUstream_st* stream) {
  with_type(element, [&](auto type) {
    using T = decltype(type);
    fill_kernel<<<kBlocks, kBlock, 0, stream>>>(static_cast<T*>(data), static_cast<std::int64_t>(bytes / sizeof(T)), seed);
  });
  check_launch("fills the input");
}

void add_in_double(Element element, const void* data, std::int64_t count, double* sum, CUstream_st* stream) {
  with_type(element, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) throw UsageError("failed computing the reference: integers are compared exactly");
    else add_kernel<<<kBlocks, kBlock, 0, stream>>>(static_cast<const T*>(data), count, sum);
  });
  check_launch("computes the reference");
}

void read(const void* data, std::size_t bytes, const ReadShape& shape, int sm_count, unsigned* sink,
          CUstream_st* stream) {
  const auto* words = static_cast<const uint4*>(data);
  const auto count = static_cast<std::int64_t>(bytes / sizeof(uint4));
  const int grid = sm_count * shape.blocks_per_sm;
  if (shape.items == 2)
    read_kernel<2><<<grid, shape.block_size, 0, stream>>>(words, count, sink);
  else if (shape.items == 4)
    read_kernel<4><<<grid, shape.block_size, 0, stream>>>(words, count, sink);
  else if (shape.items == 8)
    read_kernel<8><<<grid, shape.block_size, 0, stream>>>(words, count, sink);
  else
    throw UsageError("failed launching the read kernel: it has no variant of " + std::to_string(shape.items) +
                     " loads; choose 2, 4 or 8");
  check_launch("reads");
}

}  // namespace attune::bench
