// Setup prepares what launches read, check makes of their outputs what is compared: shared by all configurations, or each with its own.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <utility>

#include "attune/error.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"

namespace test_setup_and_check {

using namespace attune;
using test::FakeGpu;
using test::replaced;

namespace {

/// The template `packed`, changed.
struct Packed : FakeGpu {
  Packed() {
    test::write_bytes(path() / "packed.cu", base::read_file(source / "packed.cu"));
    text = base::read_file(source / "template.json");
  }
  [[nodiscard]] std::filesystem::path path() const {
    std::filesystem::create_directories(folder / "packed");
    return folder / "packed";
  }
  [[nodiscard]] test::CommandResult run(const std::string& command, const std::vector<std::string>& more = {}) const {
    test::write_bytes(path() / "template.json", text);
    std::vector<std::string> words{command, path().string(), "--rows", "100", "--columns", "37"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  [[nodiscard]] test::CommandResult tune() const { return run("tune", {"--db", database, "--compile-workers", "2"}); }
  /// The template's setup lays out by a parameter that no launch shares.
  void give_each_its_own() { text = replaced(text, R"("layout": 1)", R"("layout": "by_columns")"); }
  /// Whether every configuration without a defect is right and verified, and each defect found; `packed` twice, by its two defects.
  void check_outcomes() const {
    std::map<std::string, std::map<std::string, int>> found;
    for (const auto& record : records()) {
      const std::string defect = test::configuration_of(record)["defect"];
      ++found[defect][record.outcome];
      CHECK((record.outcome != "ok" || record.verified));
      CAPTURE(defect);
      CAPTURE(test::detail_of(record));
      const auto says = [&](const char* what) { return test::detail_of(record).find(what) != std::string::npos; };
      if (defect == "writes_packed") CHECK(says("wrote to prepared buffer \"packed\""));
      if (defect == "past_packed") CHECK(says("wrote past the end of buffer \"packed\""));
      if (defect == "wrong_part") CHECK(says("output \"out\""));
    }
    CHECK(found["none"].size() == 1);
    CHECK(found["none"]["ok"] > 1);
    for (const char* const defect : {"writes_packed", "wrong_part", "past_packed"}) {
      CAPTURE(defect);
      CHECK(found[defect].size() == 1);
      CHECK(found[defect]["wrong_result"] > 0);
    }
  }

  const std::filesystem::path source = std::filesystem::path(ATTUNE_SOURCE_DIR) / "tests/support/fake_templates/packed";
  std::string text;
};

}  // namespace

TEST_CASE_FIXTURE(Packed, "what a shared setup prepared is read by all, and what check sums is compared") {
  const auto result = tune();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_outcomes();
}

TEST_CASE_FIXTURE(Packed,
                  "a setup that depends on a parameter is run by each configuration, before it is verified and before it is timed") {
  give_each_its_own();
  const auto result = tune();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_outcomes();
  std::set<int> layouts;
  for (const auto& record : records())
    if (record.outcome == "ok") layouts.insert(test::configuration_of(record)["by_columns"].get<int>());
  CHECK(layouts == std::set<int>{0, 1});
}

TEST_CASE_FIXTURE(Packed, "a shared setup that writes to an input ends the command, and no configuration is blamed") {
  text = replaced(text, R"("packed", "rows", "columns", "layout"]}],)", R"("packed", "rows", "columns", {"spoils": "i64"}]}],)");
  text = replaced(text, R"("layout": 1)", R"("layout": 1, "spoils": 2)");
  const auto result = tune();
  CHECK(result.exit_code == static_cast<int>(ExitCode::Spec));
  CHECK_MESSAGE(result.err.find("failed running \"setup\" with the default configuration (the asked size,") != std::string::npos,
                result.err);
  CHECK_MESSAGE(result.err.find("it wrote to input \"in\" at 1 places, first at 1") != std::string::npos, result.err);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(Packed, "a setup of its own that writes to an input makes its configurations wrong") {
  text = replaced(text, R"("layout": 1)", R"("layout": 1, "spoils": "2 - by_columns")");
  text = replaced(text, R"("packed", "rows", "columns", "layout"]}],)", R"("packed", "rows", "columns", "spoils"]}],)");
  const auto result = tune();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  for (const auto& record : records()) {
    const auto configuration = test::configuration_of(record);
    if (configuration["defect"] != "none") continue;
    const bool spoils = configuration["by_columns"] == 0;
    CHECK(record.outcome == (spoils ? "wrong_result" : "ok"));
    if (spoils) CHECK(test::detail_of(record).find("wrote to input \"in\"") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Packed, "a shared setup with other arguments than its kernel ends the command with the file and the word setup") {
  text = replaced(text, R"("packed", "rows", "columns", "layout"]}],)", R"("packed", {"rows": "i32"}, "columns", "layout"]}],)");
  const auto result = tune();
  CHECK(result.exit_code == static_cast<int>(ExitCode::Spec));
  CHECK_MESSAGE(result.err.find("template.json: \"setup\": failed binding kernel \"packed_setup\": argument 3") != std::string::npos,
                result.err);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(Packed, "a workspace of setup or check alone lies between guards") {
  const std::string buffers = R"("buffers": {)", past = "wrote past the end of buffer \"scratch\"";
  const auto all_wrong = [&] {
    const auto stored = records();
    CHECK_FALSE(stored.empty());
    for (const auto& record : stored) {
      CHECK(record.outcome == "wrong_result");
      CHECK_MESSAGE(test::detail_of(record).find(past) != std::string::npos, test::detail_of(record));
    }
  };
  text = replaced(text, R"("none", "writes_packed", "wrong_part", "past_packed")", R"("none")");
  const auto add = [&](const std::string& count, const std::string& steps, const std::string& step) {
    text = replaced(text, buffers, buffers + R"("scratch": {"type": "i32", "workspace": true, "count": ")" + count + "\"},");
    text = replaced(text, "\"" + steps + "\": [", "\"" + steps + R"(": [{"grid": 1, "block": 64, )" + step + "},");
  };
  const std::string setup = R"("kernel": "packed_setup", "args": ["in", "scratch", "rows", "columns", "layout"])";
  SUBCASE("of check") {
    add("rows - 1", "check", R"("kernel": "packed_check", "args": ["parts", "scratch", "rows"])");
    static_cast<void>(tune());
    all_wrong();
  }
  SUBCASE("of a setup of its own") {
    add("rows * columns - 1", "setup", setup);
    give_each_its_own();
    static_cast<void>(tune());
    all_wrong();
  }
  SUBCASE("of a shared setup") {
    add("rows * columns - 1", "setup", setup);
    const auto result = tune();
    CHECK(result.exit_code == static_cast<int>(ExitCode::Spec));
    CHECK_MESSAGE(result.err.find("failed running \"setup\"") != std::string::npos, result.err);
    CHECK_MESSAGE(result.err.find(past) != std::string::npos, result.err);
    CHECK(records().empty());
  }
}

TEST_CASE_FIXTURE(Packed, "check finds what a call left in a workspace, whatever windows were timed since") {
  const std::filesystem::path sums = std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates/references/segmented_reduce";
  test::write_bytes(path() / "reference.cu", base::read_file(sums / "reference.cu"));
  std::string reference = base::read_file(sums / "reference.json");
  test::write_bytes(path() / "rows.json", reference.insert(reference.rfind('}'), R"(, "groups": 3)"));
  text = replaced(text, R"("problem": {)", R"("problem": {"T": {"type": ["i32"]}, "op": {"choice": ["sum"]}, )");
  text = replaced(text, R"("count": "4 * rows", "output": true, "compare": false)", R"("count": "4 * rows", "workspace": true)");
  text = replaced(text, R"("in": {"type": "i32")", R"("in": {"type": "T")");
  text = text.substr(0, text.find(R"("reference":)")) + R"("reference": {"file": "rows.json"}})";
  const auto result = run("tune", {"--T", "i32", "--op", "sum", "--db", database, "--compile-workers", "2"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_outcomes();
}

TEST_CASE_FIXTURE(Packed, "what a reference plants and alters goes through setup, shared or not, so that every defect is found by it") {
  const std::filesystem::path scan = std::filesystem::path(ATTUNE_SOURCE_DIR) / "tests/support/fake_templates/arg_scan";
  const std::string kernels = base::read_file(source / "packed.cu");
  test::write_bytes(path() / "arg_scan.cu",
                    base::read_file(scan / "arg_scan.cu") + kernels.substr(0, kernels.find("extern \"C\" __global__ void __launch")));
  std::string copied = base::read_file(scan / "template.json");
  copied = replaced(copied, R"("in": {"type": "T", "count": "n"},)",
                    R"("in": {"type": "T", "count": "n"}, "packed": {"type": "T", "count": "n", "prepared": true},)");
  copied = replaced(copied, R"("args": ["in",)", R"("args": ["packed",)");
  copied = replaced(
      copied, R"("launches": [)",
      R"("setup": [{"kernel": "packed_setup", "grid": 1, "block": 64, "args": ["in", "packed", "n", "one", "layout"]}], "launches": [)");
  for (const char* const layout : {"0", "0 * code"}) {
    CAPTURE(layout);
    text = replaced(copied, R"("let": {)", R"("let": {"one": "1", )");
    const std::string last = "* (defect == 'reads_too_far')\"";
    text = replaced(text, last, last + ", \"layout\": \"" + layout + "\"");
    test::write_bytes(path() / "template.json", text);
    database = (folder / (std::to_string(std::string(layout).size()) + ".db")).string();
    const auto result = attune({"tune", path().string(), "--size", "1000", "--T", "f32", "--op", "max", "--db", database});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const auto stored = records();
    CHECK(stored.size() == 10);
    for (const auto& record : stored) {
      const std::string defect = test::configuration_of(record)["defect"];
      CAPTURE(defect);
      CAPTURE(test::detail_of(record));
      CHECK(record.outcome == (defect == "none" ? "ok" : "wrong_result"));
    }
  }
}

TEST_CASE_FIXTURE(Packed, "the check of a template binds setup and check as well, and tells what is wrong with which") {
  const auto check = [&](const std::string& from, const std::string& to) {
    const std::string before = std::exchange(text, from.empty() ? text : replaced(text, from, to));
    test::write_bytes(path() / "template.json", text);
    auto result = attune({"template", "check", path().string(), "--sample", "4"});
    text = before;
    return result;
  };
  CHECK(check("", "").exit_code == 0);
  const auto unknown = check(R"("kernel": "packed_check")", R"("kernel": "packed_chek")");
  CHECK(unknown.exit_code == static_cast<int>(ExitCode::Spec));
  CHECK_MESSAGE(unknown.err.find("the launch of \"packed_chek\" names no compiled kernel") != std::string::npos, unknown.err);
  CHECK_MESSAGE(unknown.err.find("template.json:26:") != std::string::npos, unknown.err);
  CHECK(check(R"("kernel": "packed_setup")", R"("kernel": "packed_setp")").err.find("\"packed_setp\" names no compiled kernel") !=
        std::string::npos);
  const auto narrow = check(R"(["parts", "out", "rows"])", R"(["parts", "out", {"rows": "i32"}])");
  CHECK(narrow.exit_code == static_cast<int>(ExitCode::NothingValid));
  CHECK_MESSAGE(narrow.out.find("check: argument 3 of \"packed_check\" has 8 bytes, and 4 are passed") != std::string::npos, narrow.out);
  const auto few = check(R"(["in", "packed", "rows", "columns", "layout"]}],)", R"(["in", "packed", "rows", "columns"]}],)");
  CHECK_MESSAGE(few.out.find("setup: \"packed_setup\" takes 5 arguments, and 4 are passed") != std::string::npos, few.out);
}

TEST_CASE_FIXTURE(Packed, "a check that the device cannot launch makes configurations exceed limits, and says that it is the check") {
  text = replaced(text, R"("block": 64, "args": ["parts")", R"("block": "block_size * 16", "args": ["parts")");
  const auto result = tune();
  CAPTURE(result.err);
  for (const auto& record : records()) {
    if (test::configuration_of(record)["block_size"] != 128) continue;
    CHECK(record.outcome == "exceeds_limits");
    CHECK(test::detail_of(record).find("check: block.x of 2048 exceeds") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Packed, "attune source tells the launches of setup and check beside the others") {
  const auto told = nlohmann::json::parse(run("source", {"--json"}).out);
  CHECK(told.at("kernels").size() == 1);
  CHECK(told.at("setup").at(0).at("kernel") == "packed_setup");
  CHECK(told.at("check").at(0).at("kernel") == "packed_check");
}

}  // namespace test_setup_and_check
