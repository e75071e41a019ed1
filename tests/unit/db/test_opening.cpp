#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include "db/lock_file.hpp"
#include "tests/unit/db/support.hpp"

namespace test_opening {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

void run_sql(const fs::path& path, const std::string& sql) {
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec(sql);
}

}  // namespace

TEST_CASE("a new database is made in folders that only their owner can enter") {
  const TemporaryFolder folder;
  const fs::path path = folder / "data" / "attune" / "attune.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(fs::status(folder / "data").permissions() == fs::perms::owner_all);
  CHECK(fs::status(folder / "data" / "attune").permissions() == fs::perms::owner_all);
  CHECK(database.notices().empty());
  CHECK(database.check().ok);
}

TEST_CASE("a database carries our application id and its schema version in the header") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  const std::string bytes = bytes_of(path);
  REQUIRE(bytes.size() > 100);
  CHECK(bytes.substr(68, 4) == "ATUN");
  CHECK(bytes.substr(60, 4) == std::string("\0\0\0\2", 4));
}

TEST_CASE("an existing empty file becomes a database") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.db", "");
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  CHECK(database.info().schema_version == 2);
  CHECK(database.notices().empty());
}

TEST_CASE("a closed database leaves only itself and its lock file") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  CHECK(names_in(folder.path()) == std::set<std::string>{"a.db", "a.db.lock"});
}

TEST_CASE("a newer schema is opened by nobody, and every byte of its folder stays") {
  const std::string newer = std::to_string(Database::kSchemaVersion + 1);
  const std::string later = "PRAGMA user_version = " + newer + "; INSERT INTO schema_version VALUES (" + newer +
                            ", 'later.sql', '2027')";
  enum class Left { Nothing, Wal, WalAndSharedMemory };
  for (const Left left : {Left::Nothing, Left::Wal, Left::WalAndSharedMemory}) {
    CAPTURE(static_cast<int>(left));
    const TemporaryFolder live, folder;
    const fs::path path = folder / "a.db";
    make_database(live / "a.db");
    SQLite::Database open((live / "a.db").string(), SQLite::OPEN_READWRITE);
    open.exec(later);
    if (left == Left::Nothing) open.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    fs::copy_file(live / "a.db", path);
    if (left != Left::Nothing) fs::copy_file(live / "a.db-wal", folder / "a.db-wal");
    if (left == Left::WalAndSharedMemory) fs::copy_file(live / "a.db-shm", folder / "a.db-shm");
    const auto before = contents_of(folder.path());
    for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly}) {
      const std::string message = error_of(path, mode);
      CHECK(mentions(message, "schema version " + newer + " is newer than version"));
      CHECK(mentions(message, path.string()));
      CHECK(mentions(message, "update attune"));
      CHECK(contents_of(folder.path()) == before);
    }
  }
}

TEST_CASE("the database of another program is refused, not set aside, and stays byte-identical") {
  const TemporaryFolder folder;
  const fs::path path = folder / "other.db";
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE notes (text)");
  const std::string before = bytes_of(path);
  CHECK(mentions(error_of(path, OpenMode::ReadWrite), "belongs to another program"));
  CHECK(mentions(error_of(path, OpenMode::ReadOnly), "belongs to another program"));
  CHECK(bytes_of(path) == before);
  CHECK(names_in(folder.path()) == std::set<std::string>{"other.db"});
}

TEST_CASE("a file whose two version numbers disagree is refused as damaged") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  run_sql(path, "PRAGMA user_version = 0");
  CHECK(mentions(error_of(path, OpenMode::ReadWrite), "user_version says schema 0, its schema_version table says 2"));
  CHECK(mentions(error_of(path, OpenMode::ReadOnly), "damaged"));
}

TEST_CASE("a file that is no database is set aside whole by a writer, named, and replaced") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  const std::string garbage = "this is no database, but somebody may still want it";
  for (const std::string& content : {garbage, std::string("xy"), std::string(8192, '\0'), std::string(20000, '\xff')}) {
    CAPTURE(content.size());
    fs::remove(path);
    write_bytes(path, content);
    const auto before = names_in(folder.path());
    Database database = Database::open(path, OpenMode::ReadWrite);
    REQUIRE(database.notices().size() == 1);
    auto after = names_in(folder.path());
    std::erase_if(after,
                  [&](const std::string& name) { return before.contains(name) || !mentions(name, ".corrupt-"); });
    REQUIRE(after.size() == 1);
    CHECK(mentions(database.notices()[0], *after.begin()));
    CHECK(bytes_of(folder.path() / *after.begin()) == content);
    database.put(record(1));
    CHECK(database.check().ok);
  }
}

TEST_CASE("a damaged header is set aside together with its WAL, and the WAL is not replayed into the new file") {
  const TemporaryFolder folder;
  const fs::path live = folder / "live.db", path = folder / "a.db";
  Database writer = Database::open(live, OpenMode::ReadWrite);
  put_golden_rows(writer);
  fs::copy_file(live, path);
  fs::copy_file(folder / "live.db-wal", folder / "a.db-wal");
  // A WAL covers the header as well: damage shows only where the WAL has no newer page, so its own is damaged too.
  std::string bytes = bytes_of(path);
  bytes.replace(0, 16, "SQLite format 9!");
  write_bytes(path, bytes);
  std::string wal = bytes_of(folder / "a.db-wal");
  for (std::size_t at = wal.find("SQLite format 3"); at != std::string::npos;
       at = wal.find("SQLite format 3", at + 1)) {
    wal[at + 14] = '9';
  }
  write_bytes(folder / "a.db-wal", wal);
  Database database = Database::open(path, OpenMode::ReadWrite);
  REQUIRE(database.notices().size() == 1);
  CHECK(database.records({}).empty());
  std::string aside;
  for (const std::string& name : names_in(folder.path())) {
    if (mentions(name, "a.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")) aside = name;
  }
  REQUIRE_FALSE(aside.empty());
  CHECK(bytes_of(folder.path() / aside) == bytes);
  CHECK(bytes_of(folder.path() / (aside + "-wal")) == wal);
}

TEST_CASE("a page of garbage in the middle is found when a writer opens, and the file is set aside") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  std::string bytes = bytes_of(path);
  REQUIRE(bytes.size() > 8 * 4096);
  bytes.replace(4 * 4096, 4096, std::string(4096, '\x5a'));
  write_bytes(path, bytes);
  Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.notices().size() == 1);
  CHECK(database.records({}).empty());
}

TEST_CASE("a truncated database is set aside by a writer") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  fs::resize_file(path, 3 * 4096 + 100);
  Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.notices().size() == 1);
  CHECK(database.check().ok);
}

TEST_CASE("a damaged file that another process is using is not set aside") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  write_bytes(path, "garbage");
  LockFile user(path);
  REQUIRE(user.try_lock(LockFile::Part::InUse, LockFile::Share::Shared));
  const std::string message = error_of(path, OpenMode::ReadWrite);
  CHECK(mentions(message, "another process is using it"));
  CHECK(bytes_of(path) == "garbage");
  CHECK(names_in(folder.path()) == std::set<std::string>{"a.db", "a.db.lock"});
}

TEST_CASE("a reader names a damaged file and leaves it where it is") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  write_bytes(path, std::string(5000, 'x'));
  const std::string message = error_of(path, OpenMode::ReadOnly);
  CHECK(mentions(message, path.string()));
  CHECK(mentions(message, "SQLITE_NOTADB"));
  CHECK(names_in(folder.path()) == std::set<std::string>{"a.db"});
}

TEST_CASE("a reader creates nothing and names a missing file") {
  const TemporaryFolder folder;
  const std::string message = error_of(folder / "none.db", OpenMode::ReadOnly);
  CHECK(mentions(message, "ENOENT"));
  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a reader says of an empty file what to do") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.db", "");
  CHECK(mentions(error_of(folder / "a.db", OpenMode::ReadOnly), "nothing has been stored in it yet"));
}

TEST_CASE("a reader stores nothing") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  Database reader = Database::open(path, OpenMode::ReadOnly);
  CHECK_THROWS_WITH_AS(reader.put(record(9)), doctest::Contains("opened read-only"), DatabaseError);
  CHECK_THROWS_WITH_AS(Database::Batch{reader}, doctest::Contains("opened read-only"), DatabaseError);
  CHECK(reader.records({}).size() == 4);
}

TEST_CASE("a name with characters that mean something in an URI is opened as it is") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a b%20?mode=rwc#1&x=\xc3\xa4.db";
  make_database(path);
  CHECK(Database::open(path, OpenMode::ReadOnly).records({}).size() == 4);
  CHECK(fs::exists(path));
}

TEST_CASE("two names of one file are one database") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  fs::create_symlink(path, folder / "link.db");
  Database other = Database::open(folder / "link.db", OpenMode::ReadWrite);
  other.put(record(1));
  CHECK(database.records({}).size() == 1);
  CHECK_FALSE(fs::exists(folder / "link.db.lock"));
}

}  // namespace test_opening
