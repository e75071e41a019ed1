#include "tuner/compile/occupancy.hpp"

#include <cuda_occupancy.h>
#include <fmt/core.h>

#include "attune/error.hpp"

namespace attune::compile {
namespace {

/// From compute capability 8.0 on the system takes 1024 bytes of shared memory per block (which is why a block can have
/// 163 of an A100's 164 KiB). cuda_occupancy.h adds them to the kernel's static bytes itself. That is right for the
/// figure in ptxas' log, which never holds them; the size in a cubin for sm_90 and later does hold them already, and
/// given that figure they would count twice.
std::size_t reserved_shared_bytes(int compute_capability) { return compute_capability >= 80 ? 1024 : 0; }

cudaOccDeviceProp properties_of(const spec::DeviceInfo& device) {
  cudaOccDeviceProp properties;
  properties.computeMajor = device.compute_capability / 10;
  properties.computeMinor = device.compute_capability % 10;
  properties.maxThreadsPerBlock = device.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = device.max_threads_per_sm;
  properties.regsPerBlock = static_cast<int>(device.registers_per_block);
  properties.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm);
  properties.warpSize = device.warp_size;
  properties.sharedMemPerBlock = static_cast<std::size_t>(device.shared_per_block_bytes);
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_per_sm_bytes);
  properties.numSms = device.sm_count;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_optin_bytes);
  properties.reservedSharedMemPerBlock = reserved_shared_bytes(device.compute_capability);
  return properties;
}

cudaOccFuncAttributes attributes_of(const KernelResources& kernel, std::int64_t dynamic_shared_bytes, const spec::DeviceInfo& device) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = device.max_threads_per_block;
  attributes.numRegs = kernel.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(kernel.static_shared_bytes);
  // As it is launched: the limit of dynamic shared memory is raised to what the launch asks for.
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(dynamic_shared_bytes);
  attributes.numBlockBarriers = 1;
  return attributes;
}

/// Where several resources run out together, the one that the kernel's author can do most about comes first.
const char* limit_name(unsigned int factors) {
  if ((factors & OCC_LIMIT_REGISTERS) != 0) return "registers";
  if ((factors & OCC_LIMIT_SHARED_MEMORY) != 0) return "shared memory";
  if ((factors & OCC_LIMIT_WARPS) != 0) return "threads";
  return "blocks";
}

}  // namespace

Occupancy occupancy(const KernelResources& kernel, int block_threads, std::int64_t dynamic_shared_bytes, const spec::DeviceInfo& device) {
  if (block_threads < 1 || dynamic_shared_bytes < 0) {
    throw UsageError(fmt::format("failed computing occupancy of {}: {} threads a block with {} bytes of dynamic shared memory",
                                 kernel.kernel, block_threads, dynamic_shared_bytes));
  }
  const cudaOccDeviceProp properties = properties_of(device);
  const cudaOccFuncAttributes attributes = attributes_of(kernel, dynamic_shared_bytes, device);
  // The default state asks for carveout -1 (default). Zeroing the structure, as the header advises C users, would ask
  // for the smallest carveout, and shared memory would seem to limit every kernel that has some.
  const cudaOccDeviceState state;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, block_threads,
                                                                     static_cast<std::size_t>(dynamic_shared_bytes));
  if (error != CUDA_OCC_SUCCESS) {
    throw Error(fmt::format("failed computing occupancy of {} on {}: cudaOccMaxActiveBlocksPerMultiprocessor returned {} ({})",
                            kernel.kernel, device.architecture, static_cast<int>(error),
                            error == CUDA_OCC_ERROR_UNKNOWN_DEVICE ? "an architecture it does not know" : "invalid input"));
  }
  Occupancy answer;
  answer.blocks_per_sm = result.activeBlocksPerMultiprocessor;
  answer.fraction = static_cast<double>(answer.blocks_per_sm) * block_threads / device.max_threads_per_sm;
  answer.limited_by = answer.fraction >= 1 ? "none" : limit_name(result.limitingFactors);
  return answer;
}

}  // namespace attune::compile
