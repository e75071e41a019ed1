#include "tuner/gpu/driver.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

namespace attune::gpu {
namespace {

// The entry points are asked for as of this CUDA version, whatever the header's: cuda.h maps each name in use to the
// variant that a driver of 12.4 knows under the plain name (cuMemAlloc -> cuMemAlloc_v2, ...), and later variants of
// some names have other signatures (cuCtxGetDevice in 13.0, cuStreamGetCtx in 12.5). 12.4 brought cuFuncGetParamInfo
// and cuModuleEnumerateFunctions.
constexpr int kDriverApiVersion = 12040;

constexpr const char* kRemedy =
    "install the NVIDIA driver and make its device visible to this process; without a GPU attune still compiles, "
    "reports and replays recordings (attune tune --replay FILE)";

struct Loaded {
  Driver driver;
  std::string reason;  ///< why there is no driver; empty when there is
};

using GetProcAddress = decltype(&::cuGetProcAddress);

std::string name_of(const Driver& driver, CUresult result) {
  const char* text = nullptr;
  if (driver.cuGetErrorName == nullptr || driver.cuGetErrorName(result, &text) != CUDA_SUCCESS || text == nullptr) {
    return fmt::format("CUresult {}", static_cast<int>(result));
  }
  return text;
}

std::string meaning_of(const Driver& driver, CUresult result) {
  const char* text = nullptr;
  if (driver.cuGetErrorString == nullptr || driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) {
    return "unknown to this driver";
  }
  return text;
}

/// Fills the table. Returns the name of the first entry point the driver lacks, or nothing.
std::string resolve_all(GetProcAddress get_address, Driver& driver) {
  std::string missing;
  const auto resolve = [&](const char* name, void** target) {
    CUdriverProcAddressQueryResult status{};
    const CUresult result = get_address(name, target, kDriverApiVersion, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    if ((result != CUDA_SUCCESS || *target == nullptr) && missing.empty()) missing = name;
  };
// `#name` is the plain name; the member is called what cuda.h maps it to.
#define ATTUNE_RESOLVE(name) resolve(#name, reinterpret_cast<void**>(&driver.name));
  ATTUNE_DRIVER_FUNCTIONS(ATTUNE_RESOLVE)
#undef ATTUNE_RESOLVE
  return missing;
}

Loaded load() {
  Loaded loaded;
  // Kept open for the life of the process: the table points into it.
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    loaded.reason =
        fmt::format("failed loading the CUDA driver: dlopen returned NULL ({}); {}", why == nullptr ? "no reason given" : why, kRemedy);
    return loaded;
  }
  const auto get_address = reinterpret_cast<GetProcAddress>(::dlsym(library, "cuGetProcAddress_v2"));
  const std::string missing = get_address == nullptr ? "cuGetProcAddress_v2" : resolve_all(get_address, loaded.driver);
  if (!missing.empty()) {
    loaded.reason = fmt::format(
        "failed loading the CUDA driver: libcuda.so.1 lacks {} (a driver older than CUDA 12.4); "
        "install a driver of release 550 or later",
        missing);
    return loaded;
  }
  const CUresult result = loaded.driver.cuInit(0);
  if (result != CUDA_SUCCESS) {
    loaded.reason = fmt::format("failed initialising the CUDA driver: cuInit returned {} ({}); {}", name_of(loaded.driver, result),
                                meaning_of(loaded.driver, result), kRemedy);
    return loaded;
  }
  int count = 0;
  const CUresult counted = loaded.driver.cuDeviceGetCount(&count);
  if (counted != CUDA_SUCCESS || count == 0) {
    loaded.reason = fmt::format("failed finding a CUDA device: cuDeviceGetCount returned {} and {} devices; {}",
                                name_of(loaded.driver, counted), count, kRemedy);
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded instance = load();
  return instance;
}

}  // namespace

const Driver& Driver::get() {
  const Loaded& instance = loaded();
  if (!instance.reason.empty()) throw EnvironmentError(instance.reason);
  return instance.driver;
}

std::string Driver::unavailable_reason() { return loaded().reason; }

void check(CUresult result, const char* call, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const Driver& driver = loaded().driver;
  throw CudaError(static_cast<int>(result), call,
                  fmt::format("failed {}: {} returned {} ({})", what, call, name_of(driver, result), meaning_of(driver, result)));
}

bool is_sticky(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

}  // namespace attune::gpu
