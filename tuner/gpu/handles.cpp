#include "tuner/gpu/handles.hpp"

#include <fmt/core.h>

#include "tuner/base/kernel_symbol.hpp"

namespace attune::gpu {
namespace {

/// The symbols of a module's kernels. The driver is asked, since only a name of C++ needs them: read out of the cubin they would cost every
/// load its time, or every module a copy of its cubin.
std::vector<std::string> symbols_of(const Driver& driver, CUmodule module) {
  unsigned count = 0;
  check(driver.cuModuleGetFunctionCount(&count, module), "cuModuleGetFunctionCount", "counting the kernels of a module");
  if (count == 0) return {};  // which cuModuleEnumerateFunctions refuses
  std::vector<CUfunction> functions(count);
  check(driver.cuModuleEnumerateFunctions(functions.data(), count, module), "cuModuleEnumerateFunctions",
        "listing the kernels of a module");
  std::vector<std::string> symbols;
  for (const CUfunction function : functions) {
    const char* symbol = nullptr;
    check(driver.cuFuncGetName(&symbol, function), "cuFuncGetName", "reading the name of a kernel");
    symbols.emplace_back(symbol);
  }
  return symbols;
}

}  // namespace

// Destructors drop the driver's result: after a sticky error every call fails, and the process goes anyway.

Context::Context(int ordinal) {
  const Driver& driver = Driver::get();
  check(driver.cuDeviceGet(&device_, ordinal), "cuDeviceGet", fmt::format("selecting device {}", ordinal));
  check(driver.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain", fmt::format("opening device {}", ordinal));
  const CUresult result = driver.cuCtxSetCurrent(context_);
  if (result != CUDA_SUCCESS) driver.cuDevicePrimaryCtxRelease(device_);
  check(result, "cuCtxSetCurrent", fmt::format("opening device {}", ordinal));
}

Context::~Context() {
  if (context_ != nullptr) Driver::get().cuDevicePrimaryCtxRelease(device_);
}

void Context::make_current() const { check(Driver::get().cuCtxSetCurrent(context_), "cuCtxSetCurrent", "making the context current"); }

Module::Module(const std::string& cubin) {
  check(Driver::get().cuModuleLoadData(&module_, cubin.data()), "cuModuleLoadData", "loading a cubin");
}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(module_, other.module_);
  return *this;
}

Module::~Module() {
  if (module_ != nullptr) Driver::get().cuModuleUnload(module_);
}

Function Module::function(const std::string& name) const {
  const Driver& driver = Driver::get();
  Function function;
  function.name = name;
  CUresult found = driver.cuModuleGetFunction(&function.handle, module_, name.c_str());
  if (found == CUDA_ERROR_NOT_FOUND) {
    const std::string symbol = base::kernel_symbol(symbols_of(driver, module_), name);
    if (!symbol.empty()) found = driver.cuModuleGetFunction(&function.handle, module_, symbol.c_str());
  }
  if (found == CUDA_ERROR_NOT_FOUND) {
    throw Error(fmt::format("failed finding kernel \"{}\": cuModuleGetFunction returned CUDA_ERROR_NOT_FOUND (the compiled "
                            "source has no kernel of that name); name one that it has, with its namespace and template arguments",
                            name),
                ExitCode::Spec);
  }
  check(found, "cuModuleGetFunction", fmt::format("finding kernel \"{}\"", name));
  for (std::size_t index = 0;; ++index) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const CUresult result = driver.cuFuncGetParamInfo(function.handle, index, &offset, &bytes);
    if (result == CUDA_ERROR_INVALID_VALUE) break;  // past the last one: the only way to learn their number
    check(result, "cuFuncGetParamInfo", fmt::format("reading the parameters of kernel \"{}\"", name));
    function.parameter_bytes.push_back(static_cast<int>(bytes));
  }
  return function;
}

std::pair<CUdeviceptr, std::size_t> Module::global(const std::string& name) const {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  const CUresult result = Driver::get().cuModuleGetGlobal(&address, &bytes, module_, name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    throw Error(fmt::format("failed finding variable \"{}\": cuModuleGetGlobal returned CUDA_ERROR_NOT_FOUND (the compiled source "
                            "has no variable of that name); declare it extern \"C\" __constant__",
                            name),
                ExitCode::Spec);
  }
  check(result, "cuModuleGetGlobal", fmt::format("finding variable \"{}\"", name));
  return {address, bytes};
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const Driver& driver = Driver::get();
  const CUresult result = driver.cuMemAlloc(&address_, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(driver.cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo", "reading the free device memory");
    throw EnvironmentError(
        fmt::format("failed allocating device memory: {} bytes asked for, {} of {} bytes are free; choose a "
                    "smaller problem or end other programs on this device",
                    bytes, free_bytes, total_bytes));
  }
  check(result, "cuMemAlloc", fmt::format("allocating {} bytes of device memory", bytes));
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Buffer::~Buffer() {
  if (address_ != 0) Driver::get().cuMemFree(address_);
}

Stream::Stream() {
  // Non-blocking: nothing of another library's default stream serialises with measurements.
  check(Driver::get().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "creating a stream");
}

Stream::~Stream() {
  if (stream_ != nullptr) Driver::get().cuStreamDestroy(stream_);
}

void Stream::synchronize() const { check(Driver::get().cuStreamSynchronize(stream_), "cuStreamSynchronize", "waiting for the device"); }

Event::Event() { check(Driver::get().cuEventCreate(&event_, CU_EVENT_DEFAULT), "cuEventCreate", "creating an event"); }

Event::~Event() {
  if (event_ != nullptr) Driver::get().cuEventDestroy(event_);
}

void Event::record(const Stream& stream) const {
  check(Driver::get().cuEventRecord(event_, stream.get()), "cuEventRecord", "recording an event");
}

void Event::synchronize() const { check(Driver::get().cuEventSynchronize(event_), "cuEventSynchronize", "waiting for the device"); }

double elapsed_us(const Event& start, const Event& end) {
  float milliseconds = 0;
  check(Driver::get().cuEventElapsedTime(&milliseconds, start.get(), end.get()), "cuEventElapsedTime", "reading a time");
  return 1000.0 * static_cast<double>(milliseconds);
}

}  // namespace attune::gpu
