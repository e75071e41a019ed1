// The pool with real workers and NVRTC.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>

#include <string>

#include "attune/error.hpp"
#include "tests/support/children.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/compile/compile_pool.hpp"

namespace test_compile_pool {

using namespace attune::compile;
using attune::test::TempFolder;
using attune::testing::ScopedVariable;

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
  const CompileRequest request{"extern \"C\" __global__ void f(float* p) { p[threadIdx.x] += 1; }", "f.cu", "sm_90", {}};
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
  const int before = attune::test::children("worker-compile").front();
  const auto ticket = pool.submit(slow_request(100));
  ::kill(before, SIGKILL);
  const auto done = pool.collect(std::chrono::milliseconds(-1));
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == ticket);
  CHECK(done.front().result.status == CompileStatus::Ok);
  CHECK(attune::test::children("worker-compile").front() != before);
}

TEST_CASE("a huge compilation is ended at the deadline, within a phase of NVRTC") {
  CompilePool::Options options = real();
  options.deadline = std::chrono::milliseconds(300);
  CompilePool pool(options);
  CHECK(pool.compile_now(slow_request(20000)).status == CompileStatus::TimedOut);
}

TEST_CASE("a huge compilation ends at its deadline while other workers go on") {
  CompilePool::Options options = real();
  options.workers = 2;
  options.deadline = std::chrono::seconds(2);
  CompilePool pool(options);
  const auto huge = pool.submit(slow_request(20000));
  int others = 0;
  for (bool ended = false; !ended;) {
    if (pool.queued() == 0) {
      const std::string source = fmt::format("extern \"C\" __global__ void f{}() {{}}", others);
      CHECK(pool.compile_now({source, "small.cu", "sm_90", {}}).status == CompileStatus::Ok);
      ++others;
    }
    for (const auto& completed : pool.collect(std::chrono::milliseconds(0))) {
      ended = true;
      CHECK(completed.ticket == huge);
      CHECK(completed.result.status == CompileStatus::TimedOut);
    }
  }
  CHECK(others > 0);
}

// Workers of a build with sanitizers have no memory limit.
namespace {

/// NVRTC's front end expands it to ten million statements.
CompileRequest endless_source() {
  std::string source = "#define A0 p[0] += 1;\n";
  for (int i = 1; i < 8; ++i) {
    source += fmt::format("#define A{}", i);
    for (int k = 0; k < 10; ++k) source += fmt::format(" A{}", i - 1);
    source += "\n";
  }
  return {source + "extern \"C\" __global__ void f(float* p) { A7 }\n", "endless.cu", "sm_90", {}};
}

/// Its code generator wants the 6 GB of this array.
CompileRequest huge_array() {
  return {
      "__device__ int huge[1500000000] = {1};\nextern \"C\" __global__ void f(int* p) { p[0] = huge[p[1]]; }\n", "huge.cu", "sm_90", {}};
}

CompilePool::Options small_memory() {
  CompilePool::Options options = real();
  options.memory_bytes = std::uint64_t{512} << 20;
  return options;
}

}  // namespace

TEST_CASE("a source that needs more memory than a worker may have is a failure that says so, and is not remembered" *
          doctest::skip(attune::test::kSanitized)) {
  const TempFolder folder;
  CompilePool::Options options = small_memory();
  options.cache = folder.path();
  CompilePool pool(options);
  const int worker = attune::test::children("worker-compile").front();
  for (int i = 0; i < 2; ++i) {
    const CompileResult result = pool.compile_now(endless_source());
    CHECK(result.status == CompileStatus::Crashed);  // with another limit it may compile
    CHECK(result.log.find("out of memory") != std::string::npos);
    CHECK(result.log.find("the compile worker's limit is 512 MiB") != std::string::npos);
    CHECK_FALSE(result.from_cache);
  }
  CHECK(attune::test::children("worker-compile").front() == worker);
}

TEST_CASE("a compiler that aborts for want of memory says so in the log, and the next job is well" *
          doctest::skip(attune::test::kSanitized)) {
  CompilePool pool(small_memory());
  const CompileResult result = pool.compile_now(huge_array());
  CHECK(result.status == CompileStatus::Crashed);
  CHECK(result.log.find("lost the compile worker 2 times") != std::string::npos);
  CHECK(result.log.find("out of memory") != std::string::npos);
  CHECK(pool.compile_now({"extern \"C\" __global__ void f() {}", "small.cu", "sm_90", {}}).status == CompileStatus::Ok);
}

TEST_CASE("workers precompile headers, each for itself, and results tell") {
  CompilePool pool(real());
  std::vector<HeaderUse> uses;
  for (int block = 1; block <= 3; ++block) {
    const std::string source = fmt::format(
        "#include <cuda_fp16.h>\n#pragma nv_hdrstop\n#define BLOCK {}\n"
        "extern \"C\" __global__ void f(__half* p) {{ p[BLOCK] = p[0] + p[1]; }}\n",
        block);
    const CompileResult result = pool.compile_now({source, "half.cu", "sm_90", {}});
    CHECK(result.status == CompileStatus::Ok);
    uses.push_back(result.headers);
  }
  CHECK(uses == std::vector<HeaderUse>{HeaderUse::Created, HeaderUse::Used, HeaderUse::Used});
}

TEST_CASE("a pool tells once, with the remedy, that its workers found no safe place for precompiled headers") {
  const TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  const ScopedVariable variable("TMPDIR", folder.path().c_str());
  CompilePool pool(real());
  const CompileResult result =
      pool.compile_now({"#include <cuda_fp16.h>\n#pragma nv_hdrstop\nextern \"C\" __global__ void f(__half* p) { *p = *p + *p; }\n",
                        "half.cu",
                        "sm_90",
                        {}});
  CHECK(result.status == CompileStatus::Ok);
  CHECK(result.headers == HeaderUse::Refused);
  const auto warnings = pool.take_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("chmod go-w '" + folder.path().string() + "'") != std::string::npos);
  CHECK(pool.take_warnings().empty());
}

TEST_CASE("a pool without NVRTC names the file that was asked for") {
  const ScopedVariable library("ATTUNE_NVRTC", "/nonexistent/libnvrtc.so");
  CHECK_THROWS_WITH_AS((void)CompilePool(real()), doctest::Contains("/nonexistent/libnvrtc.so (ATTUNE_NVRTC)"), attune::EnvironmentError);
}

}  // namespace test_compile_pool
