#include <doctest/doctest.h>

#include <regex>
#include <vector>

#include "tests/gpu/lab.hpp"
#include "tuner/gpu/handles.hpp"

namespace test_driver {

using namespace attune;

TEST_CASE("the driver answers through the table and names the device") {
  REQUIRE(gpu::Driver::unavailable_reason().empty());
  REQUIRE(gpu::device_count() >= 1);
  const auto device = gpu::read_device(0);
  CHECK(device.backend == "cuda");
  CHECK(device.architecture == "sm_" + std::to_string(device.compute_capability));
  CHECK(device.sm_count > 0);
  CHECK(device.l2_bytes > 0);
  CHECK(device.memory_bus_bits > 0);
  CHECK(device.warp_size == 32);
  CHECK(device.shared_optin_bytes >= device.shared_per_block_bytes);
  CHECK(device.memory_bytes > (std::int64_t{1} << 30));
  CHECK(!device.name.empty());
  CHECK(std::regex_match(device.uuid, std::regex("GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")));
  CHECK(std::regex_match(device.driver, std::regex("[0-9]+\\.[0-9.]+|CUDA [0-9]+\\.[0-9]")));
  CHECK(spec::DeviceInfo::from_json(device.to_json()).hard_key() == device.hard_key());
}

TEST_CASE("a device ordinal that does not exist is a usage error that says how many there are") {
  CHECK_THROWS_AS(static_cast<void>(gpu::read_device(gpu::device_count())), UsageError);
  CHECK_THROWS_AS(static_cast<void>(gpu::read_device(-1)), UsageError);
  measure::GpuExecutor::Options options;
  const char* const worker = std::getenv("ATTUNE_WORKER");
  options.worker = worker != nullptr ? worker : ATTUNE_WORKER_EXECUTABLE;
  options.device = 99;
  CHECK_THROWS_AS(measure::GpuExecutor{options}, UsageError);
}

TEST_CASE("the worker reads the same device as this process") {
  CHECK(test::Lab::get().executor().device().hard_json() == gpu::read_device(0).hard_json());
}

TEST_CASE("memory, streams and events work") {
  const gpu::Context context(0);
  const gpu::Stream stream;
  const gpu::Event start;
  const gpu::Event end;
  gpu::Buffer buffer(4096);
  gpu::Buffer moved = std::move(buffer);
  CHECK(buffer.address() == 0);
  start.record(stream);
  REQUIRE(gpu::Driver::get().cuMemsetD8Async(moved.address(), 0x5A, moved.bytes(), stream.get()) == CUDA_SUCCESS);
  end.record(stream);
  std::vector<unsigned char> host(moved.bytes());
  REQUIRE(gpu::Driver::get().cuMemcpyDtoHAsync(host.data(), moved.address(), host.size(), stream.get()) == CUDA_SUCCESS);
  stream.synchronize();
  CHECK(gpu::elapsed_us(start, end) > 0);
  CHECK(host == std::vector<unsigned char>(4096, 0x5A));
}

TEST_CASE("an allocation beyond the device's memory names what was asked for and what is free") {
  const gpu::Context context(0);
  try {
    const gpu::Buffer buffer(std::size_t{1} << 50);
    FAIL("allocated a pebibyte");
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    CHECK(text.find(std::to_string(std::size_t{1} << 50)) != std::string::npos);
    CHECK(text.find("free") != std::string::npos);
  }
}

TEST_CASE("a damaged cubin and an unknown kernel are refused with their names") {
  const gpu::Context context(0);
  CHECK_THROWS_AS(gpu::Module(std::string(256, 'x')), CudaError);
  const gpu::Module module(test::Lab::get().cubin("extern \"C\" __global__ void there(int* p, float x) { *p = (int)x; }"));
  const auto function = module.function("there");
  CHECK(function.parameter_bytes == std::vector<int>{8, 4});
  CHECK_THROWS_WITH(static_cast<void>(module.function("absent")), doctest::Contains("\"absent\""));
  CHECK_THROWS_WITH(static_cast<void>(module.global("missing")), doctest::Contains("\"missing\""));
}

TEST_CASE("a kernel of C++ is found by its name, and a module without kernels has none") {
  const gpu::Context context(0);
  const gpu::Module module(
      test::Lab::get().cubin("namespace ns { template <int kTile> __device__ __noinline__ void scale(float* x) { x[0] *= kTile; }\n"
                             "template <int kTile> __global__ void scale(float* x, int n) { scale<kTile>(x + n); } }\n"
                             "template __global__ void ns::scale<2>(float*, int);\ntemplate __global__ void ns::scale<3>(float*, int);"));
  CHECK(module.function("ns::scale<3>").parameter_bytes == std::vector<int>{8, 4});
  CHECK(module.function("ns::scale<3>").handle != module.function("ns::scale<2>").handle);
  CHECK_THROWS_WITH(static_cast<void>(module.function("ns::scale<4>")), doctest::Contains("\"ns::scale<4>\""));
  const gpu::Module none(test::Lab::get().cubin("__device__ int x;"));
  CHECK_THROWS_WITH(static_cast<void>(none.function("there")), doctest::Contains("has no kernel of that name"));
}

}  // namespace test_driver
