#include <doctest/doctest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "db/lock_file.hpp"
#include "tests/unit/db/support.hpp"

extern char** environ;

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// `test_db_process put <file> <first> <count>`, its output readable here.
class Writer {
 public:
  Writer(const fs::path& database, int first, int count) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string arguments[] = {ATTUNE_DB_PROCESS, "put", database.string(), std::to_string(first),
                               std::to_string(count)};
    char* argv[6] = {};
    for (int i = 0; i < 5; ++i) argv[i] = arguments[i].data();
    const int result = ::posix_spawn(&pid_, ATTUNE_DB_PROCESS, &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ends[0];
    REQUIRE(result == 0);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    if (pid_ > 0) {
      kill();
      (void)wait();
    }
    ::close(out_);
  }

  void kill() const { ::kill(pid_, SIGKILL); }

  /// Blocks until `lines` more lines came; false at the end of the output.
  bool read_lines(std::size_t lines) {
    const std::size_t wanted = acknowledged() + lines;
    char chunk[4096];
    while (acknowledged() < wanted) {
      const ssize_t got = ::read(out_, chunk, sizeof(chunk));
      if (got <= 0) return false;
      text_.append(chunk, static_cast<std::size_t>(got));
    }
    return true;
  }
  void read_all() {
    while (read_lines(1)) {
    }
  }
  [[nodiscard]] std::size_t acknowledged() const {
    return static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
  }

  /// Exit status as waitpid gives it.
  int wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string text_;
};

}  // namespace

TEST_CASE("every record that a killed process had acknowledged is there, and the file is sound") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  int first = 0;
  for (int round = 0; round < 8; ++round) {
    Writer writer(path, first, 1000000);
    REQUIRE(writer.read_lines(static_cast<std::size_t>(1 + 137 * round)));
    writer.kill();
    writer.read_all();
    const int status = writer.wait();
    CHECK(WIFSIGNALED(status));
    Database database = Database::open(path, OpenMode::ReadWrite);
    CHECK(database.notices().empty());
    const auto rows = database.records({});
    // The one in progress may have been committed without having been acknowledged.
    const std::size_t expected = static_cast<std::size_t>(first) + writer.acknowledged();
    CHECK(rows.size() >= expected);
    CHECK(rows.size() <= expected + 1);
    for (std::size_t i = 0; i < expected; ++i) REQUIRE(same(rows[i], record(static_cast<int>(i))));
    CHECK(database.check().ok);
    first = static_cast<int>(rows.size());
  }
}

TEST_CASE("a process that is killed while it creates the database leaves one that opens, or none") {
  for (int round = 0; round < 24; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    Writer writer(path, 0, 1000000);
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    writer.kill();
    writer.read_all();
    (void)writer.wait();
    Database database = Database::open(path, OpenMode::ReadWrite);
    CHECK(database.notices().empty());
    CHECK(database.records({}).size() >= writer.acknowledged());
    CHECK(database.check().ok);
  }
}

TEST_CASE("a process that is killed while it migrates leaves a database of either version, with every row") {
  for (int round = 0; round < 24; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    fs::copy_file(fs::path(ATTUNE_SOURCE_DIR) / "tests" / "golden" / "db_v1.db", path);
    Writer writer(path, 100, 1000000);
    std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
    writer.kill();
    writer.read_all();
    (void)writer.wait();
    Database database = Database::open(path, OpenMode::ReadWrite);
    CHECK(database.notices().empty());
    CHECK(database.info().schema_version == Database::kSchemaVersion);
    CHECK(database.records({}).size() >= 4 + writer.acknowledged());
    CHECK(same(database.templates().at(0), kernel_template_v1()));
    CHECK(database.cubin("cubin-1") == kCubin);
    CHECK(database.check().ok);
  }
}

TEST_CASE("sixteen processes that migrate one database at once all succeed") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  fs::copy_file(fs::path(ATTUNE_SOURCE_DIR) / "tests" / "golden" / "db_v1.db", path);
  {
    std::vector<std::unique_ptr<Writer>> writers;
    for (int i = 0; i < 16; ++i) writers.push_back(std::make_unique<Writer>(path, 100 + i, 1));
    for (const auto& writer : writers) {
      writer->read_all();
      CHECK(writer->wait() == 0);
    }
  }
  Database database = Database::open(path, OpenMode::ReadOnly);
  CHECK(database.records({}).size() == 4 + 16);
  CHECK(database.check().ok);
}

TEST_CASE("sixteen processes that create and fill one database at once all succeed, with exact counts") {
  constexpr int kProcesses = 16, kRecords = 20;
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path path = folder / "new" / "a.db";
    {
      std::vector<std::unique_ptr<Writer>> writers;
      for (int i = 0; i < kProcesses; ++i) writers.push_back(std::make_unique<Writer>(path, i * kRecords, kRecords));
      for (const auto& writer : writers) {
        writer->read_all();
        CHECK(writer->wait() == 0);
      }
    }
    Database database = Database::open(path, OpenMode::ReadWrite);
    CHECK(database.info().records == kProcesses * kRecords);
    CHECK(database.records({}).size() == kProcesses * kRecords);
    CHECK(database.check().ok);
  }
}

TEST_CASE("sixteen processes that find a damaged file set it aside once") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  write_bytes(path, std::string(10000, 'x'));
  {
    std::vector<std::unique_ptr<Writer>> writers;
    for (int i = 0; i < 16; ++i) writers.push_back(std::make_unique<Writer>(path, i, 1));
    for (const auto& writer : writers) {
      writer->read_all();
      CHECK(writer->wait() == 0);
    }
  }
  CHECK(Database::open(path, OpenMode::ReadOnly).records({}).size() == 16);
  int aside = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().filename().string().starts_with("a.db.corrupt-")) ++aside;
  }
  CHECK(aside == 1);
}

TEST_CASE("a reader sees whole states while another process writes") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Writer writer(path, 0, 400);
  REQUIRE(writer.read_lines(1));
  Database reader = Database::open(path, OpenMode::ReadOnly);
  std::size_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const auto rows = reader.records({});
    CHECK(rows.size() >= last);
    last = rows.size();
    for (std::size_t k = 0; k < rows.size(); ++k) REQUIRE(same(rows[k], record(static_cast<int>(k))));
  }
  writer.read_all();
  CHECK(writer.wait() == 0);
  CHECK(reader.records({}).size() == 400);
  CHECK(reader.bad_rows() == 0);
}

TEST_CASE("a lock part held alone excludes other holders until it is unlocked or its holder is gone") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  LockFile one(path), two(path);
  {
    LockFile three(path);
    REQUIRE(three.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
    CHECK_FALSE(one.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
    CHECK(one.try_lock(LockFile::Part::InUse, LockFile::Share::Shared));
    CHECK(two.try_lock(LockFile::Part::InUse, LockFile::Share::Shared));
    CHECK_FALSE(three.try_lock(LockFile::Part::InUse, LockFile::Share::Alone));
    CHECK_THROWS_WITH_AS(one.lock(LockFile::Part::Opening, LockFile::Share::Alone, std::chrono::milliseconds(5)),
                         doctest::Contains("another process has held"), DatabaseError);
  }
  CHECK(one.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
  one.unlock(LockFile::Part::Opening);
  CHECK(two.try_lock(LockFile::Part::Opening, LockFile::Share::Alone));
}
