#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/compile/nvrtc_library.hpp"

namespace test_nvrtc {

using namespace attune::compile;
using attune::testing::ScopedVariable;

namespace {

CompileResult compile(const std::string& source, const std::string& architecture = "sm_90", std::vector<std::string> options = {}) {
  static Nvrtc nvrtc;
  return nvrtc.compile({source, "test.cu", architecture, std::move(options)});
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Whether the ELF header says that the code is for sm_<architecture>. The target is in e_flags (bytes 48 to 51): since
/// CUDA 13 in the second byte, before in the first.
bool targets(const std::string& cubin, int architecture) {
  const int place = cubin.at(48) == 4 ? 49 : 48;
  return cubin.at(place) == architecture;
}

}  // namespace

TEST_CASE("the build of NVRTC is a version and a change list") {
  const Nvrtc nvrtc;
  CHECK(std::regex_match(nvrtc.build(), std::regex("\\d+\\.\\d+\\.\\d+ CL-\\d+")));
}

TEST_CASE("a kernel compiles for several architectures, and its resources are read") {
  // 300 floats of shared memory are 1200 bytes; the index that is only known at run time keeps `local` in memory.
  const std::string source =
      "extern \"C\" __global__ void stage(float* p) {\n"
      "  __shared__ float tile[300];\n"
      "  tile[threadIdx.x] = p[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  p[0] = tile[255 - threadIdx.x];\n"
      "}\n"
      "extern \"C\" __global__ void stack(float* p) {\n"
      "  float local[64];\n"
      "  for (int i = 0; i < 64; ++i) local[i] = p[i];\n"
      "  for (int i = 0; i < 64; ++i) p[i] = local[(i * 7 + (int)p[3]) & 63];\n"
      "}\n";
  for (const int architecture : {80, 90}) {
    CAPTURE(architecture);
    const CompileResult result = compile(source, "sm_" + std::to_string(architecture));
    REQUIRE(result.status == CompileStatus::Ok);
    CHECK(result.log.empty());
    CHECK(result.cubin.substr(0, 4) ==
          "\x7f"
          "ELF");
    CHECK(targets(result.cubin, architecture));
    REQUIRE(result.kernels.size() == 2);
    const bool stage_first = result.kernels[0].kernel == "stage";
    const KernelResources& stage = result.kernels[stage_first ? 0 : 1];
    const KernelResources& stack = result.kernels[stage_first ? 1 : 0];
    CHECK(stage.kernel == "stage");
    CHECK(stage.static_shared_bytes == 1200);
    CHECK(stage.stack_bytes == 0);
    CHECK(stage.registers > 0);
    CHECK(stage.registers <= 255);
    CHECK(stack.kernel == "stack");
    CHECK(stack.stack_bytes == 256);
    CHECK(stack.static_shared_bytes == 0);
  }
}

TEST_CASE("spills are told when registers do not suffice") {
  std::string source = "extern \"C\" __global__ void __launch_bounds__(1024, 2) spill(float* p) {\n  float a[100];\n";
  source += "#pragma unroll\n  for (int i = 0; i < 100; ++i) a[i] = p[i * 32 + threadIdx.x];\n  __syncthreads();\n";
  source += "#pragma unroll\n  for (int i = 0; i < 100; ++i) p[i * 32 + threadIdx.x] = a[99 - i] * a[i];\n}\n";
  const CompileResult result = compile(source);
  REQUIRE(result.kernels.size() == 1);
  CHECK(result.kernels.front().registers == 32);  // 65536 registers over 2 x 1024 threads
  CHECK(result.kernels.front().spill_store_bytes > 0);
  CHECK(result.kernels.front().spill_load_bytes > 0);
}

TEST_CASE("a refused source is a result with file and line, not an exception") {
  const CompileResult result = compile("extern \"C\" __global__ void f(float* p) {\n  p[0] = undefined_thing;\n}\n");
  CHECK(result.status == CompileStatus::Failed);
  CHECK(result.cubin.empty());
  CHECK(result.kernels.empty());
  CHECK(contains(result.log, "test.cu(2): error"));
  CHECK(contains(result.log, "undefined_thing"));
}

TEST_CASE("a kernel beyond the limits of static shared memory is refused with ptxas' reason") {
  const CompileResult result = compile(
      "extern \"C\" __global__ void f(int* p) { __shared__ int s[20000]; s[threadIdx.x] = p[0]; __syncthreads(); p[1] "
      "= s[7]; }");
  CHECK(result.status == CompileStatus::Failed);
  CHECK(contains(result.log, "uses too much shared data"));
}

TEST_CASE("warnings of a source that compiles are kept, figures of ptxas are not") {
  const CompileResult result = compile("extern \"C\" __global__ void f(float* p) {\n  int unused;\n  p[0] = 1;\n}\n");
  CHECK(result.status == CompileStatus::Ok);
  CHECK(contains(result.log, "test.cu(2): warning"));
  CHECK_FALSE(contains(result.log, "ptxas"));
}

TEST_CASE("an unknown architecture or option is refused by name") {
  CHECK(contains(compile("", "sm_12345").log, "gpu-architecture"));
  CHECK(contains(compile("", "sm_90", {"--no-such-option"}).log, "--no-such-option"));
  CHECK(compile("", "sm_90", {"--no-such-option"}).status == CompileStatus::Failed);
  const CompileResult virtual_only = compile("extern \"C\" __global__ void f() {}", "compute_90");
  CHECK(virtual_only.status == CompileStatus::Failed);
  CHECK(contains(virtual_only.log, "ask for a real one"));
}

TEST_CASE("the options of a request reach the compiler after ours") {
  const std::string source = "#if VALUE == 3 && __cplusplus > 201703L\nextern \"C\" __global__ void f() {}\n#endif\n";
  CHECK(compile(source, "sm_90", {"-DVALUE=3", "-std=c++20"}).kernels.size() == 1);
  CHECK(compile(source, "sm_90", {"-DVALUE=4", "-std=c++20"}).kernels.empty());
}

TEST_CASE("functions are device functions unless they say otherwise") {
  CHECK(compile("int twice(int x) { return 2 * x; }\nextern \"C\" __global__ void f(int* p) { p[0] = twice(p[1]); }").status ==
        CompileStatus::Ok);
}

TEST_CASE("CUDA's headers are found by sources that include some, CCCL's as well") {
  const CompileResult result = compile(
      "#include <cuda_fp16.h>\n  #  include <cuda/std/type_traits>\n"
      "extern \"C\" __global__ void f(__half* p) { static_assert(cuda::std::is_same<int, int>::value, \"\"); p[0] = "
      "p[1] + p[2]; }");
  CHECK(result.status == CompileStatus::Ok);
  CHECK(contains(compile("#include <no_such_header.h>\n").log, "test.cu(1)"));
}

TEST_CASE("compiling twice gives the same bytes") {
  const std::string source = "extern \"C\" __global__ void f(float* p) { p[0] = sinf(p[1]); }";
  const CompileResult first = compile(source);
  const CompileResult second = compile(source);
  CHECK(first.cubin == second.cubin);
  CHECK(first.key == second.key);
  CHECK(first.log == second.log);
}

TEST_CASE("$ATTUNE_NVRTC is the only file that is tried") {
  SUBCASE("a file that does not exist") {
    const ScopedVariable library("ATTUNE_NVRTC", "/nonexistent/libnvrtc.so");
    CHECK_THROWS_WITH_AS(Nvrtc(), doctest::Contains("/nonexistent/libnvrtc.so (ATTUNE_NVRTC)"), attune::EnvironmentError);
  }
  SUBCASE("a library that is another one") {
    const ScopedVariable library("ATTUNE_NVRTC", "libm.so.6");
    CHECK_THROWS_WITH_AS(Nvrtc(), doctest::Contains("has no nvrtcGetErrorString"), attune::EnvironmentError);
  }
  SUBCASE("the library itself") {
    const std::string path = load_nvrtc().path.string();
    REQUIRE(path.front() == '/');
    const ScopedVariable library("ATTUNE_NVRTC", path.c_str());
    CHECK_FALSE(Nvrtc().build().empty());
  }
  SUBCASE("empty counts as unset") {
    const ScopedVariable library("ATTUNE_NVRTC", "");
    CHECK_FALSE(Nvrtc().build().empty());
  }
}

}  // namespace test_nvrtc
