#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/header_lines.hpp"
#include "tuner/spec/host_headers.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_host_headers {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

/// What a compiler gets of sample.cu, which includes the other files where it does.
std::string compiled(const std::string& sample, std::map<std::string, std::string> files = {}) {
  files["sample.cu"] = sample;
  const KernelTemplate kernel = KernelTemplate::parse(sample_template(), files, "t/template.json");
  return make_source(kernel, sample_problem(), default_configuration(kernel), DeviceInfo::of_architecture("sm_90"));
}

std::string behind_prelude(const std::string& source) { return source.substr(source.find("#line 1 \"sample.cu\"")); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string declared(const std::string& header) { return replacement_of(header).declarations; }

}  // namespace

TEST_CASE("headers of the host that a file begins with are replaced behind what is precompiled, and every line keeps its number") {
  const std::string source = compiled("// one\n#include <stdio.h>\n#include <cuda_fp16.h>\n#include <cmath>  // sqrt\nint x;\n");
  CHECK(
      source.starts_with("#include <cuda_fp16.h>\n#pragma nv_hdrstop\n" + declared("<stdio.h>") + declared("<cmath>") + "using attune_T"));
  CHECK(behind_prelude(source) == "#line 1 \"sample.cu\"\n// one\n\n\n  // sqrt\nint x;\n\n");
}

TEST_CASE("the host's headers alone leave nothing to precompile") {
  const std::string source = compiled("#include <stdio.h>\n#include <stdint.h>\nint x;\n");
  CHECK(source.starts_with(declared("<stdio.h>") + declared("<stdint.h>") + "using attune_T"));
  CHECK_FALSE(contains(source, "#pragma"));
}

TEST_CASE("another compiler than NVRTC gets the header itself") {
  CHECK(declared("<stdarg.h>") == "#ifdef __CUDACC_RTC__\n#else\n#include <stdarg.h>\n#endif\n");
}

TEST_CASE("a header of the host behind code, and in an included file, is replaced in its place") {
  const std::string in_place = "\n" + declared("<math.h>");
  CHECK(behind_prelude(compiled("#define A 1\n#include <math.h>\nint x;\n")) ==
        "#line 1 \"sample.cu\"\n#define A 1" + in_place + "#line 3 \"sample.cu\"\nint x;\n\n");
  const std::string source = compiled("int a;\n#include \"b.cuh\"\nint c;\n", {{"b.cuh", "// b\n#include <math.h>\nint b;\n"}});
  CHECK(contains(source, "#line 1 \"b.cuh\"\n// b" + in_place + "#line 3 \"b.cuh\"\nint b;\n\n#line 3 \"sample.cu\"\nint c;\n"));
}

TEST_CASE("behind a condition that may skip a replacement the lines have their numbers again") {
  CHECK(with_replaced_headers("#if A\n#include <stdio.h>\n#else\nint b;\n#endif\nint c;\n#if B\n#endif\n") ==
        "#if A\n" + declared("<stdio.h>") + "#line 3 \n#else\n#line 4 \nint b;\n#endif\n#line 6 \nint c;\n#if B\n#endif\n");
  CHECK(with_replaced_headers("#line 7 \"a.cu\"\n#ifdef A\n#if B\n#include <stdio.h>\n#endif\n#endif\n") ==
        "#line 7 \"a.cu\"\n#ifdef A\n#if B\n" + declared("<stdio.h>") +
            "#line 10 \"a.cu\"\n#endif\n#line 11 \"a.cu\"\n#endif\n#line 12 \"a.cu\"\n");
}

TEST_CASE("what an #elif behind a replacement asks has its line again, and its condition has an end more") {
  CHECK(
      with_replaced_headers("#if A\n#include <stdio.h>\n#elif B\nint b;\n#elif(C)\n#else\n#endif\n#if A\n#elif B\n#endif\n") ==
      "#if A\n" + declared("<stdio.h>") +
          "#line 3 \n#else\n#line 3 \n#if B\n#line 4 \nint b;\n#else\n#line 5 \n#if (C)\n#line 6 \n#else\n#line 7 \n#endif\n#endif\n#endif\n"
          "#line 8 \n#if A\n#elif B\n#endif\n");
}

TEST_CASE("what only looks like a header of the host stays as it is") {
  for (const std::string text : {"// #include <stdio.h>\n", "/*\n#include <stdio.h>\n*/\n", "const char* s = \"#include <stdio.h>\";\n",
                                 "auto s = R\"(\n#include <stdio.h>\n)\";\n", "#include <stdio>\n", "#include <my/stdio.h>\n",
                                 "#include <cuda_runtime.h>\n#include <curand_kernel.h>\n#include <cuda/std/cstdint>\n"}) {
    CAPTURE(text);
    CHECK(with_replaced_headers(text) == text);
  }
}

TEST_CASE("<cub/cub.cuh> is CUB's headers for blocks and warps, each once, to be precompiled") {
  const std::string source = compiled("#include <cub/warp/warp_scan.cuh>\n#include <cub/cub.cuh>\nint x;\n");
  CHECK(source.starts_with("#include <cub/warp/warp_scan.cuh>\n#include <cub/config.cuh>\n#include <cub/block/"));
  CHECK(count(source, "#include <cub/warp/warp_scan.cuh>\n") == 1);
  CHECK(count(source, "#include <cub/block/block_reduce.cuh>\n") == 1);
  CHECK(source.find("<cub/version.cuh>\n#pragma nv_hdrstop\nusing attune_T") != std::string::npos);
  CHECK_FALSE(contains(source, "cub.cuh"));
  CHECK_FALSE(contains(source, "<cub/device/"));
  const std::string behind = behind_prelude(compiled("int a;\n#include <cub/cub.cuh>\nint b;\n"));
  CHECK(contains(behind, "int a;\n#include <cub/config.cuh>\n"));
  CHECK(behind.ends_with("#include <cub/version.cuh>\n#line 3 \"sample.cu\"\nint b;\n\n"));
}

TEST_CASE("host code without a replacement stays in its place, where the compiler names it") {
  const std::string source = compiled("#include <iostream>\n#include <cublas_v2.h>\n#include <cuda_fp16.h>\n#include <stdio.h>\n");
  CHECK(source.starts_with("#include <cuda_fp16.h>\n#pragma nv_hdrstop\n" + declared("<stdio.h>")));
  CHECK(behind_prelude(source) == "#line 1 \"sample.cu\"\n#include <iostream>\n#include <cublas_v2.h>\n\n\n\n");
}

TEST_CASE("headers of Thrust are moved in front like others of CUDA: NVRTC compiles some") {
  const std::string source = compiled("#include <thrust/functional.h>\n#include <thrust/tuple.h>\nint x;\n");
  CHECK(source.starts_with("#include <thrust/functional.h>\n#include <thrust/tuple.h>\n#pragma nv_hdrstop\n"));
  CHECK(behind_prelude(source) == "#line 1 \"sample.cu\"\n\n\nint x;\n\n");
}

TEST_CASE("a header of the host is replaced behind a comment and in joined lines") {
  const std::string in_place = declared("<stdio.h>") + "#line ";
  CHECK(with_replaced_headers("#include /* printf */ <stdio.h>\nint x;\n") == in_place + "2 \nint x;\n");
  CHECK(with_replaced_headers("#include \\\n<stdio.h>\nint x;\n") == in_place + "3 \nint x;\n");
  CHECK(with_replaced_headers("#inc\\\r\nlude <stdio.h>\nint x;\n") == in_place + "3 \nint x;\n");
}

TEST_CASE("a #line with the greatest number has no line behind it, and a greater one is none") {
  const auto lines = header_lines("#line 2147483647\n\n#include <a.h>\n#line 2147483648\n#include <b.h>\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].line == 2147483648);
  CHECK(lines[1].line == 2147483650);
  CHECK(with_replaced_headers("#line 2147483647\n#include <stdio.h>\nint x;\n") ==
        "#line 2147483647\n" + declared("<stdio.h>") + "\nint x;\n");
}

TEST_CASE("headers are host code by what is known of them, and each has a remedy") {
  for (const char* header :
       {"<iostream>", "<vector>", "<limits>", "<unistd.h>", "<sys/time.h>", "<thrust/sort.h>", "<cub/device/device_scan.cuh>"}) {
    CAPTURE(header);
    CHECK(is_host_code(header));
    CHECK(contains(remedy_for(header), "between #ifndef __CUDACC_RTC__ and #endif"));
  }
  for (const char* header : {"<stdio.h>", "<cmath>", "<cub/cub.cuh>", "<cub/block/block_scan.cuh>", "<cuda/std/limits>", "<mma.h>",
                             "<cuda_runtime.h>", "<cublasdx.hpp>", "<cusolverdx.hpp>"}) {
    CAPTURE(header);
    CHECK_FALSE(is_host_code(header));
  }
  CHECK(contains(remedy_for("<limits>"), "include <cuda/std/limits>"));
  CHECK(contains(remedy_for("<cub/device/device_scan.cuh>"), "include <cub/cub.cuh>"));
}

TEST_CASE("lines that include a header know their place by the #line before them") {
  const auto lines =
      header_lines("#include <a.h>\n#line 1 \"x y.cu\"\n\n # include <b.h> // c\n#include \"no.cuh\"\n#line 9\n%:include<c>\n");
  REQUIRE(lines.size() == 3);
  CHECK((lines[0].header == "<a.h>" && lines[0].file.empty() && lines[0].line == 1));
  CHECK((lines[1].header == "<b.h>" && lines[1].file == "\"x y.cu\"" && lines[1].line == 2));
  CHECK((lines[2].header == "<c>" && lines[2].file == "\"x y.cu\"" && lines[2].line == 9));
}

}  // namespace test_host_headers
