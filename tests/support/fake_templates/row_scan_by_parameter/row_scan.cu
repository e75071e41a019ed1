// Compiled as any template; what runs in its place is tests/support/fake_cuda/row_kernels.cpp.

extern "C" __global__ void row_scan(const ATTUNE_T* in, ATTUNE_T* out, long long rows, long long columns, long long defect,
                                    long long operation) {
  if (rows > defect) *out = in[columns - operation];
}
