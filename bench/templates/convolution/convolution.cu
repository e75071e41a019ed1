// Every thread computes some pixels beside and below each other; both loops over the filter are unrolled, which makes thousands of
// instructions of them.

constexpr unsigned kSide = 15, kBorder = kSide - 1;
constexpr unsigned kBlockX = ATTUNE_BLOCK_X, kBlockY = ATTUNE_BLOCK_Y, kAcross = ATTUNE_ACROSS, kDown = ATTUNE_DOWN;
constexpr unsigned kTileX = kBlockX * kAcross, kTileY = kBlockY * kDown;

using Index = long long;

__constant__ float filter[kSide * kSide];

/// Pixels of the input from a block's first on, which stand in shared memory or in the image; none outside of that is read.
struct Input {
  const float* first;
  Index pitch, columns, rows;
  __device__ __forceinline__ float at(unsigned row, unsigned column) const {
    return ATTUNE_STAGED || (row < rows && column < columns) ? first[row * pitch + column] : 0.0f;
  }
};

extern "C" __global__ void __launch_bounds__(kBlockX* kBlockY) convolution(const float* __restrict__ in, float* __restrict__ out, Index width, Index height) {
  const Index x = static_cast<Index>(blockIdx.x) * kTileX, y = static_cast<Index>(blockIdx.y) * kTileY;
  Input input{in + y * (width + kBorder) + x, width + kBorder, width + kBorder - x, height + kBorder - y};
#if ATTUNE_STAGED
  constexpr unsigned kPitch = kTileX + kBorder, kRows = kTileY + kBorder;
  __shared__ float tile[kRows * kPitch];
  for (unsigned i = threadIdx.y * kBlockX + threadIdx.x; i < kRows * kPitch; i += kBlockX * kBlockY) {
    const unsigned row = i / kPitch, column = i % kPitch;
    tile[i] = row < input.rows && column < input.columns ? input.first[row * input.pitch + column] : 0.0f;
  }
  __syncthreads();
  input = {tile, kPitch, kPitch, kRows};
#endif
  float sums[kDown][kAcross] = {};
#pragma unroll
  for (unsigned row = 0; row < kSide; ++row) {
#pragma unroll
    for (unsigned column = 0; column < kSide; ++column) {
#pragma unroll
      for (unsigned d = 0; d < kDown; ++d) {
#pragma unroll
        for (unsigned a = 0; a < kAcross; ++a)
          sums[d][a] += filter[row * kSide + column] * input.at(threadIdx.y + d * kBlockY + row, threadIdx.x + a * kBlockX + column);
      }
    }
  }
#pragma unroll
  for (unsigned d = 0; d < kDown; ++d) {
#pragma unroll
    for (unsigned a = 0; a < kAcross; ++a) {
      const Index to_x = x + threadIdx.x + a * kBlockX, to_y = y + threadIdx.y + d * kBlockY;
      if (to_x < width && to_y < height) out[to_y * width + to_x] = sums[d][a];
    }
  }
}

extern "C" __global__ void convolution_plain(const float* in, float* out, Index width, Index height) {
  const Index x = blockIdx.x * 32ll + threadIdx.x, y = blockIdx.y * 8ll + threadIdx.y;
  if (x >= width || y >= height) return;
  double sum = 0;
  for (Index row = 0; row < kSide; ++row) {
    for (Index column = 0; column < kSide; ++column)
      sum += static_cast<double>(filter[row * kSide + column]) * in[(y + row) * (width + kBorder) + x + column];
  }
  out[y * width + x] = static_cast<float>(sum);
}
