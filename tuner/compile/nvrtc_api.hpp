#pragma once
#include <nvrtc.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tuner/compile/nvrtc_library.hpp"

namespace attune::compile {

/// The entry points of a loaded NVRTC.
class NvrtcApi {
 public:
  /// Throws: EnvironmentError (load_nvrtc; an entry point is missing).
  NvrtcApi();
  /// Throws: EnvironmentError naming the library, the call and what it returned.
  void check(nvrtcResult result, const char* call) const;
  /// Since CUDA 12.8.
  [[nodiscard]] bool knows_precompiled_headers() const noexcept { return pch_status != nullptr; }

  NvrtcLibrary library;
  decltype(&::nvrtcGetErrorString) error_string;
  decltype(&::nvrtcCreateProgram) create_program;
  decltype(&::nvrtcDestroyProgram) destroy_program;
  decltype(&::nvrtcCompileProgram) compile_program;
  decltype(&::nvrtcGetProgramLogSize) log_size;
  decltype(&::nvrtcGetProgramLog) log;
  decltype(&::nvrtcGetPTXSize) ptx_size;
  decltype(&::nvrtcGetPTX) ptx;
  decltype(&::nvrtcGetCUBINSize) cubin_size;
  decltype(&::nvrtcGetCUBIN) cubin;
  // Null before CUDA 12.8. Typed by hand: older headers do not declare them.
  nvrtcResult (*pch_status)(nvrtcProgram) = nullptr;
  nvrtcResult (*pch_heap_required)(nvrtcProgram, std::size_t*) = nullptr;
  nvrtcResult (*set_pch_heap)(std::size_t) = nullptr;
};

/// One nvrtcProgram and what came of it.
class NvrtcProgram {
 public:
  NvrtcProgram(const NvrtcApi& api, const std::string& source, const std::string& name);
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;
  ~NvrtcProgram() { api_.destroy_program(&program_); }

  nvrtcResult compile(const std::vector<std::string>& options);
  /// Ends with a line end unless it is empty.
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::string ptx() const { return get(api_.ptx_size, api_.ptx, "nvrtcGetPTX"); }
  [[nodiscard]] std::string cubin() const { return get(api_.cubin_size, api_.cubin, "nvrtcGetCUBIN"); }
  [[nodiscard]] nvrtcProgram handle() const noexcept { return program_; }

 private:
  template <class Size, class Get>
  std::string get(Size size_of, Get get_bytes, const char* call) const {
    std::size_t size = 0;
    api_.check(size_of(program_, &size), call);
    std::string bytes(size, '\0');
    if (size > 0) api_.check(get_bytes(program_, bytes.data()), call);
    return bytes;
  }

  const NvrtcApi& api_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace attune::compile
