// `attune template init`: what the copy of a source lacks, and what it has between #ifndef and #endif.
#include <doctest/doctest.h>

#include "tests/integration/init_fixture.hpp"
#include "tests/support/replaced.hpp"

namespace test_template_init_copy {

using namespace attune;
using test::Init;
using test::replaced;

namespace {

/// As the first pages of every course have it: a macro that nothing guards, and a program around the kernel.
const std::string kMatmul = R"cuda(#include <cuda_runtime.h>
#include <cstdio>
#include <iostream>
#include <vector>
using namespace std;

#define TILE 16  // of both axes

__global__ void mm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += TILE) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

int main() {
  vector<float> h(16);
  float* d;
  cudaMalloc(&d, 64);
  mm<<<dim3(1, 1), dim3(TILE, TILE)>>>(d, d, d, 1, 1, 1);
  cout << "done\n";
}
)cuda";

}  // namespace

TEST_CASE_FIXTURE(Init, "a program with a kernel and a macro that nothing guards becomes a template without another word") {
  write("mm.cu", kMatmul);
  makes_changed("mm.cu", "mm",
                {"guessed: the macro TILE (line 7): a parameter, values 4, 8, 16, 32, 64",
                 "changed: the macro TILE: mm.cu defines it whatever stands before it; its copy does so between #ifndef TILE and #endif",
                 "left out: code for the host: <iostream> (line 3), <vector> (line 4), main (line 23);", "the block: TILE x TILE threads",
                 "2048 bytes = TILE * TILE * 4 + TILE * TILE * 4, as the compiler says"},
                "search space: 4 of 5 combinations");
  const std::string copy = read("mm/mm.cu");
  CHECK(copy.find("\n#ifndef TILE\n#define TILE 16  // of both axes\n#endif\n#line 8\n\n__global__ void mm(") != std::string::npos);
  CHECK(copy.find("cudaMalloc") == std::string::npos);
  CHECK(read("mm.cu") == kMatmul);
}

TEST_CASE_FIXTURE(Init, "the compiler and attune name the lines of the source that the copy is made of") {
  write("mm.cu", kMatmul);
  REQUIRE(init("mm.cu", "mm").exit_code == 0);
  write("mm/mm.cu", replaced(read("mm/mm.cu"), "float sum = 0;", "float sum = zero;"));
  const auto check = attune({"template", "check", path("mm")});
  CAPTURE(check.out + check.err);
  CHECK(check.out.find("mm.cu(12): error: identifier \"zero\" is undefined") != std::string::npos);
  refuses(replaced(kMatmul, "float sum = 0;", "float sum = zero;"), 3, "wrong.cu:12:1: failed compiling the kernel with default values");
}

TEST_CASE_FIXTURE(Init, "a macro that somebody declines to tune, or that is defined twice, or stands in a condition, stays as it is") {
  write("mm.cu", kMatmul);
  const std::string words = std::string(ATTUNE_EXECUTABLE) + " template init " + path("mm.cu") + " --interactive -o " + path("made");
  const auto made = test::run({"/bin/sh", "-c", "printf 'none\n' | " + words}, environment);
  CHECK(made.exit_code == 2);  // nothing else is to be tuned
  refuses(replaced(kMatmul, "#define TILE 16", "#if defined(BIG)\n#define TILE 32\n#else\n#define TILE 16\n#endif"), 2,
          "wrong.cu:8:9: TILE: the source defines it (#define TILE 32) whatever stands before it");
  refuses(replaced(kMatmul, "#define TILE 16", "#define TILE 16\n#ifdef BIG\n#undef TILE\n#define TILE 32\n#endif"), 2,
          "whatever stands before it");
}

TEST_CASE_FIXTURE(Init, "a name that only sounds like one of a block, and numbers that the reference has, too, are no parameters") {
  const std::string plain =
      "__global__ void plain(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = BLOCK; }\n";
  const std::string source =
      "#define BLOCK 128\n#define PITCH_SIZE 64\n#define AREA (BLOCK * 2)\n"
      "__global__ void k(float* x, int n) {\n  __shared__ float part[AREA];\n"
      "  int i = blockIdx.x * BLOCK + threadIdx.x;\n  part[threadIdx.x] = i;\n"
      "  if (i < n) x[i] = part[threadIdx.x] * PITCH_SIZE;\n}\n";
  write("k.cu", source);
  makes_changed("k.cu", "k", {"left out: PITCH_SIZE (line 2)", "1024 bytes = (BLOCK * 2) * 4, as the compiler says"},
                "search space: 6 of 6 combinations");
  refuses(source + plain, 2, "BLOCK: the source defines it (#define BLOCK 128)", {"--reference", "plain"});
}

}  // namespace test_template_init_copy
