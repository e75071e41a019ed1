// Command lines of compilers: what a shell reads out of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/command.hpp"
#include "tools/compile_command.hpp"
#include "tuner/base/escape.hpp"

namespace test_compile_command {

using namespace attune;

namespace {

/// The words of a line, as a shell reads them.
std::vector<std::string> words_of(const std::string& line) {
  const auto result = test::run({"sh", "-c", "for word in " + line + "; do printf '%s\\0' \"$word\"; done"});
  REQUIRE(result.exit_code == 0);
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < result.out.size();) {
    const auto end = result.out.find('\0', begin);
    words.push_back(result.out.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

TEST_CASE("a shell reads every quoted word back as it was") {
  const std::vector<std::string> words{"plain", "",  "two words", "it's", "'",  "\"$HOME\"", "`id`",
                                       "a\\b",  "*", "~",         "#no",  "!x", "a\nb",      "-DX=(1 << 2)"};
  std::string line;
  for (const auto& word : words) line += base::shell_quoted(word) + " ";
  CHECK(words_of(line) == words);
  CHECK(base::shell_quoted("-arch=sm_90") == "-arch=sm_90");
}

TEST_CASE("nvcc gets NVRTC's options but for those it has no name for") {
  const compile::CompileRequest request{
      "", "t.cu", "sm_80", {"--use_fast_math", "--device-int128", "-builtin-initializer-list=true", "-DX=1 + 1"}};
  CHECK(tools::nvcc_options(compile::full_options(request)) ==
        std::vector<std::string>{"-arch=sm_80", "-std=c++17", "--ptxas-options=-v", "--use_fast_math", "-DX=1 + 1"});
}

TEST_CASE("nvcc gets the macros behind #pragma unroll once more, those that stand for a number") {
  const compile::CompileRequest request{
      "#define A 4\n#define B 8\n#define C 2\n#pragma unroll A\n#pragma unroll (C * kConstant)\n#pragma unroll\n", "t.cu", "sm_80", {}};
  const auto words = words_of(tools::command_line(tools::Compiler::Nvcc, request, "t.cu", {}));
  const std::vector<std::string> wanted{"-Xcudafe", "-DA=4", "-Xcudafe", "-DC=2", "-o"};
  CHECK(std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end());
  CHECK(std::find(words.begin(), words.end(), "-DB=8") == words.end());
}

TEST_CASE("of several standards nvcc gets the last") {
  const compile::CompileRequest request{"", "t.cu", "sm_80", {"-w", "-std=c++17", "--std=c++20", "-DX"}};
  CHECK(tools::nvcc_options(compile::full_options(request)) ==
        std::vector<std::string>{"-arch=sm_80", "--ptxas-options=-v", "-w", "--std=c++20", "-DX"});
}

TEST_CASE("a command line names the file, or standard input without one") {
  const compile::CompileRequest request{"", "t.cu", "sm_80", {"-DX=1 + 1"}};
  const tools::CompilerPlaces places{"/opt/cuda 13/bin/nvcc", "/usr/bin/attune", {"/opt/cuda 13/include"}};
  CHECK(words_of(tools::command_line(tools::Compiler::Nvcc, request, "a b.cu", places)) ==
        std::vector<std::string>{"/opt/cuda 13/bin/nvcc", "-x", "cu", "-cubin", "-arch=sm_80", "-std=c++17", "--ptxas-options=-v",
                                 "-DX=1 + 1", "-I/opt/cuda 13/include", "-o", "t.cubin", "a b.cu"});
  CHECK(words_of(tools::command_line(tools::Compiler::Nvrtc, request, "", places)) ==
        std::vector<std::string>{"/usr/bin/attune", "compile", "--arch", "sm_80", "--option=-DX=1 + 1", "-o", "t.cubin", "-"});
}

}  // namespace test_compile_command
