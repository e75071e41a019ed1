// `attune template import` of a Kernel Tuner script that says which results are right: its arrays and its answer become the template's.
// Needs NumPy, as such scripts do.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/skip.hpp"

namespace test_script_import_answers {

using namespace attune;
using test::Cli;
using test::replaced;

namespace {

/// a: fractions in no order, as random numbers are; offsets: ordered; b: one number.
constexpr char kScript[] = R"py(
import kernel_tuner, numpy
source = """
extern "C" __global__ void add(float* c, const float* a, const float* b, const int* offsets, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + offsets[i];
}
"""
n = 1000
a = (numpy.arange(n) * 7919 % n / 1024).astype(numpy.float32)
c, b, offsets = numpy.zeros_like(a), numpy.full_like(a, 2.5), numpy.arange(n, dtype=numpy.int32)
right = (a + b + offsets).astype(numpy.float32)
kernel_tuner.tune_kernel("add", source, n, [c, a, b, offsets, numpy.int32(n)], {"block_size_x": [64, 128]},
                         answer=[right, None, None, None, None], atol=1e-4)
)py";

std::vector<float> random_numbers() {
  std::vector<float> all;
  for (int i = 0; i < 1000; ++i) all.push_back(static_cast<float>(i * 7919 % 1000) / 1024);
  return all;
}

struct Answered : Cli {
  /// Whether an interpreter has NumPy, which scripts are run with then; skips the test where none has.
  [[nodiscard]] static bool has_numpy() {
    const char* const named = std::getenv("ATTUNE_PYTHON");
    for (const std::string python :
         {named != nullptr && *named != '\0' ? named : "python3", "/usr/bin/python3"}) {  // which Debian's packages are for
      if (test::run({python, "-c", "import numpy"}).exit_code != 0) continue;
      ::setenv("ATTUNE_PYTHON", python.c_str(), 1);
      return true;
    }
    test::skip("no interpreter of Python has NumPy");
    return false;
  }
  [[nodiscard]] test::CommandResult import(const std::string& text, const std::vector<std::string>& more = {}) const {
    write("tune.py", text);
    std::vector<std::string> words = {"template", "import", (folder / "tune.py").string(), "-o", (folder / "out").string()};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  /// Whether the template's file is numpy's, of these elements.
  template <class T>
  [[nodiscard]] bool holds(const std::string& file, const std::vector<T>& elements) const {
    const std::string bytes = read("out/" + file);
    return bytes.rfind("\x93NUMPY", 0) == 0 && bytes.ends_with(test::raw_bytes(elements)) && bytes.size() < 4 * elements.size() + 256;
  }
  [[nodiscard]] bool says(const std::string& text) const { return read("out/template.json").find(text) != std::string::npos; }
};

}  // namespace

TEST_CASE_FIXTURE(Answered, "an answer is the template's reference, its data fill the inputs, and the template passes the check") {
  if (!has_numpy()) return;
  const auto imported = import(kScript);
  CAPTURE(imported.out + imported.err);
  REQUIRE(imported.exit_code == 0);
  CHECK(says(R"("outputs": {"c": "answer/0.npy"},)"));
  CHECK(says(R"("tolerance": {"relative": 1e-05, "absolute": 0.0001})"));
  CHECK(says(R"("a": {"type": "f32", "count": 1000, "fill": {"file": "args/1.npy"}, "align": 16})"));
  CHECK(says(R"("b": {"type": "f32", "count": 1000, "fill": {"value": 2.5}, "align": 16})"));
  CHECK(says(R"("c": {"type": "f32", "count": 1000, "input": true, "output": true, "fill": "zeros", "align": 16})"));
  const std::vector<float> a = random_numbers();
  std::vector<float> sums;
  std::vector<int> offsets;
  for (int i = 0; i < 1000; ++i) {
    offsets.push_back(i);
    sums.push_back(a[static_cast<std::size_t>(i)] + 2.5F + static_cast<float>(i));
  }
  CHECK(holds("args/1.npy", a));
  CHECK(holds("args/3.npy", offsets));
  CHECK(holds("answer/0.npy", sums));
  const auto checked = attune({"template", "check", (folder / "out").string(), "--sample", "2"});
  CAPTURE(checked.out + checked.err);
  CHECK(checked.exit_code == 0);
  CHECK(checked.out.find("of 2 configurations 2 fit") != std::string::npos);
}

TEST_CASE_FIXTURE(Answered, "without an answer ordered numbers come from their file, and others of the same kind stand for random ones") {
  if (!has_numpy()) return;
  const auto imported = import(replaced(kScript, "answer=[right, None, None, None, None], ", ""));
  CAPTURE(imported.out + imported.err);
  REQUIRE(imported.exit_code == 0);
  CHECK(says(R"("a": {"type": "f32", "count": 1000, "align": 16})"));
  CHECK(says(R"("offsets": {"type": "i32", "count": 1000, "fill": {"file": "args/3.npy"}, "align": 16})"));
  CHECK(says(R"("reference": "none")"));
  CHECK_FALSE(std::filesystem::exists(folder / "out/args/1.npy"));
  CHECK(attune({"template", "check", (folder / "out").string()}).exit_code == 0);
}

TEST_CASE_FIXTURE(Answered, "an answer whose data are larger than asked for is left out, and the remedy told") {
  if (!has_numpy()) return;
  const auto imported = import(kScript, {"--largest-array", "0"});
  CAPTURE(imported.out + imported.err);
  REQUIRE(imported.exit_code == 0);
  CHECK(imported.out.find("left out: the expected result of 'c': its contents are in no file; a larger --largest-array keeps them") !=
        std::string::npos);
  CHECK(says(R"("reference": "none")"));
  CHECK_FALSE(std::filesystem::exists(folder / "out/args"));
  CHECK_FALSE(std::filesystem::exists(folder / "out/answer"));
}

TEST_CASE_FIXTURE(Answered,
                  "an answer that run_kernel should give is none: a line names the kernel, and results are compared with nothing") {
  if (!has_numpy()) return;
  std::string script = replaced(kScript, "right = (a + b + offsets).astype(numpy.float32)",
                                R"(given = [c, a, b, offsets, numpy.int32(n)]
right = kernel_tuner.run_kernel("add", source, n, given, {"block_size_x": 64})[0][:])");
  for (const std::string answer : {"right", "numpy.array(right)"}) {
    CAPTURE(answer);
    std::filesystem::remove_all(folder / "out");
    const auto imported = import(replaced(script, "answer=[right,", "answer=[" + answer + ","));
    CAPTURE(imported.out + imported.err);
    REQUIRE(imported.exit_code == 0);
    const std::size_t line = imported.out.find("left out: the expected result of 'c': it");
    REQUIRE(line != std::string::npos);
    CHECK(imported.out.find(R"(run_kernel of "add")", line) != std::string::npos);
    CHECK(imported.out.find("which is not run here; give the template a reference that launches it", line) != std::string::npos);
    CHECK(imported.out.find("to decide: \"reference\": it is \"none\"") != std::string::npos);
    CHECK(says(R"("reference": "none")"));
    CHECK_FALSE(std::filesystem::exists(folder / "out/answer"));
    CHECK(attune({"template", "check", (folder / "out").string()}).exit_code == 0);
  }
}

TEST_CASE_FIXTURE(Answered, "the reference that a note says in place of run_kernel is one that the template takes") {
  if (!has_numpy()) return;
  const std::string plain = R"(extern "C" __global__ void plain(float* c, const float* a, const float* b, const int* offsets, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + offsets[i];
}
""")";
  std::string script = replaced(kScript, "\"\"\"\nn = 1000", plain + "\nn = 1000");
  script = replaced(script, "right = (a + b + offsets).astype(numpy.float32)",
                    R"(given = [c, a, b, offsets, numpy.int32(n)]
right = kernel_tuner.run_kernel("plain", source, n, given, {"block_size_x": 128})[0])");
  const auto imported = import(script);
  CAPTURE(imported.out + imported.err);
  REQUIRE(imported.exit_code == 0);
  const std::string launched =
      R"json({"launches": [{"kernel": "plain", "grid": ["ceil_div(1000, block_size_x)"], "block": ["block_size_x"], )json"
      R"json("args": ["c", "a", "b", "offsets", "n"]}]})json";
  REQUIRE(imported.out.find(launched) != std::string::npos);
  write("out/template.json", replaced(read("out/template.json"), R"("reference": "none")", R"("reference": )" + launched));
  const auto checked = attune({"template", "check", (folder / "out").string(), "--sample", "2"});
  CAPTURE(checked.out + checked.err);
  CHECK(checked.exit_code == 0);
  CHECK(checked.out.find("of 2 configurations 2 fit") != std::string::npos);
}

}  // namespace test_script_import_answers
