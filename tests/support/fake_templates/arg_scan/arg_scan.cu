// Compiled as any template; what runs in its place is tests/support/fake_cuda/arg_reduce_kernels.cpp.

extern "C" __global__ void arg_scan(const ATTUNE_T* in, ATTUNE_T* value, long long* index, long long n, long long defect) {
  if (n > defect) *value = in[n - 1];
  *index = defect;
}
