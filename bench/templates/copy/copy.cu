// Whole vectors in tiles dealt to the blocks round-robin, all loads of a thread in flight; what is left of a vector goes to the last threads.

constexpr unsigned kThreads = ATTUNE_BLOCK_SIZE;
constexpr unsigned kLoads = ATTUNE_LOADS;

extern "C" __global__ void __launch_bounds__(kThreads)
    copy(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, long long bytes) {
  const uint4* const from = reinterpret_cast<const uint4*>(in);
  uint4* const to = reinterpret_cast<uint4*>(out);
  const long long vectors = bytes / 16, tile = static_cast<long long>(kThreads) * kLoads;
  for (long long start = blockIdx.x * tile; start < vectors; start += gridDim.x * tile) {
    uint4 loaded[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const long long i = start + k * kThreads + threadIdx.x;
      if (i < vectors) loaded[k] = from[i];
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const long long i = start + k * kThreads + threadIdx.x;
      if (i < vectors) to[i] = loaded[k];
    }
  }
  const long long left = vectors * 16 + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && left < bytes) out[left] = in[left];
}

extern "C" __global__ void copy_bytes(const unsigned char* in, unsigned char* out, long long bytes) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < bytes; i += gridDim.x * 256ll) out[i] = in[i];
}
