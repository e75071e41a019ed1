#include "tuner/compile/nvrtc_api.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/compile/ptxas_log.hpp"

namespace attune::compile {
namespace {

template <class Function>
void load(const NvrtcLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(nvrtc_symbol(library, name));
}

template <class Function>
void load_if_there(const NvrtcLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library.handle, name));
}

}  // namespace

NvrtcApi::NvrtcApi() : library(load_nvrtc()) {
  load(library, "nvrtcGetErrorString", error_string);
  load(library, "nvrtcCreateProgram", create_program);
  load(library, "nvrtcDestroyProgram", destroy_program);
  load(library, "nvrtcCompileProgram", compile_program);
  load(library, "nvrtcGetProgramLogSize", log_size);
  load(library, "nvrtcGetProgramLog", log);
  load(library, "nvrtcGetPTXSize", ptx_size);
  load(library, "nvrtcGetPTX", ptx);
  load(library, "nvrtcGetCUBINSize", cubin_size);
  load(library, "nvrtcGetCUBIN", cubin);
  load_if_there(library, "nvrtcGetPCHCreateStatus", pch_status);
  load_if_there(library, "nvrtcGetPCHHeapSizeRequired", pch_heap_required);
  load_if_there(library, "nvrtcSetPCHHeapSize", set_pch_heap);
}

void NvrtcApi::check(nvrtcResult result, const char* call) const {
  if (result == NVRTC_SUCCESS) return;
  throw EnvironmentError(fmt::format("failed using NVRTC {}: {} returned {}", library.path.string(), call, error_string(result)));
}

NvrtcProgram::NvrtcProgram(const NvrtcApi& api, const std::string& source, const std::string& name) : api_(api) {
  api_.check(api_.create_program(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
}

nvrtcResult NvrtcProgram::compile(const std::vector<std::string>& options) {
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  return api_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
}

std::string NvrtcProgram::log() const { return clean_log(get(api_.log_size, api_.log, "nvrtcGetProgramLog")); }

}  // namespace attune::compile
