// What is right of "transpose": an element at a time.
extern "C" __global__ void transpose_expect(const ATTUNE_T* in, ATTUNE_T* out, unsigned long long rows, unsigned long long columns) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * columns; i += threads)
    out[i] = in[i % rows * columns + i / rows];
}
