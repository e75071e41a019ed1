// Every thread has some bodies in registers, and goes over all others: those of a tile of shared memory at a time, or one after the other as
// they come from the caches.

constexpr unsigned kThreads = ATTUNE_BLOCK_SIZE;
constexpr unsigned kBodies = ATTUNE_BODIES;
constexpr unsigned kTile = ATTUNE_TILE * kThreads;

using Index = long long;

struct Sum {
  float x, y, z;
};

/// `softening` lengthens distances, so that bodies at one place do not pull without bound.
__device__ __forceinline__ void pull(Sum& sum, const float4& of, const float4& by, float softening) {
  const float x = by.x - of.x, y = by.y - of.y, z = by.z - of.z;
  const float squared = x * x + y * y + z * z + softening;
  const float inverse = ATTUNE_ROOT_RECIPROCAL ? rsqrtf(squared) : 1.0f / sqrtf(squared);
  const float factor = by.w * inverse * inverse * inverse;
  sum.x += x * factor;
  sum.y += y * factor;
  sum.z += z * factor;
}

struct Tile {
#if ATTUNE_LAYOUT_COORDINATES
  float x[kTile], y[kTile], z[kTile], mass[kTile];
  __device__ __forceinline__ void put(unsigned i, const float4& body) {
    x[i] = body.x;
    y[i] = body.y;
    z[i] = body.z;
    mass[i] = body.w;
  }
  __device__ __forceinline__ float4 get(unsigned i) const { return make_float4(x[i], y[i], z[i], mass[i]); }
#elif ATTUNE_TILE
  float4 body[kTile];
  __device__ __forceinline__ void put(unsigned i, const float4& one) { body[i] = one; }
  __device__ __forceinline__ float4 get(unsigned i) const { return body[i]; }
#endif
};

extern "C" __global__ void __launch_bounds__(kThreads)
    nbody(const float4* __restrict__ body, float* __restrict__ acceleration, float softening, Index n) {
  const Index first = static_cast<Index>(blockIdx.x) * (kThreads * kBodies) + threadIdx.x;
  float4 mine[kBodies];
  Sum sums[kBodies] = {};
#pragma unroll
  for (unsigned b = 0; b < kBodies; ++b) mine[b] = first + b * kThreads < n ? body[first + b * kThreads] : make_float4(0, 0, 0, 0);
#if ATTUNE_TILE
  __shared__ Tile tile;
  for (Index from = 0; from < n; from += kTile) {
    for (unsigned i = threadIdx.x; i < kTile; i += kThreads) tile.put(i, from + i < n ? body[from + i] : make_float4(0, 0, 0, 0));
    __syncthreads();
#pragma unroll ATTUNE_UNROLL
    for (unsigned i = 0; i < kTile; ++i) {
      const float4 other = tile.get(i);
#pragma unroll
      for (unsigned b = 0; b < kBodies; ++b) pull(sums[b], mine[b], other, softening);
    }
    __syncthreads();
  }
#else
#pragma unroll ATTUNE_UNROLL
  for (Index i = 0; i < n; ++i) {
    const float4 other = body[i];
#pragma unroll
    for (unsigned b = 0; b < kBodies; ++b) pull(sums[b], mine[b], other, softening);
  }
#endif
#pragma unroll
  for (unsigned b = 0; b < kBodies; ++b) {
    const Index i = first + b * kThreads;
    if (i >= n) continue;
    acceleration[3 * i] = sums[b].x;
    acceleration[3 * i + 1] = sums[b].y;
    acceleration[3 * i + 2] = sums[b].z;
  }
}

extern "C" __global__ void nbody_plain(const float4* body, float* acceleration, float softening, Index n) {
  const Index i = blockIdx.x * 128ll + threadIdx.x;
  if (i >= n) return;
  const float4 of = body[i];
  double sum_x = 0, sum_y = 0, sum_z = 0;
  for (Index k = 0; k < n; ++k) {
    const float4 by = body[k];
    const double x = static_cast<double>(by.x) - of.x, y = static_cast<double>(by.y) - of.y, z = static_cast<double>(by.z) - of.z;
    const double squared = x * x + y * y + z * z + softening;
    const double factor = by.w / (squared * sqrt(squared));
    sum_x += x * factor;
    sum_y += y * factor;
    sum_z += z * factor;
  }
  acceleration[3 * i] = static_cast<float>(sum_x);
  acceleration[3 * i + 1] = static_cast<float>(sum_y);
  acceleration[3 * i + 2] = static_cast<float>(sum_z);
}
