// A block computes a tile of C, each thread a part of it in registers. Tiles of A and B go through shared memory, that of A turned, so that
// what a thread needs of both at one k lies side by side.

constexpr unsigned kTileM = ATTUNE_TILE_M, kTileN = ATTUNE_TILE_N, kTileK = ATTUNE_TILE_K;
constexpr unsigned kThreadM = ATTUNE_THREAD_M, kThreadN = ATTUNE_THREAD_N;
constexpr unsigned kThreadsM = kTileM / kThreadM, kThreadsN = kTileN / kThreadN, kThreads = kThreadsM * kThreadsN;
constexpr unsigned kVector = ATTUNE_VECTOR;
constexpr unsigned kStages = ATTUNE_STAGES;
constexpr unsigned kLoadsA = kTileM * kTileK / (kThreads * kVector), kLoadsB = kTileN * kTileK / (kThreads * kVector);

using Index = long long;

struct alignas(4 * kVector) Vector {
  float x[kVector];
};

struct Shared {
  float a[kStages][kTileK][kTileM + ATTUNE_PAD];
  float b[kStages][kTileK][kTileN];
};

/// Elements of a row from `column` on; 0 outside of the matrix, whose columns are a multiple of a vector's elements.
__device__ __forceinline__ Vector load_row(const float* matrix, Index row, Index column, Index rows, Index columns) {
  return row < rows && column < columns ? *reinterpret_cast<const Vector*>(matrix + row * columns + column) : Vector{};
}

/// Where the element `i` of a thread's `kCount` stands in the tile; `place`: of the thread, among `kThreadsThere`.
template <unsigned kCount, unsigned kThreadsThere>
__device__ __forceinline__ unsigned at(unsigned place, unsigned i) {
  constexpr unsigned kGroup = !ATTUNE_SPREAD || kCount < 4 ? kCount : 4;
  return i / kGroup * (kThreadsThere * kGroup) + place * kGroup + i % kGroup;
}

struct Loaded {
  Vector a[kLoadsA], b[kLoadsB];
};

__device__ __forceinline__ Loaded load_tiles(const float* a, const float* b, Index row, Index column, Index from_k, Index m, Index n, Index k) {
  Loaded loaded;
#pragma unroll
  for (unsigned l = 0; l < kLoadsA; ++l) {
    const unsigned i = (threadIdx.x + l * kThreads) * kVector;
    loaded.a[l] = load_row(a, row + i / kTileK, from_k + i % kTileK, m, k);
  }
#pragma unroll
  for (unsigned l = 0; l < kLoadsB; ++l) {
    const unsigned i = (threadIdx.x + l * kThreads) * kVector;
    loaded.b[l] = load_row(b, from_k + i / kTileN, column + i % kTileN, k, n);
  }
  return loaded;
}

__device__ __forceinline__ void put_tiles(Shared& shared, unsigned stage, const Loaded& loaded) {
#pragma unroll
  for (unsigned l = 0; l < kLoadsA; ++l) {
    const unsigned i = (threadIdx.x + l * kThreads) * kVector;
#pragma unroll
    for (unsigned v = 0; v < kVector; ++v) shared.a[stage][i % kTileK + v][i / kTileK] = loaded.a[l].x[v];
  }
#pragma unroll
  for (unsigned l = 0; l < kLoadsB; ++l) {
    const unsigned i = (threadIdx.x + l * kThreads) * kVector;
#pragma unroll
    for (unsigned v = 0; v < kVector; ++v) shared.b[stage][i / kTileN][i % kTileN + v] = loaded.b[l].x[v];
  }
}

__device__ __forceinline__ void multiply(const Shared& shared, unsigned stage, unsigned down, unsigned across, float (&sums)[kThreadM][kThreadN]) {
#pragma unroll ATTUNE_UNROLL
  for (unsigned k = 0; k < kTileK; ++k) {
    float a[kThreadM], b[kThreadN];
#pragma unroll
    for (unsigned i = 0; i < kThreadM; ++i) a[i] = shared.a[stage][k][at<kThreadM, kThreadsM>(down, i)];
#pragma unroll
    for (unsigned j = 0; j < kThreadN; ++j) b[j] = shared.b[stage][k][at<kThreadN, kThreadsN>(across, j)];
#pragma unroll
    for (unsigned i = 0; i < kThreadM; ++i) {
#pragma unroll
      for (unsigned j = 0; j < kThreadN; ++j) sums[i][j] += a[i] * b[j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, Index m, Index n, Index k) {
  __shared__ __align__(16) Shared shared;
  const Index row = static_cast<Index>(blockIdx.y) * kTileM, column = static_cast<Index>(blockIdx.x) * kTileN;
  const unsigned down = threadIdx.x / kThreadsN, across = threadIdx.x % kThreadsN;
  float sums[kThreadM][kThreadN] = {};
  unsigned stage = 0;
  for (Index from_k = -static_cast<Index>(kTileK);; from_k += kTileK) {  // begins with a tile that is only loaded
    const bool more = from_k + kTileK < k;
    Loaded loaded;
    if (more) loaded = load_tiles(a, b, row, column, from_k + kTileK, m, n, k);
    if (from_k >= 0) multiply(shared, stage, down, across, sums);
    if (!more) break;
    if (kStages == 1) __syncthreads();
    stage = kStages - 1 - stage;
    put_tiles(shared, stage, loaded);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < kThreadM; ++i) {
    const Index to_row = row + at<kThreadM, kThreadsM>(down, i);
#pragma unroll
    for (unsigned j = 0; j < kThreadN; ++j) {
      const Index to_column = column + at<kThreadN, kThreadsN>(across, j);
      if (to_row < m && to_column < n) c[to_row * n + to_column] = sums[i][j];
    }
  }
}

extern "C" __global__ void gemm_plain(const float* a, const float* b, float* c, Index m, Index n, Index k) {
  const Index row = blockIdx.x * 8ll + threadIdx.y, column = blockIdx.y * 32ll + threadIdx.x;
  if (row >= m || column >= n) return;
  double sum = 0;
  for (Index i = 0; i < k; ++i) sum += static_cast<double>(a[row * k + i]) * b[i * n + column];
  c[row * n + column] = static_cast<float>(sum);
}
