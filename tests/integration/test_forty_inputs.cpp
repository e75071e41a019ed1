// Wrong T1 files, CUDA sources and templates: each is answered with the file, the line, the column and what to do instead.
#include <doctest/doctest.h>

#include <set>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/replaced.hpp"

namespace test_forty_inputs {

using namespace attune::test;

namespace {

constexpr const char* kT1 = R"text({
  "General": {"FormatVersion": 1},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128]", "Default": 64},
      {"Name": "tile", "Type": "int", "Values": [1, 2, 4], "Default": 1}
    ],
    "Conditions": [{"Parameters": ["block_size_x", "tile"], "Expression": "block_size_x * tile <= 256"}]
  },
  "KernelSpecification": {
    "Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
    "GlobalSizeType": "CUDA", "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"},
    "ProblemSize": [1024], "GridDivX": ["block_size_x", "tile"],
    "Arguments": [
      {"Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "FillType": "Random", "Size": 1024}
    ]
  }
}
)text";

constexpr const char* kSource = R"text(extern "C" __global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
)text";

constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "forms", "sources": ["scale.cu"],
  "problem": {"n": {"size": {"min": 1}, "default": 4096}},
  "parameters": {"block_size": {"values": "powers(2, 64, 512)", "default": 128},
                 "registers": {"values": [32, 64], "default": 64},
                 "waves": {"values": [1, 2], "default": 1, "bind": "launch"}},
  "buffers": {"x": {"type": "f32", "count": "n", "input": true, "output": true}},
  "options": ["--maxrregcount={registers}", {"option": "--use_fast_math", "if": "registers == 32"}],
  "launches": [{"kernel": "scale", "grid": "ceil_div(n, block_size)", "block": "block_size", "args": ["x", {"n": "i32"}]}],
  "reference": "none"
}
)text";

struct WrongInput {
  const char* from;  ///< what of the right file is replaced
  const char* to;
  const char* place;   ///< line:column
  const char* remedy;  ///< part of the message that says what would be right
};

const std::vector<WrongInput> kWrongT1 = {
    {R"("Values": "[32, 64, 128]")", R"("Values": "[32, 64")", "5:65", "']' expected, but the list ends here"},
    {R"("Values": "[32, 64, 128]")", "\"Values\": \"open(1)\"", "5:58",
     "a list such as [16, 32], range(1, 12) or powers(2, 32, 1024) expected"},
    {R"([1, 2, 4])", "[]", "6:49", "give at least one"},
    {R"([1, 2, 4])", R"([1, "two"])", "6:49", "correct the value or \"Type\""},
    {R"("Name": "tile")", R"("Name": "block_size_x")", "6:7", "remove or rename one of them"},
    {R"("Name": "tile")", R"("Name": "ti le")", "6:16", "use letters, digits and '_'"},
    {R"("block_size_x * tile <= 256")", R"("block_size * tile <= 256")", "8:76", "did you mean 'block_size_x'?"},
    {R"("block_size_x * tile <= 256")", R"("block_size_x * tile <=")", "8:98", "a value expected"},
    {R"("KernelFile": "scale.cu")", R"("KernelFile": "missing.cu")", "11:62", "name it with --kernel-file"},
    {R"("Type": "float")", R"("Type": "floot")", "15:29", "did you mean 'float'?"},
    {R"("MemoryType": "Vector")", R"("MemoryType": "Vectors")", "15:52", "did you mean 'Vector'?"},
    {R"("AccessType": "ReadWrite")", R"("AccessType": "Write")", "15:76", "known: ReadOnly, WriteOnly, ReadWrite"},
    {R"("FillType": "Random")", R"("FillType": "Radnom")", "15:101", "did you mean 'Random'?"},
    {R"("Size": 1024)", R"("Size": "1024 *")", "15:126", "a value expected"},
    {R"("ProblemSize": [1024])", R"("ProblemSize": [1, 2, 3, 4])", "13:20", "give one to three"},
    {R"("GridDivX": ["block_size_x", "tile"])", R"("GridDivX": ["blocksize"])", "13:42", "did you mean 'block_size_x'?"},
    {R"("LocalSize": {"X")", R"("LocalSize": {"W")", "12:44", "give its first dimension"},
    {R"("Language": "CUDA")", R"("Language": "OpenCL")", "11:17", "import the file of its CUDA version"},
    {R"("TuningParameters")", R"("TunningParameters")", "3:25", R"(list what may be tuned: [{"Name": ..., "Values": [...]}])"},
    {R"("Size": 1024})", R"("Size": 1024}})", "15:124", "expected ']'"},
};

const std::vector<WrongInput> kWrongTemplates = {
    {"powers(2, 64, 512)", "powers(2, 64)", "4:44", "e.g. powers(2, 32, 1024) for 32, 64, ..., 1024"},
    {"powers(2, 64, 512)", "range(64, 512", "4:57", "')' expected"},
    {"powers(2, 64, 512)", "range(64, 64)", "4:43", "give at least one"},
    {"powers(2, 64, 512)", "[128] + [128]", "4:43", "hold 128 twice; remove one"},
    {"\"powers(2, 64, 512)\"", "128", "4:43", "must be a list, or a text that says one such as \"powers(2, 32, 1024)\""},
    {R"("default": 4096)", R"("default": 0)", "3:52", "which is not from 1 to"},
    {R"("default": 4096)", R"("default": "many")", "3:52", "must be an integer"},
    {"{registers}", "{register}", "8:32", "did you mean 'registers'?"},
    {"{registers}", "{waves}", "8:32", "it may use types, choices and parameters that are not launch-bound"},
    {"--maxrregcount", "--maxregcount", "8:15", "did you mean '--maxrregcount'?"},
    {R"("values": [32, 64], "default": 64)", R"("values": [32, 256], "default": 32)", "8:15", "needs = and a number from 1 to 255"},
    {R"("if": "registers)", R"("when": "registers)", "8:75", "known: option, if"},
    {R"("registers == 32")", R"("n == 32")", "8:82", "it may use types, choices, parameters that are not launch-bound"},
    {R"("kernel": "scale")", R"("kernel": "scale<block_size")", "9:27", "write e.g. gemm<T, 64>"},
    {R"("kernel": "scale")", R"("kernel": "scale<blocks>")", "9:34", "known: block_size, registers"},
    {R"("kernel": "scale")", R"("kernel": "2scale")", "9:27", "use letters, digits and '_'"},
    {R"("block": "block_size")", R"("block": 64, "cluster": {"blocks": 2})", "9:95", "else give the blocks alone"},
    {R"("block": "block_size")", R"("block": 64, "cluster": {"if": "True"})", "9:95", R"(e.g. {"blocks": 4, "if": "clustered"})"},
    {R"("block": "block_size")", R"("block": 64, "dependent": true)", "9:97", "remove \"dependent\""},
};

const std::vector<WrongInput> kWrongSources = {
    {"float* x", "std::vector<float> x", "1:53", "pass a pointer to its elements"},
    {"x[i] *= 2;", "x[i] *= 2; }", "4:1", "mend it, or put code for the host between"},
};

struct Inputs : Cli {
  /// Runs the words on a wrong file; the answer names its place and says what would be right. The message itself, to tell them apart.
  std::string refused(const WrongInput& wrong, const std::string& file, const char* text, const std::vector<std::string>& words) const {
    CAPTURE(wrong.to);
    write(file, replaced(text, wrong.from, wrong.to));
    const auto result = attune(words);
    CHECK(result.exit_code == 3);
    CHECK_MESSAGE(result.err.find(file + ":" + wrong.place + ": ") != std::string::npos, result.err);
    CHECK_MESSAGE(result.err.find(wrong.remedy) != std::string::npos, result.err);
    return result.err;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Inputs, "forty wrong inputs are answered with their places and remedies, each with its own text") {
  write("imported/scale.cu", kSource);
  write("forms/scale.cu", kSource);
  const std::string output = (folder / "out").string();
  std::set<std::string> texts;
  for (const auto& wrong : kWrongT1)
    texts.insert(refused(wrong, "imported/t1.json", kT1, {"template", "import", (folder / "imported/t1.json").string(), "-o", output}));
  for (const auto& wrong : kWrongTemplates)
    texts.insert(refused(wrong, "forms/template.json", kTemplate, {"template", "check", (folder / "forms").string()}));
  for (const auto& wrong : kWrongSources)
    texts.insert(refused(wrong, "plain/scale.cu", kSource, {"template", "init", (folder / "plain/scale.cu").string(), "-o", output}));
  CHECK(texts.size() >= 40);
}

TEST_CASE_FIXTURE(Inputs, "the files that these are made of are right") {
  write("imported/scale.cu", replaced(kSource, ", int n", ""));
  write("imported/t1.json", kT1);
  write("forms/scale.cu", kSource);
  write("forms/template.json", kTemplate);
  CHECK(attune({"template", "import", (folder / "imported/t1.json").string(), "-o", (folder / "out").string()}).exit_code == 0);
  CHECK(attune({"template", "check", (folder / "forms").string()}).exit_code == 0);
  CHECK(attune({"template", "init", (folder / "forms/scale.cu").string(), "-o", (folder / "made").string()}).exit_code == 0);
}

}  // namespace test_forty_inputs
