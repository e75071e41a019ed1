// `attune template init`: plain .cu files become templates that `attune template check` passes.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/init_fixture.hpp"
#include "tests/support/replaced.hpp"

namespace test_template_init {

using namespace attune;
using test::Init;
using test::replaced;

namespace {

/// A kernel with this list of arguments.
std::string taking(const std::string& arguments) { return "__global__ void k(" + arguments + ") { int i = blockDim.x; }\n"; }

}  // namespace

TEST_CASE_FIXTURE(Init, "a kernel with a block size macro becomes a template with the grid of its size, and passes the check") {
  makes("saxpy.cu", "saxpy",
        {"taken: the buffer 'x': input", "guessed: the buffer 'y': both", "guessed: the argument 'n': a size of the problem",
         "guessed: the macro BLOCK_SIZE (line 3): a parameter, values 32, 64, 128, 256, 512, 1024",
         "guessed: the grid: ceil_div(n, BLOCK_SIZE) blocks", "to decide: \"reference\""},
        "search space: 6 of 6 combinations");
  CHECK(read("saxpy/template.json").find("{\"n\": \"i32\"}") != std::string::npos);
}

TEST_CASE_FIXTURE(
    Init, "a stencil's tiles become a block, a grid of two dimensions and a condition on shared memory that the compiler confirms") {
  makes("stencil.cu", "stencil",
        {"guessed: the block: TILE_X x TILE_Y threads", "guessed: the grid: ceil_div(width, TILE_X) x ceil_div(height, TILE_Y) blocks",
         "guessed: the buffer 'in': f32[width * height]", "taken: shared memory: 1360 bytes"},
        "bytes shared");
  const std::string made = read("stencil/template.json");
  CHECK(made.find("TILE_X * TILE_Y <= device.max_threads_per_block") != std::string::npos);
  CHECK(made.find("<= device.shared_per_block_bytes") != std::string::npos);
  CHECK(made.find("\"RADIUS\"") == std::string::npos);
}

TEST_CASE_FIXTURE(Init, "a reduction without macros gets a block size of the launch, within its shared array, and its sum is one element") {
  makes("sum.cu", "sum",
        {"guessed: blockDim.x: a parameter block_size of the launch, 32 to 512", "guessed: the buffer 'total': both",
         "guessed: the buffer 'total': f32[1]", "guessed: the buffer 'data': f32[count]"},
        "search space: 5 of 5 combinations");
  CHECK(read("sum/template.json").find("decide: it adds to random numbers") != std::string::npos);
}

TEST_CASE_FIXTURE(Init, "macros of a file that the source includes are parameters, too, and the file is copied") {
  write("config.cuh", "#pragma once\n#ifndef BLOCK_SIZE\n#define BLOCK_SIZE 128\n#endif\n");
  write("split.cu", "#include \"config.cuh\"\n" + test::kSaxpyCuda.substr(test::kSaxpyCuda.find("__global__")));
  makes("split.cu", "split", {"guessed: the macro BLOCK_SIZE (config.cuh line 3): a parameter", "guessed: the block: BLOCK_SIZE threads"},
        "search space: 6 of 6 combinations");
  CHECK(read("split/config.cuh") == read("config.cuh"));
}

TEST_CASE_FIXTURE(Init, "a size that the source fixes is a size with that value, and no parameter") {
  write("square.cu", R"(#ifndef BLOCK_SIZE
#define BLOCK_SIZE 16
#endif
#ifndef MATRIX_SIZE
#define MATRIX_SIZE 1024
#endif
__global__ void turn(const float* in, float* out) {
  int x = blockIdx.x * BLOCK_SIZE + threadIdx.x, y = blockIdx.y * BLOCK_SIZE + threadIdx.y;
  if (x < MATRIX_SIZE && y < MATRIX_SIZE) out[x * MATRIX_SIZE + y] = in[y * MATRIX_SIZE + x];
}
)");
  makes("square.cu", "square",
        {"guessed: MATRIX_SIZE (line 5): a size of the problem", "guessed: the buffer 'out': f32[MATRIX_SIZE * MATRIX_SIZE]",
         "ceil_div(MATRIX_SIZE, BLOCK_SIZE) x ceil_div(MATRIX_SIZE, BLOCK_SIZE) blocks"},
        "search space");
}

TEST_CASE_FIXTURE(Init, "memory that the launch gives counts wherever the source declares it, and an index beyond the sizes is told") {
  write("pairs.cu", R"(extern __shared__ float part[];
extern "C" __global__ void pairs(const float* x, float* n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = x[2 * i] + x[2 * i + 1];
  n[i] = part[threadIdx.x];
}
)");
  makes("pairs.cu", "pairs",
        {"to decide: the shared array 'part': its bytes are the launch's to say: block_size * 4", "to decide: the size 'n2'",
         "to decide: the buffer 'x': whether n2 elements are enough: the kernel counts '2 * i' in its index"},
        "search space");
  CHECK(read("pairs/template.json").find("decide: its number of elements; the kernel counts '2 * i' in its index") != std::string::npos);
}

TEST_CASE_FIXTURE(Init, "a kernel whose threads the source fixes has no block size to tune") {
  refuses("__global__ void k(int n, float* x) { for (int i = threadIdx.x; i < n; i += 128) x[i] = 1; }\n", 2,
          "nothing in 'k' can be tuned:\n  write #ifndef BLOCK_SIZE");
}

TEST_CASE_FIXTURE(Init, "with --json the outcome is an object") {
  const auto made = init("stencil.cu", "made", {"--json", "--arch", "sm_80"});
  REQUIRE(made.exit_code == 0);
  const auto object = nlohmann::json::parse(made.out);
  CHECK(object["template"] == "stencil");
  CHECK(object["shared_bytes"] == 1360);
  CHECK(object["files"] == nlohmann::json({"stencil.cu", "template.json"}));
}

TEST_CASE_FIXTURE(Init,
                  "answers through a pipe take the place of guesses, a wrong one is asked again, and the end of input accepts the rest") {
  const std::string words = std::string(ATTUNE_EXECUTABLE) + " template init " + path("saxpy.cu") + " --interactive -o " + path("made");
  const auto made = test::run({"/bin/sh", "-c", "printf '64, x\\n64, 128\\n\\n' | " + words}, environment);
  CAPTURE(made.out + made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(made.err.find("the macro BLOCK_SIZE (line 3): values to try (or none) [32, 64, 128, 256, 512, 1024]: ") != std::string::npos);
  CHECK(made.err.find("give whole numbers with commas between") != std::string::npos);
  CHECK(read("made/template.json").find("\"BLOCK_SIZE\": {\"values\": [64, 128], \"default\": 64}") != std::string::npos);
  CHECK(attune({"template", "check", path("made")}).exit_code == 0);
}

TEST_CASE_FIXTURE(Init, "answers are factors as they stand") {
  write("tile.cu", R"(#ifndef TILE_X
#define TILE_X 32
#endif
#ifndef TILE_Y
#define TILE_Y 8
#endif
extern "C" __global__ void tile(const float* in, float* out, int width, int height) {
  extern __shared__ float part[];
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  part[threadIdx.y * TILE_X + threadIdx.x] = x < width && y < height ? in[y * width + x] : 0;
  __syncthreads();
  if (x < width && y < height) out[y * width + x] = part[threadIdx.y * TILE_X + threadIdx.x];
}
)");
  const std::string words = std::string(ATTUNE_EXECUTABLE) + " template init " + path("tile.cu") + " --interactive -o " + path("made");
  const auto made = test::run({"/bin/sh", "-c", "printf '\\n\\n\\n\\nTILE_X + 2\\nTILE_Y + 2\\n' | " + words}, environment);
  CAPTURE(made.out + made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(read("made/template.json").find("\"(TILE_X + 2) * (TILE_Y + 2) <= device.max_threads_per_block\"") != std::string::npos);
  CHECK(read("made/template.json").find("\"(TILE_X + 2) * (TILE_Y + 2) * 4\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Init, "files that are missing, unreadable or full of something else, and folders that are not empty, are refused") {
  auto result = init("none.cu", "made");
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("none.cu: there is no such file; give the CUDA source of a kernel") != std::string::npos);
  std::filesystem::create_directory(folder / "full");
  write("full/mine.txt", "mine");
  result = init("saxpy.cu", "full");
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("is not empty; name a folder that does not exist yet") != std::string::npos);
  CHECK(read("full/mine.txt") == "mine");
  result = attune({"template", "init", "/proc/self/mem", "-o", path("made")});  // there, and unreadable even for root
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("failed reading /proc/self/mem") != std::string::npos);
  result = init("saxpy.cu", "made", {"--arch", "sm_12"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("unknown architecture 'sm_12'") != std::string::npos);
  result = init("full", "made");
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("there is no such file") != std::string::npos);
}

TEST_CASE_FIXTURE(Init, "a source without a kernel, or with several, is told with what there is") {
  refuses("int main() {}\n", 3, "wrong.cu: no __global__ function with a body shows in it");
  refuses(test::kSaxpyCuda + test::kSumCuda, 2, "it has several; say --kernel with one of: saxpy, sum");
  refuses(test::kSaxpyCuda, 2, "it has no kernel 'gemm'; there are: saxpy", {"--kernel", "gemm"});
  write("both.cu", test::kSaxpyCuda + test::kSumCuda);
  const auto made = init("both.cu", "made", {"--kernel", "sum"});
  CAPTURE(made.err);
  CHECK(made.exit_code == 0);
}

TEST_CASE_FIXTURE(Init, "kernels that cannot be launched by their names are refused at their place") {
  refuses("static __global__ void k(int* x) { x[0] = 1; }\n", 3, "wrong.cu:1:24: 'k' is static or in an unnamed namespace");
  refuses("namespace {\n__global__ void k(int* x) { x[0] = 1; }\n}\n", 3, "wrong.cu:2:17: 'k' is static or in an unnamed namespace");
}

TEST_CASE_FIXTURE(Init, "arguments that attune cannot pass are refused at their place, with what to pass instead") {
  refuses(taking("struct Grid grid, float* x"), 3,
          "wrong.cu:1:31: the argument 'grid' of 'k' has the type 'Grid', which attune does not know");
  refuses(taking("cudaTextureObject_t in"), 3, "the argument 'in' of 'k' is a texture or surface");
  refuses(taking("float a[][16]"), 3, "wrong.cu:1:25: the argument 'a' of 'k' is an array of more than one dimension; pass a pointer");
  refuses(taking("float** a"), 3, "is a pointer to pointers; pass one pointer to all elements");
  refuses(taking("void* a"), 3, "is a void pointer");
  refuses(taking("int n"), 3, "wrong.cu:1:17: 'k' takes no pointers");
  refuses(taking("const float* a"), 3, "'k' writes to none of its pointers");
}

TEST_CASE_FIXTURE(Init, "a kernel that nothing can be tuned of is refused with the reason for each macro") {
  const std::string open = replaced(replaced(test::kSaxpyCuda, "#ifndef BLOCK_SIZE\n", ""), "#endif\n", "");
  refuses(replaced(open, "#define BLOCK_SIZE 256", "#undef BLOCK_SIZE\n#define BLOCK_SIZE 256"), 2,
          "wrong.cu:3:9: BLOCK_SIZE: the source defines it (#define BLOCK_SIZE 256) whatever stands before it; put that between");
  refuses(replaced(test::kSaxpyCuda, "BLOCK_SIZE 256", "BLOCK_SIZE 256.5"), 2, "BLOCK_SIZE: its value '256.5' is no whole number");
  refuses(replaced(open, "#define BLOCK_SIZE 256", "constexpr int BLOCK_SIZE = 256;"), 2, "BLOCK_SIZE: a constant (= 256)");
}

TEST_CASE_FIXTURE(Init, "what does not compile is shown with its line and the compiler's text, and nothing is written") {
  refuses(replaced(test::kSaxpyCuda, "a * x[i]", "b * x[i]"), 3, "wrong.cu:8:1: failed compiling the kernel with default values");
  refuses(replaced(test::kSaxpyCuda, "a * x[i]", "b * x[i]"), 3, "identifier \"b\" is undefined");
  refuses("#include <helper_cuda.h>\n" + test::kSaxpyCuda, 3, "between #ifndef __CUDACC_RTC__ and #endif");
}

}  // namespace test_template_init
