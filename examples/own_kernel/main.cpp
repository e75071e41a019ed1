// y = 3 * x + y with the configuration that was tuned for this GPU and size.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "attune/runtime.hpp"

int main() {
  const std::int64_t n = 1 << 24;
  const std::vector<float> ones(n, 1), twos(n, 2);
  const std::size_t bytes = n * sizeof(float);
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, bytes) != cudaSuccess || cudaMalloc(&y, bytes) != cudaSuccess) {
    std::fprintf(stderr, "own_kernel: no GPU, or no memory for 2^25 numbers\n");
    return 1;
  }
  cudaMemcpy(x, ones.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(y, twos.data(), bytes, cudaMemcpyHostToDevice);

  attune::Options options;
  options.templates = {"."};  // the folder that `saxpy` is in
  attune::Runtime runtime(options);
  const attune::Kernel saxpy = runtime.kernel("saxpy", {});
  // Buffers and scalars in the order of template.json, buffers first.
  saxpy.launch({n}, {attune::Argument::pointer(x), attune::Argument::pointer(y), attune::Argument::scalar(3.0f)}, nullptr);

  float first = 0;
  if (const cudaError_t error = cudaMemcpy(&first, y, sizeof(float), cudaMemcpyDeviceToHost); error != cudaSuccess) {
    std::fprintf(stderr, "own_kernel: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("y[0] = %g by %s, %s\n", first, saxpy.explain({n}).configuration.c_str(), attune::name(saxpy.explain({n}).tier));
}
