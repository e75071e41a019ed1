#pragma once
#include <string>

#include "attune/error.hpp"

namespace attune::bench {

/// Throws: EnvironmentError when the launch before was refused. `what`: e.g. "fills the input".
inline void check_launch(const char* what) {
  const cudaError_t result = cudaGetLastError();
  if (result == cudaSuccess) return;
  throw EnvironmentError(std::string("failed launching the kernel that ") + what + ": " + cudaGetErrorName(result) +
                         " (" + cudaGetErrorString(result) +
                         "); were the benchmarks built for this device's architecture (CMAKE_CUDA_ARCHITECTURES)?");
}

}  // namespace attune::bench
