// Modules, kernels and their launches. No machine code runs: the cubin says which kernels there are and what they take,
// a registered host function does what they do.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/support/fake_cuda/process.hpp"

using namespace attune::fake_cuda;

namespace {

constexpr int kPlainSharedBytes = 48 << 10;
constexpr int kMostSharedBytes = 227 << 10;
constexpr unsigned kMostThreads = 1024;
constexpr int kRegisters = 65536;  // of a block and of an SM

std::unique_ptr<Module> load(Device& device, const void* image) {
  Cubin cubin;
  try {
    cubin = Cubin::read(image);
  } catch (const std::runtime_error&) {
    throw CallFailed{CUDA_ERROR_INVALID_IMAGE};
  }
  if (cubin.compute_capability != device.settings.compute_capability) throw CallFailed{CUDA_ERROR_NO_BINARY_FOR_GPU};
  auto module = std::make_unique<Module>();
  module->device = &device;
  for (auto& kernel : cubin.kernels) {
    const int limit = kPlainSharedBytes - std::min(kernel.static_shared_bytes, kPlainSharedBytes);
    module->kernels.push_back(std::make_unique<Kernel>(Kernel{&device, std::move(kernel), limit}));
  }
  for (const auto& variable : cubin.variables) {
    Memory memory(variable.initial.size());
    std::copy(variable.initial.begin(), variable.initial.end(), reinterpret_cast<std::byte*>(memory.address()));
    device.ranges[memory.address()] = memory.size_bytes();
    module->variables.emplace(variable.name, std::move(memory));
  }
  return module;
}

Kernel& kernel_at(Process& process, CUfunction handle) {
  const auto found = process.kernels.find(handle);
  if (found == process.kernels.end()) throw CallFailed{CUDA_ERROR_INVALID_HANDLE};
  return *found->second;
}

int attribute_of(const Kernel& kernel, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return kernel.cubin.most_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return kernel.cubin.static_shared_bytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return kernel.cubin.registers;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return kernel.dynamic_shared_limit_bytes;
    default:
      throw CallFailed{CUDA_ERROR_INVALID_VALUE};
  }
}

/// What the driver refuses at the launch itself.
void check_geometry(const Kernel& kernel, const CUlaunchConfig& config) {
  const std::uint64_t threads = std::uint64_t{config.blockDimX} * config.blockDimY * config.blockDimZ;
  const std::uint64_t blocks = std::uint64_t{config.gridDimX} * config.gridDimY * config.gridDimZ;
  if (blocks == 0 || threads == 0 || threads > kMostThreads) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
  if (threads > static_cast<std::uint64_t>(kernel.cubin.most_threads)) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
  if (config.sharedMemBytes > static_cast<unsigned>(kernel.dynamic_shared_limit_bytes)) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
  if (threads * static_cast<std::uint64_t>(kernel.cubin.registers) > kRegisters) throw CallFailed{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES};
}

/// Overwrites a launch; one that is used again allocates nothing.
void fill_launch(KernelLaunch& launch, const Kernel& kernel, const CUlaunchConfig& config, void** parameters) {
  launch.argument_bytes.clear();
  launch.argument_offsets.clear();
  launch.device = kernel.device;
  launch.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.shared_bytes = config.sharedMemBytes;
  for (std::size_t i = 0; i < kernel.cubin.parameters.size(); ++i) {
    const auto& parameter = kernel.cubin.parameters[i];
    if (launch.argument_bytes.size() < parameter.offset + parameter.bytes) launch.argument_bytes.resize(parameter.offset + parameter.bytes);
    std::memcpy(launch.argument_bytes.data() + parameter.offset, parameters[i], parameter.bytes);
    launch.argument_offsets.push_back(parameter.offset);
  }
}

/// What a launch needs, checked.
struct Prepared {
  const Kernel& kernel;
  Stream& stream;
  HostKernel host;
};

Prepared prepare(Process& process, const CUlaunchConfig& config, CUfunction function) {
  const Kernel& kernel = kernel_at(process, function);
  Stream& stream = process.stream(config.hStream);
  const HostKernel host = find_host_kernel(kernel.cubin.name);
  if (host == nullptr) throw CallFailed{CUDA_ERROR_NOT_SUPPORTED};
  check_geometry(kernel, config);
  return {kernel, stream, host};
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return entry([&](Process& process) {
    process.refuse_during_captures();
    Module* const loaded = process.modules.add(load(process.current_device(), image));
    for (const auto& kernel : loaded->kernels) process.kernels.emplace(kernel.get(), kernel.get());
    *module = reinterpret_cast<CUmodule>(loaded);
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  return entry([&](Process& process) {
    const Module& module = process.modules.at(handle);
    for (const auto& kernel : module.kernels) process.kernels.erase(kernel.get());
    for (const auto& [name, memory] : module.variables) module.device->ranges.erase(memory.address());
    process.modules.remove(handle);
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return entry([&](Process& process) {
    for (const auto& kernel : process.modules.at(handle).kernels) {
      if (kernel->cubin.name == name) {
        *function = reinterpret_cast<CUfunction>(kernel.get());
        return;
      }
    }
    throw CallFailed{CUDA_ERROR_NOT_FOUND};
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return entry([&](Process& process) { *count = static_cast<unsigned>(process.modules.at(handle).kernels.size()); });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return entry([&](Process& process) {
    const auto& kernels = process.modules.at(handle).kernels;
    if (count == 0 || count > kernels.size()) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
    for (unsigned i = 0; i < count; ++i) functions[i] = reinterpret_cast<CUfunction>(kernels[i].get());
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule handle, const char* name) {
  return entry([&](Process& process) {
    const auto& variables = process.modules.at(handle).variables;
    const auto found = variables.find(name);
    if (found == variables.end()) throw CallFailed{CUDA_ERROR_NOT_FOUND};
    *address = found->second.address();
    *bytes = found->second.size_bytes();
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return entry([&](Process& process) { *name = kernel_at(process, function).cubin.name.c_str(); });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return entry([&](Process& process) { *value = attribute_of(kernel_at(process, function), attribute); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return entry([&](Process& process) {
    Kernel& kernel = kernel_at(process, function);
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) return;
    const bool fits = value >= 0 && value <= kMostSharedBytes - kernel.cubin.static_shared_bytes;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || !fits) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
    kernel.dynamic_shared_limit_bytes = value;
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return entry([&](Process& process) {
    const auto& parameters = kernel_at(process, function).cubin.parameters;
    if (index >= parameters.size()) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
    *offset = parameters[index].offset;
    if (bytes != nullptr) *bytes = parameters[index].bytes;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads, std::size_t shared_bytes) {
  return entry([&](Process& process) {
    const Kernel& kernel = kernel_at(process, function);
    if (threads <= 0) throw CallFailed{CUDA_ERROR_INVALID_VALUE};
    const int by_registers = kRegisters / std::max(1, kernel.cubin.registers * threads);
    const int by_shared = kMostSharedBytes / std::max(1, kernel.cubin.static_shared_bytes + static_cast<int>(shared_bytes));
    *blocks = std::min({32, 2048 / threads, by_registers, by_shared});
  });
}

static thread_local unsigned last_block = 0;

/// For tests: threads a block of this thread's last launch, which tells what a program really launched.
extern "C" __attribute__((visibility("default"))) unsigned fake_cuda_last_block() { return last_block; }

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
  last_block = config->blockDimX;
  bool done = false;
  const CUresult result = entry_beside([&](Process& process) {
    const Prepared prepared = prepare(process, *config, function);
    done = process.run_beside(prepared.stream, [&] {
      thread_local KernelLaunch launch;
      fill_launch(launch, prepared.kernel, *config, parameters);
      return prepared.host(launch);
    });
  });
  if (done || result != CUDA_SUCCESS) return result;
  return entry([&](Process& process) {
    const auto [kernel, stream, host] = prepare(process, *config, function);
    KernelLaunch kept;
    fill_launch(kept, kernel, *config, parameters);
    const double loading_us = std::exchange(kernel.launched, true) ? 0 : process.settings.loading_us;
    process.enqueue(stream,
                    [host = host, &process, device = kernel.device, name = kernel.cubin.name, launch = std::move(kept), loading_us] {
                      const Fault planned = process.planned_fault(*device, name);
                      Effect effect = planned == Fault::None ? host(launch) : Effect{0, planned};
                      effect.us += loading_us;
                      return effect;
                    });
  });
}
