// Folders, permissions, copies.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/support/conditions.hpp"
#include "tests/unit/db/support.hpp"

namespace test_places {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::FileSizeLimit;
using attune::test::Unprivileged;

namespace {

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    const char* const was = std::getenv(name);
    had_ = was != nullptr;
    if (had_) was_ = was;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { had_ ? ::setenv(name_, was_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  bool had_ = false;
  std::string was_;
};

}  // namespace

TEST_CASE("an unwritable path is an error that names path, reason and remedy") {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");
  const std::string under_file = error_of(folder.path() / "file" / "a.db", OpenMode::ReadWrite);
  CHECK(mentions(under_file, "a.db"));
  CHECK(mentions(under_file, "ENOTDIR"));
  CHECK(mentions(under_file, "ATTUNE_DB or --db"));
  const std::string in_proc = error_of("/proc/attune/a.db", OpenMode::ReadWrite);
  CHECK(mentions(in_proc, "/proc/attune"));
  CHECK(mentions(in_proc, "ATTUNE_DB or --db"));
  CHECK(mentions(error_of(folder.path(), OpenMode::ReadWrite), "it is a folder"));
  CHECK(mentions(error_of(folder.path(), OpenMode::ReadOnly), "it is a folder"));
  CHECK_THROWS_WITH_AS((void)Database::open("", OpenMode::ReadWrite), doctest::Contains("empty"), DatabaseError);
}

TEST_CASE("a pipe or a device is refused as a database at once, and nothing is made beside it") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
    CHECK(mentions(error_of(folder / "pipe", mode), "it is a pipe, socket or device; name a file"));
    CHECK(mentions(error_of("/dev/zero", mode), "it is a pipe, socket or device; name a file"));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("a folder or file without write permission is an error of the writer with its remedy") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  fs::permissions(folder.path(), fs::perms(0555));
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder / "a.db.lock", fs::perms(0666));
  {
    const Unprivileged user;
    CHECK(mentions(error_of(path, OpenMode::ReadWrite), "ATTUNE_DB or --db"));
    CHECK(mentions(error_of(folder / "new.db", OpenMode::ReadWrite), "EACCES"));
    CHECK(mentions(error_of(folder / "sub" / "new.db", OpenMode::ReadWrite), "mkdir returned EACCES"));
  }
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("an export is one file that opens in a read-only folder without a notice") {
  const TemporaryFolder folder, shipped;
  const fs::path path = shipped / "layer.db";
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_golden_rows(database);
  database.export_to(path);
  CHECK(names_in(shipped.path()) == std::set<std::string>{"layer.db"});
  fs::permissions(shipped.path(), fs::perms(0555));
  {
    const Unprivileged user;
    Database layer = Database::open(path, OpenMode::ReadOnly);
    CHECK(layer.notices().empty());
    CHECK(layer.info().journal_mode == "delete");
    CHECK(layer.records({}).size() == 4);
    CHECK(layer.cubin("cubin-1") == kCubin);
    CHECK(layer.check().ok);
  }
  fs::permissions(shipped.path(), fs::perms(0755));
}

TEST_CASE("an export never replaces a file, and a failed one leaves none") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_golden_rows(database);
  write_bytes(folder / "there.db", "precious");
  CHECK_THROWS_WITH_AS(database.export_to(folder / "there.db"), doctest::Contains("exists already"), DatabaseError);
  CHECK(bytes_of(folder / "there.db") == "precious");
  CHECK_THROWS_AS(database.export_to(folder.path() / "none" / "b.db"), DatabaseError);
  const auto before = names_in(folder.path());
  {
    const FileSizeLimit full(8192);
    CHECK_THROWS_AS(database.export_to(folder / "b.db"), DatabaseError);
  }
  CHECK(names_in(folder.path()) == before);
  database.export_to(folder / "b.db");
  CHECK(Database::open(folder / "b.db", OpenMode::ReadOnly).records({}).size() == 4);
}

TEST_CASE("an exported file can be written again") {
  const TemporaryFolder folder;
  make_database(folder / "a.db");
  Database::open(folder / "a.db", OpenMode::ReadOnly).export_to(folder / "b.db");
  Database database = Database::open(folder / "b.db", OpenMode::ReadWrite);
  database.put(record(5));
  CHECK(database.info().journal_mode == "wal");
  CHECK(database.records({}).size() == 5);
}

TEST_CASE("the default path is ATTUNE_DB, else the XDG data folder, else the one below HOME") {
  const TemporaryFolder folder;
  const Environment home("HOME", (folder / "home").c_str());
  {
    const Environment named("ATTUNE_DB", "/somewhere/my.db");
    CHECK(default_path() == fs::path("/somewhere/my.db"));
  }
  const Environment unnamed("ATTUNE_DB", "");
  {
    const Environment xdg("XDG_DATA_HOME", (folder / "xdg").c_str());
    CHECK(default_path() == folder / "xdg" / "attune" / "attune.db");
  }
  const Environment no_xdg("XDG_DATA_HOME", nullptr);
  CHECK(default_path() == folder / "home" / ".local" / "share" / "attune" / "attune.db");
  const Environment no_home("HOME", nullptr);
  CHECK_THROWS_WITH_AS((void)default_path(), doctest::Contains("ATTUNE_DB"), DatabaseError);
}

}  // namespace test_places
