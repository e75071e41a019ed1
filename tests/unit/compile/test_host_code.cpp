#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"
#include "tuner/spec/header_lines.hpp"

namespace test_host_code {

using namespace attune::compile;

namespace {

CompileResult compile(const std::string& source, std::vector<std::string> options = {}) {
  static Nvrtc nvrtc;
  return nvrtc.compile({attune::spec::with_replaced_headers(source), "k.cu", "sm_90", std::move(options)});
}

std::string kernel(const std::string& body) { return "extern \"C\" __global__ void k(float* x, int n) { " + body + " }\n"; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Use {
  std::string headers;
  std::string body;
};

/// What kernels that were written for nvcc ask of the host's headers.
const std::vector<Use> kUses = {
    {"stdio.h", "printf(\"%d\", n);"},
    {"cstdio", "std::printf(\"%d\", n);"},
    {"stdlib.h", "void* p = malloc(8); free(p); x[0] = abs(n);"},
    {"cstdlib", "void* p = std::malloc(8); std::free(p); x[0] = std::abs(n);"},
    {"assert.h", "assert(n > 0);"},
    {"cassert", "assert((n > 0 && \"positive\"));"},
    {"math.h", "x[0] = sqrtf(x[1]) + pow(x[1], 2.0) + fmaxf(x[2], M_PI) + INFINITY;"},
    {"cmath",
     "static_assert(sizeof(std::sqrt(x[1])) == 4); x[0] = std::sqrt(x[1]) + std::pow(x[1], x[2]) + std::abs(x[3]) + std::isnan(x[4]);"},
    {"math.h cmath", "double d = n; x[0] = pow(x[1], d) + pow(d, x[2]) + pow(n, n) + std::pow(x[1], 2.0) + pow(x[1], 2) + pow(d, 2);"},
    {"math.h cmath math.h", "constexpr float a = INFINITY; constexpr double b = HUGE_VAL; x[0] = a + b + NAN;"},
    {"math.h",
     "double d = n; unsigned u = n; x[0] = pow(2, x[1]) + pow(10, d) + pow(u, n) + pow(x[1], u) + pow(true, 'a') + std::pow(2, x[2]);"},
    {"stdlib.h time.h", "uint a = n; ushort b = n; x[0] = a + b + RAND_MAX + CLOCKS_PER_SEC;"},
    {"float.h", "static_assert(FLT_DECIMAL_DIG == 9 && DBL_DECIMAL_DIG == 17 && LDBL_DIG == 18);"},
    {"string.h", "memcpy(x, x + 4, 16); memset(x, 0, 4);"},
    {"cstring", "std::memcpy(x, x + 4, 16); std::memset(x, 0, 4);"},
    {"stddef.h",
     "struct Pair { int a, b; }; static_assert(offsetof(Pair, b) == 4); size_t s = n; ptrdiff_t d = n; x[s] = x[d]; if (x == NULL) return;"},
    {"cstddef", "std::size_t s = n; std::ptrdiff_t d = n; std::nullptr_t none = nullptr; x[s] = x[d] + (x == none);"},
    {"stdint.h", "uint32_t a = UINT32_MAX; int8_t b = n; uint64_t c = n; uintptr_t d = (uintptr_t)x; x[0] = a + b + c + d;"},
    {"cstdint", "static_assert(sizeof(std::uint16_t) == 2 && sizeof(std::int64_t) == 8); std::uint_fast8_t a = n; x[0] = a + INT64_MAX;"},
    {"limits.h", "x[0] = INT_MAX + (n == UINT_MAX) + CHAR_BIT + LLONG_MIN;"},
    {"climits cstdint climits", "x[0] = SHRT_MAX;"},
    {"float.h", "x[0] = FLT_MAX + FLT_MIN + FLT_EPSILON + DBL_EPSILON;"},
    {"cfloat float.h", "static_assert(DBL_MAX > FLT_MAX && FLT_MANT_DIG == 24); x[0] = DBL_DIG;"},
    {"time.h ctime", "clock_t begin = clock(); x[0] = std::clock() - begin;"},
    {"new", "new (x) float(3);"},
    {"initializer_list", "std::initializer_list<int> l = {1, 2}; x[0] = *l.begin();"},
    {"stdarg.h stdbool.h cuda.h cuda_runtime.h", "bool b = true; x[0] = b;"},
};

}  // namespace

TEST_CASE("what device code asks of the host's headers compiles without them, and without a warning") {
  for (const Use& use : kUses) {
    CAPTURE(use.headers);
    std::string source;
    const std::string names = use.headers + " ";
    for (std::size_t at = 0; at < names.size(); at = names.find(' ', at) + 1)
      source += "#include <" + names.substr(at, names.find(' ', at) - at) + ">\n";
    const CompileResult result = compile(source + kernel(use.body));
    CHECK_MESSAGE(result.status == CompileStatus::Ok, result.log);
    CHECK_MESSAGE(result.log.empty(), result.log);
  }
}

TEST_CASE("assertions are left out with NDEBUG") {
  const std::string checked = "#include <assert.h>\n" + kernel("assert(n > 0); x[0] = 1;");
  const std::string silent = compile("#define NDEBUG\n" + checked).cubin, without = compile(kernel("x[0] = 1;")).cubin;
  CHECK(silent == without);
  CHECK(compile(checked, {"-DNDEBUG"}).cubin == without);
  CHECK(compile(checked).cubin != without);
}

TEST_CASE("assertions that were left out come back where <assert.h> is included without NDEBUG") {
  const std::string again = "#define NDEBUG\n#include <assert.h>\n#undef NDEBUG\n#include <assert.h>\n";
  const CompileResult result = compile(again + kernel("assert(n > 0); x[0] = 1;"));
  CHECK_MESSAGE(result.status == CompileStatus::Ok, result.log);
  CHECK(result.cubin != compile(kernel("x[0] = 1;")).cubin);
}

TEST_CASE("a source's own pow and macros stand beside the replacements") {
  const CompileResult result = compile(
      "#define exponent 3\n#define T 4\n#define bool int\n#define M_PI 3.14f\n#define FLT_MAX 1.0f\n#include <math.h>\n#include <float.h>\n"
      "__device__ int pow(int a, int b) { return a * b; }\n" +
      kernel("static_assert(sizeof(M_PI) == 4 && FLT_MAX == 1 && sizeof(pow(n, n)) == 4); x[0] = pow(2, x[1]) + M_E + FLT_MIN;"));
  CHECK_MESSAGE(result.status == CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
}

TEST_CASE("C's headers may stand in an extern \"C\" block") {
  for (const char* header :
       {"stdint.h", "math.h", "stdio.h", "stdlib.h", "limits.h", "stddef.h", "time.h", "string.h", "float.h", "assert.h"}) {
    const CompileResult result = compile("extern \"C\" {\n#include <" + std::string(header) + ">\n}\n" + kernel(""));
    CHECK_MESSAGE(result.status == CompileStatus::Ok, result.log);
  }
}

TEST_CASE("an error behind replaced headers has its line, also where a condition skips them") {
  CHECK(contains(compile("#include <math.h>\n#include <stdint.h>\nno code;\n").log, "k.cu(3): error"));
  CHECK(contains(compile("#if 0\n#include <math.h>\n#endif\nno code;\n").log, "k.cu(4): error"));
  CHECK(contains(compile("#ifdef __CUDACC_RTC__\nint x;\n#else\n#include <math.h>\n#include <iostream>\n#endif\n\nno code;\n").log,
                 "k.cu(8): error"));
}

TEST_CASE("the replacements get along with headers of CUDA that define the same") {
  const std::string replaced = "#include <math.h>\n#include <stdint.h>\n#include <limits.h>\n#include <float.h>\n#include <stddef.h>\n";
  const std::string cuda = "#include <cuda/std/cmath>\n#include <cuda/std/cstdint>\n#include <cub/block/block_reduce.cuh>\n";
  const std::string body = kernel("uint32_t a = INT_MAX; x[0] = a + FLT_MAX + INFINITY + M_PI;");
  // The headers of CUDA that a file begins with come first (spec::make_source).
  const CompileResult result = compile(cuda + replaced + body);
  CHECK_MESSAGE(result.status == CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
  CHECK(compile(replaced + cuda + body).status == CompileStatus::Ok);
}

TEST_CASE("lines of conditions behind a header of the host that is skipped, and what they ask, have their numbers") {
  const std::string source =
      "#if A == 1\n#include <stdio.h>\nstatic_assert(__LINE__ == 3);\n"
      "#elif A == 2 && __LINE__ == 4 /* a\n comment */\nstatic_assert(__LINE__ == 6);\n"
      "#elif A == 3 && __LINE__ == 7\nstatic_assert(__LINE__ == 8);\n#if __LINE__ != 9\n#error 9\n#endif\n"
      "#else\nstatic_assert(__LINE__ == 13 && A == 4);\n#endif\nstatic_assert(__LINE__ == 15);\n";
  for (const char* const value : {"1", "2", "3", "4"}) {
    const CompileResult result = compile(source + kernel(""), {std::string("-DA=") + value});
    CHECK_MESSAGE(result.status == CompileStatus::Ok, value, result.log);
  }
}

TEST_CASE("<cub/cub.cuh> compiles, and from the second source on its headers are precompiled") {
  Nvrtc nvrtc(Nvrtc::Headers::Precompiled);
  std::string headers = attune::spec::with_replaced_headers("#include <cub/cub.cuh>\n");
  headers = headers.substr(0, headers.find("#line")) + "#pragma nv_hdrstop\n";
  const auto source = [&](const std::string& threads) {
    return headers + kernel("using Reduce = cub::BlockReduce<float, " + threads +
                            ">; using Scan = cub::WarpScan<int>;\n__shared__ Reduce::TempStorage a; __shared__ Scan::TempStorage b[4];\n"
                            "Scan(b[threadIdx.x / 32]).InclusiveSum(n, n); x[0] = Reduce(a).Sum(x[threadIdx.x]) + n;");
  };
  const CompileResult first = nvrtc.compile({source("128"), "k.cu", "sm_90", {}}),
                      second = nvrtc.compile({source("64"), "k.cu", "sm_90", {}});
  CHECK_MESSAGE(first.status == CompileStatus::Ok, first.log);
  CHECK_MESSAGE(second.status == CompileStatus::Ok, second.log);
  CHECK(second.headers == HeaderUse::Used);
  CHECK(second.compile_ms < first.compile_ms);
}

TEST_CASE("a header that NVRTC has not is named with its place and what to do") {
  const std::string missing = compile("#line 3 \"parts/a.cuh\"\n#include <vector>\n").log;
  CHECK(contains(missing, "parts/a.cuh:3: <vector> is host code, which NVRTC does not compile; put it"));
  CHECK(contains(compile("\n#include <limits>\n").log,
                 "k.cu:2: <limits> is host code, which NVRTC does not compile; include <cuda/std/limits>"));
  CHECK(contains(compile("#include <thrust/device_vector.h>\n").log, "k.cu:1: <thrust/device_vector.h> is host code"));
  const std::string device = compile("int a;\n#include <cub/device/device_scan.cuh>\n").log;
  CHECK(contains(device, "k.cu:2: <cub/device/device_scan.cuh> is host code, which NVRTC does not compile; include <cub/cub.cuh>"));
  CHECK(contains(compile("#include <cublas_v2.h>\n").log, "k.cu:1: <cublas_v2.h> is host code"));
  CHECK(contains(compile("#include <cuda_profiler_api.h>\n").log, "k.cu:1: <cuda_profiler_api.h> is host code"));
  CHECK(contains(compile("#include <helper_cuda.h>\n").log,
                 "<helper_cuda.h> is not among CUDA's headers; put the file into the template's folder"));
}

TEST_CASE("of lines that include one header that is missing, the one that the compiler stopped at is named") {
  const std::string guarded = "#ifndef __CUDACC_RTC__\n#include <vector>\n#endif\nint a();\n";
  CHECK(contains(compile(guarded + "#include <vector>\n").log, "k.cu:5: <vector> is host code"));
  CHECK(contains(compile(guarded + "#include \\\n<vector>\n").log, "k.cu:5: <vector> is host code"));
  const std::string other = compile("#if 0\n#line 1 \"a.cuh\"\n#include <vector>\n#endif\n#line 1 \"b/b.cuh\"\n\n#include <vector>\n").log;
  CHECK(contains(other, "b/b.cuh:2: <vector> is host code"));
  CHECK_FALSE(contains(other, "a.cuh:1: <vector>"));
  const std::string beside = compile("#ifndef __CUDACC_RTC__\n#include <cublas_v2.h>\n#endif\n#include <vector>\n").log;
  CHECK(contains(beside, "k.cu:4: <vector> is host code"));
  CHECK_FALSE(contains(beside, "cublas"));
}

TEST_CASE("a header of Thrust that was moved in front is named without a place") {
  const std::string log = compile("#include <thrust/sort.h>\n#line 1 \"a.cu\"\n").log;
  CHECK(contains(log, "\n<thrust/sort.h> is host code, which NVRTC does not compile"));
}

TEST_CASE("algorithms for the whole device are said not to be in <cub/cub.cuh>") {
  const std::string call = "__global__ void k() { size_t n; cub::DeviceReduce::Sum(0, n, (int*)0, (int*)0, 1); }\n";
  const std::string log = compile("#include <cub/cub.cuh>\n" + call).log;
  CHECK(contains(log, "\n<cub/cub.cuh> has no algorithms for the whole device (cub::Device...) here"));
  CHECK(contains(log, "between #ifndef __CUDACC_RTC__ and #endif"));
}

TEST_CASE("an error of another kind tells nothing about headers") {
  CHECK_FALSE(
      contains(compile("#ifndef __CUDACC_RTC__\n#include <iostream>\n#include <thrust/sort.h>\n#endif\nno code;\n").log, "host code"));
  CHECK_FALSE(contains(compile("#include <cub/block/block_reduce.cuh>\nno code;\n").log, "host code"));
  const std::string guarded = "#ifndef __CUDACC_RTC__\n#include <thrust/device_vector.h>\n#endif\n";
  const std::string use =
      kernel("using Reduce = cub::BlockReduce<float, 0>; __shared__ Reduce::TempStorage t; x[0] = Reduce(t).Sum(x[0]);");
  const std::string inside = compile(guarded + "#include <cub/block/block_reduce.cuh>\n" + use).log;
  CHECK(contains(inside, "/cub/"));
  CHECK_FALSE(contains(inside, "host code"));
  CHECK_FALSE(contains(compile(guarded + "#line 1 \"src/cub/mine.cuh\"\nno code;\n").log, "host code"));
}

}  // namespace test_host_code
