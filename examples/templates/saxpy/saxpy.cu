// y = alpha * x + y for any n and any alignment. attune puts the values of template.json in front of this file:
// attune_T is the element type, ATTUNE_BLOCK_SIZE, ATTUNE_ITEMS and ATTUNE_VECTOR_WIDTH are the parameters.

constexpr int kWidth = ATTUNE_VECTOR_WIDTH;

struct alignas(kWidth * sizeof(attune_T)) Vector {
  attune_T element[kWidth];
};

__device__ inline bool is_aligned(const void* address) {
  return reinterpret_cast<unsigned long long>(address) % alignof(Vector) == 0;
}

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    saxpy(attune_T alpha, const attune_T* __restrict__ x, attune_T* __restrict__ y, long long n) {
  const bool vectors = is_aligned(x) && is_aligned(y);
  const long long first = static_cast<long long>(blockIdx.x) * ATTUNE_ITEMS * ATTUNE_BLOCK_SIZE + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ATTUNE_ITEMS; ++item) {
    const long long begin = (first + item * ATTUNE_BLOCK_SIZE) * kWidth;
    if (vectors && begin + kWidth <= n) {
      const Vector a = *reinterpret_cast<const Vector*>(x + begin);
      Vector b = *reinterpret_cast<const Vector*>(y + begin);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) b.element[i] = alpha * a.element[i] + b.element[i];
      *reinterpret_cast<Vector*>(y + begin) = b;
    } else {
      for (long long i = begin; i < begin + kWidth && i < n; ++i) y[i] = alpha * x[i] + y[i];
    }
  }
}

// What results are checked against: one element a thread.
extern "C" __global__ void saxpy_plain(attune_T alpha, const attune_T* x, attune_T* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}
