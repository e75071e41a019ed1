#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "db/lock_file.hpp"
#include "tests/unit/db/support.hpp"

namespace test_opening {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

void run_sql(const fs::path& path, const std::string& sql) { SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec(sql); }

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
  CHECK(bytes.substr(60, 4) == std::string("\0\0\0", 3) + static_cast<char>(Database::kSchemaVersion));
}

TEST_CASE("an existing empty file becomes a database") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.db", "");
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  CHECK(database.info().schema_version == Database::kSchemaVersion);
  CHECK(database.notices().empty());
}

TEST_CASE("a closed database leaves only itself and its lock file") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  CHECK(names_in(folder.path()) == std::set<std::string>{"a.db", "a.db.lock"});
}

TEST_CASE("a newer schema is opened by nobody, and every byte of its folder stays") {
  const std::string newer = std::to_string(Database::kSchemaVersion + 1);
  const std::string later = "PRAGMA user_version = " + newer + "; INSERT INTO schema_version VALUES (" + newer + ", 'later.sql', '2027')";
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

TEST_CASE("where the header's version is damaged the tables' own counts: readers go on, and a writer puts it right and says so") {
  for (const char* version : {"0", "1", "-1"}) {
    CAPTURE(std::string(version));
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_database(path);
    run_sql(path, std::string("PRAGMA user_version = ") + version);
    CHECK(Database::open(path, OpenMode::ReadOnly).records({}).size() == 4);
    {
      const Database writer = Database::open(path, OpenMode::ReadWrite);
      REQUIRE(writer.notices().size() == 1);
      CHECK(mentions(writer.notices()[0], "damaged header"));
      CHECK(writer.records({}).size() == 4);
    }
    CHECK(Database::open(path, OpenMode::ReadWrite).notices().empty());
    CHECK(bytes_of(path).substr(60, 4) == std::string("\0\0\0", 3) + static_cast<char>(Database::kSchemaVersion));
  }
}

TEST_CASE("a file whose tables and header name different versions is refused as damaged") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  const std::string newest = std::to_string(Database::kSchemaVersion), before = std::to_string(Database::kSchemaVersion - 1);
  run_sql(path, "DELETE FROM schema_version WHERE version = " + newest);
  CHECK(mentions(error_of(path, OpenMode::ReadWrite), "user_version says schema " + newest + ", its schema_version table says " + before));
  CHECK(mentions(error_of(path, OpenMode::ReadOnly), "damaged"));
}

TEST_CASE("a file that is no database is refused, and every byte of its folder stays, whatever its size") {
  const std::string header("SQLite format 3\0", 16);
  for (const std::string& content :
       {std::string("this is no database, but somebody still wants it"), std::string("x"), std::string(8192, '\0'),
        std::string(20000, '\xff'), std::string("\x7f\x45\x4c\x46") + std::string(5000, '\1'), header.substr(0, 15),
        std::string(68, 'a') + "ATUN" + std::string(9000, 'b')}) {
    CAPTURE(content.size());
    const TemporaryFolder folder;
    write_bytes(folder / "notes.txt", content);
    for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly}) {
      const std::string message = error_of(folder / "notes.txt", mode);
      CHECK(mentions(message, "it is no database"));
      CHECK(mentions(message, "was left as it is"));
      CHECK(contents_of(folder.path()) == std::map<std::string, std::string>{{"notes.txt", content}});
    }
  }
}

TEST_CASE("a file that begins as a database and is none is refused, and every byte of its folder stays") {
  // The magic text, and garbage behind it: nothing says that it was attune's.
  const std::string header("SQLite format 3\0", 16);
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    std::string content = header;
    while (content.size() < 16 + 512 * static_cast<std::size_t>(i)) content += static_cast<char>(random());
    const TemporaryFolder folder;
    write_bytes(folder / "a.db", content);
    for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly}) {
      CHECK(error_of(folder / "a.db", mode) != "opened");
      CHECK(contents_of(folder.path()) == std::map<std::string, std::string>{{"a.db", content}});
    }
  }
}

TEST_CASE("whichever byte of the magic text is damaged, a database of ours is known by its header, set aside and replaced") {
  for (std::size_t at = 0; at < 16; ++at) {
    CAPTURE(at);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_database(path);
    std::string bytes = bytes_of(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write_bytes(path, bytes);
    Database database = Database::open(path, OpenMode::ReadWrite);
    REQUIRE(database.notices().size() == 1);
    std::string aside;
    for (const std::string& name : names_in(folder.path())) {
      if (mentions(name, "a.db.corrupt-")) aside = name;
    }
    CHECK(mentions(database.notices()[0], aside));
    CHECK(bytes_of(folder.path() / aside) == bytes);
    database.put(record(1));
    CHECK(database.check().ok);
  }
}

TEST_CASE(
    "whichever byte of the text encoding is damaged, a writer sets the file aside before it has changed a byte of it, and keeps its rows") {
  for (std::size_t at = 56; at < 60; ++at) {
    CAPTURE(at);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_database(path);
    const std::size_t rows = Database::open(path, OpenMode::ReadOnly).records({}).size();
    std::string bytes = bytes_of(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x01);
    write_bytes(path, bytes);
    Database database = Database::open(path, OpenMode::ReadWrite);
    REQUIRE(database.notices().size() == 1);
    CHECK(mentions(database.notices()[0], "text encoding"));
    CHECK(database.records({}).size() == rows);
    for (const std::string& name : names_in(folder.path())) {
      if (mentions(name, "a.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        CHECK(bytes_of(folder.path() / name) == bytes);
    }
  }
}

TEST_CASE(
    "a file with a damaged header is set aside together with its WAL, which is not replayed into the new one; that has the rows of both") {
  const TemporaryFolder folder;
  const fs::path live = folder / "live.db", path = folder / "a.db";
  make_database(live);
  Database writer = Database::open(live, OpenMode::ReadWrite);
  writer.put(record(50));
  fs::copy_file(live, path);
  fs::copy_file(folder / "live.db-wal", folder / "a.db-wal");
  std::string bytes = bytes_of(path);
  bytes.replace(0, 16, "SQLite format 9!");
  write_bytes(path, bytes);
  const std::string wal = bytes_of(folder / "a.db-wal");
  REQUIRE_FALSE(wal.empty());
  REQUIRE_FALSE(mentions(wal, "SQLite format 3"));  // it would cover the header
  Database database = Database::open(path, OpenMode::ReadWrite);
  REQUIRE(database.notices().size() == 1);
  CHECK(database.records({}).size() == 5);
  std::string aside;
  for (const std::string& name : names_in(folder.path())) {
    if (mentions(name, "a.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")) aside = name;
  }
  REQUIRE_FALSE(aside.empty());
  CHECK(bytes_of(folder.path() / aside) == bytes);
  CHECK(bytes_of(folder.path() / (aside + "-wal")) == wal);
}

TEST_CASE("a page of garbage in the middle is found when a writer opens; the file is set aside, and what else it held is in the new one") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  std::string bytes = bytes_of(path);
  REQUIRE(bytes.size() > 8 * 4096);
  bytes.replace(4 * 4096, 4096, std::string(4096, '\x5a'));
  write_bytes(path, bytes);
  Database database = Database::open(path, OpenMode::ReadWrite);
  REQUIRE(database.notices().size() == 1);
  CHECK(mentions(database.notices()[0], "rows that could still be read"));
  CHECK(database.devices().size() == 1);
  CHECK(database.check().ok);
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
  make_database(path);
  std::string bytes = bytes_of(path);
  bytes.replace(4 * 4096, 4096, std::string(4096, '\x5a'));
  write_bytes(path, bytes);
  LockFile user(path);
  REQUIRE(user.try_lock(LockFile::Part::InUse, LockFile::Share::Shared));
  const std::string message = error_of(path, OpenMode::ReadWrite);
  CHECK(mentions(message, "another process is using it"));
  CHECK(bytes_of(path) == bytes);
  for (const std::string& name : names_in(folder.path())) CHECK_FALSE(mentions(name, ".corrupt-"));
}

TEST_CASE("a reader names a damaged file and leaves it where it is") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  fs::remove(folder / "a.db.lock");
  fs::resize_file(path, 5 * 4096);
  const std::string message = error_of(path, OpenMode::ReadOnly);
  CHECK(mentions(message, path.string()));
  CHECK(mentions(message, "SQLITE_CORRUPT"));
  for (const std::string& name : names_in(folder.path())) CHECK_FALSE(mentions(name, ".corrupt-"));
}

TEST_CASE("links, pipes, folders and other files' names beside a database are refused before anything is written into what they lead to") {
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock"}) {
    for (const char* kind : {"link", "dangling link", "hard link", "pipe", "folder"}) {
      CAPTURE(std::string(suffix));
      CAPTURE(std::string(kind));
      const TemporaryFolder folder, elsewhere;
      const fs::path path = folder / "a.db", victim = elsewhere / "victim", companion = path.string() + suffix;
      make_database(path);
      fs::remove(path.string() + ".lock");
      write_bytes(victim, "somebody's notes");
      const std::string what = kind;
      if (what == "link") fs::create_symlink(victim, companion);
      if (what == "dangling link") fs::create_symlink(elsewhere / "new", companion);
      if (what == "hard link") fs::create_hard_link(victim, companion);
      if (what == "pipe") REQUIRE(::mkfifo(companion.c_str(), 0600) == 0);
      if (what == "folder") fs::create_directory(companion);
      const std::string before = bytes_of(path);
      for (const OpenMode mode : {OpenMode::ReadWrite, OpenMode::ReadOnly}) {
        CHECK(mentions(error_of(path, mode), companion.string()));
        CHECK(bytes_of(path) == before);
        CHECK(contents_of(elsewhere.path()) == std::map<std::string, std::string>{{"victim", "somebody's notes"}});
      }
    }
  }
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
