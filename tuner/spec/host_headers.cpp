#include "tuner/spec/host_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/spec/device_headers.hpp"

namespace attune::spec {
namespace {

/// NVRTC knows printf, malloc, memcpy, the functions of <math.h>, size_t and the like without a header, but not in std.
/// Measured with NVRTC 13.0: the names here are those that it has.
constexpr std::string_view kNothing;
constexpr std::string_view kInputOutput = "namespace std { using ::printf; using ::size_t; }\n";
constexpr std::string_view kMemory = "namespace std { using ::memcpy; using ::memset; using ::size_t; }\n";
constexpr std::string_view kClock = "namespace std { using ::clock; using ::clock_t; using ::size_t; }\n";
constexpr std::string_view kLibrary =
    "namespace std { using ::malloc; using ::free; using ::abs; using ::labs; using ::llabs; using ::size_t; }\n";
/// Its assert ignores NDEBUG, with which nvcc leaves assertions out.
constexpr std::string_view kAssertions =
    "#ifdef NDEBUG\n"
    "#undef assert\n"
    "#define assert(...) ((void)0)\n"
    "#endif\n";
/// __INTADDR__ is the front end's own, a constant where a cast of a pointer would be none.
constexpr std::string_view kDefinitions =
    "namespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr); }\n"
    "#ifndef offsetof\n"
    "#define offsetof(type, member) (__INTADDR__(&(((type*)0)->member)))\n"
    "#endif\n";
/// libcu++ has these for NVRTC outside of std.
constexpr std::string_view kIntegers =
    "#include <cuda/std/cstdint>\n"
    "namespace std {\n"
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;\n"
    "using ::int_fast8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t;\n"
    "using ::uint_fast8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t;\n"
    "using ::int_least8_t; using ::int_least16_t; using ::int_least32_t; using ::int_least64_t;\n"
    "using ::uint_least8_t; using ::uint_least16_t; using ::uint_least32_t; using ::uint_least64_t;\n"
    "using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;\n"
    "}\n";
constexpr std::string_view kLimits = "#include <cuda/std/climits>\n";
constexpr std::string_view kFloats =
    "#ifndef FLT_MAX\n"
    "#define FLT_RADIX 2\n"
    "#define FLT_MANT_DIG 24\n"
    "#define FLT_DIG 6\n"
    "#define FLT_MIN_EXP (-125)\n"
    "#define FLT_MIN_10_EXP (-37)\n"
    "#define FLT_MAX_EXP 128\n"
    "#define FLT_MAX_10_EXP 38\n"
    "#define FLT_MAX 3.40282346638528859811704183484516925e+38F\n"
    "#define FLT_EPSILON 1.19209289550781250000000000000000000e-7F\n"
    "#define FLT_MIN 1.17549435082228750796873653722224568e-38F\n"
    "#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45F\n"
    "#define DBL_MANT_DIG 53\n"
    "#define DBL_DIG 15\n"
    "#define DBL_MIN_EXP (-1021)\n"
    "#define DBL_MIN_10_EXP (-307)\n"
    "#define DBL_MAX_EXP 1024\n"
    "#define DBL_MAX_10_EXP 308\n"
    "#define DBL_MAX 1.79769313486231570814527423731704357e+308\n"
    "#define DBL_EPSILON 2.22044604925031308084726333618164062e-16\n"
    "#define DBL_MIN 2.22507385850720138309023271733240406e-308\n"
    "#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324\n"
    "#endif\n";
/// Of the functions for float and double that nvcc takes with arguments of two types, NVRTC finds only pow ambiguous; nvcc computes it in
/// double.
constexpr std::string_view kMath =
    "#ifndef __ATTUNE_MATH__\n"
    "#define __ATTUNE_MATH__\n"
    "__device__ inline double pow(float base, double exponent) { return pow(static_cast<double>(base), exponent); }\n"
    "__device__ inline double pow(double base, float exponent) { return pow(base, static_cast<double>(exponent)); }\n"
    "__device__ inline double pow(int base, int exponent) { return pow(static_cast<double>(base), static_cast<double>(exponent)); }\n"
    "#endif\n"
    "namespace std {\n"
    "using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh; using ::cbrt;\n"
    "using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1;\n"
    "using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot;\n"
    "using ::ilogb; using ::isfinite; using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::llrint; using ::llround;\n"
    "using ::log; using ::log10; using ::log1p; using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nan;\n"
    "using ::nanf; using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::remquo; using ::rint; using ::round;\n"
    "using ::scalbln; using ::scalbn; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh;\n"
    "using ::tgamma; using ::trunc;\n"
    "}\n"
    "#ifndef M_PI\n"
    "#define M_E 2.7182818284590452354\n"
    "#define M_LOG2E 1.4426950408889634074\n"
    "#define M_LOG10E 0.43429448190325182765\n"
    "#define M_LN2 0.69314718055994530942\n"
    "#define M_LN10 2.30258509299404568402\n"
    "#define M_PI 3.14159265358979323846\n"
    "#define M_PI_2 1.57079632679489661923\n"
    "#define M_PI_4 0.78539816339744830962\n"
    "#define M_1_PI 0.31830988618379067154\n"
    "#define M_2_PI 0.63661977236758134308\n"
    "#define M_2_SQRTPI 1.12837916709551257390\n"
    "#define M_SQRT2 1.41421356237309504880\n"
    "#define M_SQRT1_2 0.70710678118654752440\n"
    "#endif\n"
    "#ifndef INFINITY\n"
    "#define INFINITY (__builtin_bit_cast(float, 0x7f800000))\n"
    "#endif\n"
    "#ifndef NAN\n"
    "#define NAN (__builtin_bit_cast(float, 0x7fc00000))\n"
    "#endif\n"
    "#ifndef HUGE_VAL\n"
    "#define HUGE_VALF (__builtin_bit_cast(float, 0x7f800000))\n"
    "#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000))\n"
    "#endif\n";

struct NamedText {
  std::string_view header, text;
};
/// C's own spelling declares names in std too, as GCC's <math.h> and <stdlib.h> do for nvcc; the others lose nothing by it.
constexpr std::array<NamedText, 27> kReplaced = {{
    {"<assert.h>", kAssertions}, {"<cassert>", kAssertions},       {"<cfloat>", kFloats},     {"<climits>", kLimits},
    {"<cmath>", kMath},          {"<cstdarg>", kNothing},          {"<cstdbool>", kNothing},  {"<cstddef>", kDefinitions},
    {"<cstdint>", kIntegers},    {"<cstdio>", kInputOutput},       {"<cstdlib>", kLibrary},   {"<cstring>", kMemory},
    {"<ctime>", kClock},         {"<initializer_list>", kNothing}, {"<new>", kNothing},       {"<cuda.h>", kNothing},
    {"<float.h>", kFloats},      {"<limits.h>", kLimits},          {"<math.h>", kMath},       {"<stdarg.h>", kNothing},
    {"<stdbool.h>", kNothing},   {"<stddef.h>", kDefinitions},     {"<stdint.h>", kIntegers}, {"<stdio.h>", kInputOutput},
    {"<stdlib.h>", kLibrary},    {"<string.h>", kMemory},          {"<time.h>", kClock},
}};

/// What <cub/cub.cuh> of CUDA 13.0 includes, without the algorithms of the whole device and the allocator, which are host code, and with
/// two headers for blocks that it has from those.
constexpr std::array<std::string_view, 41> kCub = {
    "<cub/config.cuh>",
    "<cub/block/block_adjacent_difference.cuh>",
    "<cub/block/block_discontinuity.cuh>",
    "<cub/block/block_exchange.cuh>",
    "<cub/block/block_histogram.cuh>",
    "<cub/block/block_load.cuh>",
    "<cub/block/block_merge_sort.cuh>",
    "<cub/block/block_radix_rank.cuh>",
    "<cub/block/block_radix_sort.cuh>",
    "<cub/block/block_reduce.cuh>",
    "<cub/block/block_run_length_decode.cuh>",
    "<cub/block/block_scan.cuh>",
    "<cub/block/block_shuffle.cuh>",
    "<cub/block/block_store.cuh>",
    "<cub/grid/grid_even_share.cuh>",
    "<cub/grid/grid_mapping.cuh>",
    "<cub/grid/grid_queue.cuh>",
    "<cub/thread/thread_load.cuh>",
    "<cub/thread/thread_operators.cuh>",
    "<cub/thread/thread_reduce.cuh>",
    "<cub/thread/thread_scan.cuh>",
    "<cub/thread/thread_search.cuh>",
    "<cub/thread/thread_sort.cuh>",
    "<cub/thread/thread_store.cuh>",
    "<cub/warp/warp_exchange.cuh>",
    "<cub/warp/warp_load.cuh>",
    "<cub/warp/warp_merge_sort.cuh>",
    "<cub/warp/warp_reduce.cuh>",
    "<cub/warp/warp_scan.cuh>",
    "<cub/warp/warp_store.cuh>",
    "<cub/iterator/arg_index_input_iterator.cuh>",
    "<cub/iterator/cache_modified_input_iterator.cuh>",
    "<cub/iterator/cache_modified_output_iterator.cuh>",
    "<cub/iterator/tex_obj_input_iterator.cuh>",
    "<cub/util_debug.cuh>",
    "<cub/util_device.cuh>",
    "<cub/util_math.cuh>",
    "<cub/util_ptx.cuh>",
    "<cub/util_temporary_storage.cuh>",
    "<cub/util_type.cuh>",
    "<cub/version.cuh>",
};

constexpr std::string_view kAllOfCub = "<cub/cub.cuh>";

const NamedText* find_replaced(std::string_view header) {
  return std::find_if(kReplaced.begin(), kReplaced.end(), [&](const NamedText& one) { return one.header == header; });
}

/// Headers of C and of the system; those of C++ are the ones without an extension.
constexpr std::array<std::string_view, 16> kOfTheSystem = {
    "<complex.h>", "<ctype.h>",   "<errno.h>",  "<fenv.h>",   "<inttypes.h>", "<locale.h>", "<malloc.h>", "<memory.h>",
    "<omp.h>",     "<pthread.h>", "<setjmp.h>", "<signal.h>", "<strings.h>",  "<unistd.h>", "<wchar.h>",  "<getopt.h>"};
/// Headers of C++ of which libcu++ has a form for device code.
constexpr std::array<std::string_view, 19> kOfLibcudacxx = {
    "array",  "atomic", "bit",     "bitset",   "chrono", "complex", "concepts", "expected",    "functional", "iterator",
    "limits", "memory", "numeric", "optional", "ratio",  "span",    "tuple",    "type_traits", "utility"};

/// How headers of CUDA begin that are of use to the host alone. <cufft.h> and <curand.h> are none: NVRTC compiles them.
constexpr std::array<std::string_view, 6> kOfCudaLibraries = {"cublas", "cusolver", "cusparse", "cudaProfiler.h", "cuda_profiler_api.h",
                                                              "nvtx3/"};

bool begins_with(std::string_view header, std::string_view begin) { return header.substr(1).starts_with(begin); }

bool is_of_cub_or_thrust(std::string_view header) {
  return begins_with(header, "thrust/") || begins_with(header, "cub/device/") || header == "<cub/util_allocator.cuh>";
}

}  // namespace

bool is_replaced(std::string_view header) { return header == kAllOfCub || find_replaced(header) != kReplaced.end(); }

HeaderReplacement replacement_of(std::string_view header) {
  HeaderReplacement replacement;
  if (header == kAllOfCub) {
    replacement.includes.assign(kCub.begin(), kCub.end());
  } else {
    replacement.declarations = fmt::format("#ifdef __CUDACC_RTC__\n{}#else\n#include {}\n#endif\n", find_replaced(header)->text, header);
  }
  return replacement;
}

bool is_host_code(std::string_view header) {
  if (is_replaced(header)) return false;
  const bool of_cpp = header.find_first_of("./") == std::string_view::npos && header != "<nvfunctional>";
  return of_cpp || begins_with(header, "sys/") || is_host_library(header) ||
         std::find(kOfTheSystem.begin(), kOfTheSystem.end(), header) != kOfTheSystem.end();
}

bool is_host_library(std::string_view header) {
  return is_of_cub_or_thrust(header) ||
         std::any_of(kOfCudaLibraries.begin(), kOfCudaLibraries.end(), [&](std::string_view begin) { return begins_with(header, begin); });
}

std::string remedy_for(std::string_view header) {
  constexpr const char* kApart = "put it and the host code that needs it between #ifndef __CUDACC_RTC__ and #endif";
  if (is_of_cub_or_thrust(header))
    return fmt::format("include <cub/cub.cuh>, which has CUB's algorithms for blocks and warps here, or {}", kApart);
  const std::string name = without_brackets(header);
  if (std::find(kOfLibcudacxx.begin(), kOfLibcudacxx.end(), name) == kOfLibcudacxx.end()) return kApart;
  return fmt::format("include <cuda/std/{}>, which has the same in cuda::std for device code, or {}", name, kApart);
}

}  // namespace attune::spec
