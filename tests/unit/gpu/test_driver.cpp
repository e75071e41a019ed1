#include <doctest/doctest.h>

#include <string>

#include "tests/support/skip.hpp"
#include "tuner/gpu/handles.hpp"

namespace test_driver {

using namespace attune;

TEST_CASE("without a driver every way in throws one paragraph that says what is missing and what to do") {
  const std::string reason = gpu::Driver::unavailable_reason();
  if (reason.empty()) return test::skip("this machine has a driver: tests/gpu says the rest");
  CHECK(reason.rfind("failed ", 0) == 0);
  CHECK(reason.find('\n') == std::string::npos);
  CHECK(reason.find("--replay") != std::string::npos);
  CHECK_THROWS_WITH_AS(static_cast<void>(gpu::Driver::get()), reason.c_str(), EnvironmentError);
  CHECK_THROWS_AS(static_cast<void>(gpu::device_count()), EnvironmentError);
  CHECK_THROWS_AS(static_cast<void>(gpu::read_device(0)), EnvironmentError);
  CHECK_THROWS_AS(gpu::Context(0), EnvironmentError);
}

TEST_CASE("check throws for a failed result only and keeps its code and call") {
  CHECK_NOTHROW(gpu::check(CUDA_SUCCESS, "cuCall", "doing something"));
  try {
    gpu::check(CUDA_ERROR_INVALID_VALUE, "cuCall", "doing something");
    FAIL("no exception");
  } catch (const CudaError& error) {
    CHECK(error.result() == 1);
    CHECK(error.call() == "cuCall");
    CHECK(std::string(error.what()).rfind("failed doing something: cuCall returned ", 0) == 0);
  }
}

TEST_CASE("errors that ruin the context are told from refusals") {
  for (const CUresult result : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ASSERT, CUDA_ERROR_MISALIGNED_ADDRESS,
                                CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ECC_UNCORRECTABLE}) {
    CHECK(gpu::is_sticky(result));
  }
  for (const CUresult result : {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                                CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_NOT_FOUND}) {
    CHECK_FALSE(gpu::is_sticky(result));
  }
}

TEST_CASE("a device is shown alone, or behind those that CUDA_VISIBLE_DEVICES names before it, and never one that it hides") {
  using gpu::fewest_visible;
  using gpu::Visible;
  CHECK(fewest_visible(nullptr, 0) == Visible{"0", 0});
  CHECK(fewest_visible(nullptr, 3) == Visible{"3", 0});
  CHECK(fewest_visible("2", 0) == Visible{"2", 0});
  CHECK(fewest_visible("3,GPU-1f2e,MIG-7a", 1) == Visible{"3,GPU-1f2e", 1});
  // Whether 5 or -1 is a device the driver knows: if not, it shows none of these, and it is not taken for another.
  CHECK(fewest_visible("5,0", 1) == Visible{"5,0", 1});
  CHECK(fewest_visible("0, -1,2", 2) == Visible{"0, -1,2", 2});
  for (const auto& [now, ordinal] : {std::pair("", 0), {"2", 1}}) CHECK_FALSE(fewest_visible(now, ordinal).has_value());
  CHECK_FALSE(fewest_visible(nullptr, -1).has_value());
}

}  // namespace test_driver
