// y = 3 * x + y with the configuration that was tuned for this GPU and size.
#include <cuda_runtime.h>

#include <cstdio>

#include "attune/runtime.hpp"

int main() {
  const std::int64_t n = 1 << 24;
  float *x = nullptr, *y = nullptr;
  if (cudaMallocManaged(&x, n * sizeof(float)) != cudaSuccess || cudaMallocManaged(&y, n * sizeof(float)) != cudaSuccess) {
    std::fprintf(stderr, "own_kernel: no GPU, or no memory for 2^25 numbers\n");
    return 1;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = 1;
    y[i] = 2;
  }

  attune::Options options;
  options.templates = {"."};  // the folder that `saxpy` is in
  attune::Runtime runtime(options);
  const attune::Kernel saxpy = runtime.kernel("saxpy", {});
  // Buffers and scalars in the order of template.json, buffers first.
  saxpy.launch({n}, {attune::Argument::pointer(x), attune::Argument::pointer(y), attune::Argument::scalar(3.0f)}, nullptr);

  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::fprintf(stderr, "own_kernel: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("y[0] = %g by %s, %s\n", y[0], saxpy.explain({n}).configuration.c_str(), attune::name(saxpy.explain({n}).tier));
}
