#pragma once
#include <cuda.h>

#include <string>

#include "attune/error.hpp"

namespace attune::gpu {

/// The driver entry points in use, resolved at run time: libcuda.so.1 is dlopen'ed and every function comes from
/// cuGetProcAddress, so that no binary of ours needs a driver to start.
struct Driver {
// clang-format off
#define ATTUNE_DRIVER_FUNCTIONS(X)                                                                                  \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGetCount) X(cuDeviceGet)          \
  X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain)     \
  X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuCtxGetCurrent) X(cuCtxGetDevice) X(cuCtxSynchronize)          \
  X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuModuleGetFunctionCount)     \
  X(cuModuleEnumerateFunctions) X(cuFuncGetName) X(cuFuncGetAttribute)                                              \
  X(cuFuncSetAttribute) X(cuFuncGetParamInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemGetInfo) X(cuMemsetD8Async)         \
  X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemAllocAsync) X(cuMemFreeAsync)               \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture)         \
  X(cuStreamIsCapturing) X(cuThreadExchangeStreamCaptureMode) X(cuStreamGetId) X(cuStreamGetCtx) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord)     \
  X(cuEventQuery) X(cuEventSynchronize) X(cuEventElapsedTime) X(cuGraphInstantiateWithFlags) X(cuGraphDestroy)     \
  X(cuGraphExecDestroy) X(cuGraphLaunch) X(cuGraphUpload) X(cuLaunchKernelEx) X(cuOccupancyMaxActiveBlocksPerMultiprocessor)
  // clang-format on
#define X(name) decltype(&::name) name = nullptr;
  ATTUNE_DRIVER_FUNCTIONS(X)
#undef X

  /// The table, loaded and initialised (cuInit) once a process. Throws: EnvironmentError when there is no driver or no
  /// device (failed dlopen and CUDA_ERROR_NO_DEVICE, STUB_LIBRARY, SYSTEM_... alike), with the remedy.
  static const Driver& get();
  /// Why there is none, or empty when `get()` works. Never throws.
  static std::string unavailable_reason();
};

/// Throws CudaError("failed <what>: <call> returned <NAME> (<driver's text>)") unless result is CUDA_SUCCESS.
void check(CUresult result, const char* call, const std::string& what);

/// Errors after which the context is lost and the process must go (illegal address, launch failure, assert, ...).
[[nodiscard]] bool is_sticky(CUresult result) noexcept;

}  // namespace attune::gpu
