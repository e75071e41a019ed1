// The pool with real workers and NVRTC.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>

#include <string>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/compile/compile_pool.hpp"

using namespace attune::compile;
using attune::testing::ScopedVariable;
using attune::test::TempFolder;

namespace {

CompilePool::Options real() {
  CompilePool::Options options;
  options.worker = ATTUNE_COMPILE_WORKER;
  options.workers = 1;
  return options;
}

/// Compiles for a time that grows with `statements`: straight-line code that nothing can be folded out of.
CompileRequest slow_request(int statements) {
  std::string source = "extern \"C\" __global__ void slow(double* p) {\n  double a = p[0], b = p[1];\n";
  for (int i = 0; i < statements; ++i) source += fmt::format("  a = sin(a + {}.25) * b; b = exp(b - a);\n", i);
  source += "  p[2] = a + b;\n}\n";
  return {source, "slow.cu", "sm_90", {}};
}

}  // namespace

TEST_CASE("the pool compiles what NVRTC in this process compiles, byte for byte") {
  const CompileRequest request{
      "extern \"C\" __global__ void f(float* p) { p[threadIdx.x] += 1; }", "f.cu", "sm_90", {}};
  CompilePool pool(real());
  Nvrtc here;
  CHECK(pool.nvrtc_build() == here.build());
  const CompileResult there = pool.compile_now(request);
  REQUIRE(there.status == CompileStatus::Ok);
  const CompileResult same = here.compile(request);
  CHECK(there.cubin == same.cubin);
  CHECK(there.key == same.key);
  REQUIRE(there.kernels.size() == 1);
  CHECK(there.kernels.front().kernel == "f");
  CHECK(there.compile_ms > 0);
}

TEST_CASE("a source that does not compile is a result with the place in its log") {
  CompilePool pool(real());
  const CompileResult result = pool.compile_now({"\nvoid f() { missing(); }\n", "broken.cu", "sm_90", {}});
  CHECK(result.status == CompileStatus::Failed);
  CHECK(result.log.find("broken.cu(2): error") != std::string::npos);
}

TEST_CASE("killing a worker from outside while it compiles costs nothing but time") {
  CompilePool pool(real());
  const int before = pool.worker_pids().front();
  const auto ticket = pool.submit(slow_request(100));
  ::kill(before, SIGKILL);
  const auto done = pool.collect(std::chrono::milliseconds(-1));
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == ticket);
  CHECK(done.front().result.status == CompileStatus::Ok);
  CHECK(pool.worker_pids().front() != before);
}

TEST_CASE("a huge compilation is ended at the deadline, within a phase of NVRTC") {
  CompilePool::Options options = real();
  options.deadline = std::chrono::milliseconds(300);
  CompilePool pool(options);
  CHECK(pool.compile_now(slow_request(20000)).status == CompileStatus::TimedOut);
}

TEST_CASE("a pool without NVRTC names the file that was asked for") {
  const ScopedVariable library("ATTUNE_NVRTC", "/nonexistent/libnvrtc.so");
  CHECK_THROWS_WITH_AS((void)CompilePool(real()), doctest::Contains("/nonexistent/libnvrtc.so (ATTUNE_NVRTC)"),
                       attune::EnvironmentError);
}
