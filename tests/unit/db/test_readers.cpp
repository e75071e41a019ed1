// What a reader makes of files that it cannot write, and of what others left beside them.
#include <doctest/doctest.h>

#include <optional>

#include "tests/support/conditions.hpp"
#include "tests/unit/db/process.hpp"
#include "tests/unit/db/support.hpp"

namespace test_readers {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::Unprivileged;

namespace {

/// A folder with a database whose rows are in its WAL, as a copy or a killed process leaves it.
void leave_wal(const fs::path& folder) {
  const TemporaryFolder live;
  Database writer = Database::open(live / "a.db", OpenMode::ReadWrite);
  put_golden_rows(writer);
  fs::copy_file(live / "a.db", folder / "a.db");
  fs::copy_file(live / "a.db-wal", folder / "a.db-wal");
}

/// Folder and files cannot be written by an ordinary user until the end.
class ReadOnlyFolder {
 public:
  explicit ReadOnlyFolder(fs::path folder) : folder_(std::move(folder)) {
    for (const std::string& name : names_in(folder_)) fs::permissions(folder_ / name, fs::perms(0444));
    fs::permissions(folder_, fs::perms(0555));
    user_.emplace();
  }
  ReadOnlyFolder(const ReadOnlyFolder&) = delete;
  ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;
  ~ReadOnlyFolder() {
    user_.reset();
    fs::permissions(folder_, fs::perms(0755));
  }

 private:
  fs::path folder_;
  std::optional<Unprivileged> user_;
};

}  // namespace

TEST_CASE("a closed WAL database in a read-only folder is read, and the notice says how") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  const auto before = contents_of(folder.path());
  {
    const ReadOnlyFolder read_only(folder.path());
    const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
    CHECK(reader.records({}).size() == 4);
    CHECK(reader.best({}).size() == 2);
    REQUIRE(reader.notices().size() == 1);
    CHECK(mentions(reader.notices()[0], "cannot be written"));
  }
  CHECK(contents_of(folder.path()) == before);
}

TEST_CASE("the rows of a WAL that was left in a read-only folder are read, with one notice, and nothing is changed") {
  const TemporaryFolder folder;
  leave_wal(folder.path());
  const auto before = contents_of(folder.path());
  {
    const ReadOnlyFolder read_only(folder.path());
    const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
    CHECK(reader.records({}).size() == 4);
    CHECK(same(reader.records({})[0], record(1)));
    CHECK(reader.check().ok);
    REQUIRE(reader.notices().size() == 1);
    CHECK(mentions(reader.notices()[0], "cannot be written"));
  }
  CHECK(contents_of(folder.path()) == before);
}

TEST_CASE("what a killed process left in a read-only folder is read, WAL and shared memory file included") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Process process({"put", path.string(), "0", "100000"});
  REQUIRE(process.read_lines(50));
  process.kill();
  process.read_all();
  (void)process.wait();
  REQUIRE(fs::exists(folder / "a.db-shm"));
  const auto before = contents_of(folder.path());
  {
    const ReadOnlyFolder read_only(folder.path());
    const Database reader = Database::open(path, OpenMode::ReadOnly);
    CHECK(reader.records({}).size() >= process.acknowledged());
    CHECK(reader.check().ok);
    CHECK(reader.notices().size() <= 1);
  }
  CHECK(contents_of(folder.path()) == before);
}

TEST_CASE("an empty WAL and one of garbage count as none, in a read-only folder too") {
  for (const std::string& wal : {std::string(), std::string(100000, 'g'), std::string(8192, '\0')}) {
    CAPTURE(wal.size());
    const TemporaryFolder folder;
    make_database(folder / "a.db");
    write_bytes(folder / "a.db-wal", wal);
    {
      const ReadOnlyFolder read_only(folder.path());
      const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
      CHECK(reader.records({}).size() == 4);
      CHECK(reader.notices().size() == 1);
    }
    CHECK(bytes_of(folder / "a.db-wal") == wal);
    const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
    CHECK(reader.records({}).size() == 4);
    CHECK(reader.notices().empty());
    if (wal.starts_with('g')) {  // somebody's, which a writer would empty
      CHECK(mentions(error_of(folder / "a.db", OpenMode::ReadWrite), "is none of a database's files"));
      CHECK(bytes_of(folder / "a.db-wal") == wal);
      continue;
    }
    const Database writer = Database::open(folder / "a.db", OpenMode::ReadWrite);
    CHECK(writer.records({}).size() == 4);
    CHECK(writer.notices().empty());
  }
}

TEST_CASE("a WAL of another state of the file never mixes with it") {
  const TemporaryFolder folder, other;
  leave_wal(other.path());
  {
    Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    for (int i = 50; i < 60; ++i) database.put(record(i));
  }
  fs::copy_file(other / "a.db-wal", folder / "a.db-wal");
  std::vector<RecordRow> rows;
  try {
    rows = Database::open(folder / "a.db", OpenMode::ReadOnly).records({});
  } catch (const DatabaseError&) {
    return;  // SQLite may call the mixture damaged
  }
  for (const RecordRow& row : rows) {
    const int number = std::stoi(row.configuration.substr(row.configuration.find(':') + 1));
    CHECK((row.outcome == "compile_failed" || same(row, record(number))));
  }
}

TEST_CASE("a file that cannot be written in a folder that can is read without a notice") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  fs::permissions(folder / "a.db", fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0777));
  const Unprivileged user;
  const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
  CHECK(reader.records({}).size() == 4);
  CHECK(reader.notices().empty());
}

TEST_CASE("an older version is read in a read-only folder, and stays as it is") {
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    const TemporaryFolder folder;
    fs::copy_file(golden(version), folder / "a.db");
    const auto before = contents_of(folder.path());
    {
      const ReadOnlyFolder read_only(folder.path());
      const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
      CHECK(reader.best({}).size() == 2);
      CHECK(reader.templates().size() == 1);
      CHECK(reader.notices().empty());
    }
    CHECK(contents_of(folder.path()) == before);
  }
}

TEST_CASE("a reader follows a writer that is at work") {
  const TemporaryFolder folder;
  Database writer = Database::open(folder / "a.db", OpenMode::ReadWrite);
  const Database reader = Database::open(folder / "a.db", OpenMode::ReadOnly);
  CHECK(reader.records({}).empty());
  for (int i = 1; i <= 3; ++i) {
    writer.put(record(i));
    CHECK(reader.records({}).size() == static_cast<std::size_t>(i));
  }
}

}  // namespace test_readers
