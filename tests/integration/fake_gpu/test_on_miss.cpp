// Options::on_miss: what a program gets when nothing near the asked sizes was tuned on its device.
#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <iterator>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/on_miss_fixture.hpp"
#include "tests/integration/fake_gpu/processes.hpp"

namespace test_on_miss {

using namespace attune;
using nlohmann::json;
using test::best_configuration;
using test::default_configuration;
using test::OnMissProgram;

namespace {

std::vector<json> events_in(const std::string& path) {
  std::ifstream file(path);
  return test::json_lines({std::istreambuf_iterator<char>(file), {}});
}

bool said(const std::string& path, const std::string& event) {
  for (const auto& one : events_in(path)) {
    if (one["event"] == event) return true;
  }
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(OnMissProgram, "by default a miss launches the default and nothing is tuned") {
  const auto said = program("default", {"launch:1000", "wait", "counters"});
  CHECK(said.last("launch")["tier"] == "default");
  CHECK(said.last("launch")["right"] == true);
  CHECK(said.last("waited")["idle"] == true);
  CHECK(said.last("counters")["started"] == 0);
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(OnMissProgram,
                  "with on_miss = Error a miss launches nothing and names kernel, sizes, tier and the command, which helps") {
  const auto refused = program("error", {"launch:1000", "counters"});
  CHECK(refused.last("launch").is_null());
  const auto error = refused.last("error");
  CHECK(error["type"] == "NotTunedError");
  const std::string what = error["what"];
  CHECK(what.find("kernel 'brief' at {\"T\":\"i32\",\"end\":\"well\",\"n\":1000}") != std::string::npos);
  CHECK(what.find("within a factor 4") != std::string::npos);
  CHECK(what.find("otherwise: default") != std::string::npos);
  const std::size_t begin = what.find('`') + 1;
  std::string command = what.substr(begin, what.find('`', begin) - begin);
  REQUIRE(command.starts_with("attune tune brief --T i32 --end well --n 1000"));
  // The command as printed, in a shell that finds this build's attune.
  const std::string commands = std::filesystem::path(ATTUNE_EXECUTABLE).parent_path().string();
  CHECK(run_program({"/bin/sh", "-c", "PATH=" + commands + ":$PATH; " + command}).exit_code == 0);
  const auto served = program("error", {"launch:1000", "launch:4000", "launch:4001"});
  CHECK(served.all("launch").size() == 2);
  CHECK(served.all("launch")[0]["tier"] == "exact size");
  CHECK(served.all("launch")[1]["tier"] == "nearest size");
  CHECK(served.last("error")["type"] == "NotTunedError");
}

TEST_CASE_FIXTURE(OnMissProgram, "tuning now: the first launch already uses what was tuned; a second process tunes and compiles nothing") {
  const auto first = program("now", {"launch:1000", "launch:3999", "explain:4001", "counters"});
  CHECK(first.all("launch")[0]["tier"] == "exact size");
  CHECK(first.all("launch")[0]["configuration"] == best_configuration());
  CHECK(first.all("launch")[0]["right"] == true);
  CHECK(first.all("launch")[0]["cubin_source"] == "database");
  CHECK(first.all("launch")[1]["tier"] == "nearest size");
  CHECK(first.last("explain")["tier"] == "nearest size");  // asking is no miss
  CHECK(first.last("counters")["started"] == 1);
  CHECK(first.last("counters")["finished"] == 1);
  const auto second = program("now", {"launch:1000", "counters"});
  CHECK(second.last("launch")["configuration"] == best_configuration());
  CHECK(second.last("counters")["started"] == 0);
  CHECK(second.last("counters")["compiles"] == 0);
  CHECK(attune({"db", "check"}).exit_code == 0);
}

TEST_CASE_FIXTURE(OnMissProgram,
                  "tuning in the background: the default now, the result later, for near sizes that were launched before too") {
  const auto said =
      program("background", {"launch:1000", "launch:1100", "wait", "launch:1000", "launch:1100", "counters"}, {"--share", "1"});
  const auto launches = said.all("launch");
  REQUIRE(launches.size() == 4);
  CHECK(launches[0]["tier"] == "default");
  CHECK(launches[0]["configuration"] == default_configuration());
  const std::string tuning = launches[0]["tuning"];
  CHECK((tuning == "queued" || tuning == "running"));
  CHECK(said.last("waited")["idle"] == true);
  CHECK(launches[2]["tier"] == "exact size");
  CHECK(launches[2]["configuration"] == best_configuration());
  CHECK(launches[2]["tuning"] == "");
  CHECK(launches[3]["configuration"] == best_configuration());
  for (const auto& launch : launches) CHECK(launch["right"] == true);
  // 1100 was a miss too, until 1000 was tuned.
  CHECK(said.last("counters")["started"] == 1);
  CHECK(said.last("counters")["failed"] == 0);
}

TEST_CASE_FIXTURE(OnMissProgram, "a kernel bound to a stream launches the default until the tuned one is there, and then that") {
  const auto said = program("background", {"bound:1000", "bound:1000", "wait", "bound:1000", "bound:1100", "bound:1000"}, {"--share", "1"});
  const auto launches = said.all("bound");
  REQUIRE(launches.size() == 5);
  for (const auto& launch : launches) CHECK(launch["right"] == true);
  CHECK(launches[0]["block_size"] == default_configuration()["block_size"]);
  for (const std::size_t i : {2, 3, 4}) CHECK(launches[i]["block_size"] == best_configuration()["block_size"]);
}

TEST_CASE_FIXTURE(OnMissProgram, "what another process tuned while a problem was queued is used instead of tuned again") {
  tune("10000");
  const auto said = program("now", {"launch:10000", "launch:3000", "counters"});
  CHECK(said.all("launch")[1]["donor"] == R"({"T":"i32","end":"well","n":10000})");
  CHECK(said.last("counters")["started"] == 0);
}

TEST_CASE_FIXTURE(OnMissProgram, "a capturing stream is no reason to tune: a miss is refused as an unprepared plan") {
  for (const std::string mode : {"now", "background", "error"}) {
    const auto said = program(mode, {"capture:1000", "counters"});
    const std::string refused = said.last("capture")["refused"];
    CHECK(refused.find("the plan is not prepared") != std::string::npos);
    CHECK(said.last("counters")["started"] == 0);
  }
  const auto prepared = program("now", {"prepare:1000", "capture:1000", "counters"});
  CHECK(prepared.last("capture")["refused"] == "");
  CHECK(prepared.last("counters")["finished"] == 1);
}

TEST_CASE_FIXTURE(OnMissProgram, "a result that arrives while another thread captures is put to use, and the capture stays valid") {
  const auto said = program("background", {"adopt_during_capture:1000", "launch:1000", "counters"}, {"--share", "1"});
  CHECK(said.last("waited")["idle"] == true);
  CHECK(said.last("launch")["configuration"] == best_configuration());
  CHECK(said.all("error").empty());
  CHECK(said.notices_with("goes on as before").empty());
}

TEST_CASE_FIXTURE(OnMissProgram, "threads that miss the same size at once tune it once, and all launch the result") {
  const auto said = program("now", {"race:1000", "explain:1000", "counters"});
  CHECK(said.last("race")["right"] == 4);
  CHECK(said.last("explain")["configuration"] == best_configuration());
  CHECK(said.last("counters")["started"] == 1);
}

TEST_CASE_FIXTURE(OnMissProgram, "two processes that miss the same size at once both end up with it, and the database is sound") {
  const std::string one = (folder / "one").string(), two = (folder / "two").string();
  const int first = start_program(words("now", {"launch:1000"}), one);
  const int second = start_program(words("now", {"launch:1000"}), two);
  CHECK(test::wait_for(first) == 0);
  CHECK(test::wait_for(second) == 0);
  for (const auto& path : {one, two}) {
    const auto events = events_in(path);
    REQUIRE(events.size() == 1);
    CHECK(events[0]["configuration"] == best_configuration());
    CHECK(events[0]["right"] == true);
  }
  CHECK(attune({"db", "check"}).exit_code == 0);
}

TEST_CASE_FIXTURE(OnMissProgram, "every device of a program tunes for itself; equal ones share the result") {
  settings["devices"] = json::array({{{"name", "A"}}, {{"name", "B"}, {"sm_count", 78}}, {{"name", "A"}}});
  const auto said = program("now", {"launch:1000", "device:1", "launch:1000", "device:2", "launch:1000", "counters"});
  CHECK(said.all("launch").size() == 3);
  for (const auto& launch : said.all("launch")) {
    CHECK(launch["tier"] == "exact size");
    CHECK(launch["right"] == true);
  }
  CHECK(said.last("counters")["finished"] == 2);
  CHECK(db::Database::open(database, db::OpenMode::ReadOnly).best({}).size() == 2);
}

TEST_CASE_FIXTURE(
    OnMissProgram,
    "a worker that is killed is told and its problem not tried again; other problems are tuned, the launch takes the default") {
  settings["real_time"] = 300;
  const std::string output = (folder / "said").string();
  const int pid = start_program(words("now", {"launch:1000", "counters", "launch:1000", "counters"}), output);
  REQUIRE(test::wait_until([&] { return on_device(); }));
  const auto workers = processes("worker-online");
  REQUIRE(workers.size() == 1);
  ::kill(workers[0], SIGKILL);
  CHECK(test::wait_for(pid) == 0);
  const auto events = events_in(output);
  REQUIRE(events.size() == 4);
  CHECK(events[0]["tier"] == "default");
  CHECK(events[0]["right"] == true);
  CHECK(std::string(events[0]["tuning"]).find("killed by signal 9 (SIGKILL)") != std::string::npos);
  CHECK(events[1]["failed"] == 1);
  CHECK(events[3]["started"] == 1);
  CHECK(test::wait_until([&] { return processes("worker-").empty(); }, std::chrono::seconds(60)));
}

TEST_CASE_FIXTURE(OnMissProgram, "configurations that crash harm the tuning process alone, and the reason is told") {
  const auto said = program("now", {"prepare:1000", "explain:1000", "prepare:1000", "counters"}, {"--end", "crash"});
  CHECK(said.exit_code == 0);
  CHECK(said.last("explain")["tier"] == "default");
  CHECK(said.last("counters")["failed"] == 1);
  CHECK(said.last("counters")["started"] == 1);
  const auto told = said.notices_with("failed tuning kernel 'brief'");
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("crashed") != std::string::npos);
}

TEST_CASE_FIXTURE(OnMissProgram, "a killed program takes its tuning process and all workers with it; what was measured stays") {
  settings["real_time"] = 60;
  const int pid = start_program(words("background", {"launch:1000", "hold:600"}), output());
  REQUIRE(test::wait_until([&] { return !records().empty(); }));
  ::kill(pid, SIGKILL);
  CHECK(test::wait_for(pid) == 128 + SIGKILL);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(60)));
  CHECK_FALSE(records().empty());
  CHECK(attune({"db", "check"}).exit_code == 0);
}

TEST_CASE_FIXTURE(OnMissProgram, "the end of a Runtime ends its tuning process, even one whose kernel hangs") {
  // The program's own first launch hangs nothing: it only prepares.
  const int pid = start_program(words("background", {"prepare:1000", "hold:1", "end"}, {"--end", "hang"}), output());
  CHECK(test::wait_until([&] { return said(output(), "ended"); }));
  CHECK(test::wait_until([&] { return processes("worker-").empty(); }, std::chrono::seconds(60)));
  CHECK(processes("online_program").size() == 1);
  ::kill(pid, SIGKILL);
  test::wait_for(pid);
}

TEST_CASE_FIXTURE(OnMissProgram, "the share of time holds problems back, and the explanation says that they are queued") {
  const auto said = program("background", {"launch:1000", "wait", "launch:10000", "explain:10000", "counters"}, {"--share", "0"});
  CHECK(said.all("launch")[1]["tier"] == "nearest size");
  CHECK(said.last("explain")["tuning"] == "queued");
  CHECK(said.last("counters")["started"] == 1);
}

}  // namespace test_on_miss
