// `attune template init`: plain .cu files become templates that `attune template check` passes.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/cuda_sources.hpp"
#include "tests/support/replaced.hpp"

namespace test_template_init {

using namespace attune;
using test::Cli;
using test::replaced;

namespace {

struct Init : Cli {
  Init() {
    write("saxpy.cu", test::kSaxpyCuda);
    write("stencil.cu", test::kStencilCuda);
    write("sum.cu", test::kSumCuda);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] test::CommandResult init(const std::string& file, const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"template", "init", path(file), "-o", path(out)};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  /// A template that passes the check, with this in what the check says.
  void makes(const std::string& file, const std::string& out, const std::vector<std::string>& told, const std::string& checked) const {
    const auto made = init(file, out);
    CAPTURE(made.out + made.err);
    REQUIRE(made.exit_code == 0);
    for (const std::string& line : told) {
      CAPTURE(line);
      CHECK(made.out.find(line) != std::string::npos);
    }
    CHECK(read(out + "/" + file) == read(file));
    const auto check = attune({"template", "check", path(out)});
    CAPTURE(check.out + check.err);
    CAPTURE(read(out + "/template.json"));
    CHECK(check.exit_code == 0);
    CHECK(check.out.find(checked) != std::string::npos);
  }
  /// Refused with this in the message, and nothing written.
  void refuses(const std::string& source, int code, const std::string& message, const std::vector<std::string>& more = {}) const {
    write("wrong.cu", source);
    const auto result = init("wrong.cu", "made", more);
    CAPTURE(result.out + result.err);
    CHECK(result.exit_code == code);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "made"));
  }
};

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

TEST_CASE_FIXTURE(Init, "what a kernel template takes and attune cannot give is refused") {
  const auto taking_in_brackets = [](const std::string& list) {
    return "template <" + list + ">\n__global__ void k(int* x) { x[threadIdx.x] = 1; }\n";
  };
  refuses(taking_in_brackets("class... Ts"), 3, "wrong.cu:1:11: the template parameter 'class... Ts' of 'k' is a pack");
  refuses(taking_in_brackets("template <class> class Op"), 3, "is neither a type nor a whole number");
  refuses(taking_in_brackets("float* kPointer"), 3, "is neither a type nor a whole number; attune gives types and whole numbers");
  refuses(taking_in_brackets("int"), 3, "the template parameter 'int' of 'k' has neither a name nor a default");
  refuses(taking_in_brackets("int N, class V = float4"), 3,
          "wrong.cu:1:18: the template parameter 'class V = float4' of 'k' has a default that is none of attune's element types");
  refuses(taking_in_brackets("int BLOCK") + "template __global__ void k<64>(int* x);\n", 3,
          "wrong.cu:3:1: 'k' is instantiated here, and attune instantiates what it launches; take this line away");
}

TEST_CASE_FIXTURE(Init, "a kernel template in a namespace becomes one whose types are the problem's and whose numbers are parameters") {
  write("gemm.cu", R"cuda(namespace linalg {
template <typename T, int TILE = 16, bool PADDED = false, unsigned RADIUS = 2>
__global__ void gemm(const T* a, T* c, int n, T alpha) {
  __shared__ T tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = x < n && y < n ? a[y * n + x] : T(0);
  __syncthreads();
  if (x < n && y < n) c[y * n + x] = alpha * tile[threadIdx.y][threadIdx.x] + T(PADDED) + T(RADIUS);
}
}
)cuda");
  makes("gemm.cu", "gemm",
        {"guessed: the template's type T: a type of the problem, f32, f64", "a parameter TILE, values 4, 8, 16, 32, 64",
         "a parameter PADDED, values false, true", "to decide: the template's RADIUS (line 2): a parameter RADIUS, value 2",
         "shared memory: 1088 bytes = (TILE + 1) * TILE * sizeof(T), as the compiler says", "the buffer 'c': T[n * n]"},
        "gemm T=f32 n=2^10 for sm_90\n  search space: 8 of 10 combinations");
  const std::string made = read("gemm/template.json");
  CHECK(made.find(R"("kernel": "linalg::gemm<T, TILE, PADDED, RADIUS>")") != std::string::npos);
  CHECK(made.find("macro_prefix") == std::string::npos);  // a macro TILE would stand in the place of the parameter's name
  const auto others = attune({"template", "check", path("gemm"), "--T", "f64", "--n", "100", "--sample", "8"});
  CHECK(others.out.find("of 8 configurations 8 fit") != std::string::npos);
}

TEST_CASE_FIXTURE(Init, "defaults of template parameters are read through brackets, aliases and each other") {
  write("mm.cu", R"cuda(using real = double;
template <typename In = real, typename Acc = In, int BM = (64), int BN = 32, int TM = 8, int THREADS = (BM / TM) * (BN / 4), bool WIDE = (BM > 16), typename = Acc>
__global__ void __launch_bounds__(THREADS) mm(const In* a, Acc* c, int m, int n) {
  const int row = blockIdx.y * BM + threadIdx.x / BN, col = blockIdx.x * BN + threadIdx.x % BN;
  if (row < m && col < n) c[row * n + col] = a[row * n + col] + TM + WIDE;
}
namespace other {
template <class T> __global__ void mm(const T* a, T* c) { }
template <> __global__ void mm<int>(const int* a, int* c) { }
__global__ void late(float* x) { }
}
)cuda");
  const auto made = init("mm.cu", "mm", {"--kernel", "::mm"});
  CAPTURE(made.out + made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(made.out.find("the template's type In: a type of the problem, f64, f32") != std::string::npos);
  CHECK(made.out.find("taken: the template's type Acc: In, as its default says") != std::string::npos);
  CHECK(made.out.find("a parameter WIDE, values false, true; its default (BM > 16) is no number that shows") != std::string::npos);
  const std::string text = read("mm/template.json");
  CHECK(text.find("\"kernel\": \"mm<In, In, BM, BN, TM, ((BM // TM) * (BN // 4)), WIDE>\"") != std::string::npos);
  CHECK(text.find("\"block\": \"((BM // TM) * (BN // 4))\"") != std::string::npos);
  const auto checked = attune({"template", "check", path("mm"), "--sample", "6"});
  CAPTURE(checked.out + checked.err);
  CHECK(checked.out.find("of 6 configurations 6 fit") != std::string::npos);
  const auto late = init("mm.cu", "late", {"--kernel", "other::late"});
  CHECK(late.err.find("nothing in 'late' can be tuned") != std::string::npos);  // found behind a specialisation
}

TEST_CASE_FIXTURE(Init, "a template parameter that bounds the work and has no value is told, and so is an index type's size") {
  write("rows.cu", R"cuda(template <typename T, typename Index, int WIDTH, int BLOCK = 128>
__global__ void rows(const T* in, T* out, Index n) {
  const Index x = blockIdx.x * BLOCK + threadIdx.x;
  if (x < WIDTH && x < n) out[x] = in[x];
}
)cuda");
  makes("rows.cu", "rows",
        {"to decide: the template's WIDTH (line 1): it bounds what blocks work on, and the source gives it no value: 1024 stands",
         "the template's type Index: a type of the problem, i32", "the argument 'n': a size of the problem, since it bounds an index"},
        "rows<float, int, 1024, 128>");
}

TEST_CASE_FIXTURE(Init, "numbers of a kernel template beside macros that are parameters have names that no macro replaces") {
  write("scale.cu", R"cuda(#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
template <class T, unsigned ITEMS>
__global__ void scale(const T* x, T* y, int n) {
  const int first = (blockIdx.x * BLOCK_SIZE + threadIdx.x) * ITEMS;
  for (unsigned i = 0; i < ITEMS; ++i)
    if (first + i < n) y[first + i] = 2 * x[first + i];
}
)cuda");
  makes(
      "scale.cu", "scale",
      {"a parameter ITEMS_value, values 1, 2, 4, 8", "the grid: ceil_div(n, BLOCK_SIZE * ITEMS_value) blocks", "the buffer 'y': T_type[n]"},
      "search space: 24 of 24 combinations");
  CHECK(read("scale/template.json").find(R"("kernel": "scale<T_type, ITEMS_value>")") != std::string::npos);
}

TEST_CASE_FIXTURE(Init, "--reference makes a plain kernel of the file what results are compared with") {
  const std::string plain =
      "__global__ void plain(float a, const float* x, float* y, int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = a * x[i] + y[i];\n}\n";
  write("both.cu", test::kSaxpyCuda + plain);
  const auto made = init("both.cu", "both", {"--reference", "plain"});
  CAPTURE(made.out + made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(made.out.find("guessed: the reference 'plain': ceil_div(n, 256) blocks of 256 threads") != std::string::npos);
  CHECK(made.out.find("to decide") == std::string::npos);
  const char* const launch =
      R"text({"kernel": "plain", "grid": "ceil_div(n, 256)", "block": 256, "args": ["a", "x", "y", {"n": "i32"}]})text";
  CHECK(read("both/template.json").find(launch) != std::string::npos);
  CHECK(attune({"template", "check", path("both")}).exit_code == 0);

  const auto with = [&](const std::string& from, const std::string& to) { return test::kSaxpyCuda + replaced(plain, from, to); };
  const std::vector<std::string> asked = {"--reference", "plain"};
  refuses(test::kSaxpyCuda, 2, "it has no kernel 'plain'; there are: saxpy", asked);
  refuses(with("const float* x", "const float* v"), 3, "'plain' cannot be the reference: its argument 'v' is none of 'saxpy'", asked);
  refuses(with("float a", "double a"), 3, "its argument 'a' is of another type than that of 'saxpy'", asked);
  refuses(with("blockDim.x", "BLOCK_SIZE"), 3, "it uses BLOCK_SIZE, which is tuned; let it read blockDim", asked);
  refuses(with("__global__", "template <int N> __global__"), 3, "its template parameter 'int N' is no type of 'saxpy'", asked);
}

TEST_CASE_FIXTURE(Init, "kernels of one name in several namespaces are told apart by --kernel") {
  const std::string written =
      "__global__ void k(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }\n";
  const std::string both = "namespace a {\n" + written + "}\nnamespace b {\n" + written + "}\n";
  refuses(both, 2, "it has several; say --kernel with one of: a::k, b::k");
  write("both.cu", both);
  const auto made = init("both.cu", "made", {"--kernel", "b::k"});
  CAPTURE(made.err);
  CHECK(made.exit_code == 0);
  CHECK(read("made/template.json").find(R"("kernel": "b::k")") != std::string::npos);
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
  refuses(open, 2, "wrong.cu:2:9: BLOCK_SIZE: the source defines it (#define BLOCK_SIZE 256) whatever stands before it; put that between");
  refuses(replaced(test::kSaxpyCuda, "BLOCK_SIZE 256", "BLOCK_SIZE 256.5"), 2, "BLOCK_SIZE: its value '256.5' is no whole number");
  refuses(replaced(open, "#define BLOCK_SIZE 256", "constexpr int BLOCK_SIZE = 256;"), 2, "BLOCK_SIZE: a constant (= 256)");
}

TEST_CASE_FIXTURE(Init, "what does not compile is shown with its line and the compiler's text, and nothing is written") {
  refuses(replaced(test::kSaxpyCuda, "a * x[i]", "b * x[i]"), 3, "wrong.cu:8:1: failed compiling the kernel with default values");
  refuses(replaced(test::kSaxpyCuda, "a * x[i]", "b * x[i]"), 3, "identifier \"b\" is undefined");
  refuses("#include <iostream>\n" + test::kSaxpyCuda, 3, "between #ifndef __CUDACC_RTC__ and #endif");
}

}  // namespace test_template_init
