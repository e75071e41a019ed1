#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/support/cuda_sources.hpp"
#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/cuda_macros.hpp"
#include "tuner/importing/index_reach.hpp"
#include "tuner/importing/kernel_usage.hpp"

namespace test_cuda_kernels {

using namespace attune;
using namespace attune::importing;

namespace {

std::vector<KernelArgument> arguments_of(const std::string& list, const std::string& before = "") {
  const std::string code = before + "__global__ void k(" + list + ") { }\n";
  return kernel_arguments(source_kernels(code, "k.cu").at(0), code);
}

KernelUsage usage_of(const std::string& source) {
  const auto kernel = source_kernels(source, "k.cu").at(0);
  return kernel_usage(kernel, kernel_arguments(kernel, source));
}

SourceName name_in(const std::string& code, const std::string& wanted) {
  for (const SourceName& name : source_names(code, "k.cu")) {
    if (name.name == wanted) return name;
  }
  throw Error("there is no " + wanted);
}

}  // namespace

TEST_CASE("kernels are found with their linkage, and declarations without a body are none") {
  const auto kernels = source_kernels(R"(#define X 1
extern "C" __global__ void a(int* p);
extern "C" {
__global__ void __launch_bounds__(64, 2) a(int* p) { if (p) { *p = 1; } }
}
namespace n { template <class T> __global__ void b(T* p) { } }
static __global__ void c() { }
__global__ void d(int* p) { }
namespace a::b { inline namespace v1 { extern "C" __global__ void e() { } template <> __global__ void b<int>(int* p) { } } }
namespace { template <typename T = pair<int, 2>, int N = 4> __global__ void f() { } })",
                                      "k.cu");
  REQUIRE(kernels.size() == 6);
  CHECK(kernels[0].linkage == SourceKernel::Linkage::C);
  CHECK(shown(kernels[0].launch_bounds) == "64");
  CHECK(kernels[0].position.line == 4);
  CHECK(kernels[1].is_template);
  CHECK(qualified_name(kernels[1]) == "n::b");
  CHECK(kernels[2].linkage == SourceKernel::Linkage::Local);
  CHECK(kernels[3].linkage == SourceKernel::Linkage::Cpp);
  CHECK(qualified_name(kernels[3]) == "d");
  CHECK(kernels[4].namespaces == std::vector<std::string>{"a", "b", "v1"});
  CHECK(qualified_name(kernels[4]) == "e");
  CHECK(kernels[5].linkage == SourceKernel::Linkage::Local);
  REQUIRE(kernels[5].template_parameters.size() == 2);
  CHECK(shown(kernels[5].template_parameters[1]) == "int N = 4");
}

TEST_CASE("arguments have their types through const, restrict, aliases and vectors") {
  const auto all = arguments_of("const float* __restrict__ a, real *b, unsigned long long int n, float4 const* v, half h[], bool on",
                                "typedef double real;\n");
  REQUIRE(all.size() == 6);
  CHECK(all[0].pointer);
  CHECK(all[0].to_const);
  CHECK(all[0].restrict);
  CHECK(all[1].layout.type == spec::ElementType::F64);
  CHECK_FALSE(all[1].to_const);
  CHECK(all[2].layout.type == spec::ElementType::U64);
  CHECK_FALSE(all[2].pointer);
  CHECK(all[3].layout.lanes == 4);
  CHECK(all[3].to_const);
  CHECK(all[4].pointer);
  CHECK(all[4].layout.type == spec::ElementType::F16);
  CHECK(all[5].layout.type == spec::ElementType::U8);
  CHECK(arguments_of("void").empty());
}

TEST_CASE("a pointer that is const itself points to what may be written") { CHECK_FALSE(arguments_of("float* const a").at(0).to_const); }

TEST_CASE("a macro is guarded where #ifndef of its name stands before it, and a number where its value is a whole one") {
  const std::string code =
      "#ifndef TILE\n#define TILE (4 * 8)\n#endif\n#define BLOCK TILE\n#define SCALE 1.5f\n#define MAX(a) a\n"
      "constexpr int kItems = BLOCK / 2;\nint x = TILE + kItems;\n";
  CHECK(name_in(code, "TILE").kind == SourceName::Kind::Guarded);
  CHECK(name_in(code, "TILE").number == 32);
  CHECK(name_in(code, "TILE").used);
  CHECK(name_in(code, "BLOCK").kind == SourceName::Kind::Defined);
  CHECK(name_in(code, "BLOCK").number == 32);
  CHECK_FALSE(name_in(code, "SCALE").number);
  CHECK_FALSE(name_in(code, "SCALE").used);
  CHECK(name_in(code, "kItems").kind == SourceName::Kind::Constant);
  CHECK(name_in(code, "kItems").number == 16);
  CHECK_THROWS(static_cast<void>(name_in(code, "MAX")));
}

TEST_CASE("names tell what kind of number they are") {
  CHECK(look_of("BLOCK_SIZE_X") == NameLook::Threads);
  CHECK(look_of("tileWidth") == NameLook::Tile);
  CHECK(look_of("ITEMS_PER_THREAD") == NameLook::Work);
  CHECK(look_of("VEC") == NameLook::Vector);
  CHECK(look_of("USE_SHARED") == NameLook::Switch);
  CHECK(look_of("FILTER_SIZE") == NameLook::Changes);
  CHECK(look_of("ALPHA") == NameLook::Nothing);
  CHECK(axis_of("BLOCK_ROWS") == 'y');
  CHECK(axis_of("BLOCK_SIZE") == 0);
}

TEST_CASE("values to try lie around the given one, which is one of them") {
  CHECK(values_around(NameLook::Threads, 96) == std::vector<std::int64_t>{32, 64, 96, 128, 256, 512, 1024});
  CHECK(values_around(NameLook::Tile, 8) == std::vector<std::int64_t>{2, 4, 8, 16, 32});
  CHECK(values_around(NameLook::Vector, 1) == std::vector<std::int64_t>{1, 2, 4});
  CHECK(values_around(NameLook::Switch, 1) == std::vector<std::int64_t>{0, 1});
  CHECK(values_around(NameLook::Work, 3) == std::vector<std::int64_t>{1, 2, 3, 4, 8});
}

TEST_CASE("a body tells which size bounds which axis, what a block covers and how pointers are used") {
  const KernelUsage stencil = usage_of(test::kStencilCuda);
  CHECK(shown(stencil.factors[0]) == "TILE_X");
  CHECK(shown(stencil.factors[1]) == "TILE_Y");
  CHECK(stencil.bound_axes.at("width") == std::set<int>{0});
  CHECK(stencil.bound_axes.at("height") == std::set<int>{1});
  CHECK(stencil.pointers.at("out").written);
  CHECK_FALSE(stencil.pointers.at("out").read);
  CHECK(index_reach(stencil, stencil.pointers.at("out").indices, {"width", "height"}) == Reach{{"height", 1}, {"width", 1}});
  REQUIRE(stencil.shared.size() == 1);
  CHECK(stencil.shared[0].dimensions.size() == 2);
  const KernelUsage sum = usage_of(test::kSumCuda);
  CHECK(sum.grid_stride);
  CHECK(sum.pointers.at("total").updated);
  CHECK(sum.shared.at(0).by_thread);
  CHECK(shown(sum.factors[0]) == "blockDim . x");
}

TEST_CASE("an index leads as far as the sizes in its terms, each as often as it counts there, and the launch where it multiplies them") {
  const auto reach_of = [](const std::string& body) {
    const KernelUsage usage = usage_of("__global__ void k(float* out, const int* at, int n, int m) { " + body + " }");
    return index_reach(usage, usage.pointers.at("out").indices, {"n", "m"});
  };
  CHECK(reach_of("int i = blockIdx.x * 256 + threadIdx.x; if (i < n) out[i] = 1;") == Reach{{"n", 1}});
  CHECK(reach_of("int x = threadIdx.x, y = threadIdx.y; if (x < n && y < n) out[y * n + x] = 1;") == Reach{{"n", 2}});
  CHECK(reach_of("int x = threadIdx.x, y = threadIdx.y; int o = y * n + x; if (x < n && y < m) out[o] = 1;") == Reach{{"n", 1}, {"m", 1}});
  CHECK(reach_of("for (int c = threadIdx.x; c < m; c += 32) out[blockIdx.x * m + c] = 1;") == Reach{{"blockIdx.x", 1}, {"m", 1}});
  CHECK(reach_of("int row = blockIdx.x * blockDim.x + threadIdx.x; out[row * n] = 1;") ==
        Reach{{"blockIdx.x", 1}, {"threadIdx.x", 1}, {"n", 1}});
  CHECK(reach_of("int x = min(max(int(blockIdx.x) * 8 + int(threadIdx.x) - 1, 0), n - 1); out[x] = 1;") == Reach{{"n", 1}});
  CHECK(reach_of("int x = threadIdx.x; int l = (x - 1 + n) % n; out[l * m + x % m] = 1;") == Reach{{"n", 1}, {"m", 1}});
  CHECK(reach_of("int i = threadIdx.x; if (i < n) { int w = i % m, h = i / m; out[h * m + w] = 1; }") == Reach{{"n", 1}, {"m", 1}});
  CHECK(reach_of("int z = threadIdx.z; int o = z; if (z < n) { o = o * m + 1; o = o * m + 2; out[o] = 1; }") == Reach{{"n", 1}, {"m", 1}});
  CHECK(reach_of("int x = threadIdx.x, y = threadIdx.y; int o = x; o += y * n; if (x < n && y < m) out[o] = 1;") ==
        Reach{{"n", 1}, {"m", 1}});
  CHECK(reach_of("int x = threadIdx.x, y = threadIdx.y; if (x < n && y < m) { } if (x < m && y < n) out[y * m + x] = 1;") ==
        Reach{{"n", 1}, {"m", 1}});
  CHECK(reach_of("int y = threadIdx.y; if (y < n) out[n * static_cast<size_t>(y) + 1] = 1;") == Reach{{"n", 2}});
  CHECK(reach_of("out[blockIdx.x * blockDim.x + threadIdx.x] = 1;").empty());
  CHECK(reach_of("int c = at[threadIdx.x]; out[c] = 1;").empty());
}

TEST_CASE("variables that are computed of themselves many times, and brackets of any depth, are read in no time") {
  std::string body = "int o = threadIdx.x;";
  for (int i = 0; i < 40; ++i) body += " o = o + n; o = o * n + o;";
  const std::string deep(20'000, '(');
  const KernelUsage usage =
      usage_of("__global__ void k(float* out, int n) { " + body + " out[o] = 1; out[" + deep + "n" + std::string(20'000, ')') + "] = 1; }");
  CHECK(index_reach(usage, {usage.pointers.at("out").indices.at(0)}, {"n"}).at("n") >= 1);
  CHECK_NOTHROW(static_cast<void>(index_reach(usage, usage.pointers.at("out").indices, {"n"})));
}

TEST_CASE("an index that counts more than variables and factors that are sizes is shown") {
  const auto beyond = [](const std::string& body) {
    const KernelUsage usage = usage_of("__global__ void k(float* out, int n) { int i = blockIdx.x * 256 + threadIdx.x; " + body + " }");
    return shown(beyond_sizes(usage, usage.pointers.at("out").indices.at(0), {"n"}));
  };
  CHECK(beyond("if (i < n) out[2 * i] = 1;") == "2 * i");
  CHECK(beyond("if (i < n) out[i + n] = 1;") == "i + n");
  CHECK(beyond("if (i < n) out[(i + 1) * n] = 1;") == "(i + 1) * n");
  CHECK(beyond("int at = i * 3; if (i < n) out[at] = 1;") == "i * 3");
  CHECK(beyond("for (int c = 0; c < CHANNELS; ++c) if (i < n) out[i * CHANNELS + c] = 1;") == "i * CHANNELS + c");
  CHECK(beyond("out[blockIdx.x * BINS + threadIdx.x] = 1;") == "blockIdx . x * BINS + threadIdx . x");
  CHECK(beyond("int x = i * 5; out[threadIdx.x] = x;").empty());
  CHECK(beyond("if (i < n) out[i] = 1;").empty());
  CHECK(beyond("if (i < n) out[n - 1 - i] = 1;").empty());
  CHECK(beyond("for (int k = 0; k < n; ++k) out[i * n + k] = 1;").empty());
}

TEST_CASE("a macro that alone bounds what blocks work on is a limit, and one that bounds threads or a tile is none") {
  const auto kernel = source_kernels(
      "__global__ void k(float* out, int n) {\n"
      "  int x = blockIdx.x * TILE + threadIdx.x;\n"
      "  for (int i = 0; i < ITEMS; ++i) if (x + i * TILE < n - TILE && threadIdx.x < TILE && x < WIDTH) out[x] = 1;\n"
      "}\n",
      "k.cu");
  CHECK(kernel_usage(kernel.at(0), {}, {"TILE", "ITEMS", "WIDTH"}).limits == std::set<std::string>{"WIDTH"});
  const auto reused = source_kernels(
      "__global__ void k(int* bins, const int* data) {\n"
      "  for (int i = threadIdx.x; i < TILE_SIZE; i += blockDim.x) bins[i] = 0;\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i >= RADIUS && i < SAMPLES - RADIUS; i += 32) ++bins[data[i]];\n"
      "}\n",
      "k.cu");
  CHECK(kernel_usage(reused.at(0), {}, {"TILE_SIZE", "RADIUS", "SAMPLES"}).limits == std::set<std::string>{"SAMPLES"});
}

TEST_CASE("a shared array outside of functions is the kernel's that uses it") {
  const auto kernels = source_kernels(
      "extern __shared__ float part[];\nnamespace { static __shared__ int other[4]; }\n"
      "__device__ void f() { __shared__ float inner[2]; }\n"
      "__global__ void k(float* y) { part[threadIdx.x] = 1; }\n__global__ void g(float* y) { }\n",
      "k.cu");
  const auto used = kernel_usage(kernels.at(0), {}).shared;
  REQUIRE(used.size() == 1);
  CHECK(used[0].name == "part");
  CHECK(used[0].dimensions.empty());
  CHECK(used[0].by_thread);
  CHECK(kernel_usage(kernels.at(1), {}).shared.empty());
}

TEST_CASE("factors outside of the bracket around an index count, too") {
  const KernelUsage usage =
      usage_of("__global__ void k(float* y, int n) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS; if (i < n) y[i] = 1; }");
  CHECK(shown(usage.factors[0]) == "blockDim . x * ITEMS");
}

TEST_CASE("casts around an index hide none of its factors") {
  const KernelUsage usage = usage_of(
      "__global__ void k(float* y) { size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * ITEMS; y[i] = f(blockIdx.y) * 2; }");
  CHECK(shown(usage.factors[0]) == "blockDim . x * ITEMS");
  CHECK(usage.factors[1].empty());
}

TEST_CASE("several shared arrays of one declaration all count") {
  const KernelUsage usage =
      usage_of("__global__ void k(float* y) { __shared__ __align__(16) float a[T][T + 1], b[4], c; extern __shared__ int d[]; }");
  REQUIRE(usage.shared.size() == 4);
  CHECK(usage.shared[0].type == "float");
  CHECK(usage.shared[0].dimensions.size() == 2);
  CHECK(usage.shared[1].name == "b");
  CHECK(shown(usage.shared[2].dimensions.at(0)) == "1");
  CHECK(usage.shared[3].dimensions.empty());
}

TEST_CASE("a pointer that is handed on, indexes another or is counted up is seen as that") {
  const KernelUsage usage =
      usage_of("__global__ void k(const int* at, float* a, float* b, int* c) { int i = threadIdx.x; a[at[i]] = 1; f(b); c[i]++; }");
  CHECK(usage.pointers.at("at").is_index);
  CHECK(usage.pointers.at("a").written);
  CHECK(usage.pointers.at("b").escapes);
  CHECK(usage.pointers.at("c").updated);
}

TEST_CASE("an expression of whole numbers is attune's, and others are nothing") {
  const std::map<std::string, std::string> names = {{"A", "A"}, {"B", "2"}};
  CHECK(whole_expression(cuda_tokens("(A + 1) / B * 3u"), names) == "(A + 1) // 2 * 3");
  CHECK_FALSE(whole_expression(cuda_tokens("A + C"), names));
  CHECK_FALSE(whole_expression(cuda_tokens("A << 1"), names));
  CHECK_FALSE(whole_expression(cuda_tokens("1.5"), names));
}

}  // namespace test_cuda_kernels
