// What a cubin tells of its kernels without a driver, and that no bytes make the reader leave them.
#include <doctest/doctest.h>

#include "tuner/base/cubin_kernels.hpp"
#include "tuner/compile/compiler.hpp"

namespace test_cubin_kernels {

using namespace attune;

namespace {

const std::string& cubin() {
  static const std::string made = [] {
    compile::Nvrtc nvrtc;
    const auto result = nvrtc.compile({R"cuda(
struct Pair { double a; int b; };
extern "C" __global__ void __launch_bounds__(96) several(const float* in, char c, double d, int i, Pair p, float* out) {
  out[threadIdx.x] = in[threadIdx.x] + c + (float)d + i + (float)p.a + p.b;
}
extern "C" __global__ void none() {}
)cuda",
                                       "test.cu",
                                       "sm_90",
                                       {}});
    REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
    return result.cubin;
  }();
  return made;
}

}  // namespace

TEST_CASE("a cubin tells the sizes of each kernel's parameters in order, and the threads that its bounds allow") {
  const auto kernels = base::read_cubin_kernels(cubin());
  REQUIRE(kernels);
  REQUIRE(kernels->size() == 2);
  CHECK(kernels->at("several").parameter_bytes == std::vector<int>{8, 1, 8, 4, 16, 8});
  CHECK(kernels->at("several").most_threads == 96);
  CHECK(kernels->at("none").parameter_bytes.empty());
  CHECK(kernels->at("none").most_threads == 0);
}

TEST_CASE("what is no cubin, or a torn or changed one, is read without leaving its bytes") {
  CHECK_FALSE(base::read_cubin_kernels(""));
  CHECK_FALSE(base::read_cubin_kernels("no cubin at all, but longer than the header of one: 0123456789012345678901234567890123456789"));
  for (std::size_t size = 0; size < cubin().size(); size += 7) static_cast<void>(base::read_cubin_kernels(std::string(cubin(), 0, size)));
  for (std::size_t at = 0; at < cubin().size(); at += 3) {
    std::string changed = cubin();
    changed[at] = static_cast<char>(0xff);
    static_cast<void>(base::read_cubin_kernels(changed));
  }
}

}  // namespace test_cubin_kernels
