// What of a source is for the host.
#include <doctest/doctest.h>

#include <algorithm>

#include "tuner/importing/host_code.hpp"

namespace test_host_code {

using namespace attune::importing;

namespace {

const std::string kKernel = "__global__ void k(float* x) { x[threadIdx.x] = helper(x[0]); }\n";

std::vector<std::string> left_out(const std::string& source) { return without_host_code(source).left_out; }

}  // namespace

TEST_CASE("a source without code for the host is the same text") {
  for (const std::string& source :
       {kKernel, "float helper(float x) { return x; }\nfloat spare(float x) { return x; }\n" + kKernel,
        "#include <math.h>\n#include <cuda_runtime.h>\n#include <thrust/tuple.h>\nusing P = thrust::tuple<int, int>;\n" + kKernel,
        "__device__ void wait() { cudaDeviceSynchronize(); k<<<1, 1>>>(0); }\n" + kKernel,
        "#ifndef __CUDACC_RTC__\n#include <vector>\nint main() { k<<<1, 1>>>(0); }\n#endif\n" + kKernel,
        std::string("// int main() { k<<<1, 1>>>(0); }\nconst char* text = \"int main() {\";\n") + kKernel}) {
    CAPTURE(source);
    CHECK(without_host_code(source).text == source);
  }
}

TEST_CASE("main, launches, calls of CUDA's runtime and names of C++'s library are for the host, in namespaces and extern C, too") {
  CHECK(left_out(kKernel + "int main(int n, char** v) { return 0; }\n") == std::vector<std::string>{"main (line 2)"});
  CHECK(left_out("namespace a {\nvoid go() { k<<<1, 1>>>(0); }\n}\n" + kKernel) == std::vector<std::string>{"go (line 2)"});
  CHECK(left_out("extern \"C\" {\nvoid go() { cudaFree(0); }\n}\n" + kKernel) == std::vector<std::string>{"go (line 2)"});
  CHECK(left_out("template <class T, int n = (3 > 2)>\nvoid go(std::vector<T> x) {}\n" + kKernel) ==
        std::vector<std::string>{"go (line 1)"});
  CHECK(left_out("struct Timer { cudaEvent_t begin; };\n" + kKernel) == std::vector<std::string>{"Timer (line 1)"});
  CHECK(left_out("struct P { float a; __device__ void f(); static void g() { cudaFree(0); } };\n" + kKernel).empty());
}

TEST_CASE("beside code for the host, functions that no code of the device names are left out, and others stay") {
  const std::string source =
      "float deep(float x) { return x; }\nfloat helper(float x) { return deep(x); }\n"
      "float seed() { return rand(); }\n#define PICK other(1)\nint other(int i) { return i; }\n" +
      kKernel + "int main() { seed(); }\n";
  CHECK(left_out(source) == std::vector<std::string>{"seed (line 3)", "main (line 7)"});
}

TEST_CASE("every line keeps its number, and directives in what is left out stay") {
  const std::string source =
      "void go() {\n#ifdef FAST\n  int a = 1;  // ;\n#else\n#define LATER 3\n#endif\n  k<<<1, 1>>>(0);\n}\n" + kKernel;
  const DeviceCode code = without_host_code(source);
  CHECK(code.text == "/* code for the host, left out: go */\n#ifdef FAST\n\n#else\n#define LATER 3\n#endif\n\n\n" + kKernel);
  const std::string joined = "#include <vector> /* of\n lines */ // end\n" + kKernel;
  CHECK(without_host_code(joined).text == "/* code for the host, left out: <vector> */ /* of\n lines */ // end\n" + kKernel);
}

TEST_CASE("brackets that conditions leave open end nothing that stands before them") {
  const std::string source = kKernel + "#ifdef A\nint main() {\n#else\nint main(int n) {\n#endif\n  cudaFree(0);\n}\n";
  CHECK(without_host_code(source).text == source);
}

}  // namespace test_host_code
