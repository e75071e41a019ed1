// Where what a program tunes on a miss is kept, and what happens when it cannot be.
#include <doctest/doctest.h>

#include <fstream>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/on_miss_fixture.hpp"
#include "tests/support/figures.hpp"

namespace test_on_miss_places {

using namespace attune;
using nlohmann::json;
using test::best_configuration;
using test::check_kept_in_memory;
using test::kInMemory;
using test::OnMissProgram;

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTwoTunings = {"launch:1000", "launch:10000", "counters"};

}  // namespace

TEST_CASE_FIXTURE(OnMissProgram, "a folder that nobody can write: results stay in memory, told once") {
  environment["ATTUNE_DB"] = "/proc/attune-test/tune.db";
  check_kept_in_memory(program("now", kTwoTunings), "unwritable_folder");
}

TEST_CASE_FIXTURE(OnMissProgram, "a disk that fills while tuning, at whatever moment, costs the file and never the result") {
  std::vector<std::string> limits = {"16", "320"};  // blocks of 512 bytes: before the schema, and amid the records
  if (test::full_campaign()) {
    for (int blocks = 32; blocks < 1000; blocks += 16) limits.push_back(std::to_string(blocks));
  }
  std::size_t right = 0, in_memory = 0, notices = 0;
  for (const auto& blocks : limits) {
    CAPTURE(blocks);
    environment["ATTUNE_DB"] = (folder / ("limit" + blocks + ".db")).string();
    // SIGXFSZ ignored, as a program that means to survive a full disk does; the worker does so by itself.
    std::vector<std::string> limited = {"/bin/sh", "-c", "trap '' XFSZ; ulimit -f " + blocks + "; exec \"$@\"", "sh"};
    const auto program_words = words("now", {"launch:1000", "counters"});
    limited.insert(limited.end(), program_words.begin(), program_words.end());
    const auto result = run_program(limited);
    const test::Said said{result.exit_code, result.err, test::json_lines(result.out)};
    CHECK(said.exit_code == 0);
    REQUIRE(said.all("launch").size() == 1);
    const auto launch = said.last("launch");
    CHECK(launch["configuration"] == best_configuration());
    CHECK(launch["right"] == true);
    CHECK(said.last("counters")["finished"] == 1);
    CHECK(said.notices_with(kInMemory).size() == (launch["layer"] == ":memory:" ? 1 : 0));
    right += launch["configuration"] == best_configuration() ? 1 : 0;
    in_memory += launch["layer"] == ":memory:" ? 1 : 0;
    notices += said.notices_with(kInMemory).size();
    if (blocks == "16") CHECK(launch["layer"] == ":memory:");
  }
  test::record_figures(6, "online_full_disk",
                       {{"limits", limits.size()}, {"tuned", right}, {"kept_in_memory", in_memory}, {"notices", notices}});
}

TEST_CASE_FIXTURE(OnMissProgram, "a database whose folder is a file: results stay in memory, told once") {
  std::ofstream(folder / "occupied") << "not a folder";
  environment["ATTUNE_DB"] = (folder / "occupied" / "tune.db").string();
  check_kept_in_memory(program("now", kTwoTunings), "occupied_folder");
}

TEST_CASE_FIXTURE(OnMissProgram, "without a home and a data folder results stay in memory, told once") {
  environment["ATTUNE_DB"] = "";
  environment["XDG_DATA_HOME"] = "";
  environment["HOME"] = "";
  check_kept_in_memory(program("now", kTwoTunings), "no_home");
}

TEST_CASE_FIXTURE(OnMissProgram, "results in memory serve sizes nearby as those of a file do, and are gone with the Runtime") {
  environment["ATTUNE_DB"] = "/proc/attune-test/tune.db";
  const auto said =
      program("background", {"launch:1000", "wait", "launch:1000", "launch:2000", "counters", "restart", "explain:1000"}, {"--share", "1"});
  CHECK(said.all("launch")[1]["tier"] == "exact size");
  CHECK(said.all("launch")[2]["tier"] == "nearest size");
  CHECK(said.last("counters")["started"] == 1);
  CHECK(said.last("explain")["tier"] == "default");
}

TEST_CASE_FIXTURE(OnMissProgram, "a database of a newer attune is left as it is, and results stay in memory") {
  tune("10");
  // user_version, at byte 60 of the header: a schema that is not known here.
  std::fstream file(database, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(60);
  file.write("\0\0\x03\xe7", 4);
  file.close();
  const auto bytes = fs::file_size(database);
  check_kept_in_memory(program("now", kTwoTunings), "newer_schema");
  CHECK(fs::file_size(database) == bytes);
}

TEST_CASE_FIXTURE(OnMissProgram, "a named database that is not there yet is made by tuning, and then one of the layers") {
  const std::string named = (folder / "new" / "mine.db").string();
  const auto said = program("now", {"launch:1000", "counters"}, {"--db", named});
  CHECK(said.last("launch")["configuration"] == best_configuration());
  CHECK(said.last("launch")["layer"] == named);
  CHECK(fs::exists(named));
  CHECK_FALSE(fs::exists(database));
  CHECK((fs::status(folder / "new").permissions() & fs::perms::group_all) == fs::perms::none);
  const auto without_tuning = program("default", {"launch:1000"}, {"--db", (folder / "absent.db").string()});
  CHECK(without_tuning.exit_code == 2);
}

TEST_CASE_FIXTURE(OnMissProgram, "a damaged user database is set aside by tuning, its result used, and the damage told") {
  tune("10");
  std::fstream file(database, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(4096, 'x');
  file.close();
  const auto said = program("now", {"launch:1000", "counters"});
  CHECK(said.last("launch")["configuration"] == best_configuration());
  CHECK(said.last("launch")["layer"] == database);
  CHECK(said.notices_with("was set aside as").size() == 1);
}

TEST_CASE_FIXTURE(
    OnMissProgram,
    "where a file that is no database has the user database's name, tuning leaves it as it is and keeps its result in memory") {
  const std::string notes = "notes of somebody's\n";
  fs::create_directories(fs::path(database).parent_path());
  std::ofstream(database) << notes;
  const auto said = program("now", {"launch:1000", "counters"});
  CHECK(said.last("launch")["configuration"] == best_configuration());
  CHECK(said.last("launch")["layer"] == ":memory:");
  CHECK_FALSE(said.notices_with("it is no database").empty());
  std::ifstream file(database);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == notes);
}

TEST_CASE_FIXTURE(OnMissProgram, "a Runtime that is to tune without an attune executable does not start, and says where it looked") {
  const std::string absent = (folder / "no-attune").string();
  for (const std::string mode : {"now", "background"}) {
    const auto result = program(mode, {"launch:1000"}, {"--worker", absent});
    CHECK(result.exit_code == 4);
    CHECK(result.errors.find("no executable file at " + absent) != std::string::npos);
    CHECK(result.errors.find("Options::worker") != std::string::npos);
  }
  CHECK(program("error", {}, {"--worker", absent}).exit_code == 0);
  environment["ATTUNE_WORKER"] = absent;
  CHECK(program("now", {}, {"--worker", ""}).exit_code == 4);
  environment["ATTUNE_WORKER"] = ATTUNE_EXECUTABLE;
  CHECK(program("now", {}, {"--worker", ""}).exit_code == 0);
}

TEST_CASE_FIXTURE(OnMissProgram, "an attune that anybody could have put beside the program is not run") {
  const fs::path shared = folder / "shared", planted = shared / "attune", trace = folder / "it-ran";
  fs::create_directory(shared);
  fs::permissions(shared, fs::perms::all | fs::perms::sticky_bit);
  fs::copy_file(ATTUNE_ONLINE_PROGRAM, shared / "program");
  std::ofstream(planted) << "#!/bin/sh\ntouch " << trace.string() << "\n";
  fs::permissions(planted, fs::perms::owner_all);
  auto line = words("now", {"launch:1000"}, {"--worker", ""});
  line.front() = (shared / "program").string();
  const auto result = run_program(line);
  INFO(result.err);
  CHECK_FALSE(fs::exists(trace));
  const bool went_elsewhere = result.exit_code == 0 || result.err.find("not trusted: ") != std::string::npos;
  CHECK(went_elsewhere);  // to the attune of the build tree, where that is trusted
}

TEST_CASE_FIXTURE(OnMissProgram, "a worker that is no attune is told, and the launch takes the default") {
  const auto said = program("now", {"launch:1000", "counters"}, {"--worker", "/bin/true"});
  CHECK(said.last("launch")["tier"] == "default");
  CHECK(said.last("counters")["failed"] == 1);
  CHECK(said.notices_with("the tuning process ended without a result (exited with code 0)").size() == 1);
}

TEST_CASE_FIXTURE(
    OnMissProgram,
    "the command without --db tunes in memory where the default database cannot be written, warns first, prints results last") {
  environment["ATTUNE_DB"] = "";
  environment["XDG_DATA_HOME"] = "/proc/attune-test";
  const std::vector<std::string> tune = {
      "tune", ATTUNE_SOURCE_DIR "/tests/support/fake_templates/brief", "--T", "i32", "--end", "well", "--size", "1000"};
  const auto in_memory = attune(tune);
  CHECK(in_memory.exit_code == 0);
  CHECK(in_memory.err.find("results of this run are not stored") != std::string::npos);
  CHECK(in_memory.err.find("/proc/attune-test") != std::string::npos);
  CHECK(in_memory.out.find("into memory") != std::string::npos);
  CHECK(in_memory.out.find("block_size=256 waves=2") != std::string::npos);
  environment["XDG_DATA_HOME"] = "";
  environment["HOME"] = "";
  CHECK(attune(tune).exit_code == 0);
  auto named = tune;
  named.insert(named.end(), {"--db", "/proc/attune-test/tune.db"});
  const auto refused = attune(named);
  CHECK(refused.exit_code == 5);
  CHECK(refused.out.empty());
  environment["ATTUNE_DB"] = "/proc/attune-test/tune.db";
  CHECK(attune(tune).exit_code == 5);
}

}  // namespace test_on_miss_places
