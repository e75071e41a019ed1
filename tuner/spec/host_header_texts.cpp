#include "tuner/spec/host_header_texts.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace attune::spec {
namespace {

struct Macro {
  std::string_view name, value;
};

/// A source may have a macro of such a name of its own, and keeps it.
template <std::size_t count>
std::string macros(const std::array<Macro, count>& all) {
  std::string text;
  for (const Macro& one : all) text += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", one.name, one.value);
  return text;
}

/// Sources include C's headers in `extern "C" {` too, where neither templates nor functions of one name may stand.
std::string declared(std::string_view text) { return fmt::format("extern \"C++\" {{\n{}}}\n", text); }

// NVRTC knows printf, malloc, memcpy, the functions of <math.h>, size_t and the like without a header, but not in std.
// Measured with NVRTC 13.0: the names here are those that it has.
constexpr std::string_view kInputOutput = "namespace std { using ::printf; using ::size_t; }\n";
constexpr std::string_view kMemory = "namespace std { using ::memcpy; using ::memset; using ::size_t; }\n";
constexpr std::string_view kClock = "namespace std { using ::clock; using ::clock_t; using ::size_t; }\n";
constexpr std::array<Macro, 1> kClockMacros = {{{"CLOCKS_PER_SEC", "((clock_t)1000000)"}}};
/// glibc's <stdlib.h> has the short names of the unsigned types, which nvcc's sources use without another header.
constexpr std::string_view kLibrary =
    "namespace std { using ::malloc; using ::free; using ::abs; using ::labs; using ::llabs; using ::size_t; }\n"
    "#ifndef uint\n"
    "typedef unsigned int uint;\n"
    "#endif\n"
    "#ifndef ushort\n"
    "typedef unsigned short ushort;\n"
    "#endif\n";
constexpr std::array<Macro, 1> kLibraryMacros = {{{"RAND_MAX", "2147483647"}}};
/// NVRTC's assert ignores NDEBUG, with which nvcc leaves assertions out. What was left out comes back where <assert.h> is included
/// without NDEBUG.
constexpr std::string_view kAssertions =
    "#ifdef NDEBUG\n"
    "#undef assert\n"
    "#define assert(...) ((void)0)\n"
    "#define __ATTUNE_NO_ASSERT__\n"
    "#elif defined(__ATTUNE_NO_ASSERT__)\n"
    "#undef assert\n"
    "#undef __ATTUNE_NO_ASSERT__\n"
    "#define assert(...) ((__VA_ARGS__) ? (void)0 : __assertfail(#__VA_ARGS__, __FILE__, __LINE__, __func__, 1))\n"
    "#endif\n";
constexpr std::string_view kDefinitions = "namespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr); }\n";
/// __INTADDR__ is the front end's own, a constant where a cast of a pointer would be none.
constexpr std::string_view kOffset =
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
/// A long double has the digits that it has on the host, as nvcc says too.
constexpr std::array<Macro, 24> kFloats = {{
    {"FLT_RADIX", "2"},
    {"FLT_MANT_DIG", "24"},
    {"FLT_DIG", "6"},
    {"FLT_DECIMAL_DIG", "9"},
    {"FLT_MIN_EXP", "(-125)"},
    {"FLT_MIN_10_EXP", "(-37)"},
    {"FLT_MAX_EXP", "128"},
    {"FLT_MAX_10_EXP", "38"},
    {"FLT_MAX", "3.40282346638528859811704183484516925e+38F"},
    {"FLT_EPSILON", "1.19209289550781250000000000000000000e-7F"},
    {"FLT_MIN", "1.17549435082228750796873653722224568e-38F"},
    {"FLT_TRUE_MIN", "1.40129846432481707092372958328991613e-45F"},
    {"DBL_MANT_DIG", "53"},
    {"DBL_DIG", "15"},
    {"DBL_DECIMAL_DIG", "17"},
    {"DBL_MIN_EXP", "(-1021)"},
    {"DBL_MIN_10_EXP", "(-307)"},
    {"DBL_MAX_EXP", "1024"},
    {"DBL_MAX_10_EXP", "308"},
    {"DBL_MAX", "1.79769313486231570814527423731704357e+308"},
    {"DBL_EPSILON", "2.22044604925031308084726333618164062e-16"},
    {"DBL_MIN", "2.22507385850720138309023271733240406e-308"},
    {"DBL_TRUE_MIN", "4.94065645841246544176568792868221372e-324"},
    {"LDBL_DIG", "18"},
}};

/// Of the functions that nvcc takes with arguments of two types, NVRTC finds only pow ambiguous; nvcc computes it in double. A template, so
/// that a call that NVRTC finds a function for, or the source's own, keeps it. Names are reserved ones: a source may have macros before
/// this.
constexpr std::string_view kPower =
    "#ifndef __ATTUNE_MATH__\n"
    "#define __ATTUNE_MATH__\n"
    "template <class __attune_T> struct __attune_number {};\n"
    "template <> struct __attune_number<float> { using __type = double; };\n"
    "template <> struct __attune_number<double> { using __type = double; };\n"
    "template <> struct __attune_number<decltype(0 == 0)> { using __type = double; };\n"
    "template <> struct __attune_number<char> { using __type = double; };\n"
    "template <> struct __attune_number<signed char> { using __type = double; };\n"
    "template <> struct __attune_number<unsigned char> { using __type = double; };\n"
    "template <> struct __attune_number<wchar_t> { using __type = double; };\n"
    "template <> struct __attune_number<char16_t> { using __type = double; };\n"
    "template <> struct __attune_number<char32_t> { using __type = double; };\n"
    "template <> struct __attune_number<short> { using __type = double; };\n"
    "template <> struct __attune_number<unsigned short> { using __type = double; };\n"
    "template <> struct __attune_number<int> { using __type = double; };\n"
    "template <> struct __attune_number<unsigned> { using __type = double; };\n"
    "template <> struct __attune_number<long> { using __type = double; };\n"
    "template <> struct __attune_number<unsigned long> { using __type = double; };\n"
    "template <> struct __attune_number<long long> { using __type = double; };\n"
    "template <> struct __attune_number<unsigned long long> { using __type = double; };\n"
    "template <class __attune_A, class __attune_B, class __attune_R = typename __attune_number<__attune_A>::__type,\n"
    "          class = typename __attune_number<__attune_B>::__type>\n"
    "__device__ inline __attune_R pow(__attune_A __a, __attune_B __b) { return pow(static_cast<double>(__a), static_cast<double>(__b)); }\n"
    "#endif\n";
constexpr std::string_view kMath =
    "namespace std {\n"
    "using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh; using ::cbrt;\n"
    "using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1;\n"
    "using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot;\n"
    "using ::ilogb; using ::isfinite; using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::llrint; using ::llround;\n"
    "using ::log; using ::log10; using ::log1p; using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nan;\n"
    "using ::nanf; using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::remquo; using ::rint; using ::round;\n"
    "using ::scalbln; using ::scalbn; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh;\n"
    "using ::tgamma; using ::trunc;\n"
    "}\n";
constexpr std::array<Macro, 17> kMathMacros = {{
    {"M_E", "2.7182818284590452354"},
    {"M_LOG2E", "1.4426950408889634074"},
    {"M_LOG10E", "0.43429448190325182765"},
    {"M_LN2", "0.69314718055994530942"},
    {"M_LN10", "2.30258509299404568402"},
    {"M_PI", "3.14159265358979323846"},
    {"M_PI_2", "1.57079632679489661923"},
    {"M_PI_4", "0.78539816339744830962"},
    {"M_1_PI", "0.31830988618379067154"},
    {"M_2_PI", "0.63661977236758134308"},
    {"M_2_SQRTPI", "1.12837916709551257390"},
    {"M_SQRT2", "1.41421356237309504880"},
    {"M_SQRT1_2", "0.70710678118654752440"},
    {"INFINITY", "(__builtin_bit_cast(float, 0x7f800000))"},
    {"NAN", "(__builtin_bit_cast(float, 0x7fc00000))"},
    {"HUGE_VALF", "(__builtin_bit_cast(float, 0x7f800000))"},
    {"HUGE_VAL", "(__builtin_bit_cast(double, 0x7ff0000000000000))"},
}};

using Texts = std::map<std::string_view, std::string>;

/// C's own spelling declares names in std too, as GCC's <math.h> and <stdlib.h> do for nvcc; the others lose nothing by it.
Texts make_texts() {
  Texts texts;
  for (const std::string_view header : {"<cstdarg>", "<stdarg.h>", "<cstdbool>", "<stdbool.h>", "<initializer_list>", "<new>", "<cuda.h>"})
    texts[header];
  texts["<cassert>"] = texts["<assert.h>"] = kAssertions;
  texts["<cfloat>"] = texts["<float.h>"] = macros(kFloats);
  texts["<climits>"] = texts["<limits.h>"] = declared(kLimits);
  texts["<cmath>"] = texts["<math.h>"] = declared(fmt::format("{}{}", kPower, kMath)) + macros(kMathMacros);
  texts["<cstddef>"] = texts["<stddef.h>"] = declared(kDefinitions).append(kOffset);
  texts["<cstdint>"] = texts["<stdint.h>"] = declared(kIntegers);
  texts["<cstdio>"] = texts["<stdio.h>"] = declared(kInputOutput);
  texts["<cstdlib>"] = texts["<stdlib.h>"] = declared(kLibrary) + macros(kLibraryMacros);
  texts["<cstring>"] = texts["<string.h>"] = declared(kMemory);
  texts["<ctime>"] = texts["<time.h>"] = declared(kClock) + macros(kClockMacros);
  return texts;
}

}  // namespace

const std::string* host_header_text(std::string_view header) {
  static const Texts texts = make_texts();
  const auto found = texts.find(header);
  return found == texts.end() ? nullptr : &found->second;
}

}  // namespace attune::spec
