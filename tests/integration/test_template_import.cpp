// `attune template import`: T1 files of four dialects become templates that `attune template check` passes.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/t1_files.hpp"

namespace test_template_import {

using namespace attune;
using test::Cli;
using test::replaced;

namespace {

struct Import : Cli {
  Import() {
    write("schema.json", test::kSchemaT1);
    write("scale.cu", test::kSchemaSource);
    write("kernel_tuner.json", test::kKernelTunerT1);
    write("blur.cu", test::kKernelTunerSource);
    write("ktt.json", test::kKttT1);
    write("sum.cu", test::kKttSource);
    write("bat.json", test::kBatT1);
    write("combine.cu", test::kBatSource);
    write("operators.cuh", test::kBatHeader);
  }
  /// A file with the data and the expected result of its one input, as a script's has them.
  void write_answered() const {
    write("args/0.npy", test::npy_of<float>("<f4", "(64, 64)", std::vector<float>(4096, 1.25F)));
    write("answer/1.npy", test::npy_of<float>("<f4", "(4096,)", std::vector<float>(4096, 3.125F)));
    const std::string data =
        replaced(test::kSchemaT1, R"("FillType": "Random", "FillValue": 1.0)", R"("FillType": "Random", "DataSource": "args/0.npy")");
    write(
        "answered.json",
        replaced(
            data, "\"ConfigurationSpace\"",
            R"("Import": {"answer": {"given": true, "arguments": [{"Argument": 1, "File": "answer/1.npy"}]}, "atol": 0.01}, "ConfigurationSpace")"));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] test::CommandResult import(const std::string& file, const std::string& out,
                                           const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"template", "import", path(file), "-o", path(out)};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  /// Refused as wrong usage, with this in the message, and nothing written.
  void refuses(const std::string& file, const std::string& out, const std::vector<std::string>& more, int code,
               const std::string& message) const {
    const auto result = import(file, out, more);
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / out / "template.json"));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Import, "what is imported of each dialect passes the check of templates, with the count of its own conditions") {
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"schema", "8 of 9"}, {"kernel_tuner", "19 of 72"}, {"ktt", "21 of 30"}, {"bat", "40 of 72"}};
  for (const auto& [dialect, count] : wanted) {
    CAPTURE(dialect);
    const auto imported = import(dialect + ".json", dialect);
    CAPTURE(imported.out + imported.err);
    REQUIRE(imported.exit_code == 0);
    CHECK(imported.out.find("to decide: \"reference\": it is \"none\"") != std::string::npos);
    const auto checked = attune({"template", "check", path(dialect)});
    CAPTURE(checked.out + checked.err);
    CHECK(checked.exit_code == 0);
    CHECK(checked.out.find("search space: " + count + " combinations") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Import, "a kernel template in a namespace is imported with the arguments that the file gives it, and passes the check") {
  const std::string source =
      "namespace lib {\ntemplate <class T, int N> __global__ void scale(const T* in, T* out, T factor) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  for (int k = 0; k < N; ++k)\n    if (i * N + k < 4096) out[i * N + k] = factor * in[i * N + k];\n}\n}\n";
  write("templated.cu", source);
  const std::string file = replaced(test::kSchemaT1, "\"scale.cu\"", "\"templated.cu\"");
  write("in_brackets.json", replaced(file, "\"scale\"", "\"scale<float, tile * 2>\""));
  write("listed.json", replaced(file, "\"KernelName\": \"scale\"", "\"KernelName\": \"scale\", \"KernelTypeNames\": [\"float\", \"4\"]"));
  write("both.json", replaced(read("listed.json"), "\"scale\"", "\"scale<float, 2>\""));
  CHECK(import("both.json", "both").out.find("left out: \"KernelTypeNames\": \"KernelName\" has its template arguments in brackets") !=
        std::string::npos);
  for (const auto& [name, launched] : {std::pair{"in_brackets", "lib::scale<f32, tile * 2>"}, std::pair{"listed", "lib::scale<f32, 4>"}}) {
    const auto imported = import(std::string(name) + ".json", name);
    CAPTURE(imported.out + imported.err);
    REQUIRE(imported.exit_code == 0);
    CHECK(imported.out.find("with its namespace") != std::string::npos);
    CHECK(read(std::string(name) + "/template.json").find(std::string("\"kernel\": \"") + launched + "\"") != std::string::npos);
    CHECK(read(std::string(name) + "/templated.cu") == source);
    const auto checked = attune({"template", "check", path(name), "--sample", "4"});
    CAPTURE(checked.out + checked.err);
    CHECK(checked.exit_code == 0);
    CHECK(checked.out.find("of 4 configurations 4 fit") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Import, "the kernel's file arrives byte for byte, from where --kernel-file says") {
  std::filesystem::create_directory(folder / "elsewhere");
  const std::string bytes = test::kSchemaSource + "// \xff\r\n// no line end";
  write("elsewhere/other.cu", bytes);
  const auto imported = import("schema.json", "made", {"--kernel-file", path("elsewhere/other.cu"), "--name", "mine"});
  CAPTURE(imported.err);
  CHECK(imported.exit_code == 0);
  CHECK(read("made/other.cu") == bytes);
  CHECK(read("made/template.json").find("\"name\": \"mine\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Import, "data and expected results arrive byte for byte where template.json names them, and the check passes") {
  write_answered();
  const auto imported = import("answered.json", "made", {"--json"});
  CAPTURE(imported.err);
  REQUIRE(imported.exit_code == 0);
  CHECK(nlohmann::json::parse(imported.out)["files"] == nlohmann::json({"answer/1.npy", "args/0.npy", "scale.cu", "template.json"}));
  CHECK(read("made/args/0.npy") == read("args/0.npy"));
  CHECK(read("made/answer/1.npy") == read("answer/1.npy"));
  const std::string made = read("made/template.json");
  CHECK(made.find(R"("fill": {"file": "args/0.npy"})") != std::string::npos);
  CHECK(made.find(R"("outputs": {"out": "answer/1.npy"},)") != std::string::npos);
  CHECK(made.find(R"("tolerance": {"relative": 1e-05, "absolute": 0.01})") != std::string::npos);
  for (const char* const name : {"args", "answer"}) std::filesystem::remove_all(folder / name);
  const auto checked = attune({"template", "check", path("made")});
  CAPTURE(checked.out + checked.err);
  CHECK(checked.exit_code == 0);
  std::filesystem::remove(folder / "made/answer/1.npy");
  CHECK(attune({"template", "check", path("made")}).err.find("the file 'answer/1.npy' is missing") != std::string::npos);
}

TEST_CASE_FIXTURE(Import, "data that cannot be written whole leave the folder as it was") {
  write_answered();
  const std::string words = std::string(ATTUNE_EXECUTABLE) + " template import " + path("answered.json") + " -o " + path("made");
  const auto full = test::run({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 8; " + words}, environment);
  CAPTURE(full.err);
  CHECK(full.exit_code == 4);
  CHECK_FALSE(std::filesystem::exists(folder / "made"));
  CHECK(import("answered.json", "made").exit_code == 0);
}

TEST_CASE_FIXTURE(Import, "with --json the outcome and its notes are an object") {
  const auto imported = import("bat.json", "made", {"--json"});
  REQUIRE(imported.exit_code == 0);
  const auto object = nlohmann::json::parse(imported.out);
  CHECK(object["template"] == "combine");
  CHECK(object["parameters"] == 4);
  CHECK(object["conditions"] == 2);
  CHECK(object["files"] == nlohmann::json({"attune_before.cu", "combine.cu", "operators.cuh", "template.json"}));
  bool budget = false;
  for (const auto& note : object["notes"]) budget = budget || (note["what"] == "left out" && note["about"] == "\"Budget\"");
  CHECK(budget);
}

TEST_CASE_FIXTURE(Import, "a folder with anything in it, a file in its place and files that are missing are refused") {
  std::filesystem::create_directory(folder / "full");
  write("full/mine.txt", "mine");
  refuses("schema.json", "full", {}, 2, "is not empty; name a folder that does not exist yet");
  CHECK(read("full/mine.txt") == "mine");
  refuses("schema.json", "scale.cu", {}, 2, "is no folder; name a folder that does not exist yet");
  refuses("none.json", "made", {}, 2, "there is no such file; give the T1 file of a kernel");
  refuses("schema.json", "made", {"--kernel-file", path("none.cu")}, 2, "there is no kernel file");
  refuses("schema.json", "made", {"--largest-array", "1"}, 2, "leave --largest-array away");
  refuses("schema.json", "made", {"--name", "a b"}, 3, "the template's name 'a b' is no C identifier");
}

TEST_CASE_FIXTURE(Import, "a malformed file ends with its line and column, and nothing is written") {
  write("cut.json", test::kSchemaT1.substr(0, 300));
  refuses("cut.json", "made", {}, 3, "cut.json:");
  write("wrong.json", replaced(test::kSchemaT1, "bx * tile <= 256", "bx * tiel <= 256"));
  refuses("wrong.json", "made", {}, 3, "wrong.json:8:28: failed parsing the expression \"bx * tiel <= 256\": there is no parameter 'tiel'");
  CHECK_FALSE(std::filesystem::exists(folder / "made"));
}

TEST_CASE_FIXTURE(Import, "a folder that cannot be written whole is left as it was, for the next try") {
  write("scale.cu", test::kSchemaSource + "//" + std::string(4096, ' ') + "\n");
  const std::string words = std::string(ATTUNE_EXECUTABLE) + " template import " + path("schema.json") + " -o " + path("made");
  const auto full = test::run({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1; " + words}, environment);
  CAPTURE(full.err);
  CHECK(full.exit_code == 4);
  CHECK_FALSE(std::filesystem::exists(folder / "made"));
  CHECK(import("schema.json", "made").exit_code == 0);
}

TEST_CASE_FIXTURE(Import,
                  "first values that no device can launch are no default, and those whose code is too large do not fail the check") {
  const std::string file = replaced(replaced(test::kSchemaT1, R"(, "Default": 64)", ""), "\"[32, 64, 128]\"", "\"[256, 64, 128]\"");
  write("dynamic.json", replaced(file, R"("LocalSize": {"X": "bx"},)", R"("LocalSize": {"X": "bx"}, "SharedMemory": "bx * 1024",)"));
  const auto imported = import("dynamic.json", "dynamic");
  CAPTURE(imported.out + imported.err);
  CHECK(imported.out.find("the first values cannot be launched: 262144 bytes of shared memory") != std::string::npos);
  CHECK(imported.out.find("the default has bx=64 instead") != std::string::npos);
  const auto launched = attune({"template", "check", path("dynamic")});
  CHECK(launched.exit_code == 0);
  CHECK(launched.out.find("is valid\n") != std::string::npos);

  write("scale.cu", replaced(test::kSchemaSource, "{\n", "{\n  __shared__ volatile float all[bx * 64];\n  all[threadIdx.x] = 1;\n"));
  write("static.json", file);
  CHECK(import("static.json", "static").exit_code == 0);
  const auto compiled = attune({"template", "check", path("static")});
  CAPTURE(compiled.out + compiled.err);
  CHECK(compiled.exit_code == 0);
  CHECK(compiled.out.find("the default configuration exceeds limits: ptxas error") != std::string::npos);
  CHECK(compiled.out.find("is valid, but its default cannot run") != std::string::npos);
}

}  // namespace test_template_import
