// Device memory. Copies and memsets outside of any allocation fail as on a GPU: later, and for good.
#include <cstring>

#include "tests/support/fake_cuda/process.hpp"

using namespace attune::fake_cuda;

namespace {

constexpr double kBytesPerUs = 4.5e6;
constexpr double kLatencyUs = 1;

Effect effect_of(bool allowed, std::size_t bytes) {
  return {kLatencyUs + static_cast<double>(bytes) / kBytesPerUs, allowed ? Fault::None : Fault::IllegalAddress};
}

void allocate(Device& device, CUdeviceptr* address, std::size_t bytes) {
  if (bytes == 0) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
  if (bytes > device.settings.memory_bytes - device.allocated_bytes) throw CallFailed{CUDA_ERROR_OUT_OF_MEMORY};
  Memory memory(bytes);
  *address = memory.address();
  device.ranges[*address] = bytes;
  device.allocated_bytes += bytes;
  device.allocations.emplace(*address, std::move(memory));
}

void release(Process& process, CUdeviceptr address) {
  if (address == 0) return;
  for (auto& device : process.devices) {
    const auto found = device->allocations.find(address);
    if (found == device->allocations.end()) continue;
    device->allocated_bytes -= found->second.size_bytes();
    device->ranges.erase(address);
    device->allocations.erase(found);
    return;
  }
  throw CallFailed{CUDA_ERROR_INVALID_VALUE};
}

std::byte* host(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return entry([&](Process& process) { allocate(process.current_device(), address, bytes); });
}

CUresult cuMemFree(CUdeviceptr address) {
  return entry([&](Process& process) {
    process.synchronize(process.current_device());  // as the driver does before it unmaps memory
    release(process, address);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return entry([&](Process& process) { allocate(*process.stream(stream).device, address, bytes); });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return entry([&](Process& process) {
    static_cast<void>(process.stream(stream));
    release(process, address);
  });
}

CUresult cuMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return entry([&](Process& process) {
    const Device& device = process.current_device();
    *total_bytes = device.settings.memory_bytes;
    *free_bytes = device.settings.memory_bytes - device.allocated_bytes;
  });
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char byte, std::size_t bytes, CUstream handle) {
  const auto fill = [=](const Device& device) {
    const bool allowed = device.contains(target, bytes);
    if (allowed) std::memset(host(target), byte, bytes);
    return effect_of(allowed, bytes);
  };
  bool done = false;
  const CUresult result = entry_beside([&](Process& process) {
    Stream& stream = process.stream(handle);
    done = process.run_beside(stream, [&] { return fill(*stream.device); });
  });
  if (done || result != CUDA_SUCCESS) return result;
  return entry([&](Process& process) {
    Stream& stream = process.stream(handle);
    process.enqueue(stream, [device = stream.device, fill] { return fill(*device); });
  });
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void* source, std::size_t bytes, CUstream handle) {
  return entry([&](Process& process) {
    Stream& stream = process.stream(handle);
    if (stream.capturing) throw CallFailed{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};  // pageable memory
    process.enqueue(stream, [device = stream.device, target, source, bytes] {
      const bool allowed = device->contains(target, bytes);
      if (allowed) std::memcpy(host(target), source, bytes);
      return effect_of(allowed, bytes);
    });
  });
}

CUresult cuMemcpyDtoHAsync(void* target, CUdeviceptr source, std::size_t bytes, CUstream handle) {
  return entry([&](Process& process) {
    Stream& stream = process.stream(handle);
    process.synchronize(stream);  // pageable memory: the call returns when the copy is done
    process.enqueue(stream, [device = stream.device, target, source, bytes] {
      const bool allowed = device->contains(source, bytes);
      if (allowed) std::memcpy(target, host(source), bytes);
      return effect_of(allowed, bytes);
    });
  });
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream handle) {
  return entry([&](Process& process) {
    Stream& stream = process.stream(handle);
    process.enqueue(stream, [device = stream.device, target, source, bytes] {
      const bool allowed = device->contains(target, bytes) && device->contains(source, bytes);
      if (allowed) std::memmove(host(target), host(source), bytes);
      return effect_of(allowed, 2 * bytes);
    });
  });
}
