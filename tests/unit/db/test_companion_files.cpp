// Files beside a database under the names that SQLite uses itself: what is none of ours stays, and leads nowhere.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "db/page_check.hpp"
#include "tests/support/conditions.hpp"
#include "tests/unit/db/support.hpp"

namespace test_companion_files {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

const std::string kMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

/// The journal of a commit in several databases at once that was cut short: it changed no page of this one, and `second` is said to list
/// them.
std::string journal_naming(const std::string& second, std::size_t pages) {
  constexpr std::uint32_t kSector = 512, kPage = 4096, kLockPage = 0x40000000 / kPage + 1;
  std::string journal = kMagic;
  for (const std::size_t field : {std::size_t{0}, std::size_t{7}, pages, std::size_t{kSector}, std::size_t{kPage}}) {
    journal += big_endian(static_cast<std::uint32_t>(field));
  }
  journal.resize(kSector);
  std::uint32_t sum = 0;
  for (const char c : second) sum += static_cast<std::uint32_t>(static_cast<signed char>(c));
  return journal + big_endian(kLockPage) + second + big_endian(static_cast<std::uint32_t>(second.size())) + big_endian(sum) + kMagic;
}

}  // namespace

TEST_CASE("a journal that names a second file is refused, and neither that file nor the database is touched") {
  for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
    const TemporaryFolder folder, elsewhere;
    fs::copy_file(golden(2), folder / "a.db");
    write_bytes(elsewhere / "letter.txt", "somebody's");
    write_bytes(folder / "a.db-journal", journal_naming((elsewhere / "letter.txt").string(), fs::file_size(golden(2)) / 4096));
    const auto before = contents_of(folder.path());
    CHECK(mentions(error_of(folder / "a.db", mode), "names a second file"));
    CHECK(contents_of(folder.path()) == before);
    CHECK(bytes_of(elsewhere / "letter.txt") == "somebody's");
  }
}

TEST_CASE("no database is made where a WAL or journal of something else lies, and it stays") {
  for (const char* suffix : {"-wal", "-journal"}) {
    for (const bool is_there : {false, true}) {
      CAPTURE(suffix);
      CAPTURE(is_there);
      const TemporaryFolder folder;
      write_bytes(folder / ("notes" + std::string(suffix)), "what somebody wrote down");
      if (is_there) write_bytes(folder / "notes", "");
      const auto before = contents_of(folder.path());
      CHECK(mentions(error_of(folder / "notes", OpenMode::ReadWrite), "it stays as it is: move it away"));
      if (is_there) CHECK(mentions(error_of(folder / "notes", OpenMode::ReadOnly), "it stays as it is: move it away"));
      CHECK(contents_of(folder.path()) == before);
    }
  }
}

TEST_CASE("beside a database that is there a journal of something else is refused by all, a WAL by writers, and both stay") {
  for (const char* suffix : {"-journal", "-wal"}) {
    for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
      CAPTURE(suffix);
      const TemporaryFolder folder;
      make_database(folder / "a.db");
      const std::string text = "what somebody wrote down\n" + std::string(100000, '7');
      write_bytes((folder / "a.db").string() + suffix, text);
      if (mode == OpenMode::ReadWrite || suffix == std::string("-journal")) {
        CHECK(mentions(error_of(folder / "a.db", mode), "stays as it is"));
      } else {
        CHECK(Database::open(folder / "a.db", mode).records({}).size() == 4);
      }
      CHECK(bytes_of((folder / "a.db").string() + suffix) == text);
    }
  }
}

TEST_CASE("no writer takes the name of a file beside another database, one too long for its own, or one of several names of a file") {
  const TemporaryFolder folder;
  for (const char* suffix : {"-wal", "-journal", "-shm", ".lock", ".suspect", ".salvaged"}) {
    CHECK(mentions(error_of(folder / ("a.db" + std::string(suffix)), OpenMode::ReadWrite), "that of a file beside a database"));
  }
  CHECK(mentions(error_of(folder / std::string(201, 'n'), OpenMode::ReadWrite), "201 bytes"));
  CHECK(names_in(folder.path()).empty());
  const fs::path longest = folder / std::string(200, 'n');
  make_database(longest);
  std::string damaged = bytes_of(longest);
  write_bytes(longest, damaged.replace(4096, 4096, std::string(4096, '\x5a')));
  CHECK(Database::open(longest, OpenMode::ReadWrite).notices().size() == 1);
  make_database(folder / "a.db");
  fs::create_hard_link(folder / "a.db", folder / "b.db");
  const std::string before = bytes_of(folder / "a.db");
  for (const char* name : {"a.db", "b.db"}) {
    CHECK(mentions(error_of(folder / name, OpenMode::ReadWrite), "2 names"));
    CHECK(Database::open(folder / name, OpenMode::ReadOnly).records({}).size() == 4);
  }
  CHECK(bytes_of(folder / "a.db") == before);
}

TEST_CASE("a lock file of something else is refused by writers, is nothing to readers, and stays") {
  const TemporaryFolder folder;
  const std::string text = "# generated by a package manager\n[[package]]\n";
  write_bytes(folder / "poetry.lock", text);
  CHECK(mentions(error_of(folder / "poetry", OpenMode::ReadWrite), "is no lock file of a database"));
  CHECK(names_in(folder.path()) == std::set<std::string>{"poetry.lock"});
  make_database(folder / "other.db");
  fs::rename(folder / "other.db", folder / "poetry");
  CHECK(Database::open(folder / "poetry", OpenMode::ReadOnly).records({}).size() == 4);
  CHECK(mentions(error_of(folder / "poetry", OpenMode::ReadWrite), "is no lock file of a database"));
  CHECK(bytes_of(folder / "poetry.lock") == text);
}

TEST_CASE("a database that was salvaged once is not passed over for a new one, and what an unfinished note names is cleared away") {
  const TemporaryFolder folder;
  make_database(folder / "old.db");
  fs::rename(folder / "old.db", folder / "a.db.salvaged");
  CHECK(mentions(error_of(folder / "a.db", OpenMode::ReadWrite), "rename that"));
  fs::remove(folder / "a.db.salvaged");
  make_database(folder / "a.db");
  write_bytes(folder / "a.db.salvaged", "");
  write_bytes(folder / "a.db.lock", "attune making - 1:2:3.4 a.db.corrupt-x\n");
  CHECK(Database::open(folder / "a.db", OpenMode::ReadWrite).records({}).size() == 4);
  CHECK_FALSE(fs::exists(folder / "a.db.salvaged"));
  CHECK(bytes_of(folder / "a.db.lock").empty());
}

TEST_CASE("committed rows in a WAL whose database is gone are not thrown away for a new one") {
  const TemporaryFolder live, folder;
  Database database = Database::open(live / "a.db", OpenMode::ReadWrite);
  put_golden_rows(database);
  fs::copy_file(live / "a.db-wal", folder / "a.db-wal");
  const auto before = contents_of(folder.path());
  CHECK(mentions(error_of(folder / "a.db", OpenMode::ReadWrite), "belongs to another database"));
  CHECK(contents_of(folder.path()) == before);
}

TEST_CASE("a WAL, journal or index that is a link or a pipe is refused, and what it leads to stays") {
  for (const char* suffix : {"-wal", "-journal", "-shm"}) {
    for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
      CAPTURE(suffix);
      const TemporaryFolder folder, elsewhere;
      const fs::path companion = folder / ("a.db" + std::string(suffix));
      write_bytes(elsewhere / "letter.txt", "somebody's");
      make_database(folder / "a.db");
      fs::create_symlink(elsewhere / "letter.txt", companion);
      CHECK(mentions(error_of(folder / "a.db", mode), "is no regular file"));
      CHECK(bytes_of(elsewhere / "letter.txt") == "somebody's");
      fs::remove(companion);
      REQUIRE(::mkfifo(companion.c_str(), 0600) == 0);
      CHECK(mentions(error_of(folder / "a.db", mode), "is no regular file"));
      CHECK(fs::is_fifo(companion));
      fs::remove(companion);
      CHECK(error_of(folder / "a.db", mode) == "opened");
    }
  }
}

TEST_CASE("a file named as a mark of damage that is none stays") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  write_bytes(folder / "a.db.suspect", "somebody's");
  CHECK(error_of(folder / "a.db", OpenMode::ReadWrite) == "opened");
  CHECK(bytes_of(folder / "a.db.suspect") == "somebody's");
}

TEST_CASE("a pipe named as a mark of damage stops nobody who meets damage") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  REQUIRE(::mkfifo((folder / "a.db.suspect").c_str(), 0600) == 0);
  mark_suspect(folder / "a.db");  // would wait for a reader
  CHECK(fs::is_fifo(folder / "a.db.suspect"));
  CHECK(error_of(folder / "a.db", OpenMode::ReadWrite) == "opened");
}

TEST_CASE("a database that was read while nobody could write it can be written once its mode allows it") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(0777));
  const fs::path path = folder / "a.db", index = folder / "a.db-shm";
  {
    const attune::test::Unprivileged user;
    make_database(path);
    fs::permissions(path, fs::perms(0444));
    CHECK(Database::open(path, OpenMode::ReadOnly).records({}).size() == 4);
    REQUIRE(fs::status(index).permissions() == fs::perms(0444));  // SQLite's, left behind by who cannot remove it
    fs::permissions(path, fs::perms(0640));
    CHECK(error_of(path, OpenMode::ReadWrite) == "opened");
  }
  fs::permissions(path, fs::perms(0444));
  write_bytes(index, "");
  fs::permissions(index, fs::perms(0444));
  fs::permissions(path, fs::perms(0666));  // somebody else's, who let us write it and not its index
  {
    const attune::test::Unprivileged user;
    const std::string error = error_of(path, OpenMode::ReadWrite);
    CHECK(mentions(error, "a.db-shm' cannot be written, as the database can"));
    CHECK(mentions(error, "remove it"));
  }
  fs::remove(index);
  const fs::path log = folder / "a.db-wal";
  write_bytes(log, "");
  fs::permissions(log, fs::perms(0444));
  const attune::test::Unprivileged user;
  const std::string error = error_of(path, OpenMode::ReadWrite);
  CHECK(mentions(error, "a.db-wal' cannot be written, as the database can"));
  CHECK_FALSE(mentions(error, "remove it"));  // nobody is told to throw away what was committed
}

}  // namespace test_companion_files
