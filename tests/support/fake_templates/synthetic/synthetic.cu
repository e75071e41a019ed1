// Compiled as any template; what runs in its place is tests/support/fake_cuda/synthetic_kernels.cpp. The parameters of the
// source are used, so that every value gives another cubin.

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    synthetic(const ATTUNE_T* in, ATTUNE_T* out, long long n, long long time_ns, long long fault_code) {
  const long long first = (blockIdx.x * static_cast<long long>(ATTUNE_BLOCK_SIZE) + threadIdx.x) * ATTUNE_ITEMS;
#pragma unroll
  for (int k = 0; k < ATTUNE_ITEMS; ++k) {
    if (first + k < n) out[first + k] = in[first + k];
  }
  if (time_ns < 0 || fault_code < 0) out[0] = 0;
}

extern "C" __global__ void synthetic_plain(const ATTUNE_T* in, ATTUNE_T* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = in[i];
}
