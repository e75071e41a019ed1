// Kernels of C++: templates, namespaces and plain functions are found by what a launch calls them.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/base/cubin_kernels.hpp"
#include "tuner/base/kernel_symbol.hpp"
#include "tuner/compile/compiler.hpp"

namespace test_kernel_symbol {

using namespace attune;

namespace {

/// Names as NVRTC makes them.
const std::vector<std::string>& symbols() {
  static const std::vector<std::string> made = [] {
    compile::Nvrtc nvrtc;
    const auto result = nvrtc.compile({R"cuda(
enum Mode { kFirst, kSecond };
template <int kTile, bool kWide, class T> __global__ void gemm(const T* a, T* b) { b[threadIdx.x] = a[threadIdx.x * kTile + kWide]; }
template <unsigned char kFill, unsigned long long kStep, Mode kMode> __global__ void fill(float* x) { x[threadIdx.x * kStep] = kFill + kMode; }
enum class Order { kRows, kColumns };
template <Order kOrder, class T = float4, bool kLast = false> __global__ void sort(T* x) { x[0] = {}; }
template <class A, class B> __global__ void pair(A* a, B* b) { a[0] = {}; b[0] = {}; }
template <int kOnce> __global__ void once(float* x) { x[0] = kOnce; }
namespace a { inline namespace v1 { __global__ void versioned(float* x) { x[0] = 1; } } }
inline namespace v2 {
__global__ void outermost(float* x) { x[0] = 1; }
template <int kTile> __global__ void tiled(float* x) { x[0] = kTile; }
}
namespace ns { namespace inner { __global__ void scale(float* x) { x[threadIdx.x] *= 2; } } }
__global__ void plain(float* x, int (*unused)[4]) { x[threadIdx.x] = 1; }
__global__ void twice(float* x) { x[0] = 1; }
__global__ void twice(double* x) { x[0] = 1; }
extern "C" __global__ void known(float* x) { x[0] = 1; }
template __global__ decltype(gemm<128, true, float>) gemm<128, true, float>;
template __global__ decltype(gemm<128, true, unsigned long long>) gemm<128, true, unsigned long long>;
template __global__ decltype(gemm<-4, false, const float*>) gemm<-4, false, const float*>;
template __global__ decltype(sort<Order::kColumns>) sort<Order::kColumns>;
template __global__ decltype(sort<Order::kRows, int, true>) sort<Order::kRows, int, true>;
template __global__ decltype(once<5>) once<5>;
template __global__ decltype(tiled<3>) tiled<3>;
template __global__ decltype(tiled<4>) tiled<4>;
template __global__ decltype(pair<float4, float4>) pair<float4, float4>;
template __global__ decltype(pair<float4, int>) pair<float4, int>;
template __global__ decltype(fill<7, 3, kSecond>) fill<7, 3, kSecond>;
)cuda",
                                       "test.cu",
                                       "sm_90",
                                       {}});
    REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
    const auto kernels = base::read_cubin_kernels(result.cubin);
    REQUIRE(kernels);
    std::vector<std::string> names;
    for (const auto& [name, _] : *kernels) names.push_back(name);
    return names;
  }();
  return made;
}

std::string found(const std::string& asked) { return base::kernel_symbol(symbols(), asked); }

}  // namespace

TEST_CASE("a kernel is found by its name with its template arguments, however its blanks stand") {
  CHECK(found("gemm<128, true, float>") == "_Z4gemmILi128ELb1EfEvPKT1_PS0_");
  CHECK(found("gemm<128,true,float>") == found("gemm<128, true, float>"));
  CHECK(found("gemm<128, true, unsigned long long>") == "_Z4gemmILi128ELb1EyEvPKT1_PS0_");
  CHECK(found("gemm<-4, false, float const*>").starts_with("_Z4gemmILin4ELb0EPKf"));
  CHECK(found("fill<7, 3, 1>").starts_with("_Z4fillILh7ELy3E"));
}

TEST_CASE("a function that is no template is found by its name, qualified where it stands in a namespace") {
  CHECK(found("ns::inner::scale") == "_ZN2ns5inner5scaleEPf");
  CHECK(found("plain").starts_with("_Z5plainPf"));
  CHECK(found("known") == "known");
}

TEST_CASE("truth values are numbers, and what may be left out may be") {
  CHECK(found("gemm<128, 1, float>") == found("gemm<128, true, float>"));
  CHECK(found("sort<1>").starts_with("_Z4sortIL5Order1E"));
  CHECK(found("sort<0, int>").starts_with("_Z4sortIL5Order0EiLb1E"));
  CHECK(found("pair<float4, int>").starts_with("_Z4pairI6float4iE"));
  CHECK(found("pair<float4, float4>").starts_with("_Z4pairI6float4S0_E"));  // the second by reference to the first
  CHECK(base::kernel_symbol({"_ZN12_GLOBAL__N_16hiddenEPf"}, "hidden") == "_ZN12_GLOBAL__N_16hiddenEPf");
  CHECK(found("a::versioned").starts_with("_ZN1a2v19versioned"));
  CHECK(found("inner::scale") == found("ns::inner::scale"));
}

TEST_CASE("a namespace may be left out, as an inline one is, unless a function of that name stands outside of all") {
  CHECK(found("outermost").starts_with("_ZN2v29outermost"));
  CHECK(found("tiled<4>").starts_with("_ZN2v25tiledILi4E"));
  CHECK(found("scale") == found("ns::inner::scale"));
  const std::vector<std::string> symbols = {"_ZN2v11kEPf", "_Z1kPf", "_ZN2v21kEPf"};
  CHECK(base::kernel_symbol(symbols, "k") == "_Z1kPf");
  CHECK(base::kernel_symbol(symbols, "v2::k") == "_ZN2v21kEPf");
  CHECK_THROWS_WITH_AS(static_cast<void>(base::kernel_symbol({symbols[0], symbols[2]}, "k")),
                       doctest::Contains("name it with its namespace"), Error);
}

TEST_CASE("the only instance of a template is meant however its arguments are spelt") {
  CHECK(found("once<kAlias>").starts_with("_Z4onceILi5E"));
  CHECK(found("fill<7, size_of_step, kSecond>").starts_with("_Z4fillILh7E"));
}

TEST_CASE("a symbol of a few bytes whose whole meaning would fill the memory is read at once") {
  std::string symbol = "_Z1k1PIiiES_IS0_S0_ES_IS1_S1_E";
  for (char c = '2'; c <= '9'; ++c) symbol += std::string("S_IS") + c + "_S" + c + "_E";
  for (int i = 0; i < 3; ++i)
    for (char c = 'A'; c <= 'Z'; ++c) symbol += std::string("S_IS") + c + "_S" + c + "_E";
  CHECK(base::kernel_symbol({symbol}, "k") == symbol);
  CHECK(base::shown_kernel(symbol) == "k");
  CHECK(base::shown_kernel("_Z1kI" + std::string(100'000, 'I')).size() <= 200);
  CHECK(base::shown_kernel(std::string(100'000, 'x')).size() == 200);
}

TEST_CASE("a symbol is shown as C++ names it") {
  CHECK(base::shown_kernel("_Z4gemmILi128ELb1EfEvPKT1_PS0_") == "gemm<128, 1, float>");
  CHECK(base::shown_kernel("_ZN2ns5inner5scaleEPf") == "ns::inner::scale");
  CHECK(base::shown_kernel("known") == "known");
}

TEST_CASE("what is not there is not found") {
  for (const char* asked :
       {"gemm", "gemm<128, false, float>", "gemm<128, true, double>", "gemm<128, true, float, 1>", "other::scale", "plai", "once", ""}) {
    CAPTURE(asked);
    CHECK(found(asked).empty());
  }
  CHECK(base::kernel_symbol({"_Z", "_ZZZ", "_Z99x", "_ZN1x", "_Z1kIL", "_Z1kI1", "_Z1kIS", "_Z1kILi", "no_mangled_name", ""}, "x").empty());
}

TEST_CASE("an instance whose arguments are read is meant before one whose arguments cannot be") {
  const std::vector<std::string> symbols = {"_Z5applyIN2ns1XEEvPT_", "_Z5applyIfEvPT_"};
  CHECK(base::kernel_symbol(symbols, "apply<float>") == "_Z5applyIfEvPT_");
  CHECK(base::kernel_symbol(symbols, "apply<ns::X>") == "_Z5applyIN2ns1XEEvPT_");
}

TEST_CASE("a type of the standard library is not read, and not taken for one by reference to an earlier part") {
  const std::vector<std::string> symbols = {"_Z1kIfiEvPFvPT_E", "_Z1kISt4plusIfEiEvPFvPT_E"};  // void k<...>(void (*)(T*))
  CHECK(base::kernel_symbol(symbols, "k<std::plus<float>, int>") == symbols[1]);
  CHECK(base::kernel_symbol(symbols, "k<float, int>") == symbols[0]);
  CHECK(base::shown_kernel(symbols[1]) == "k<...>");
}

TEST_CASE("overloads of one name are told apart by nobody") {
  CHECK_THROWS_WITH_AS(static_cast<void>(found("twice")),
                       doctest::Contains("several functions of that name are compiled (_Z5twicePd and _Z5twicePf)"), Error);
}

}  // namespace test_kernel_symbol
