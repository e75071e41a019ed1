// Files that somebody has made to do harm: objects that are not ours, and pages that name each other.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/db/changed_database.hpp"
#include "tests/unit/db/support.hpp"

namespace test_crafted_files {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// A file whose table shows 300^5 times the rows that it has: interior pages, each of whose 300 cells names the next page.
void make_bomb(const fs::path& path, const std::string& table) {
  {
    Database database = Database::open(path, OpenMode::ReadWrite);
    put_golden_rows(database);
  }
  const auto root = static_cast<std::size_t>(
      SQLite::Database(path.string()).execAndGet("SELECT rootpage FROM sqlite_master WHERE name = '" + table + "'").getInt64());
  std::string bytes = bytes_of(path);
  const auto put = [](std::string& page, std::size_t at, std::size_t number, int width) {
    for (int i = 0; i < width; ++i) page[at + static_cast<std::size_t>(i)] = static_cast<char>(number >> (8 * (width - 1 - i)));
  };
  const auto interior = [&](std::size_t child) {
    constexpr std::size_t kCells = 300, kCellBytes = 5;
    std::string page(4096, '\0');
    page[0] = 5;  // an interior page of a table
    put(page, 3, kCells, 2);
    put(page, 5, 4096 - kCells * kCellBytes, 2);
    put(page, 8, child, 4);
    for (std::size_t i = 0; i < kCells; ++i) {
      const std::size_t at = 4096 - (i + 1) * kCellBytes;
      put(page, 12 + 2 * i, at, 2);
      put(page, at, child, 4);
      page[at + 4] = 1;
    }
    return page;
  };
  const std::string leaf = bytes.substr((root - 1) * 4096, 4096);
  const std::size_t first_new = bytes.size() / 4096 + 1;
  for (std::size_t level = 0; level < 4; ++level) bytes += interior(first_new + level + 1);
  bytes += leaf;
  bytes.replace((root - 1) * 4096, 4096, interior(first_new));
  put(bytes, 28, bytes.size() / 4096, 4);
  write_bytes(path, bytes);
}

}  // namespace

TEST_CASE("the figures of ANALYZE are no foreign object") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_changed(path, "ANALYZE; DELETE FROM in_flight");
  CHECK(Database::open(path, OpenMode::ReadOnly).records({}).size() == 4);
  Database writer = Database::open(path, OpenMode::ReadWrite);
  CHECK(writer.notices().empty());
  CHECK(writer.records({}).size() == 4);
}

TEST_CASE("a database with anything that is not ours is refused by readers and writers, before any of it runs, and every byte stays") {
  // Endless where it is read: whoever uses one of these tables does not come back.
  const std::string endless = "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x)";
  const auto in_place_of = [&](const std::string& table, const std::string& columns) {
    return "ALTER TABLE " + table + " RENAME TO aside; CREATE VIEW " + table + " AS " + endless + " SELECT " + columns +
           " FROM x WHERE i < 0";
  };
  for (const std::string& addition :
       {std::string("CREATE VIEW fast AS SELECT * FROM best"), std::string("CREATE TABLE notes (text)"),
        std::string("CREATE INDEX own ON best (median_us)"), std::string("CREATE INDEX own ON best (abs(median_us))"),
        std::string("CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END"),
        std::string("CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END"),
        in_place_of("devices", "'' AS hard_key, '' AS checksum, '' AS hard_json, '' AS info_json"),
        in_place_of("schema_version", "3 AS version, '' AS migration, '' AS applied_at"),
        in_place_of("devices", "'' AS hard_key, '' AS checksum, '' AS hard_json, '' AS info_json") +
            "; PRAGMA writable_schema = 1; UPDATE sqlite_master SET type = 'VIEW' WHERE name = 'devices'",
        std::string("DROP TABLE schema_version; CREATE VIRTUAL TABLE schema_version USING fts5(version, migration, applied_at)"),
        std::string("DROP TABLE cubins; CREATE VIRTUAL TABLE cubins USING fts5(key, checksum, cubin, detail_json)")}) {
    CAPTURE(addition);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_changed(path, addition + "; DELETE FROM in_flight");
    fs::remove(folder / "a.db.lock");
    const auto before = contents_of(folder.path());
    for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::ReadWrite}) {
      CHECK(mentions(error_of(path, mode), "could run what its author wrote"));
      CHECK(contents_of(folder.path()) == before);
    }
  }
}

TEST_CASE("a table whose pages name each other again and again is told from the rows a file can hold, and costs seconds and no memory") {
  const TemporaryFolder folder;
  for (const char* table : {"records", "sessions", "cubins"}) {
    CAPTURE(std::string(table));
    const fs::path path = folder / (std::string(table) + ".db");
    make_bomb(path, table);
    const Database database = Database::open(path, OpenMode::ReadOnly);
    CHECK_FALSE(database.check().ok);
    CHECK(database.info().records <= 4);  // counted in an index
    std::uint64_t visited = 0;
    const auto count = [&](const RecordRow&) { ++visited; };
    CHECK_NOTHROW(database.for_each_record({}, count));
    CHECK(visited <= 4);
    if (std::string(table) == "sessions") CHECK_THROWS_AS((void)database.sessions({}), DatabaseError);
    Database writer = Database::open(path, OpenMode::ReadWrite);
    REQUIRE(writer.notices().size() == 1);
    CHECK(mentions(writer.notices()[0], "was set aside"));
    CHECK(writer.records({}).size() == 4);
    CHECK(writer.check().ok);
  }
}

}  // namespace test_crafted_files
