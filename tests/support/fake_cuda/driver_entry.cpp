// How the product finds the entry points, and what their results mean.
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "tests/support/fake_cuda/process.hpp"
#include "tuner/gpu/driver.hpp"  // the list of entry points in use

using namespace attune::fake_cuda;

namespace {

struct ErrorText {
  const char* name;
  const char* meaning;
};

const ErrorText* error_text(CUresult result) {
  static const std::map<CUresult, ErrorText> texts = {
#define ATTUNE_ERROR(name, meaning) \
  {                                 \
    name, { #name, meaning }        \
  }
      ATTUNE_ERROR(CUDA_SUCCESS, "no error"),
      ATTUNE_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
      ATTUNE_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
      ATTUNE_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
      ATTUNE_ERROR(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
      ATTUNE_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
      ATTUNE_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
      ATTUNE_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
      ATTUNE_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
      ATTUNE_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
      ATTUNE_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
      ATTUNE_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
      ATTUNE_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
      ATTUNE_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
      ATTUNE_ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered"),
      ATTUNE_ERROR(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
      ATTUNE_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
      ATTUNE_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
      ATTUNE_ERROR(CUDA_ERROR_NOT_SUPPORTED, "the fake driver has no host function registered for this kernel (docs/testing.md)"),
      ATTUNE_ERROR(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
      ATTUNE_ERROR(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver combination"),
      ATTUNE_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
      ATTUNE_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
#undef ATTUNE_ERROR
  };
  const auto found = texts.find(result);
  return found == texts.end() ? nullptr : &found->second;
}

void* find_entry_point(std::string_view name) {
  static const std::map<std::string_view, void*> entry_points = {
// The name that programs ask for, and what cuda.h makes of it (cuMemAlloc -> cuMemAlloc_v2).
#define ATTUNE_ENTRY(name) {#name, reinterpret_cast<void*>(&::name)},
      ATTUNE_DRIVER_FUNCTIONS(ATTUNE_ENTRY)
#undef ATTUNE_ENTRY
  };
  const auto found = entry_points.find(name);
  return found == entry_points.end() ? nullptr : found->second;
}

}  // namespace

CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult* status) {
  *function = find_entry_point(symbol);
  if (status != nullptr) *status = *function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char** text) {
  const ErrorText* const found = error_text(result);
  *text = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char** text) {
  const ErrorText* const found = error_text(result);
  *text = found == nullptr ? nullptr : found->meaning;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
