// Full disks: a file size limit, which every process has, and a small file system, where root may mount one.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/conditions.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/skip.hpp"
#include "tests/unit/db/support.hpp"

namespace test_full_disk {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::FileSizeLimit;
using attune::test::record_figures;
using attune::test::SmallDisk;

TEST_CASE("a full disk is an error; what was acknowledged stays readable, and writing goes on afterwards") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  std::size_t stored = 0;
  std::string message;
  {
    const FileSizeLimit full(400 * 1024);
    try {
      for (int i = 0; i < 100000; ++i, ++stored) database.put(record(i));
    } catch (const DatabaseError& error) {
      message = error.what();
    }
    CHECK(mentions(message, "free disk space"));
    CHECK(mentions(message, "storing a record"));
    CHECK(stored > 10);
    CHECK(database.records({}).size() == stored);
    CHECK(Database::open(path, OpenMode::ReadOnly).records({}).size() == stored);
  }
  database.put(record(-1));
  CHECK(database.records({}).size() == stored + 1);
  CHECK(database.check().ok);
}

TEST_CASE("a disk that is full from the start is an error, and the next start succeeds") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  {
    const FileSizeLimit full(2048);
    CHECK(mentions(error_of(path, OpenMode::ReadWrite), "failed opening"));
  }
  Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.notices().empty());
  CHECK(database.check().ok);
}

TEST_CASE("a closed database is read where not one byte can be written, with one notice, and nothing is left behind") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  const auto before = names_in(folder.path());
  {
    const FileSizeLimit full(0);
    const Database reader = Database::open(path, OpenMode::ReadOnly);
    CHECK(reader.records({}).size() == 4);
    REQUIRE(reader.notices().size() == 1);
    CHECK(mentions(reader.notices()[0], "its disk is full"));
  }
  auto after = names_in(folder.path());
  for (const char* empty : {"a.db-wal", "a.db-shm"}) {  // of a reader; they hold nothing
    CHECK((!after.contains(empty) || fs::file_size(folder / empty) == 0));
    after.erase(empty);
  }
  CHECK(after == before);
}

TEST_CASE("on a file system without a free byte a writer reports an error, and every acknowledged record is read") {
  const TemporaryFolder folder;
  const SmallDisk disk(folder / "disk", 4 << 20);
  if (!disk.why_not().empty()) {
    return attune::test::skip("no file system can be mounted here: " + disk.why_not());
  }
  const fs::path path = folder / "disk" / "a.db";
  std::size_t stored = 0;
  std::string message;
  {
    Database database = Database::open(path, OpenMode::ReadWrite);
    try {
      for (int i = 0; i < 100000; ++i, ++stored) database.put(record(i));
    } catch (const DatabaseError& error) {
      message = error.what();
    }
    disk.fill(folder / "disk" / "filler");
    CHECK(mentions(message, "SQLITE_FULL"));
    CHECK(mentions(message, "free disk space"));
    CHECK(database.records({}).size() == stored);
  }
  const std::size_t read = Database::open(path, OpenMode::ReadOnly).records({}).size();
  CHECK(read == stored);
  CHECK(stored > 100);
  CHECK(error_of(folder / "disk" / "new.db", OpenMode::ReadWrite) != "opened");
  CHECK_FALSE(fs::exists(folder / "disk" / "b.db"));
  CHECK_THROWS_AS(Database::open(path, OpenMode::ReadOnly).export_to(folder / "disk" / "b.db"), DatabaseError);
  for (const std::string& name : names_in(folder / "disk")) {
    CAPTURE(name);
    CHECK_FALSE(mentions(name, ".new"));
    CHECK_FALSE(name == "b.db");
  }
  fs::remove(folder / "disk" / "filler");
  Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.notices().empty());
  CHECK(database.records({}).size() == stored);
  CHECK(database.check().ok);
  record_figures(6, "full_disk_database", {{"disk_bytes", 4 << 20}, {"acknowledged", stored}, {"read", read}});
}

}  // namespace test_full_disk
