#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif

template <int ITEMS = 1>
__global__ void saxpy(const float* x, float* y, int n, float a) {
  const int first = blockIdx.x * (BLOCK_SIZE * ITEMS) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = first + k * BLOCK_SIZE;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

__global__ void saxpy_plain(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
