#include <doctest/doctest.h>

#include "tests/unit/importing/import_fixture.hpp"

namespace test_t1_errors {

using namespace attune;
using namespace attune::importing;
using namespace attune::importing::test;

namespace {

/// ":LINE:COLUMN: " of a part of the text, which is ASCII.
std::string place(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::runtime_error("the test's text lacks " + part);
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at; ++i) {
    line += text[i] == '\n' ? 1 : 0;
    column = text[i] == '\n' ? 1 : column + 1;
  }
  return ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

struct BadFiles : Dialects {
  [[nodiscard]] std::string failure(const std::string& text) const {
    try {
      static_cast<void>(import(text));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  /// The file of the schema with a part replaced: the error is at `at` and says `message`.
  void refuses(const std::string& from, const std::string& to, const std::string& at, const std::string& message) const {
    const std::string text = replaced(attune::test::kSchemaT1, from, to);
    const std::string what = failure(text);
    CAPTURE(what);
    CHECK(what.rfind((folder / "t1.json").string() + place(text, at) + message, 0) == 0);
  }
};

}  // namespace

TEST_CASE_FIXTURE(BadFiles, "a file that is no JSON, or lacks what T1 needs, is refused at its place") {
  const std::string cut = attune::test::kSchemaT1.substr(0, attune::test::kSchemaT1.find("\"KernelName\""));
  CHECK(contains(failure(cut), "t1.json:13:5: malformed JSON: "));
  refuses("\"TuningParameters\"", "\"TuningParameter\"", "{\n    \"TuningParameter\"",
          "\"ConfigurationSpace\" lacks \"TuningParameters\" (did you mean 'TuningParameter'?); list what may be tuned");
  refuses("\"ConfigurationSpace\"", "\"Space\"", "{", "the file lacks \"ConfigurationSpace\"; a T1 file says there what may be tuned");
  refuses("\"KernelSpecification\"", "\"Kernel\"", "{",
          "the file lacks \"KernelSpecification\"; a T1 file says there which kernel is tuned");
  CHECK(contains(failure("[]"), "t1.json:1:1: the file must be an object, not a list"));
  CHECK(contains(failure(""), "malformed JSON"));
}

TEST_CASE_FIXTURE(BadFiles, "parameters that cannot be tuned are refused") {
  refuses("[1, 2, 4]", "5", "5}", "\"Values\" of 'tile' must be a list or a Python list in a string, such as [16, 32] or \"range(1, 9)\"");
  refuses("[1, 2, 4]", "\"5\"", "5\"}",
          "failed parsing the expression \"5\": a list such as [16, 32], range(1, 12) or powers(2, 32, 1024) expected");
  refuses("[1, 2, 4]", "\"range(1, 4\"", "\"}", "failed parsing the expression \"range(1, 4\": ')' expected");
  refuses("[1, 2, 4]", "[]", "[]", "\"Values\" of 'tile' are empty; give at least one");
  refuses("[1, 2, 4]", "[1, 2.5]", "[1, 2.5]", "\"Values\" of 'tile' hold 2.5, which is no int; correct the value or \"Type\"");
  refuses("\"int\", \"Values\": [1, 2, 4]", "\"uint\", \"Values\": [-1]", "[-1]", "\"Values\" of 'tile' hold -1, which is no uint");
  refuses("\"Name\": \"tile\", \"Type\": \"int\", \"Values\": [1, 2, 4]", "\"Name\": \"tile\", \"Values\": [1, \"a\"]", "[1, \"a\"]",
          "\"Values\" of 'tile' mix kinds");
  refuses("\"Type\": \"int\", \"Values\": [1", "\"Type\": \"integer\", \"Values\": [1", "\"integer\"",
          "the type of the parameter 'tile' is 'integer', which is not known");
  refuses("\"Name\": \"tile\"", "\"Name\": \"bx\"", "{\"Name\": \"bx\", \"Type\": \"int\", \"Values\": [1",
          "the parameter 'bx' is given twice; remove or rename one of them");
  refuses("\"Name\": \"tile\"", "\"Name\": \"floor\"", "\"floor\"",
          "the parameter 'floor' is called like a word of attune's expressions; rename it");
  refuses("\"Name\": \"tile\"", "\"Name\": \"a-b\"", "\"a-b\"", "the parameter 'a-b' is no C identifier");
  refuses("\"Name\": \"tile\", ", "", "{\"Type\": \"int\"", "a tuning parameter lacks \"Name\"; give the macro");
  refuses(", \"Values\": [1, 2, 4]", "", "{\"Name\": \"tile\"", "the parameter 'tile' lacks \"Values\"; list the values to try");
}

TEST_CASE_FIXTURE(BadFiles, "conditions that cannot be read or computed are refused at the place inside their text") {
  refuses("bx * tile <= 256", "bx * tile <= ", "\", \"Parameters\"", "failed parsing the expression \"bx * tile <= \": a value expected");
  refuses("bx * tile <= 256", "bx < 2 && tile", "&& tile",
          "failed parsing the expression \"bx < 2 && tile\": '&&' is no operator of Python; use 'and'");
  refuses("bx * tile <= 256", "bx * tille <= 256", "tille",
          "failed parsing the expression \"bx * tille <= 256\": there is no parameter 'tille'; did you mean 'tile'?");
  refuses("[\"bx\", \"tile\"]", "[\"bx\", \"tiles\"]", "\"tiles\"",
          "a condition names the unknown parameter 'tiles'; did you mean 'tile'?");
  refuses("bx * tile <= 256", "bx & tile", "& tile",
          "failed parsing the expression \"bx & tile\": '&' of the bits of numbers has no counterpart");
  refuses(
      "bx * tile <= 256", "(tile != 1 and bx % (tile - 1) == 5) or bx % (tile - 2) == 5", "(tile != 1",
      "the condition \"(tile != 1 and bx % (tile - 1) == 5) or bx % (tile - 2) == 5\" cannot be computed for tile = 2, bx = 32; say what holds");
  refuses("\"Expression\": \"bx * tile <= 256\", ", "", "{\"Parameters\"", "a condition lacks \"Expression\"; give what must hold");
  refuses("{\"Expression\": \"bx * tile <= 256\", \"Parameters\": [\"bx\", \"tile\"]}", "[1]", "[1]\n",
          "a condition must be a number, or an expression in a string, not a list");
}

TEST_CASE_FIXTURE(BadFiles, "a kernel that attune cannot launch is refused") {
  refuses("\"CUDA\",\n    \"KernelName\"", "\"OpenCL\",\n    \"KernelName\"", "\"OpenCL\"",
          "the kernel is written in OpenCL, and attune tunes CUDA kernels");
  refuses("\"CUDA\",\n    \"KernelName\"", "\"CUDDA\",\n    \"KernelName\"", "\"CUDDA\"",
          "\"Language\" is 'CUDDA', which is not known; did you mean 'CUDA'?");
  refuses("\"scale\"", "\"scale<float\"", "\"scale<float\"", "the kernel 'scale<float' has no '>' at the end of its template arguments");
  refuses("\"scale\"", "\"scale<std::min(1, 2)>\"", "\"scale<std::min(1, 2)>\"",
          "the template argument 'std::min(1, 2)' is neither a type nor an expression of parameters and numbers");
  refuses("    \"KernelName\": \"scale\",\n", "", "{\n    \"Language\"",
          "\"KernelSpecification\" lacks \"KernelName\"; name the __global__ function");
  refuses("\"scale.cu\"", "\"skale.cu\"", "\"skale.cu\"",
          "the kernel file 'skale.cu' is neither beside this file nor in the folder above it; name it with --kernel-file");
  refuses("    \"KernelFile\": \"scale.cu\",\n", "", "\"scale\"", "\"KernelSpecification\" lacks \"KernelFile\"; give it, or name");
}

TEST_CASE_FIXTURE(BadFiles, "words of the format are read in any case of their letters") {
  CHECK(failure(replaced(attune::test::kSchemaT1, "\"WriteOnly\"", "\"writeonly\"")).empty());
  CHECK(failure(replaced(attune::test::kSchemaT1, "\"GlobalSizeType\": \"CUDA\"", "\"GlobalSizeType\": \"Cuda\"")).empty());
}

TEST_CASE_FIXTURE(BadFiles, "a geometry that says nothing, or names unknown variables, is refused") {
  refuses("{\"X\": \"bx\"}", "{\"X\": \"bxx\"}", "bxx",
          "failed parsing the expression \"bxx\": there is no parameter 'bxx'; did you mean 'bx'?");
  refuses("4096 // (bx * tile)", "4096 // width", "width",
          "failed parsing the expression \"4096 // width\": there is no parameter 'width'; known: bx, tile");
  refuses("4096 // (bx * tile)", "ProblemSize[0] // bx", "ProblemSize",
          "failed parsing the expression \"ProblemSize[0] // bx\": the file has no \"ProblemSize\"");
  refuses("\"GlobalSizeType\": \"CUDA\"", "\"GlobalSizeType\": \"CUDDA\"", "\"CUDDA\"",
          "\"GlobalSizeType\" is 'CUDDA', which is not known; did you mean 'CUDA'?");
  refuses("    \"LocalSize\": {\"X\": \"bx\"},\n", "", "{\n    \"Language\"",
          "\"KernelSpecification\" lacks \"LocalSize\"; say how many threads a block has");
  refuses("    \"GlobalSize\": {\"X\": \"4096 // (bx * tile)\"},\n", "", "{\n    \"Language\"",
          "\"KernelSpecification\" lacks \"GlobalSize\"; say how many blocks");
  refuses("{\"X\": \"bx\"}", "{\"Y\": \"bx\"}", "{\"Y\"", "\"LocalSize\" lacks \"X\"; give its first dimension");
  refuses("\"GlobalSizeType\"", "\"ProblemSize\": [0], \"GlobalSizeType\"", "0]", "\"ProblemSize\" has the dimension 0");
  refuses("{\"X\": \"bx\"}", "{\"X\": \"bx\", \"Y\": 0}", "0}", "\"LocalSize\" has the dimension 0; give a number of at least 1");
  refuses("4096 // (bx * tile)", "4 - 4096", "\"4 - 4096\"", "\"GlobalSize\" has the dimension 4 - 4096; give a number of at least 1");
  refuses("\"GlobalSizeType\"", "\"SharedMemory\": -16, \"GlobalSizeType\"", "-16", "\"SharedMemory\" is -16 bytes; give 0 or more");
}

TEST_CASE_FIXTURE(BadFiles, "arguments that attune cannot make or pass are refused") {
  refuses("\"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\"",
          "\"flot\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\"", "\"flot\"", "unknown type 'flot'; did you mean 'float'?");
  refuses("\"WriteOnly\"", "\"WriteOnli\"", "\"WriteOnli\"",
          "\"AccessType\" of the argument 'out' is 'WriteOnli', which is not known; did you mean 'WriteOnly'?");
  refuses("\"MemoryType\": \"Scalar\"", "\"MemoryType\": \"Scaler\"", "\"Scaler\"",
          "\"MemoryType\" of the argument 'factor' is 'Scaler', which is not known");
  refuses("\"WriteOnly\"", "\"ReadOnly\"", "[\n      {\"Name\": \"in\"",
          "no argument is written, so nothing could be checked; give the result");
  refuses(", \"FillValue\": 2.5", "", "{\"Name\": \"factor\"",
          "the argument 'factor' lacks \"FillValue\"; give the number that the kernel gets");
  refuses("\"WriteOnly\", \"Size\": 4096", "\"WriteOnly\"", "{\"Name\": \"out\"",
          "the argument 'out' lacks \"Size\"; give the number of its elements");
  refuses("\"WriteOnly\", \"Size\": 4096", "\"WriteOnly\", \"Size\": \"4 * bx\"", "bx\"},\n      {\"Name\": \"factor\"",
          "failed parsing the expression \"4 * bx\": the data would depend on the parameter 'bx'");
  refuses("\"WriteOnly\", \"Size\": 4096", "\"WriteOnly\", \"Size\": 0", "0},\n      {\"Name\": \"factor\"",
          "\"Size\" of the argument 'out' is 0; give a number of elements from 1 to 2^40");
  refuses("\"float\", \"MemoryType\": \"Scalar\"", "\"float4\", \"MemoryType\": \"Scalar\"", "\"float4\"",
          "the argument 'factor' is a float4 by value, which attune cannot pass");
  refuses("\"float\", \"MemoryType\": \"Scalar\"", "\"int32\", \"MemoryType\": \"Scalar\"", "2.5",
          "the value 2.5 of the argument 'factor' is no i32");
  refuses("\"FillType\": \"Random\"", "\"FillType\": \"Randon\"", "\"Randon\"",
          "\"FillType\" of the argument 'in' is 'Randon', which is not known; did you mean 'Random'?");
  refuses("\"Name\": \"out\"", "\"Name\": \"in\"", "\"in\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\"",
          "the argument 'in' is given twice; name each by itself");
}

TEST_CASE_FIXTURE(BadFiles, "files that are not there are told as such, and a kernel's own faults have their place in its file") {
  try {
    static_cast<void>(import_t1({folder / "none.json", {}, ""}));
    FAIL("imported from nothing");
  } catch (const UsageError& error) {
    CHECK(contains(error.what(), "there is no such file; give the T1 file of a kernel"));
  }
  write("t1.json", attune::test::kSchemaT1);
  try {
    static_cast<void>(import_t1({folder / "t1.json", folder / "none.cu", ""}));
    FAIL("imported without a kernel");
  } catch (const UsageError& error) {
    CHECK(contains(error.what(), "there is no kernel file '"));
  }
  write("scale.cu", "// A header that is missing.\n#include \"missing.cuh\"\nextern \"C\" __global__ void scale() {}\n");
  CHECK(contains(failure(attune::test::kSchemaT1), "scale.cu:2"));
}

TEST_CASE_FIXTURE(BadFiles, "a name for the template that is no identifier is refused") {
  try {
    static_cast<void>(import(attune::test::kSchemaT1, "my template"));
    FAIL("imported under a name that no template may have");
  } catch (const Error& error) {
    CHECK(contains(error.what(), "the template's name 'my template' is no C identifier"));
  }
}

TEST_CASE_FIXTURE(BadFiles, "words that would be one macro are told as what attune cannot tune") {
  CHECK(contains(
      failure(replaced(attune::test::kSchemaT1, R"("Type": "int", "Values": [1, 2, 4])", R"("Type": "string", "Values": ["a+b", "a-b"])")),
      "t1.json: it says nothing that attune can tune: "));
}

}  // namespace test_t1_errors
