// Tuning from a recording through the real executable and the real database file.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/spec/device_info.hpp"

namespace test_tuning {

using namespace attune;
using nlohmann::json;
using test::Cli;
using test::json_lines;

TEST_CASE_FIXTURE(Cli, "a replayed run says on its first line that nothing is measured, and where the times come from") {
  const auto result = attune(tune_words());
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  const std::string first = result.out.substr(0, result.out.find('\n'));
  CHECK(first.find("REPLAY, nothing is measured here") == 0);
  CHECK(first.find("Synthetic GPU") != std::string::npos);
  CHECK(first.find("2026-01-02") != std::string::npos);
  CHECK(result.out.find("n=1000") != std::string::npos);
}

TEST_CASE_FIXTURE(Cli, "what a recording does not hold is told once for all problems of a replay") {
  auto partial = session::Recording::load(recording);
  REQUIRE(partial.problems.size() == 2);
  std::size_t leave_out = 3;
  for (auto& problem : partial.problems) {
    auto& rows = problem.measurements;
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.timing.median_us < b.timing.median_us; });
    rows.resize(rows.size() - leave_out);  // the finalists are among the fastest
    leave_out = 1;
  }
  partial.save(recording);
  const auto result = attune(tune_words());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const std::string told = "4 configurations of 2 problems (1 to 3 of each) are not in the recording and were left out";
  const std::size_t first = result.err.find(told);
  REQUIRE(first != std::string::npos);
  CHECK(result.err.find("not in the recording", first + told.size()) == std::string::npos);
}

TEST_CASE_FIXTURE(Cli, "a second run of the same command measures nothing more") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto again = attune(tune_words({"--json"}));
  CHECK(again.exit_code == 0);
  std::size_t problems = 0;
  for (const auto& event : json_lines(again.out)) {
    if (event["event"] != "problem") continue;
    ++problems;
    CHECK(event["measured"] == 0);
    CHECK(event["reused"] == space_size);
    CHECK(event["nothing_left"] == true);
  }
  CHECK(problems == 2);
}

TEST_CASE_FIXTURE(Cli, "runs killed with -9 at any moment end with every configuration recorded once") {
  int killed = 0;
  for (int attempt = 0; attempt < 40; ++attempt) {
    auto words = tune_words();
    words.insert(words.begin(), ATTUNE_EXECUTABLE);
    const int pid = test::start(words, environment);
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + attempt));
    ::kill(pid, SIGKILL);
    if (test::wait_for(pid) == 128 + SIGKILL) ++killed;
  }
  CHECK(killed > 0);
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto opened = db::Database::open(database, db::OpenMode::ReadOnly);
  CHECK(opened.records({}).size() == 2 * space_size);
  CHECK(opened.in_flight().empty());
  CHECK(attune({"db", "check"}).exit_code == 0);
}

TEST_CASE_FIXTURE(Cli, "Ctrl-C ends a run with 130, keeps what was done, and the same command goes on from there") {
  const std::vector<std::string> words = {
      "tune", "reduce", "--T",           "f32",      "--op",
      "sum",  "--size", "2^10..2^16:x4", "--replay", ATTUNE_SOURCE_DIR "/templates/reduce/recordings/h200_f32_sum_cold.json.zst"};
  auto with_program = words;
  with_program.insert(with_program.begin(), ATTUNE_EXECUTABLE);
  const int pid = test::start(with_program, environment);
  // Interrupted as soon as the first measurement is stored, whatever the machine's speed.
  const auto stored = [&] {
    try {
      return db::Database::open(database, db::OpenMode::ReadOnly).info().records;
    } catch (const DatabaseError&) {
      return std::uint64_t{0};  // not created yet
    }
  };
  for (int wait = 0; wait < 12000 && stored() == 0; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(pid, SIGINT);
  CHECK(test::wait_for(pid) == 130);
  const std::uint64_t kept = stored();
  CHECK(kept > 0);
  auto again = words;
  again.push_back("--json");
  const auto sum_of = [](const std::string& lines, const char* count) {
    std::uint64_t sum = 0;
    for (const auto& event : json_lines(lines))
      if (event["event"] == "problem") sum += event[count].get<std::uint64_t>();
    return sum;
  };
  const auto second = attune(again).out;
  const auto undisturbed = attune(again, {{"ATTUNE_DB", (folder / "undisturbed.db").string()}}).out;
  CHECK(sum_of(undisturbed, "reused") == 0);
  CHECK(sum_of(second, "reused") == kept);
  CHECK(kept + sum_of(second, "measured") == sum_of(undisturbed, "measured"));
}

TEST_CASE_FIXTURE(Cli, "a count budget with a seed tries the same configurations in every fresh database") {
  const std::vector<std::string> words = tune_words({"--strategy", "random", "--seed", "7", "--budget", "6"});
  REQUIRE(attune(words).exit_code == 0);
  REQUIRE(attune(words, {{"ATTUNE_DB", (folder / "other.db").string()}}).exit_code == 0);
  const auto texts = [](const std::string& path) {
    std::vector<std::string> found;
    for (const auto& row : db::Database::open(path, db::OpenMode::ReadOnly).records({})) found.push_back(row.problem + row.configuration);
    return found;
  };
  const auto first = texts(database);
  CHECK(first.size() == 12);
  CHECK(first == texts((folder / "other.db").string()));
}

TEST_CASE_FIXTURE(Cli, "show, devices and db info print what tuning stored, as text and as JSON") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto shown = attune({"show", "double_it", "--json"});
  REQUIRE(shown.exit_code == 0);
  const json rows = base::parse_json(shown.out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["template"] == "double_it");
  CHECK(rows[0]["median_us"] == 5.0);
  CHECK(attune({"show"}).out.find("Synthetic GPU") != std::string::npos);
  const json devices = base::parse_json(attune({"devices", "--json"}).out);
  REQUIRE(devices["known"].size() == 1);
  CHECK(devices["known"][0]["name"] == "Synthetic GPU");
  const json info = base::parse_json(attune({"db", "info", "--json"}).out);
  CHECK(info["records"] == 2 * space_size);
  CHECK(attune({"db", "path"}).out.find(database) == 0);
}

TEST_CASE_FIXTURE(Cli, "explain takes the exact record at a tuned size and the nearest one between tuned sizes") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto explain = [&](const std::string& size) {
    const auto result = attune({"explain", kernel, "--T", "f32", "--size", size, "--device", "Synthetic GPU", "--db", database, "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return base::parse_json(result.out)[0];
  };
  const json exact = explain("1000");
  CHECK(exact["donor_problem"]["n"] == 1000);
  const json between = explain("90000");
  CHECK(between["donor_problem"]["n"] == 100000);
  CHECK(between["tier"] != exact["tier"]);
  const auto other = attune({"explain", kernel, "--T", "f64", "--size", "1000", "--device", "sm_80", "--db", database, "--json"});
  CHECK(base::parse_json(other.out)[0]["donor_problem"].is_null());
}

TEST_CASE_FIXTURE(Cli, "the report comes in four formats from one database") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const std::string page = (folder / "report.html").string();
  CHECK(attune({"report", "double_it", "--output", page}).exit_code == 0);
  CHECK(read("report.html").find("Synthetic GPU") != std::string::npos);
  CHECK(base::parse_json(attune({"report", "double_it", "--format", "json"}).out).is_object());
  CHECK(attune({"report", "double_it", "--format", "md"}).out.find("| ") != std::string::npos);
  const auto csv = attune({"report", "double_it", "--format", "csv"}).out;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
}

TEST_CASE_FIXTURE(Cli, "template check prints the space size and compiles for any architecture without a GPU") {
  for (const char* architecture : {"sm_80", "sm_90"}) {
    const auto result = attune({"template", "check", kernel, "--arch", architecture, "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json checked = base::parse_json(result.out)[0];
    CHECK(checked["space_size"] == space_size);
    CHECK(checked["compiles"] == true);
    CHECK(checked["kernels"].size() == 2);
  }
}

TEST_CASE_FIXTURE(Cli, "every command explains itself and help is no failure") {
  CHECK(attune({"--help"}).exit_code == 0);
  CHECK(attune({"--version"}).out.find("attune ") == 0);
  for (const char* command : {"tune", "ladder", "show", "explain", "report", "record", "renew", "template", "source", "compile", "export",
                              "devices", "doctor", "db", "cache", "layer", "simulate", "completion", "manual"}) {
    CAPTURE(command);
    const auto help = attune({command, "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.out.find("Usage") != std::string::npos);
  }
}

}  // namespace test_tuning
