// Expected values are worked out from the limits of the architectures in the CUDA programming guide (2048 threads, 32
// blocks, 65536 registers allocated 256 at a time per warp, shared memory in units of 128 bytes and 1024 reserved per
// block).
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "attune/error.hpp"
#include "tuner/compile/occupancy.hpp"

namespace test_occupancy {

using namespace attune::compile;
using attune::spec::DeviceInfo;

namespace {

DeviceInfo device(int compute_capability, int shared_per_sm_kib, int shared_optin_kib) {
  DeviceInfo info;
  info.architecture = "sm_" + std::to_string(compute_capability);
  info.compute_capability = compute_capability;
  info.sm_count = 100;
  info.registers_per_sm = 65536;
  info.registers_per_block = 65536;
  info.max_threads_per_block = 1024;
  info.max_threads_per_sm = compute_capability == 75 ? 1024 : 2048;
  info.shared_per_sm_bytes = shared_per_sm_kib * 1024;
  info.shared_optin_bytes = shared_optin_kib * 1024;
  info.shared_per_block_bytes = 49152;
  return info;
}

const DeviceInfo kA100 = device(80, 164, 163);
const DeviceInfo kH200 = device(90, 228, 227);
const DeviceInfo kT4 = device(75, 64, 64);

KernelResources kernel(int registers, int static_shared_bytes) { return {"f", registers, static_shared_bytes, 0, 0, 0}; }

void check(const Occupancy& got, int blocks, double fraction, const char* limited_by) {
  CHECK(got.blocks_per_sm == blocks);
  CHECK(got.fraction == doctest::Approx(fraction));
  CHECK(std::string(got.limited_by) == limited_by);
}

}  // namespace

TEST_CASE("a small kernel fills the SM") {
  // 8 warps a block, 64 warps an SM; 32 registers x 32 lanes x 64 warps are all 65536.
  check(occupancy(kernel(32, 0), 256, 0, kH200), 8, 1.0, "none");
  check(occupancy(kernel(32, 0), 256, 0, kA100), 8, 1.0, "none");
}

TEST_CASE("registers limit by what a warp is given, not by what it uses") {
  // 64 x 32 = 2048 a warp: 32 warps, 4 blocks of 8.
  check(occupancy(kernel(64, 0), 256, 0, kH200), 4, 0.5, "registers");
  // 33 x 32 = 1056, given 1280: 12 warps in each quarter of 16384, 48 in all, 6 blocks of 8.
  check(occupancy(kernel(33, 0), 256, 0, kH200), 6, 0.75, "registers");
  // 128 x 32 x 32 warps are 131072 registers: one block alone is too large.
  check(occupancy(kernel(128, 0), 1024, 0, kH200), 0, 0.0, "registers");
}

TEST_CASE("shared memory limits with 1024 reserved bytes a block, counted once") {
  // H200: 233472 bytes = 8 x (28160 + 1024).
  check(occupancy(kernel(16, 28160), 128, 0, kH200), 8, 0.5, "shared memory");
  check(occupancy(kernel(16, 28160 + 128), 128, 0, kH200), 7, 7 * 128 / 2048.0, "shared memory");
  check(occupancy(kernel(16, 0), 128, 28160, kH200), 8, 0.5, "shared memory");
  check(occupancy(kernel(16, 20000), 128, 8160, kH200), 8, 0.5, "shared memory");
  // A100: 167936 bytes = 8 x (19968 + 1024).
  check(occupancy(kernel(16, 19968), 128, 0, kA100), 8, 0.5, "shared memory");
  check(occupancy(kernel(16, 19968 + 128), 128, 0, kA100), 7, 7 * 128 / 2048.0, "shared memory");
}

TEST_CASE("before compute capability 8.0 nothing is reserved") {
  // T4: 65536 bytes = 4 x 16384.
  check(occupancy(kernel(16, 16384), 64, 0, kT4), 4, 0.25, "shared memory");
}

TEST_CASE("a kernel with a little shared memory is not limited by it: the carveout is the driver's to choose") {
  check(occupancy(kernel(32, 1200), 256, 0, kH200), 8, 1.0, "none");
  check(occupancy(kernel(32, 1200), 256, 0, kA100), 8, 1.0, "none");
}

TEST_CASE("the opt-in limit is what a block may have at most") {
  check(occupancy(kernel(16, 0), 128, 227 * 1024, kH200), 1, 128 / 2048.0, "shared memory");
  check(occupancy(kernel(16, 0), 128, 227 * 1024 + 1, kH200), 0, 0.0, "shared memory");
  check(occupancy(kernel(16, 0), 128, 163 * 1024, kA100), 1, 128 / 2048.0, "shared memory");
  check(occupancy(kernel(16, 0), 128, 163 * 1024 + 1, kA100), 0, 0.0, "shared memory");
}

TEST_CASE("threads and blocks limit as well") {
  check(occupancy(kernel(16, 0), 768, 0, kH200), 2, 0.75, "threads");
  check(occupancy(kernel(16, 0), 32, 0, kH200), 32, 0.5, "blocks");
  check(occupancy(kernel(16, 0), 2048, 0, kH200), 0, 0.0, "threads");
}

TEST_CASE("what cannot be computed is an error that names it") {
  CHECK_THROWS_AS((void)occupancy(kernel(16, 0), 0, 0, kH200), attune::UsageError);
  CHECK_THROWS_AS((void)occupancy(kernel(16, 0), 128, -1, kH200), attune::UsageError);
  CHECK_THROWS_WITH_AS((void)occupancy(kernel(16, 0), 128, 0, device(200, 228, 227)),
                       doctest::Contains("f on sm_200: cudaOccMaxActiveBlocksPerMultiprocessor returned"), attune::Error);
  CHECK_THROWS_WITH_AS((void)occupancy(kernel(16, 0), 128, 0, DeviceInfo{}), doctest::Contains("invalid input"), attune::Error);
}

}  // namespace test_occupancy
