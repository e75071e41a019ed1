#include <doctest/doctest.h>

#include <string>

#include "tests/support/skip.hpp"
#include "tuner/gpu/driver.hpp"
#include "tuner/measure/gpu_executor.hpp"

namespace test_gpu_worker {

using namespace attune;

TEST_CASE("without a driver the executor reports what its worker found") {
  const std::string reason = gpu::Driver::unavailable_reason();
  if (reason.empty()) return test::skip("this machine has a driver");
  measure::GpuExecutor::Options options;
  options.worker = ATTUNE_GPU_WORKER;
  CHECK_THROWS_WITH_AS(measure::GpuExecutor{options}, reason.c_str(), EnvironmentError);
}

}  // namespace test_gpu_worker
