#pragma once
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::test {

/// Loads the driver by its path before the product asks for libcuda.so.1: the loader then answers with this one.
struct Loaded {
  Loaded() {
    ::setenv("ATTUNE_FAKE_CUDA", R"({"devices": [{"memory_bytes": 268435456}]})", 1);
    REQUIRE(::dlopen(ATTUNE_FAKE_CUDA_LIBRARY, RTLD_NOW) != nullptr);
  }
};

struct Fake {
  Loaded loaded;
  gpu::Context context{0};
  gpu::Stream stream;
};

inline std::string cubin_of(const std::string& source, const std::string& architecture = "sm_90") {
  static compile::Nvrtc nvrtc;
  const auto result = nvrtc.compile({source, "test.cu", architecture, {}});
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  return result.cubin;
}

/// attune's own device kernels, compiled once for all tests.
inline const std::string& support_cubin() {
  static const std::string cubin = cubin_of(verify::support_source());
  return cubin;
}

template <class T>
std::vector<T> read_back(const gpu::Buffer& buffer, const gpu::Stream& stream) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  REQUIRE(gpu::Driver::get().cuMemcpyDtoHAsync(values.data(), buffer.address(), buffer.bytes(), stream.get()) == CUDA_SUCCESS);
  return values;
}

}  // namespace attune::test
