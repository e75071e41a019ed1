#pragma once
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace attune::fake_cuda {

struct Device;

/// How an execution can end besides well, as the driver reports it.
enum class Fault {
  None,
  IllegalAddress,
  MisalignedAddress,
  Trap,  ///< CUDA_ERROR_LAUNCH_FAILED
  Assert,
  StackOverflow,   ///< CUDA_ERROR_HARDWARE_STACK_ERROR
  EndlessLoop,     ///< whoever waits for the stream waits for ever
  OutOfResources,  ///< of the launch itself; the context survives
  ProcessKilled,   ///< SIGKILL, as the out-of-memory killer sends it
};

/// "illegal_address", "endless_loop", ... Throws: std::runtime_error on an unknown name.
[[nodiscard]] Fault fault_from_name(const std::string& name);

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

/// One launch as its host function sees it. Device memory is host memory: pointers can be followed.
struct KernelLaunch {
  const Device* device = nullptr;
  Extent grid;
  Extent block;
  unsigned shared_bytes = 0;
  std::vector<std::byte> argument_bytes;
  std::vector<std::size_t> argument_offsets;

  template <class T>
  [[nodiscard]] T argument(std::size_t index) const {
    T value;
    std::memcpy(&value, argument_bytes.data() + argument_offsets.at(index), sizeof(T));
    return value;
  }
  /// Whether all these bytes lie inside one allocation of the device.
  [[nodiscard]] bool may_access(const void* address, std::size_t bytes) const;
};

/// What an execution did besides what it wrote to memory.
struct Effect {
  double us = 0;  ///< on a device of speed 1, without noise
  Fault fault = Fault::None;
};

/// What any launch of a shipped template's kernel takes at least on a device of speed 1. Long, so that a sample is a few launches: a
/// kernel of microseconds is launched hundreds of times for each, which the host really does.
inline constexpr double kLaunchUs = 100;
/// What a device of speed 1 reads in a microsecond.
inline constexpr double kBytesPerUs = 4e6;

using HostKernel = Effect (*)(const KernelLaunch&);

struct RegisteredKernel {
  std::string_view name;
  HostKernel run;
};

/// The function that runs as the kernel of this name; nullptr when none is registered.
[[nodiscard]] HostKernel find_host_kernel(std::string_view name);

// The registered kernels, a table for each file of them.
[[nodiscard]] const std::vector<RegisteredKernel>& support_kernels();     ///< tuner/verify/support.cu and templates/references
[[nodiscard]] const std::vector<RegisteredKernel>& synthetic_kernels();   ///< tests/support/fake_templates
[[nodiscard]] const std::vector<RegisteredKernel>& scratch_kernels();     ///< tests/support/fake_templates/tickets and steps
[[nodiscard]] const std::vector<RegisteredKernel>& packed_kernels();      ///< tests/support/fake_templates/packed
[[nodiscard]] const std::vector<RegisteredKernel>& million_kernels();     ///< bench/templates/million
[[nodiscard]] const std::vector<RegisteredKernel>& reduce_kernels();      ///< templates/reduce and reproducible_reduce, f32 sums only
[[nodiscard]] const std::vector<RegisteredKernel>& arg_reduce_kernels();  ///< templates/argreduce, arg-max of f32 only; arg_scan
[[nodiscard]] const std::vector<RegisteredKernel>& row_kernels();         ///< templates/segmented_reduce, f32 sums only; row_scan
[[nodiscard]] const std::vector<RegisteredKernel>& transpose_kernels();   ///< templates/transpose, f32 only; transpose_scan

}  // namespace attune::fake_cuda
