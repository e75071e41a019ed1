// What a tuning command says: events, the summary of what failed, progress where there is no terminal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_tuning_output {

using namespace attune;
using nlohmann::json;
using test::Cli;

namespace {

struct FailingCli : Cli {
  /// The recording of the fixture with two configurations of each problem that fail.
  FailingCli() {
    test::synthetic_recording(test::small_template(), {test::small_problem(1000), test::small_problem(100000)},
                              [](const std::string&, std::uint64_t i) { return i == 3 || i == 7 ? 0.0 : 5.0 + static_cast<double>(i); })
        .save(recording);
  }

  [[nodiscard]] std::vector<json> events(const std::vector<std::string>& more = {}) const {
    auto words = tune_words(more);
    words.emplace_back("--json");
    const auto result = attune(words);
    REQUIRE(result.exit_code == 0);
    std::vector<json> events;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) events.push_back(base::parse_json(line));
    REQUIRE(events.size() > 2);
    return events;
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(FailingCli, "the events begin with what is tuned on what, and end with the counts of the command") {
  const auto all = events();
  const json& start = all.front();
  CHECK(start["event"] == "start");
  CHECK(start["replay"] == true);
  CHECK(start["problems"] == 2);
  CHECK(start["template"] == "double_it");
  CHECK(start["database"] == database);
  CHECK(start["devices"].size() == 1);
  CHECK(start["devices"][0]["name"] == "Synthetic GPU");
  CHECK(start["run"].get<std::string>().size() == 32);
  const json& end = all.back();
  CHECK(end["event"] == "end");
  CHECK(end["interrupted"] == false);
  CHECK(end["problems"] == 2);
  CHECK(end["measured"] == 2 * space_size);
  CHECK(end["reused"] == 0);
  CHECK(end["failed"] == json{{"wrong_result", 4}});
  CHECK(end["failure_examples"]["wrong_result"]["detail"] == "made-up failure");
  CHECK(end["utilisation"].is_null());  // nothing ran
}

TEST_CASE_FIXTURE(FailingCli, "every configuration is told once, with its problem, and a failed one with its reason right after") {
  const auto all = events();
  std::map<std::string, std::set<std::string>> told;
  std::size_t records = 0, failures = 0, progress = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const json& event = all[i];
    progress += event["event"] == "progress" ? 1 : 0;
    if (event["event"] == "failure") ++failures;
    if (event["event"] != "record") continue;
    ++records;
    told[base::dump_json(event["problem"])].insert(base::dump_json(event["configuration"]));
    if (event["outcome"] == "ok") {
      CHECK(event["median_us"].get<double>() > 0);
      CHECK(event["verified"] == true);
      continue;
    }
    CHECK(event["median_us"].is_null());
    CHECK(event["verified"] == false);
    REQUIRE(i + 1 < all.size());
    const json& failure = all[i + 1];
    CHECK(failure["event"] == "failure");
    CHECK(failure["configuration"] == event["configuration"]);
    CHECK(failure["problem"] == event["problem"]);
    CHECK(failure["outcome"] == "wrong_result");
    CHECK(failure["detail"] == "made-up failure");
  }
  CHECK(records == 2 * space_size);
  CHECK(failures == 4);
  CHECK(progress >= 1);
  REQUIRE(told.size() == 2);
  for (const auto& [problem, configurations] : told) CHECK(configurations.size() == space_size);
}

TEST_CASE_FIXTURE(FailingCli, "what was known before is no record of this run, but its failures count") {
  (void)events();
  const auto again = events();
  for (const auto& event : again) CHECK(event["event"] != "record");
  CHECK(again.back()["reused"] == 2 * space_size);
  CHECK(again.back()["failed"] == json{{"wrong_result", 4}});
  CHECK(again.back()["failure_examples"]["wrong_result"]["detail"] == "made-up failure");
}

TEST_CASE_FIXTURE(FailingCli, "the summary says what failures cost, by kind with an example, and where to look further") {
  const auto result = attune(tune_words());
  CAPTURE(result.out);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "Lost to failures: 4 of " + std::to_string(2 * space_size) + " configurations"));
  CHECK(contains(result.out, "4 wrong_result, e.g. block_size="));
  CHECK(contains(result.out, ": made-up failure"));
  CHECK(contains(result.out, "attune show --failed"));
}

TEST_CASE_FIXTURE(Cli, "a run without failures has nothing to say about them, and without a terminal no progress line") {
  const auto result = attune(tune_words());
  CHECK_FALSE(contains(result.out, "Lost to failures"));
  CHECK_FALSE(contains(result.err, "\r"));
}

TEST_CASE_FIXTURE(Cli, "of several budget limits the first that is reached ends the search of each problem") {
  REQUIRE(attune(tune_words({"--budget", "1h,6,50%"})).exit_code == 0);
  const json shown = base::parse_json(attune({"db", "info", "--json"}).out);
  CHECK(shown["records"] == 12);
}

TEST_CASE_FIXTURE(
    Cli,
    "template check tells how many configurations of a space are different launches: few where few blocks are filled, all at a large size") {
  const auto check = [&](const std::string& n, bool as_json) {
    std::vector<std::string> words{"template", "check", "reduce", "--T", "f32", "--op", "sum", "--n", n};
    if (as_json) words.push_back("--json");
    const auto result = attune(words);
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    return result.out;
  };
  const auto small = base::parse_json(check("2^12", true)).at(0), large = base::parse_json(check("2^28", true)).at(0);
  CHECK(small["different_launches"].get<std::uint64_t>() < small["space_size"].get<std::uint64_t>() / 2);
  CHECK(large["different_launches"] == large["space_size"]);
  CHECK(check("2^12", false)
            .find(fmt::format(" combinations, {} of them different launches here\n", small["different_launches"].get<std::uint64_t>())) !=
        std::string::npos);
}

}  // namespace test_tuning_output
