#pragma once
// The calls of the CUDA runtime that the examples make, over the driver API, so that an example program itself runs on the
// fake driver (docs/testing.md), which has no entry for the real runtime.

#include "tuner/gpu/handles.hpp"

using cudaError_t = CUresult;
inline constexpr cudaError_t cudaSuccess = CUDA_SUCCESS;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

namespace runtime_over_driver {

/// The primary context of device 0, made current on first use as the runtime does; stays until the program ends.
inline const attune::gpu::Driver& driver() {
  static const attune::gpu::Context context(0);
  return attune::gpu::Driver::get();
}

inline cudaError_t in_order(CUresult result) { return result == CUDA_SUCCESS ? driver().cuCtxSynchronize() : result; }

}  // namespace runtime_over_driver

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = attune::gpu::Driver::unavailable_reason().empty() ? attune::gpu::device_count() : 0;
  return cudaSuccess;
}

inline const char* cudaGetErrorString(cudaError_t result) {
  const char* text = "unknown";
  runtime_over_driver::driver().cuGetErrorString(result, &text);
  return text;
}

inline cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  CUdeviceptr allocated = 0;
  const cudaError_t result = runtime_over_driver::driver().cuMemAlloc(&allocated, bytes);
  *address = reinterpret_cast<void*>(allocated);
  return result;
}

inline cudaError_t cudaFree(void* address) { return runtime_over_driver::driver().cuMemFree(reinterpret_cast<CUdeviceptr>(address)); }

inline cudaError_t cudaDeviceSynchronize() { return runtime_over_driver::driver().cuCtxSynchronize(); }

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const auto& driver = runtime_over_driver::driver();
  if (bytes == 0) return cudaSuccess;
  if (kind == cudaMemcpyHostToDevice) {
    return runtime_over_driver::in_order(driver.cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to), from, bytes, nullptr));
  }
  return runtime_over_driver::in_order(driver.cuMemcpyDtoHAsync(to, reinterpret_cast<CUdeviceptr>(from), bytes, nullptr));
}
