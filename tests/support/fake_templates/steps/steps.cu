// Compiled as any template; what runs in its place is tests/support/fake_cuda/scratch_kernels.cpp.

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    scale(const int* in, long long n, int added, int factor, long long* scaled, unsigned* begun) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const bool dirty = atomicExch(begun, 1u) != 0;
  for (long long i = 0; i < n; ++i) scaled[i] = dirty ? -1 : static_cast<long long>(in[i]) * factor + added;
}

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    add_up(const long long* scaled, long long n, long long* total, unsigned* begun, long long added, long long* out) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (long long i = 0; i < n; ++i) *total += scaled[i];
  out[0] = *total + added;
  atomicExch(begun, 0u);
}
