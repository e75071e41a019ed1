// Inputs and right answers that stand in files, and inputs that follow a pattern.
#include <doctest/doctest.h>

#include <filesystem>
#include <numeric>

#include "attune/error.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"

namespace test_stated_data {

using namespace attune;
using test::FakeGpu;
using test::npy_of;
using test::replaced;

namespace {

constexpr std::int64_t kElements = 1000;
const std::string kInput = R"("in": {"type": "T", "count": "n"})";

std::string numbers(std::int32_t first, std::int64_t count = kElements) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return npy_of("<i4", "(" + std::to_string(count) + ",)", values);
}

/// By fault.
std::map<std::string, std::string> outcomes_of(const FakeGpu& world) {
  std::map<std::string, std::string> found;
  for (const auto& record : world.records()) found[test::configuration_of(record)["fault"]] = record.outcome;
  return found;
}

/// `synthetic`, which copies: its input and its answer are files.
struct Stated : FakeGpu {
  Stated() {
    const std::string source = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/synthetic/";
    const std::string text = base::read_file(source + "template.json");
    const std::size_t begin = text.find("\"reference\""), end = text.find('\n', begin);
    spec = replaced(replaced(text, text.substr(begin, end - begin), R"("reference": {"outputs": {"out": "out.npy"}},)"), kInput,
                    R"("in": {"type": "T", "count": "n", "fill": {"file": "in.npy"}})");
    test::write_bytes(path() / "synthetic.cu", base::read_file(source + "synthetic.cu"));
    write("in.npy", numbers(5));
    write("out.npy", numbers(5));
    write("template.json", spec);
  }
  [[nodiscard]] std::filesystem::path path() const {
    std::filesystem::create_directories(folder / "synthetic");
    return folder / "synthetic";
  }
  void write(const std::string& name, const std::string& bytes) const { test::write_bytes(path() / name, bytes); }
  [[nodiscard]] test::CommandResult tune(const std::vector<std::string>& more = {}) const {
    auto words =
        tune_words("matrix", {"--where", "fault in ['none', 'wrong_result', 'partial_write', 'out_of_bounds_write', 'input_write']"});
    words[1] = path().string();
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  [[nodiscard]] std::map<std::string, std::string> outcomes() const { return outcomes_of(*this); }
  /// Of `synthetic` with its own reference, tuned in a world of its own with this fill of its input.
  [[nodiscard]] std::map<std::string, std::string> outcomes_with(const std::string& fill) const {
    const std::string synthetic = base::read_file(std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/synthetic/template.json");
    write("template.json", replaced(synthetic, kInput, R"("in": {"type": "T", "count": "n", "fill": )" + fill + "}"));
    FakeGpu other;
    auto words = other.tune_words("matrix", {"--where", "fault in ['none', 'wrong_result', 'input_write']"});
    words[1] = path().string();
    const auto result = other.attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return outcomes_of(other);
  }
  std::string spec;
};

}  // namespace

TEST_CASE_FIXTURE(Stated, "results are compared with the file that says what they must be, on the file's input") {
  const auto result = tune();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  const auto found = outcomes();
  CHECK(found.at("none") == "ok");
  CHECK(found.at("wrong_result") == "wrong_result");
  CHECK(found.at("partial_write") == "wrong_result");
  CHECK(found.at("out_of_bounds_write") == "wrong_result");
  CHECK(found.at("input_write") == "wrong_result");
  for (const auto& record : records()) CHECK((record.outcome != "ok" || record.verified));
}

TEST_CASE_FIXTURE(Stated, "an answer that no configuration gives leaves no winner, and the first element that differs is told") {
  auto wrong = numbers(5);
  wrong[wrong.size() - 8] ^= 1;  // the last but one
  write("out.npy", wrong);
  const auto result = tune();
  CHECK(result.exit_code != 0);
  for (const auto& record : records()) {
    CHECK(record.outcome == "wrong_result");
    if (test::configuration_of(record)["fault"] == "none") CHECK(record.detail_json.find("998") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Stated, "a file of another size or type is refused before anything runs, at its place") {
  write("out.npy", numbers(5, 999));
  auto result = tune();
  CHECK(result.exit_code == static_cast<int>(ExitCode::Spec));
  CHECK(result.err.find("the file 'out.npy' holds 999 elements of i32, and the buffer 'out' has 1000 elements of i32") !=
        std::string::npos);
  CHECK(result.err.find("template.json:") != std::string::npos);
  write("out.npy", npy_of<float>("<f4", "(1000,)", std::vector<float>(1000)));
  result = tune();
  CHECK(result.exit_code == static_cast<int>(ExitCode::Spec));
  CHECK(result.err.find("the file 'out.npy' holds 1000 elements of f32") != std::string::npos);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(Stated, "results of other contents are not those of a later file") {
  CHECK(tune().exit_code == 0);
  const std::size_t stored = records().size();
  CHECK(tune().out.find("0 configurations measured") != std::string::npos);
  write("in.npy", numbers(6));
  write("out.npy", numbers(6));
  CHECK(tune().exit_code == 0);
  CHECK(records().size() == 2 * stored);
}

TEST_CASE_FIXTURE(Stated, "inputs that follow a pattern are compared by a kernel at every size, and may not be written to") {
  for (const char* const fill : {R"("index")", R"("permutation")", R"({"range": [3, 9]})", R"({"offsets": "7 * n"})", R"({"value": 11})"}) {
    CAPTURE(fill);
    const auto found = outcomes_with(fill);
    CHECK(found.at("none") == "ok");
    CHECK(found.at("wrong_result") == "wrong_result");
    CHECK(found.at("input_write") == "wrong_result");
  }
}

TEST_CASE_FIXTURE(Stated, "a fill that a type cannot hold ends the command before anything runs, with its place") {
  write("template.json", replaced(spec, R"({"file": "in.npy"})", R"({"value": 3000000000})"));
  const auto result = tune();
  CHECK(result.exit_code == static_cast<int>(ExitCode::Spec));
  CHECK(result.err.find("template.json:") != std::string::npos);
  CHECK(result.err.find("has 3000000000, which is no i32") != std::string::npos);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(Stated, "a fill that only a size of verifying cannot have leaves that size out") {
  // Possible at the asked size alone: every other one leaves nothing below the second bound.
  for (const char* const fill : {R"x({"range": [0, "n // 1000 * (n % 1000 == 0)"]})x", R"x({"value": "7 // int(n == 1000)"})x"}) {
    CAPTURE(fill);
    const auto found = outcomes_with(fill);
    CHECK(found.at("none") == "ok");
    CHECK(found.at("input_write") == "wrong_result");
  }
}

}  // namespace test_stated_data
