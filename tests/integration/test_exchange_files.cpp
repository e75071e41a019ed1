// The files that `attune db` reads and writes: pipes that wait, wrong names, damage, names that are taken.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/zstd.hpp"

namespace test_exchange_files {

using namespace attune;
using namespace std::chrono_literals;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct ExchangeFiles : Cli {
  std::string other = (folder / "other.db").string();
  std::string rows = (folder / "rows.jsonl").string();

  ExchangeFiles() {
    REQUIRE(attune(tune_words()).exit_code == 0);
    REQUIRE(attune({"db", "export", rows}).exit_code == 0);
  }

  [[nodiscard]] std::string pipe() const {
    const std::string path = (folder / "pipe").string();
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    return path;
  }

  void expect(const test::CommandResult& result, int exit_code, const std::vector<std::string>& parts) const {
    CAPTURE(result.err);
    CHECK(result.exit_code == exit_code);
    for (const std::string& part : parts) {
      CAPTURE(part);
      CHECK(mentions(result.err, part));
    }
  }
};

/// A writer of a pipe, once its reader is there.
int open_writing(const std::string& pipe) {
  for (int i = 0; i < 3000; ++i) {
    const int fd = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    if (fd >= 0) return fd;
    std::this_thread::sleep_for(10ms);
  }
  return -1;
}

}  // namespace

TEST_CASE_FIXTURE(ExchangeFiles, "an import that waits for a pipe ends with 130 at the first signal, holds no lock, and stores nothing") {
  const std::string input = pipe(), text = read("rows.jsonl");
  REQUIRE(attune({"db", "merge", database, "--db", other}).exit_code == 0);
  const std::string before = attune({"db", "export", "--db", other}).out;
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const int pid = test::start({ATTUNE_EXECUTABLE, "db", "import", input, "--db", other}, environment);
    const int fd = open_writing(input);
    REQUIRE(fd >= 0);
    const std::string half = text.substr(0, 4000);
    CHECK(::write(fd, half.data(), half.size()) == static_cast<ssize_t>(half.size()));
    {
      auto writer = db::Database::open(other, db::OpenMode::ReadWrite);
      db::Database::Batch batch(writer);  // would wait for the import's
      batch.commit();
    }
    ::kill(pid, signal);
    CHECK(test::wait_for(pid, 20s) == std::optional<int>(130));
    ::close(fd);
    CHECK(attune({"db", "export", "--db", other}).out == before);
  }
}

TEST_CASE_FIXTURE(ExchangeFiles, "an import of a pipe that gives nothing can be interrupted, and creates no database") {
  const std::string input = pipe();
  const int pid = test::start({ATTUNE_EXECUTABLE, "db", "import", input, "--db", other}, environment);
  const int fd = open_writing(input);  // its handlers are in place when it has the pipe open
  REQUIRE(fd >= 0);
  ::kill(pid, SIGINT);
  CHECK(test::wait_for(pid, 20s) == std::optional<int>(130));
  ::close(fd);
  CHECK_FALSE(fs::exists(other));
}

TEST_CASE_FIXTURE(ExchangeFiles, "rows come through standard input and pipes as they do from a file") {
  const std::string command = std::string("cat '") + rows + "' | '" ATTUNE_EXECUTABLE "' db import - --db '" + other + "'";
  expect(test::run({"sh", "-c", command}, environment), 0, {});
  CHECK(attune({"db", "export", "--db", other}).out == read("rows.jsonl"));
  const std::string redirected = (folder / "redirected.db").string();
  expect(
      test::run({"sh", "-c", std::string("'" ATTUNE_EXECUTABLE "' db import - --db '") + redirected + "' < '" + rows + "'"}, environment),
      0, {});
  CHECK(attune({"db", "export", "--db", redirected}).out == read("rows.jsonl"));
}

TEST_CASE_FIXTURE(ExchangeFiles, "inputs that are missing or folders are wrong arguments, and create no database") {
  const std::string none = (folder / "none").string(), place = folder.path().string();
  for (const char* command : {"import", "merge"}) {
    CAPTURE(command);
    expect(attune({"db", command, none, "--db", other}), 2, {none, "no such file"});
    expect(attune({"db", command, place, "--db", other}), 2, {place, "it is a folder"});
    CHECK_FALSE(fs::exists(other));
  }
}

TEST_CASE_FIXTURE(ExchangeFiles, "a file named with --db that is no database is refused and left as it is") {
  const std::string text = "a text that somebody wrote, and named with --db by mistake\n", notes = (folder / "notes.txt").string();
  write("notes.txt", text);
  const std::size_t files = static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  expect(attune({"db", "import", rows, "--db", notes}), 5, {notes, "it is no database", "--db"});
  expect(attune(tune_words({"--db", notes})), 5, {notes, "it is no database"});
  expect(attune({"show", "--db", notes}), 5, {notes, "it is no database"});
  expect(attune({"db", "check", "--db", notes}), 5, {notes, "it is no database"});
  expect(test::run({ATTUNE_EXECUTABLE, "db", "vacuum"},
                   [&] {
                     auto named = environment;
                     named["ATTUNE_DB"] = notes;
                     return named;
                   }()),
         5, {notes, "it is no database"});
  expect(attune({"db", "merge", database, "--db", notes}), 5, {notes, "it is no database"});
  expect(attune({"db", "vacuum", "--db", notes}), 5, {notes, "it is no database"});
  CHECK(read("notes.txt") == text);
  CHECK(static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator())) == files);
}

TEST_CASE_FIXTURE(ExchangeFiles,
                  "an export takes no name that the database uses itself, by any spelling, nor the place of a write-ahead log") {
  fs::create_directory_symlink(folder.path(), folder / "link");
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock", ".suspect"}) {
    CAPTURE(suffix);
    expect(attune({"db", "export", database + suffix}), 2, {database + suffix, "uses itself"});
    expect(attune({"db", "export", (folder / "link" / "tune.db").string() + suffix}), 2, {"uses itself"});
  }
  CHECK_FALSE(fs::exists(database + "-journal"));
  fs::create_symlink(database + "-wal", folder / "innocent");
  expect(attune({"db", "export", (folder / "innocent").string()}), 2, {"uses itself"});
  const std::string log = std::string("\x37\x7f\x06\x82", 4) + std::string(28, '\0');
  write("elsewhere.db-wal", log);
  expect(attune({"db", "export", (folder / "elsewhere.db-wal").string()}), 2, {"write-ahead log"});
  CHECK(read("elsewhere.db-wal") == log);
}

TEST_CASE_FIXTURE(ExchangeFiles, "a damaged exchange file is refused with 3, and the message names file and line") {
  const std::string text = read("rows.jsonl"), packed = base::compress(text, 3);
  const auto refused = [&](const std::string& name, const std::string& bytes, const std::vector<std::string>& parts) {
    CAPTURE(name);
    write(name, bytes);
    expect(attune({"db", "import", (folder / name).string(), "--db", other}), 3, parts);
  };
  refused("cut.jsonl.zst", packed.substr(0, packed.size() - 5), {"cut.jsonl.zst:", "zstd"});
  refused("plain.jsonl.zst", text, {"plain.jsonl.zst:1:1: ", "zstd"});
  refused("cut.jsonl", text.substr(0, text.find('\n') + 20), {"cut.jsonl:2:1: the line does not end"});
  refused("long.jsonl.zst", base::compress(std::string((std::size_t{64} << 20) + (1 << 20), 'a'), 1),
          {"long.jsonl.zst:1:1: the line is longer than"});
  refused("empty.jsonl", "", {"empty.jsonl: ", "was cut"});
}

}  // namespace test_exchange_files
