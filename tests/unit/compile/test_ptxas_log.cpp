#include <doctest/doctest.h>

#include <string>

#include "tuner/compile/compiler.hpp"
#include "tuner/compile/ptxas_log.hpp"

namespace test_ptxas_log {

using namespace attune::compile;

namespace {

// The format of NVRTC 13.0: a kernel that calls a device function, and one with shared memory.
const std::string kLog =
    "test.cu(3): warning #177-D: variable \"unused\" was declared but never referenced\n"
    "\n"
    "ptxas info    : 0 bytes gmem, 40 bytes cmem[3]\n"
    "ptxas info    : Compiling entry function 'spill' for 'sm_80'\n"
    "ptxas info    : Function properties for spill\n"
    "ptxas         .     304 bytes stack frame, 300 bytes spill stores, 604 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 1 barriers, 304 bytes cumulative stack size, 360 bytes cmem[0]\n"
    "ptxas info    : Compile time = 23.421 ms\n"
    "ptxas info    : Function properties for _Z6helperf\n"
    "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
    "ptxas warning : Value of threads per SM for entry small is out of range. .minnctapersm will be ignored\n"
    "ptxas info    : Compiling entry function '_Z5smallILi3EEvPf' for 'sm_80'\n"
    "ptxas info    : Function properties for _Z5smallILi3EEvPf\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 1 barriers, 1200 bytes smem, 360 bytes cmem[0]\n"
    "ptxas info    : Compile time = 1.039 ms";

}  // namespace

TEST_CASE("each kernel gets its own figures, and device functions get none") {
  const auto kernels = parse_ptxas_log(kLog);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].kernel == "spill");
  CHECK(kernels[0].registers == 32);
  CHECK(kernels[0].static_shared_bytes == 0);
  CHECK(kernels[0].stack_bytes == 304);
  CHECK(kernels[0].spill_store_bytes == 300);
  CHECK(kernels[0].spill_load_bytes == 604);
  CHECK(kernels[1].kernel == "_Z5smallILi3EEvPf");
  CHECK(kernels[1].registers == 12);
  CHECK(kernels[1].static_shared_bytes == 1200);
  CHECK(kernels[1].stack_bytes == 0);
}

TEST_CASE("a log without kernels has no figures") {
  CHECK(parse_ptxas_log("").empty());
  CHECK(parse_ptxas_log("test.cu(1): error: expected a ';'\n").empty());
  CHECK(parse_ptxas_log("ptxas         .     8 bytes stack frame, 4 bytes spill stores\nUsed 3 registers\n").empty());
}

TEST_CASE("figures that are no numbers are not taken for some") {
  const auto kernels = parse_ptxas_log(
      "ptxas info    : Compiling entry function 'f' for 'sm_80'\n"
      "ptxas info    : Used many registers, 99999999999 bytes smem\n");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].registers == 0);
}

TEST_CASE("a person reads the warnings and not the figures") {
  CHECK(without_ptxas_figures(kLog) ==
        "test.cu(3): warning #177-D: variable \"unused\" was declared but never referenced\n"
        "\n"
        "ptxas warning : Value of threads per SM for entry small is out of range. .minnctapersm will be ignored\n");
  CHECK(without_ptxas_figures("").empty());
}

TEST_CASE("a log has no zero bytes, in front of what ptxas says as little as at its end") {
  CHECK(clean_log(std::string("\0ptxas error : too much shared data\n\0", 37)) == "ptxas error : too much shared data\n");
  CHECK(clean_log(std::string("warning\n\n\0", 10)) == "warning\n");
  CHECK(clean_log(std::string("\0", 1)).empty());
  CHECK(clean_log("").empty());
}

}  // namespace test_ptxas_log
