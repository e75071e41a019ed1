// Initialisation, devices and contexts.
#include <algorithm>
#include <cstring>

#include "tests/support/fake_cuda/process.hpp"

using namespace attune::fake_cuda;

namespace {

int attribute_of(const DeviceSettings& device, CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return device.compute_capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return device.compute_capability % 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return device.sm_count;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return device.l2_bytes;
    // As an H200 has them.
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 227 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 228 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 6144;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1980000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 3201000;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
      return 1;
    default:
      throw CallFailed{CUDA_ERROR_INVALID_VALUE};
  }
}

CUcontext handle_of(Device* device) { return reinterpret_cast<CUcontext>(device); }

}  // namespace

CUresult cuInit(unsigned) {
  try {
    Process& process = Process::get();
    const bool none = process.settings.init_result == CUDA_SUCCESS && process.devices.empty();
    const CUresult result = none ? CUDA_ERROR_NO_DEVICE : process.settings.init_result;
    process.initialised = result == CUDA_SUCCESS;
    return result;
  } catch (const std::exception& error) {
    report_defect(error);
    return CUDA_ERROR_UNKNOWN;
  }
}

CUresult cuDriverGetVersion(int* version) {
  return entry([&](Process& process) { *version = process.settings.driver_version; });
}

CUresult cuDeviceGetCount(int* count) {
  return entry([&](Process& process) { *count = static_cast<int>(process.devices.size()); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return entry([&](Process& process) { *device = process.device(ordinal).ordinal; });
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  return entry([&](Process& process) {
    const std::string& full = process.device(device).settings.name;
    const std::size_t length = std::min(full.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(name, full.data(), length);
    name[length] = '\0';
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return entry([&](Process& process) {
    std::memset(uuid->bytes, 0, sizeof(uuid->bytes));
    uuid->bytes[0] = 'f';
    uuid->bytes[15] = static_cast<char>(process.device(device).number);
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return entry([&](Process& process) { *value = attribute_of(process.device(device).settings, attribute); });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return entry([&](Process& process) { *bytes = process.device(device).settings.memory_bytes; });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return entry([&](Process& process) {
    Device& retained = process.device(device);
    ++retained.retained;
    *context = handle_of(&retained);
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return entry([&](Process& process) {
    Device& released = process.device(device);
    if (released.retained == 0) throw CallFailed{CUDA_ERROR_INVALID_CONTEXT};
    --released.retained;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return entry([&](Process&) { current_context() = reinterpret_cast<Device*>(context); });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return entry_beside([&](Process&) { *context = handle_of(current_context()); });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return entry([&](Process& process) { *device = process.current_device().ordinal; });
}

CUresult cuCtxSynchronize() {
  return entry([&](Process& process) { process.synchronize(process.current_device()); });
}
