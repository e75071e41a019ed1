// The fake driver through the product's own handles: what the tests that run on it rest on.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/integration/fake_gpu/driver_fixture.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/verify/support.hpp"

namespace test_driver {

using namespace attune;
using gpu::Driver;
using test::cubin_of;
using test::Fake;
using test::read_back;

namespace {

constexpr const char* kSource = R"text(
struct Wide { char bytes[20]; };
extern "C" { __constant__ float coefficients[5] = {1, 2, 3, 4, 5}; }
extern "C" __global__ void many(const float* a, Wide wide, char c, long long n, float* out) {
  out[n] = a[n] + wide.bytes[c] * coefficients[c];
}
extern "C" __global__ void none() {}
extern "C" __global__ void synthetic(const int* in, int* out, long long n, long long time_ns, long long fault) {
  out[n] = in[time_ns + fault];
}
)text";

CUresult launch(const gpu::Function& function, const gpu::Stream& stream, std::vector<void*> parameters) {
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream.get();
  return Driver::get().cuLaunchKernelEx(&config, function.handle, parameters.data(), nullptr);
}

/// A launch of the kernel `synthetic`, which the fake driver runs.
CUresult launch_copy(const gpu::Function& function, const gpu::Stream& stream, const gpu::Buffer& in, const gpu::Buffer& out,
                     long long time_ns, long long fault) {
  CUdeviceptr from = in.address();
  CUdeviceptr to = out.address();
  long long n = static_cast<long long>(in.bytes() / 4);
  return launch(function, stream, {&from, &to, &n, &time_ns, &fault});
}

}  // namespace

TEST_CASE_FIXTURE(Fake, "kernels, their parameters and variables are those of the compiled cubin") {
  const gpu::Module module(cubin_of(kSource));
  CHECK(module.function("many").parameter_bytes == std::vector<int>{8, 20, 1, 8, 8});
  CHECK(module.function("none").parameter_bytes.empty());
  CHECK_THROWS_AS(static_cast<void>(module.function("absent")), Error);
  const auto [address, bytes] = module.global("coefficients");
  REQUIRE(bytes == 5 * sizeof(float));
  std::vector<float> values(5);
  CHECK(Driver::get().cuMemcpyDtoHAsync(values.data(), address, bytes, stream.get()) == CUDA_SUCCESS);
  CHECK(values == std::vector<float>{1, 2, 3, 4, 5});
}

TEST_CASE_FIXTURE(Fake, "kernels of C++ are found by their names, which the driver tells, and overloads are not told apart") {
  const gpu::Module module(cubin_of(R"text(
namespace ns { template <int kTile> __global__ void scale(float* x) { x[0] *= kTile; } }
template __global__ decltype(ns::scale<2>) ns::scale<2>;
template __global__ decltype(ns::scale<3>) ns::scale<3>;
__global__ void plain(float* x, int n) { x[n] = 1; }
__global__ void twice(float* x) { x[0] = 1; }
__global__ void twice(double* x) { x[0] = 1; }
)text"));
  CHECK(module.function("plain").parameter_bytes == std::vector<int>{8, 4});
  CHECK(module.function("ns::scale<3>").handle == module.function("_ZN2ns5scaleILi3EEEvPf").handle);
  CHECK(module.function("ns::scale<3>").handle != module.function("ns::scale<2>").handle);
  CHECK_THROWS_WITH(static_cast<void>(module.function("ns::scale<4>")), doctest::Contains("\"ns::scale<4>\""));
  CHECK_THROWS_WITH(static_cast<void>(module.function("twice")), doctest::Contains("several functions of that name"));
  CHECK_THROWS_WITH(static_cast<void>(gpu::Module(cubin_of("__device__ int x;")).function("plain")), doctest::Contains("has no kernel"));
}

TEST_CASE_FIXTURE(Fake, "garbage is no image, and a cubin of another architecture is refused") {
  CUmodule module = nullptr;
  const std::string garbage(4096, 'x');
  CHECK(Driver::get().cuModuleLoadData(&module, garbage.data()) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(Driver::get().cuModuleLoadData(&module, cubin_of(kSource, "sm_80").data()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE_FIXTURE(Fake, "a kernel without a host function is refused with a hint") {
  const gpu::Module module(cubin_of(kSource));
  const CUresult result = launch(module.function("none"), stream, {});
  CHECK(result == CUDA_ERROR_NOT_SUPPORTED);
  const char* text = nullptr;
  Driver::get().cuGetErrorString(result, &text);
  CHECK(std::string(text).find("docs/testing.md") != std::string::npos);
}

TEST_CASE_FIXTURE(Fake, "memory is counted, and more than the device has is refused") {
  std::size_t before = 0, after = 0, total = 0;
  Driver::get().cuMemGetInfo(&before, &total);
  CHECK(total == 268435456);
  {
    const gpu::Buffer buffer(std::size_t{1} << 20);
    Driver::get().cuMemGetInfo(&after, &total);
    CHECK(before - after == std::size_t{1} << 20);
    CHECK_THROWS_AS(gpu::Buffer{total}, EnvironmentError);
  }
  Driver::get().cuMemGetInfo(&after, &total);
  CHECK(before == after);
}

TEST_CASE_FIXTURE(Fake, "a graph repeats what was captured, and takes the sum of its kernels' times") {
  const gpu::Module module(cubin_of(kSource));
  const auto copy = module.function("synthetic");
  const gpu::Buffer in(400), out(400);
  Driver::get().cuMemsetD8Async(in.address(), 7, 400, stream.get());
  const auto graph = gpu::Graph::capture(stream, [&] {
    for (int i = 0; i < 10; ++i) CHECK(launch_copy(copy, stream, in, out, 2000, 0) == CUDA_SUCCESS);
  });
  const gpu::Event start, end;
  for (int repetition = 0; repetition < 2; ++repetition) {
    Driver::get().cuMemsetD8Async(out.address(), 0, 400, stream.get());
    start.record(stream);
    graph.launch(stream);
    end.record(stream);
    end.synchronize();
    CHECK(gpu::elapsed_us(start, end) == doctest::Approx(20));
    CHECK(read_back<unsigned char>(out, stream) == std::vector<unsigned char>(400, 7));
  }
}

TEST_CASE_FIXTURE(Fake, "fills of every type are what they are called, and one changed byte is found") {
  const auto device = gpu::read_device(0);
  verify::Support support(test::support_cubin(), device, stream);
  constexpr std::int64_t kCount = 300000;  // more than one element a thread of the reduction
  for (int code = 0; code < 12; ++code) {
    const auto type = static_cast<spec::ElementType>(code);
    CAPTURE(code);
    const auto element_bytes = static_cast<std::size_t>(spec::size_bytes(type));
    const gpu::Buffer buffer(kCount * element_bytes);
    const verify::Elements elements{buffer.address(), kCount, type};
    support.fill(elements, spec::DataValues::SmallIntegers, 5);
    const auto bytes = read_back<unsigned char>(buffer, stream);
    double magnitude = 0;  // exact: the elements are 1, 2, -1, -2
    for (std::int64_t i = 0; i < kCount; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(i) * element_bytes, element_bytes);
      const double value = spec::to_double(type, bits);
      const bool expected = value == 1 || value == 2 || value == -1 || value == -2;
      if (!expected) FAIL("element ", i, " is ", value);
      magnitude += value < 0 ? -value : value;
    }
    CHECK(support.mean_magnitude(elements) == magnitude / kCount);
    support.begin_checks();
    support.check_fill("filled", elements, spec::DataValues::SmallIntegers, 5);
    CHECK_FALSE(support.findings().has_value());
    Driver::get().cuMemsetD8Async(buffer.address() + 1234 * element_bytes, 0x55, 1, stream.get());
    support.begin_checks();
    support.check_fill("changed", elements, spec::DataValues::SmallIntegers, 5);
    const auto finding = support.findings();
    REQUIRE(finding.has_value());
    CHECK(finding->count() == 1);
    CHECK(finding->first() == 1234);
  }
}

TEST_CASE_FIXTURE(Fake, "a fault appears at the next synchronisation and in every call from then on") {
  const gpu::Module module(cubin_of(kSource));
  const gpu::Buffer in(400), out(400);
  const auto copy = module.function("synthetic");
  CHECK(launch_copy(copy, stream, in, out, 1000, 1) == CUDA_SUCCESS);
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK(Driver::get().cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_SUCCESS);
  CHECK(Driver::get().cuStreamSynchronize(stream.get()) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(Driver::get().cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(launch_copy(copy, stream, in, out, 1000, 0) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace test_driver
