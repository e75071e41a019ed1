// The printed translation units under the real nvcc, by the printed command lines.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/skip.hpp"

namespace test_source_nvcc {

using namespace attune::test;

namespace {

struct Nvcc : Cli {
  using Words = std::vector<std::string>;
  [[nodiscard]] CommandResult shell(const std::string& command) const {
    return run({"sh", "-c", "cd '" + folder.path().string() + "' && " + command}, environment);
  }
  /// Whether the first word of the printed command line is a program here.
  [[nodiscard]] bool is_here(const std::string& command) const {
    return shell("command -v " + command.substr(0, command.find(' '))).exit_code == 0;
  }
  /// Prints the unit and the line for a file, runs it, and looks for a cubin with the kernel.
  void compiles(Words words, const std::string& name, const std::string& kernel_name) {
    words.insert(words.begin(), "source");
    const std::string cubin = name + ".cubin";
    words.insert(words.end(), {"--command", "nvcc"});
    const auto piped = attune(words);
    CAPTURE(piped.err);
    REQUIRE(piped.exit_code == 0);
    words.insert(words.end(), {"-o", folder / "unit.cu"});
    const auto told = attune(words);
    REQUIRE(told.exit_code == 0);
    if (!is_here(told.out)) return skip("there is no nvcc here: " + told.out);
    std::filesystem::remove(folder / cubin);
    const auto compiled = shell(told.out);
    CAPTURE(told.out);
    CAPTURE(compiled.out);
    CAPTURE(compiled.err);
    CHECK(compiled.exit_code == 0);
    CHECK(
        read(cubin).starts_with("\x7f"
                                "ELF"));
    CHECK(read(cubin).find(kernel_name) != std::string::npos);
    if (name != "double_it") return;
    std::filesystem::remove(folder / cubin);
    const auto from_pipe = shell("cat unit.cu | " + piped.out);
    CAPTURE(from_pipe.err);
    CHECK(from_pipe.exit_code == 0);
    CHECK(read(cubin).find(kernel_name) != std::string::npos);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Nvcc, "a printed unit compiles under nvcc by the printed line, from its file and from a pipe") {
  compiles({kernel, "--T", "f32", "--n", "1000"}, "double_it", "double_it_reference");
}

TEST_CASE_FIXTURE(Nvcc, "so do units of an example with macros behind #pragma unroll, which nvcc does not replace") {
  compiles({ATTUNE_SOURCE_DIR "/examples/templates/nbody", "--n", "4096"}, "nbody", "nbody");
}

TEST_CASE_FIXTURE(Nvcc, "so do units with CUDA's headers, with types that have headers, and for another architecture") {
  compiles({"reduce", "--T", "f16", "--op", "sum", "--n", "2^20", "--configuration", "block_stage=cub_block grid_stage=ticket items=4"},
           "reduce", "reduce");
  compiles({"histogram", "--T", "u8", "--mapping", "unit", "--bins", "256", "--n", "2^20", "--arch", "sm_80"}, "histogram", "histogram");
}

TEST_CASE_FIXTURE(Nvcc, "the options of a template reach nvcc through a shell, those that only NVRTC has left out") {
  std::string text = small_template_json();
  text.insert(text.find("\"let\""),
              R"json("options": ["--use_fast_math", "--fmad=false", "--maxrregcount=64", "--jump-table-density=50", "--Ofast-compile=0",
    "-Xptxas=-O3", "--std=c++20", "--device-int128", "--builtin-move-forward=true", "-DSCALE=(1 << 2) * (3 > 2)", "-w"], )json");
  write("double_it/template.json", text);
  write("double_it/double_it.cu", std::string(small_template_source()) + "static_assert(SCALE == 4 && __cplusplus >= 202002L);\n");
  compiles({kernel, "--T", "f32", "--n", "1000"}, "double_it", "double_it_reference");
}

TEST_CASE_FIXTURE(Nvcc, "a unit that instantiates a kernel template compiles under nvcc as well") {
  write("scaled/template.json", R"({"attune": 1, "name": "scaled", "sources": ["scaled.cu"], "problem": {"n": {"size": {}, "default": 64}},
    "parameters": {"items": {"values": [1, 2], "default": 2}}, "buffers": {"x": {"type": "f32", "count": "n", "input": true, "output": true}},
    "launches": [{"kernel": "scale<f32, items>", "grid": 1, "block": 64, "args": ["x"]}], "reference": "none"})");
  write("scaled/scaled.cu", "template <class T, int kItems> __global__ void scale(T* x) { x[threadIdx.x] *= kItems; }\n");
  compiles({(folder / "scaled").string()}, "scaled", "_Z5scaleIfLi2EEvPT_");
}

}  // namespace test_source_nvcc
