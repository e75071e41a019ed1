// attune show --failed: what failed, why, and the very source that was compiled.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_show_failed {

using namespace attune;
using nlohmann::json;

namespace {

constexpr const char* kLog = "double_it.cu(3): error: made up\n  a line of it\n1 error detected.\n";

/// Two configurations of each problem do not compile, a third gives wrong results.
struct Failing : test::Cli {
  Failing() {
    auto made = test::synthetic_recording(test::small_template(), {test::small_problem(1000), test::small_problem(100000)},
                                          [](const std::string&, std::uint64_t i) { return i == 2 ? 0.0 : 5.0; });
    for (auto& problem : made.problems) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        auto& measurement = problem.measurements[i];
        measurement.outcome = measure::Outcome::CompileFailed;
        measurement.stage = measure::Stage::None;
        measurement.verified = false;
        measurement.timing = {};
        measurement.detail = kLog;
      }
      problem.finalists.clear();
      problem.rounds_us.clear();
      failed = {problem.measurements[0].configuration, problem.measurements[1].configuration};
    }
    made.save(recording);
    const auto tuned = attune(tune_words());
    CAPTURE(tuned.err);
    REQUIRE(tuned.exit_code == 0);
  }

  [[nodiscard]] json failures(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"show", "--failed", "double_it", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = attune(words);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return base::parse_json(result.out);
  }

  std::vector<std::string> failed;  ///< configurations that do not compile
};

std::string source_of(const std::string& configuration) {
  const auto kernel = test::small_template();
  return spec::make_source(kernel, test::small_problem(1000), spec::configuration_from_text(kernel, configuration),
                           spec::DeviceInfo::of_architecture("sm_90"));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(Failing, "every failure is listed with problem, configuration, outcome and the first line of its reason") {
  const std::string out = attune({"show", "--failed"}).out;
  CHECK(count(out, "compile_failed  double_it T=f32 n=1000 ") == 2);
  CHECK(count(out, "compile_failed  double_it T=f32 n=100000 ") == 2);
  CHECK(count(out, "wrong_result  double_it") == 2);
  CHECK(count(out, "    double_it.cu(3): error: made up\n") == 4);
  CHECK_FALSE(contains(out, "a line of it"));
  CHECK(contains(out, "4 compile_failed, 2 wrong_result"));
  CHECK(failures().size() == 6);
  CHECK(contains(attune({"show", "--failed", "another"}).out, "no failed configuration"));
}

TEST_CASE_FIXTURE(Failing, "--log prints the whole log and the exact source, once for all sizes") {
  const std::string out = attune({"show", "--failed", "--log"}).out;
  CHECK(count(out, "    double_it.cu(3): error: made up\n      a line of it\n    1 error detected.\n") == 4);
  for (const std::string& configuration : failed) CHECK(count(out, source_of(configuration)) == 1);
  // Two of six failures have a source of their own: sizes and launch-bound parameters never enter.
  CHECK(count(out, "source, compiled with -arch=sm_90 ") == 2);
  CHECK(count(out, "source: as of double_it T=f32 n=") == 4);
}

TEST_CASE_FIXTURE(Failing, "the source of a failure outlives every edit of the template") {
  const std::string before = source_of(failed[0]);
  write("double_it/double_it.cu", "// nothing is left\n");
  for (const json& failure : failures({"--log"})) {
    CHECK(failure["source"] == source_of(base::dump_json(failure["configuration"])));
    CHECK(failure["options"][0] == "-arch=sm_90");
  }
  CHECK(contains(attune({"show", "--failed", "--log"}).out, before));
}

TEST_CASE_FIXTURE(Failing, "one configuration is picked by any of its values") {
  const json wanted = base::parse_json(failed[0]);
  const std::string words = "block_size=" + base::dump_json(wanted["block_size"]) + " items=" + base::dump_json(wanted["items"]) +
                            " waves=" + base::dump_json(wanted["waves"]);
  for (const std::string& text : {words, failed[0]}) {
    const json found = failures({"--configuration", text});
    CHECK(found.size() == 2);
    for (const json& failure : found) CHECK(failure["configuration"] == wanted);
  }
  CHECK(failures({"--configuration", "block_size=7"}).empty());
  CHECK(attune({"show", "--failed", "--configuration", "block_size"}).exit_code == 2);
  CHECK(attune({"show", "--log"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Failing, "a database without the sources says so instead of showing others") {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &handle) == SQLITE_OK);
  CHECK(sqlite3_exec(handle, "DELETE FROM template_files", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
  const json found = failures({"--log"});
  CHECK(found.size() == 6);
  for (const json& failure : found) {
    CHECK_FALSE(failure.contains("source"));
    CHECK(contains(failure["source_missing"], "not stored"));
    CHECK(failure["detail"].get<std::string>().size() > 5);
  }
}

TEST_CASE_FIXTURE(Failing, "a time to compile that is none is refused before anything runs") {
  CHECK(attune(tune_words({"--compile-timeout", "0s"})).exit_code == 2);
  CHECK(attune(tune_words({"--compile-timeout", "soon"})).exit_code == 2);
  CHECK(attune(tune_words({"--compile-timeout", "500ms"})).exit_code == 0);
}

}  // namespace test_show_failed
