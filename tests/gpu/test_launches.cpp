#include <doctest/doctest.h>

#include <vector>

#include "tests/gpu/lab.hpp"
#include "tests/support/skip.hpp"
#include "tuner/gpu/handles.hpp"

namespace test_launches {

using namespace attune;

namespace {

constexpr const char* kSource = R"text(
extern "C" __global__ void last_of_shared(int* out, int words) {
  extern __shared__ int shared[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[words - 1];
}
extern "C" __global__ void cluster_blocks(int* out) {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = (int)blocks;
}
extern "C" __global__ void meet(int* out, unsigned* arrived) {  // every block waits for all: needs co-residency
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived < gridDim.x) {}
    if (blockIdx.x == 0) *out = (int)gridDim.x;
  }
}
extern "C" __global__ void add(int* out, int by) { atomicAdd(out, by); }
)text";

struct Device {
  gpu::Context context{0};
  gpu::Stream stream;
  gpu::Module module{test::Lab::get().cubin(kSource)};
  gpu::Buffer out{256};

  Device() { clear(); }
  void clear() { REQUIRE(gpu::Driver::get().cuMemsetD8Async(out.address(), 0, out.bytes(), stream.get()) == CUDA_SUCCESS); }
  [[nodiscard]] int result() const {
    int value = -1;
    REQUIRE(gpu::Driver::get().cuMemcpyDtoHAsync(&value, out.address(), sizeof(value), stream.get()) == CUDA_SUCCESS);
    stream.synchronize();
    return value;
  }
};

spec::ResolvedArgument argument(int size_bytes) {
  spec::ResolvedArgument result;
  result.kind = spec::ResolvedArgument::Kind::Bits;
  result.size_bytes = size_bytes;
  return result;
}

spec::ResolvedLaunch launch(const char* kernel, std::uint32_t grid, std::uint32_t block, std::vector<spec::ResolvedArgument> arguments) {
  spec::ResolvedLaunch result;
  result.kernel = kernel;
  result.grid = {grid, 1, 1};
  result.block = {block, 1, 1};
  result.arguments = std::move(arguments);
  return result;
}

}  // namespace

TEST_CASE("a launch gets more than 48 KB of dynamic shared memory") {
  Device device;
  auto wanted = launch("last_of_shared", 1, 128, {argument(8), argument(4)});
  wanted.shared_bytes = 96 * 1024;
  const gpu::BoundLaunch bound(wanted, device.module.function("last_of_shared"));
  CUdeviceptr out = device.out.address();
  int words = 96 * 1024 / 4;
  void* parameters[] = {&out, &words};
  REQUIRE(bound.enqueue(parameters, device.stream.get()) == CUDA_SUCCESS);
  CHECK(device.result() == words - 1);
}

TEST_CASE("a smaller launch of the same kernel leaves the larger one's shared memory alone") {
  Device device;
  auto wanted = launch("last_of_shared", 1, 128, {argument(8), argument(4)});
  wanted.shared_bytes = 96 * 1024;
  const gpu::BoundLaunch large(wanted, device.module.function("last_of_shared"));
  wanted.shared_bytes = 50 * 1024;
  const gpu::BoundLaunch small(wanted, device.module.function("last_of_shared"));
  CUdeviceptr out = device.out.address();
  int words = 96 * 1024 / 4;
  void* parameters[] = {&out, &words};
  CHECK(large.enqueue(parameters, device.stream.get()) == CUDA_SUCCESS);
  CHECK(device.result() == words - 1);
}

TEST_CASE("shared memory beyond the device's limit is refused when binding") {
  Device device;
  auto wanted = launch("last_of_shared", 1, 128, {argument(8), argument(4)});
  wanted.shared_bytes = 4 * 1024 * 1024;
  CHECK_THROWS_AS(gpu::BoundLaunch(wanted, device.module.function("last_of_shared")), CudaError);
}

TEST_CASE("a launch gets its cluster, also of a size that is not portable") {
  Device device;
  if (gpu::read_device(0).compute_capability < 90) {
    return test::skip("this device has no clusters");
  }
  for (const std::uint32_t blocks : {2u, 8u, 16u}) {
    auto wanted = launch("cluster_blocks", 32, 64, {argument(8)});
    wanted.cluster = {blocks, 1, 1};
    const gpu::BoundLaunch bound(wanted, device.module.function("cluster_blocks"));
    CUdeviceptr out = device.out.address();
    void* parameters[] = {&out};
    REQUIRE(bound.enqueue(parameters, device.stream.get()) == CUDA_SUCCESS);
    CHECK(device.result() == static_cast<int>(blocks));
  }
}

TEST_CASE("a cooperative launch runs all its blocks together, and one that cannot is refused") {
  Device device;
  const auto sms = static_cast<std::uint32_t>(gpu::read_device(0).sm_count);
  auto wanted = launch("meet", sms, 64, {argument(8), argument(8)});
  wanted.cooperative = true;
  CUdeviceptr out = device.out.address();
  CUdeviceptr arrived = device.out.address() + 64;
  void* parameters[] = {&out, &arrived};
  REQUIRE(gpu::BoundLaunch(wanted, device.module.function("meet")).enqueue(parameters, device.stream.get()) == CUDA_SUCCESS);
  CHECK(device.result() == static_cast<int>(sms));
  wanted.grid = {sms * 1000, 1, 1};
  CHECK(gpu::BoundLaunch(wanted, device.module.function("meet")).enqueue(parameters, device.stream.get()) ==
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_CASE("arguments that differ from the compiled kernel are refused, naming the kernel and the argument") {
  Device device;
  CHECK_THROWS_WITH(gpu::BoundLaunch(launch("add", 1, 1, {argument(8)}), device.module.function("add")),
                    doctest::Contains("passes 1 arguments, the compiled kernel takes 2"));
  CHECK_THROWS_WITH(gpu::BoundLaunch(launch("add", 1, 1, {argument(8), argument(8)}), device.module.function("add")),
                    doctest::Contains("kernel \"add\": argument 2 "));
}

TEST_CASE("a captured graph repeats its launches, and a capture that throws leaves the stream usable") {
  Device device;
  const gpu::BoundLaunch bound(launch("add", 1, 1, {argument(8), argument(4)}), device.module.function("add"));
  CUdeviceptr out = device.out.address();
  int by = 5;
  void* parameters[] = {&out, &by};
  const auto enqueue = [&] { gpu::check(bound.enqueue(parameters, device.stream.get()), "cuLaunchKernelEx", "launching"); };
  CHECK_THROWS_AS(static_cast<void>(gpu::Graph::capture(device.stream,
                                                        [&] {
                                                          enqueue();
                                                          throw UsageError("stop");
                                                        })),
                  UsageError);
  const auto graph = gpu::Graph::capture(device.stream, [&] {
    for (int i = 0; i < 3; ++i) enqueue();
  });
  CHECK(device.result() == 0);  // capturing runs nothing
  graph.launch(device.stream);
  graph.launch(device.stream);
  CHECK(device.result() == 30);
}

}  // namespace test_launches
