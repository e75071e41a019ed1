// A plain two-pass sum with a grid-stride loop: what a user writes first, and what the peers were given.

struct alignas(sizeof(ATTUNE_T) * ATTUNE_VECTOR_WIDTH) Vector {
  ATTUNE_T values[ATTUNE_VECTOR_WIDTH];
};

__device__ __forceinline__ ATTUNE_T sum_of_block(ATTUNE_T sum) {
  __shared__ ATTUNE_T shared[32];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return sum;
  sum = threadIdx.x < ATTUNE_BLOCK_SIZE / 32 ? shared[threadIdx.x] : ATTUNE_T(0);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  return sum;
}

extern "C" __global__ __launch_bounds__(ATTUNE_BLOCK_SIZE) void sum_blocks(const ATTUNE_T* in, long long n, ATTUNE_T* partials) {
  const long long threads = static_cast<long long>(gridDim.x) * ATTUNE_BLOCK_SIZE;
  const long long thread = static_cast<long long>(blockIdx.x) * ATTUNE_BLOCK_SIZE + threadIdx.x;
  const long long vectors = n / ATTUNE_VECTOR_WIDTH;
  const Vector* const source = reinterpret_cast<const Vector*>(in);
  ATTUNE_T sums[ATTUNE_UNROLL] = {};
  long long i = thread;
  for (; i + (ATTUNE_UNROLL - 1) * threads < vectors; i += ATTUNE_UNROLL * threads) {
#pragma unroll
    for (int u = 0; u < ATTUNE_UNROLL; ++u) {
      const Vector vector = source[i + u * threads];
#pragma unroll
      for (int v = 0; v < ATTUNE_VECTOR_WIDTH; ++v) sums[u] += vector.values[v];
    }
  }
  for (; i < vectors; i += threads) {
    const Vector vector = source[i];
#pragma unroll
    for (int v = 0; v < ATTUNE_VECTOR_WIDTH; ++v) sums[0] += vector.values[v];
  }
  for (long long rest = vectors * ATTUNE_VECTOR_WIDTH + thread; rest < n; rest += threads) sums[0] += in[rest];
  ATTUNE_T sum = sums[0];
#pragma unroll
  for (int u = 1; u < ATTUNE_UNROLL; ++u) sum += sums[u];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

extern "C" __global__ __launch_bounds__(ATTUNE_BLOCK_SIZE) void sum_partials(const ATTUNE_T* partials, unsigned count, ATTUNE_T* out) {
  ATTUNE_T sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += ATTUNE_BLOCK_SIZE) sum += partials[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *out = sum;
}
