// Compiled as any template; what runs in its place is tests/support/fake_cuda/synthetic_kernels.cpp.

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    synthetic(const ATTUNE_T* in, ATTUNE_T* out, long long n, long long time_ns, long long fault_code) {
  const long long i = blockIdx.x * static_cast<long long>(ATTUNE_BLOCK_SIZE) + threadIdx.x;
  if (i < n) out[i] = in[i];
  if (time_ns < 0 || fault_code < 0) out[0] = 0;
}

extern "C" __global__ void synthetic_plain(const ATTUNE_T* in, ATTUNE_T* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = in[i];
}
