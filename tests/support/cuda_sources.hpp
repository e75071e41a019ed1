#pragma once
#include <string>

namespace attune::test {

// Plain CUDA sources, as people have them before any tuning.

/// One dimension, a guarded macro, a scalar.
inline const std::string kSaxpyCuda = R"(// y = a * x + y
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif

__global__ void __launch_bounds__(BLOCK_SIZE) saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

/// Two dimensions, tiles in shared memory, a radius that is no tunable parameter.
inline const std::string kStencilCuda = R"(#ifndef TILE_X
#define TILE_X 32
#endif
#ifndef TILE_Y
#define TILE_Y 8
#endif
#define RADIUS 1

extern "C" __global__ void stencil(const float* in, float* out, int width, int height) {
  __shared__ float tile[TILE_Y + 2 * RADIUS][TILE_X + 2 * RADIUS];
  const int x = blockIdx.x * TILE_X + threadIdx.x;
  const int y = blockIdx.y * TILE_Y + threadIdx.y;
  for (int r = threadIdx.y; r < TILE_Y + 2 * RADIUS; r += TILE_Y) {
    for (int c = threadIdx.x; c < TILE_X + 2 * RADIUS; c += TILE_X) {
      const int row = min(max(static_cast<int>(blockIdx.y) * TILE_Y + r - RADIUS, 0), height - 1);
      const int column = min(max(static_cast<int>(blockIdx.x) * TILE_X + c - RADIUS, 0), width - 1);
      tile[r][c] = in[row * width + column];
    }
  }
  __syncthreads();
  if (x < width && y < height) {
    float sum = 0;
    for (int r = 0; r <= 2 * RADIUS; ++r) {
      for (int c = 0; c <= 2 * RADIUS; ++c) sum += tile[threadIdx.y + r][threadIdx.x + c];
    }
    out[y * width + x] = sum / 9;
  }
}
)";

/// No macro: blockDim alone, a shared array that bounds it, one sum by atomics.
inline const std::string kSumCuda = R"(template <class T>
__device__ T add(T a, T b) { return a + b; }

__global__ void sum(const float* data, float* total, unsigned int count) {
  __shared__ float partial[512];
  const unsigned int tid = threadIdx.x;
  float mine = 0;
  for (unsigned int i = blockIdx.x * blockDim.x + tid; i < count; i += gridDim.x * blockDim.x) mine = add(mine, data[i]);
  partial[tid] = mine;
  __syncthreads();
  for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) partial[tid] += partial[tid + half];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(total, partial[0]);
}
)";

}  // namespace attune::test
