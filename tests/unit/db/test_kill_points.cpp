// Processes killed at chosen points of creating and of migrating a database.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/figures.hpp"
#include "tests/support/older_schema.hpp"
#include "tests/unit/db/process.hpp"
#include "tests/unit/db/support.hpp"

namespace test_kill_points {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::full_campaign;
using attune::test::record_figures;

namespace {

/// A database of an older version with the golden rows, and a record of what is best at 1024, from which the migration to 3 takes a field.
std::string older_database(int version) {
  const TemporaryFolder folder;
  {
    Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    put_golden_rows(database);
    database.put(record(256));
  }
  attune::test::make_older_schema(folder / "a.db", version);
  return bytes_of(folder / "a.db");
}
constexpr std::size_t kRecordsBefore = 5;

/// Whether the rows are those of the golden file of this version.
bool has_golden_rows(const Database& database, int version) {
  const auto records = database.records({});
  if (records.size() < kRecordsBefore || database.sessions({}).size() != 1 || database.best({}).size() != 2) return false;
  for (int i = 0; i < 3; ++i) {
    if (!same(records[static_cast<std::size_t>(i)], record(i + 1))) return false;
  }
  return same(database.devices().at(0), device()) && same(database.best({})[0], golden_best(version, "1024")) &&
         database.templates().at(0).spec_json == kernel_template_v1().spec_json && database.cubin("cubin-1") == kCubin &&
         database.in_flight().size() == 1 && database.bad_rows() == 0;
}

struct Tally {
  int kills = 0, old_version = 0, new_version = 0, acknowledged_lost = 0;
};

/// The process that was killed stored record 100, or not; what it found, `version` or nothing (0), must still be there.
void check_after_kill(const fs::path& path, int version, bool acknowledged, Tally& tally) {
  if (version > 0) {
    const Database reader = Database::open(path, OpenMode::ReadOnly);
    const int now = reader.info().schema_version;
    CHECK(has_golden_rows(reader, now));
    CHECK(reader.notices().empty());
    CHECK((now == version || now == Database::kSchemaVersion));
    ++(now == version ? tally.old_version : tally.new_version);
  }
  const Database writer = Database::open(path, OpenMode::ReadWrite);
  CHECK(writer.notices().empty());
  CHECK(writer.info().schema_version == Database::kSchemaVersion);
  CHECK((version == 0 || has_golden_rows(writer, Database::kSchemaVersion)));
  CHECK(writer.check().ok);
  const std::size_t before = version == 0 ? 0 : kRecordsBefore;
  const std::size_t rows = writer.records({}).size();
  CHECK(rows <= before + 1);
  if (rows < before + (acknowledged ? 1 : 0)) ++tally.acknowledged_lost;
}

/// Kills one process at each point of its life, until one lives through. `version` 0: there is no database yet.
void kill_at_every(const std::string& what, int version, int stride, Tally& tally) {
  const std::string file = version > 0 ? older_database(version) : std::string();
  for (int point = 1;; point += stride) {
    CAPTURE(what);
    CAPTURE(point);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    if (version > 0) write_bytes(path, file);
    Process process({"put-killed", path.string(), what, std::to_string(point)});
    process.read_all();
    const bool acknowledged = process.acknowledged() == 1;
    const int status = process.wait();
    if (!was_killed(status)) {
      REQUIRE(status == 0);  // the points are used up
      REQUIRE(point > stride);
      return;
    }
    ++tally.kills;
    check_after_kill(path, version, acknowledged, tally);
  }
}

}  // namespace

TEST_CASE("a process killed at any statement or file change of creating a database leaves one that opens, or none") {
  const int stride = full_campaign() ? 1 : 5;
  Tally tally;
  for (const char* what : {"statement", "change"}) kill_at_every(what, 0, stride, tally);
  CHECK(tally.acknowledged_lost == 0);
  record_figures(1, "killed_while_creating", {{"kills", tally.kills}, {"lost", tally.acknowledged_lost}});
}

TEST_CASE("a process killed at any statement or file change of a migration leaves the old version or the new one, whole") {
  const int stride = full_campaign() ? 1 : 5;
  Tally tally;
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    CAPTURE(version);
    for (const char* what : {"statement", "change"}) kill_at_every(what, version, stride, tally);
  }
  CHECK(tally.acknowledged_lost == 0);
  CHECK(tally.old_version > 0);
  CHECK(tally.new_version > 0);
  record_figures(8, "killed_while_migrating",
                 {{"versions", Database::kSchemaVersion - 1},
                  {"kills", tally.kills},
                  {"left_old", tally.old_version},
                  {"left_new", tally.new_version},
                  {"lost", tally.acknowledged_lost}});
}

namespace {

/// What a writer left that was killed: rows in a WAL that no checkpoint has moved, and a page of the file damaged.
struct Damaged {
  Damaged() {
    {
      Database database = Database::open(folder / "made.db", OpenMode::ReadWrite);
      for (int i = 1; i <= 40; ++i) database.put(record(i));
      database.put_cubin("cubin-2", std::string(20000, 'c'), "{}");
    }
    Database database = Database::open(folder / "made.db", OpenMode::ReadWrite);
    for (int i = 41; i <= 60; ++i) database.put(record(i));
    file = bytes_of(folder / "made.db");
    wal = bytes_of(folder / "made.db-wal");
    const std::size_t at = file.find(std::string(3000, 'c')) / 4096 * 4096;
    REQUIRE(at > 0);
    file.replace(at, 4, "\x7f\x7f\x7f\x7f");  // the number of the page that goes on
  }
  void put(const fs::path& path) const {
    write_bytes(path, file);
    write_bytes(path.string() + "-wal", wal);
  }
  TemporaryFolder folder;
  std::string file, wal;
};

}  // namespace

TEST_CASE("a process killed at any statement, file change or rename while a damaged file is set aside loses no row that can be read") {
  const Damaged damaged;
  int kills = 0;
  std::size_t lost = 0;
  for (const char* what : {"rename", "statement", "change"}) {
    const int stride = full_campaign() || what == std::string("rename") ? 1 : 17;
    for (int point = 1;; point += stride) {
      CAPTURE(what);
      CAPTURE(point);
      const TemporaryFolder folder;
      const fs::path path = folder / "a.db";
      damaged.put(path);
      Process process({"put-killed", path.string(), what, std::to_string(point)});
      process.read_all();
      const bool acknowledged = process.acknowledged() == 1, killed = was_killed(process.wait());
      kills += killed ? 1 : 0;
      {
        const Database writer = Database::open(path, OpenMode::ReadWrite);
        CHECK(writer.check().ok);
      }
      // Nothing that the killed one left is in the way of the next replacement.
      std::string again = bytes_of(path);
      again[47] = 9;
      write_bytes(path, again);
      const Database writer = Database::open(path, OpenMode::ReadWrite);
      CHECK(writer.notices().size() == 1);
      const std::size_t wanted = 60u + (acknowledged ? 1 : 0), there = writer.records({}).size();
      CHECK(there >= wanted);
      lost += wanted - std::min(wanted, there);
      for (const std::string& name : names_in(folder.path())) CHECK_FALSE(mentions(name, ".salvaged"));
      if (!killed) {
        REQUIRE(acknowledged);
        REQUIRE(point > 1);
        break;
      }
    }
  }
  CHECK(kills > 20);
  record_figures(1, "killed_while_set_aside", {{"kills", kills}, {"lost", lost}});
}

}  // namespace test_kill_points
