// Whoever is killed, and whenever: nothing is lost, nobody is left behind.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "db/lock_file.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"

namespace test_interruptions {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr std::size_t kGood = 4 * 3 * 4;

/// Tuning that lasts: the device takes the time that it says it takes, ten times over.
struct SlowGpu : FakeGpu {
  SlowGpu() { settings["real_time"] = 10; }

  /// Starts tuning and waits until the first records are stored.
  [[nodiscard]] int start_and_wait(const std::vector<std::string>& words) const {
    const int pid = start(words);
    REQUIRE(test::wait_until([&] { return records().size() >= 2; }));
    return pid;
  }
  void check_complete() const {
    const auto stored = records();
    CHECK(stored.size() == kGood);
    for (const auto& record : stored) {
      CAPTURE(record.configuration);
      CAPTURE(test::detail_of(record));
      CHECK(record.outcome == "ok");
      CHECK(record.verified);
    }
  }
};

/// Whether the process has opened this file, and not only been started.
bool has_open(int pid, const std::string& file) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry.path(), closed) == std::filesystem::path(file)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(SlowGpu, "a GPU worker killed from outside is replaced, and the configuration it had is measured after all") {
  const int pid = start_and_wait(tune_words("none"));
  const auto workers = processes("worker-gpu");
  REQUIRE(workers.size() == 1);
  REQUIRE(::kill(workers[0], SIGKILL) == 0);
  CHECK(test::wait_until([&] {
    const auto now = processes("worker-gpu");
    return now.size() == 1 && now != workers;
  }));
  CHECK(test::wait_for(pid) == 0);
  check_complete();
}

TEST_CASE_FIXTURE(SlowGpu, "compile workers killed from outside are replaced, and nothing they had is blamed") {
  environment["XDG_CACHE_HOME"] = (folder / "empty-cache").string();
  const int pid = start(tune_words("none"));
  REQUIRE(test::wait_until([&] { return !processes("worker-compile").empty(); }));
  for (const int worker : processes("worker-compile")) ::kill(worker, SIGKILL);
  CHECK(test::wait_for(pid) == 0);
  check_complete();
}

TEST_CASE_FIXTURE(SlowGpu, "workers die with a killed parent") {
  const int pid = start_and_wait(tune_words("none"));
  CHECK(processes("worker-gpu").size() == 1);
  ::kill(pid, SIGKILL);
  CHECK(test::wait_for(pid) == 128 + SIGKILL);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
}

TEST_CASE_FIXTURE(FakeGpu, "a worker that hangs in an endless kernel dies with a killed parent") {
  settings["faults"] = json::array({{{"kernel", "synthetic"}, {"launch", 0}, {"fault", "endless_loop"}}});
  const int pid = start(tune_words("none"));
  REQUIRE(test::wait_until([&] { return on_device(); }));
  ::kill(pid, SIGKILL);
  CHECK(test::wait_for(pid) == 128 + SIGKILL);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
}

TEST_CASE_FIXTURE(SlowGpu, "Ctrl-C ends a measuring run with 130 and no worker left; the same command goes on and completes") {
  const int pid = start_and_wait(tune_words("none"));
  ::kill(pid, SIGINT);
  CHECK(test::wait_for(pid) == 130);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
  const auto before = records();
  CHECK(before.size() >= 2);
  CHECK(before.size() < kGood);
  settings = json::object();
  const auto again = attune(tune_words("none", {"--json"}));
  CHECK(again.exit_code == 0);
  for (const auto& event : test::json_lines(again.out)) {
    if (event["event"] != "problem") continue;
    CHECK(event["reused"] == before.size());
    CHECK(event["measured"] == kGood - before.size());
  }
  check_complete();
}

TEST_CASE_FIXTURE(FakeGpu, "Ctrl-C ends the waiting for a process that is opening the database, with 130 and a word") {
  db::LockFile opening(database);
  REQUIRE(opening.try_lock(db::LockFile::Part::Opening, db::LockFile::Share::Alone));
  auto record_words = tune_words("none", {"--output", (folder / "new.json").string()});
  record_words[0] = "record";
  for (const auto& words : {tune_words("none"), tune_words("none", {"--device", "all"}), record_words}) {
    for (const int signal : {SIGINT, SIGTERM}) {
      CAPTURE(words[0]);
      CAPTURE(signal);
      const int pid = start(words);
      REQUIRE(test::wait_until([&] { return has_open(pid, database + ".lock"); }));
      ::kill(pid, signal);
      // Unasked it would wait for half a minute, and then tell another thing.
      CHECK(test::wait_for(pid, std::chrono::seconds(20)) == 130);
      CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
    }
  }
  std::ifstream told(output() + ".err");
  const std::string text{std::istreambuf_iterator<char>(told), {}};
  CHECK(text.find("interrupted opening database") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "new.json"));
}

TEST_CASE_FIXTURE(SlowGpu,
                  "a run that finds its database locked says so, and goes on once it is free; one that uses it all the time says nothing") {
  settings = json::object();
  REQUIRE(attune(tune_words("none")).exit_code == 0);
  SQLite::Database writer(database, SQLite::OPEN_READWRITE, 20000);
  writer.exec("BEGIN EXCLUSIVE");
  std::thread frees([&] {
    std::this_thread::sleep_for(std::chrono::seconds(4));  // it waits up to 30
    writer.exec("ROLLBACK");
  });
  const auto result = attune(tune_words("none"));
  frees.join();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  const std::string told = "waiting for " + database + ", which another process has locked";
  CHECK(result.err.find(told) != std::string::npos);
  auto words = tune_words("none");
  std::replace(words.begin(), words.end(), std::string("1000"), std::string("1000..1040:+1"));
  const auto busy = attune(words);  // some seconds without a pause in its use of the database
  CAPTURE(busy.err);
  CHECK(busy.exit_code == 0);
  CHECK(busy.err.find("another process") == std::string::npos);
}

TEST_CASE_FIXTURE(SlowGpu,
                  "Ctrl-C ends a run that waits to store something while another process writes, and what was stored before stays") {
  settings["devices"] = json::array({json::object(), json::object()});
  auto words = tune_words("none");
  SUBCASE("one device") {}
  SUBCASE("several devices") {
    words = tune_words("none", {"--device", "all"});
    std::replace(words.begin(), words.end(), std::string("1000"), std::string("1000,4096"));
  }
  SUBCASE("several problems") { std::replace(words.begin(), words.end(), std::string("1000"), std::string("1000,4096")); }
  SUBCASE("a recording") {
    words = tune_words("none", {"--output", (folder / "new.json").string()});
    words[0] = "record";
  }
  const int pid = start_and_wait(words);
  std::size_t before = 0;
  {
    SQLite::Database writer(database, SQLite::OPEN_READWRITE, 20000);
    writer.exec("BEGIN IMMEDIATE");
    before = records().size();
    ::kill(pid, SIGINT);
    CHECK(test::wait_for(pid, std::chrono::seconds(20)) == 130);
    CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
    writer.exec("ROLLBACK");
  }
  CHECK(records().size() == before);
  CHECK_FALSE(std::filesystem::exists(folder / "new.json"));
  settings = json::object();
  CHECK(attune(tune_words("none")).exit_code == 0);
  std::size_t of_problem = 0;
  for (const auto& record : records()) of_problem += record.problem.find("4096") == std::string::npos ? 1 : 0;
  CHECK(of_problem == kGood);
}

}  // namespace test_interruptions
