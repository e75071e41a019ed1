// Templates of CUDA sources with kernel templates, namespaces and plain kernels to compare with.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/init_fixture.hpp"
#include "tests/support/replaced.hpp"

namespace test_template_init_templates {

using namespace attune;
using test::Init;
using test::replaced;

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

}  // namespace test_template_init_templates
