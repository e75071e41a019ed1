// `attune template init`: constant memory, structs of the source's own, and how far results may be off.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "tests/integration/init_fixture.hpp"
#include "tests/support/replaced.hpp"

namespace test_template_init_data {

using namespace attune;
using test::Init;
using test::replaced;

namespace {

const std::string kConvolution = R"cuda(#include "taps.cuh"
#define RADIUS 2
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
__constant__ float coeff[2 * RADIUS + 1], unread[8];
static __constant__ int shift;
__constant__ float known[2] = {1, 2};
namespace deep { __constant__ double inner[3]; }
__device__ float at(int i) { return coeff[i] * taps[i % 2].x; }
__global__ void conv(const float* in, float* out, int n) {
  int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += at(k + RADIUS) * in[min(max(i + k, 0), n - 1)];
  out[i] = sum + shift + known[i % 2] + deep::inner[i % 3];
}
)cuda";

const std::string kAtoms = R"cuda(#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
namespace bio {
struct Atom { double4 position; int cells[2]; char kind; };
typedef struct alignas(16) { float x, y; int width; } Grid;
__constant__ Grid origin[2];
__global__ void energy(const Atom* __restrict__ atoms, const Grid* grid, Atom* moved, float* out, int n) {
  int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (i >= n) return;
  moved[i].cells[1] = grid->width;
  out[i] = atoms[i].kind + grid->x;
}
}
)cuda";

/// A plain kernel whose elements are computed by this.
std::string with_plain(const std::string& body) {
  return "__global__ void tuned(const T* a, T* c, int n, int k) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) for (int j = 0; j < k; ++j) c[i] = a[i * k + j];\n}\n"
         "__global__ void plain(const T* a, T* c, int n, int k) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= n) return;\n" +
         body + "}\n";
}

}  // namespace

TEST_CASE_FIXTURE(Init, "variables in constant memory that the kernel or its functions read are buffers, and what cannot be one is told") {
  write("taps.cuh", "#pragma once\n__constant__ float4 taps[2];\n");
  write("conv.cu", kConvolution);
  makes("conv.cu", "conv",
        {"1 parameter, 1 condition, 3 arguments",
         "guessed: the constant 'coeff' (line 6): a buffer in constant memory, f32[5], of random numbers",
         "guessed: the constant 'taps' (taps.cuh line 2): a buffer in constant memory, f32[2 * 4]",
         "guessed: the constant 'shift' (line 7): a buffer in constant memory, i32[1], of zeros",
         "taken: the constant 'known' (line 8): the source gives its values",
         "to decide: the constant 'inner': the compiled code has no variable of just that name"},
        "search space: 6 of 6 combinations");
  const std::string made = read("conv/template.json");
  CHECK(made.find("// decide: what the program puts in it; these are random numbers\n"
                  "    \"coeff\": {\"type\": \"f32\", \"count\": 5, \"memory\": \"constant\"}") != std::string::npos);
  CHECK(made.find("\"shift\": {\"type\": \"i32\", \"count\": 1, \"fill\": \"zeros\", \"memory\": \"constant\"}") != std::string::npos);
  CHECK(made.find("\"args\": [\"in\", \"out\", {\"n\": \"i32\"}]") != std::string::npos);
  for (const char* const none : {"\"known\"", "\"unread\"", "\"inner\":"}) CHECK(made.find(none) == std::string::npos);
}

TEST_CASE_FIXTURE(Init, "a constant array whose number of elements is tuned or does not show is to decide") {
  write("taps.cuh", "");
  write("conv.cu", replaced(replaced(kConvolution, "unread[8]", "taps_of[8]; __constant__ float4 taps[BLOCK_SIZE]"),
                            "coeff[2 * RADIUS + 1]", "coeff[sizeof(int)]"));
  makes("conv.cu", "conv",
        {"to decide: the constant 'taps' (line 6): the kernel reads it, and its number of elements does not show: tuning finds zeros in it",
         "to decide: the constant 'coeff' (line 6): the kernel reads it, and its number of elements does not show"},
        "search space");
}

TEST_CASE_FIXTURE(Init, "pointers to structs of the source are buffers of so many bytes, as the compiler says") {
  write("atoms.cu", kAtoms);
  makes("atoms.cu", "atoms",
        {"taken: the buffer 'atoms': structs of 48 bytes at multiples of 16, as the compiler says", "guessed: the buffer 'atoms': Atom[n]",
         "guessed: the buffer 'grid': Grid[1]", "guessed: the buffer 'moved': both, since the kernel may not write all bytes of a struct"},
        "search space: 6 of 6 combinations");
  const std::string made = read("atoms/template.json");
  CHECK(made.find("\"atoms\": {\"type\": {\"bytes\": 48, \"align\": 16}, \"count\": \"n\"}") != std::string::npos);
  CHECK(made.find("\"grid\": {\"type\": {\"bytes\": 16, \"align\": 16}, \"count\": 1}") != std::string::npos);
  CHECK(made.find("// decide: what is in it; its bits are random, whatever the members of Atom are: \"fill\": {\"file\": \"atoms.bin\"}") !=
        std::string::npos);
  refuses(replaced(kAtoms, "const Grid* grid", "const Gird* grid"), 3, "wrong.cu:8:1: failed compiling the source to learn what 'Atom' is");
  refuses(replaced(kAtoms, "const Grid* grid", "const Gird* grid"), 3, "identifier \"Gird\" is undefined");
  refuses(
      replaced(replaced(replaced(kAtoms, "const Grid* grid", "const Grid grid"), "grid->width", "1"), "grid->x", "2"), 3,
      "wrong.cu:8:67: the argument 'grid' of 'energy' has the type 'Grid', which attune does not know; pass numbers and pointers to numbers");
  refuses("struct Open;\n__global__ void k(Open* open, int* x) { x[threadIdx.x] = blockDim.x; }\n", 3,
          "wrong.cu:2:25: the argument 'open' of 'k' has the type 'Open', which attune does not know");
}

TEST_CASE_FIXTURE(Init, "the number of terms that a reference sums in loops over sizes is its \"terms\"") {
  const auto told = [&](const std::string& body, const char* type, const std::string& line) {
    write("k.cu", fmt::format("using T = {};\n{}", type, with_plain(body)));
    std::filesystem::remove_all(folder / "made");
    const auto made = init("k.cu", "made", {"--kernel", "tuned", "--reference", "plain"});
    CAPTURE(body);
    CAPTURE(made.out + made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(attune({"template", "check", path("made")}).exit_code == 0);
    const bool none = made.out.find("\"terms\"") == std::string::npos;
    if (line.empty()) CHECK(none);
    CHECK(made.out.find(line) != std::string::npos);
    return read("made/template.json");
  };
  const std::string sum = "  T sum = 0;\n  for (int j = 0; j < k; ++j) sum += a[i * k + j];\n  c[i] = sum;\n";
  CHECK(told(sum, "float", "guessed: the reference 'plain': \"terms\" k, since its loop sums so many")
            .find("// decide: how many terms an element sums; results may be off by the more, the more there are\n    \"terms\": \"k\"") !=
        std::string::npos);
  told("  T sum = 0;\n  for (int l = 0; l < n; l++)\n    for (int j = 0; j < k; ++j) sum = fma(a[l * k + j], T(2), sum);\n  c[i] = sum;\n",
       "double", "\"terms\" n * k");
  told("  for (int j = 0; j < k; ++j) {\n    T sum = 0;\n    for (int l = 0; l < n; ++l) { sum += a[l * k + j]; }\n    c[i] = sum;\n  }\n",
       "float", "\"terms\" n, since");
  told(sum, "int", "");
  told("  c[i] = a[i * k];\n", "float", "");
  told("  T sum = 0;\n  for (int j = 0; j < 3; ++j) sum += a[i * k];\n  c[i] = sum;\n", "float", "");
  told("  T sum = 0;\n  for (int j = a[0]; j < 2 * i; ++j) sum += a[i];\n  c[i] = sum;\n", "float",
       "to decide: the reference 'plain': whether \"terms\" is needed: where an element sums many terms");
  told("  atomicAdd(&c[0], a[i]);\n", "float", "whether \"terms\" is needed");
}

}  // namespace test_template_init_data
