#pragma once
#include <cstdint>
#include <type_traits>

struct CUstream_st;  // the same type as cudaStream_t and CUstream; no CUDA header is included here

namespace attune {

using Stream = CUstream_st*;

/// One run-time argument: a device address or a scalar of up to 8 bytes.
struct Argument {
  std::uint64_t bits = 0;
  std::uint32_t size_bytes = 0;
  static Argument pointer(const void* device_address) { return {reinterpret_cast<std::uint64_t>(device_address), 8}; }
  template <class T>
  static Argument scalar(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    Argument argument{0, sizeof(T)};
    __builtin_memcpy(&argument.bits, &value, sizeof(T));
    return argument;
  }
};

}  // namespace attune
