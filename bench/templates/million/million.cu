// A grid-stride copy whose loop is unrolled, and whose loads may run ahead of their stores.

extern "C" __global__ void twice_plainly(const float* in, float* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

extern "C" __global__ __launch_bounds__(ATTUNE_BLOCK_SIZE) void twice(const float* in, float* out, long long n) {
  const long long threads = static_cast<long long>(gridDim.x) * ATTUNE_BLOCK_SIZE;
  long long i = static_cast<long long>(blockIdx.x) * ATTUNE_BLOCK_SIZE + threadIdx.x;
  for (; i + (ATTUNE_AHEAD - 1) * threads < n; i += ATTUNE_AHEAD * threads) {
    float values[ATTUNE_AHEAD];
#pragma unroll
    for (int k = 0; k < ATTUNE_AHEAD; ++k) values[k] = in[i + k * threads];
#pragma unroll
    for (int k = 0; k < ATTUNE_AHEAD; ++k) out[i + k * threads] = 2 * values[k];
  }
#pragma unroll ATTUNE_UNROLL
  for (; i < n; i += threads) out[i] = 2 * in[i];
}
