// Compiled as any template; what runs in its place is tests/support/fake_cuda/transpose_kernels.cpp.

extern "C" __global__ void transpose_scan(const ATTUNE_T* in, ATTUNE_T* out, long long rows, long long columns, long long element_bytes,
                                          long long defect) {
  if (rows > defect) *out = in[columns - element_bytes];
}
