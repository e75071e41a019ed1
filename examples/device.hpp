#pragma once
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

/// What both examples need of the CUDA runtime.
namespace example {

constexpr int kNoDevice = 4;  ///< exit code

/// Ends the program with a message when there is no usable GPU.
inline void require_device() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return;
  std::fprintf(stderr,
               "This example launches kernels and found no CUDA device (%s). Run it on a machine with an NVIDIA GPU and its "
               "driver; without one, `attune explain` shows what would be dispatched, and `attune tune` replays a recording.\n",
               result == cudaSuccess ? "the driver lists none" : cudaGetErrorString(result));
  std::exit(kNoDevice);
}

inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "failed %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

/// Device memory of `count` elements, at least one.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) { check(cudaMalloc(&data_, (count > 0 ? count : 1) * sizeof(T)), "allocating device memory"); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copying to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  [[nodiscard]] T* get() const { return static_cast<T*>(data_); }
  [[nodiscard]] std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost), "copying from the device");
    return values;
  }

 private:
  void* data_ = nullptr;
};

}  // namespace example
