#include "tuner/importing/kernel_source.hpp"

#include <doctest/doctest.h>

namespace test_kernel_source {

using namespace attune;
using namespace attune::importing;

TEST_CASE("a kernel's arguments are counted through brackets, launch bounds and comments") {
  const std::string code = without_comments(R"(// __global__ void k(int a);
__device__ void other(int a) { k_impl(a); }
extern "C" __global__ void __launch_bounds__(BX * 2)
    k(const float* __restrict__ a /* , int b */, float (*table)[2], vec<int, 4> v, int n) { }
__global__ void none() { }
__global__ void nothing(void) { })");
  REQUIRE(find_kernel(code, "k"));
  CHECK(find_kernel(code, "k")->arguments == 4);
  CHECK(find_kernel(code, "k")->extern_c);
  REQUIRE(find_kernel(code, "none"));
  CHECK(find_kernel(code, "none")->arguments == 0);
  CHECK_FALSE(find_kernel(code, "none")->extern_c);
  CHECK(find_kernel(code, "nothing")->arguments == 0);
  CHECK_FALSE(find_kernel(code, "other"));
  CHECK_FALSE(find_kernel(code, "missing"));
}

TEST_CASE("extern \"C\" around a kernel counts as much as before it") {
  CHECK(find_kernel("extern \"C\" {\n__global__ void k(int n) {}\n}", "k")->extern_c);
  CHECK_FALSE(find_kernel("extern \"C\" int other(void);\n__global__ void k(int n) {}", "k")->extern_c);
}

TEST_CASE("comments become blanks, and lines keep their numbers") {
  CHECK(without_comments("a // b\nc /* d\n e */ f \"// g\"") == "a     \nc     \n      f \"// g\"");
  CHECK(without_comments("a /* b") == "a     ");
}

TEST_CASE("a source that is extern \"C\" and has all it needs gets nothing around it") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  kernel.arguments.resize(2);
  fit_to_source(kernel, "extern \"C\" __global__ void k(float* a, float* b) {}");
  CHECK(kernel.before.empty());
  CHECK(kernel.after.empty());
  CHECK(kernel.notes.empty());
}

TEST_CASE("a source that defines the parameters itself where nobody has defined kernel_tuner finds it defined, whoever describes it") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  fit_to_source(kernel, "#ifndef kernel_tuner\n#define block_size_x 16\n#endif\nextern \"C\" __global__ void k() {}");
  CHECK(kernel.before == "#define kernel_tuner 1\n");
}

TEST_CASE("a kernel beside C++ templates is left for somebody to make extern \"C\", and a wrong number of arguments is told") {
  ImportedKernel kernel;
  kernel.kernel = "k";
  kernel.arguments.resize(1);
  fit_to_source(kernel, "template <class T> __device__ T f(T x);\n__global__ void k(float* a, float* b) {}");
  CHECK(kernel.before.empty());
  REQUIRE(kernel.notes.size() == 2);
  CHECK(kernel.notes[0].text == "it takes 2 arguments, and the file lists 1");
  CHECK(kernel.notes[1].text.find("write that before its __global__") != std::string::npos);
}

}  // namespace test_kernel_source
