// What readers and writers make of rows, pages and bits that were damaged behind attune's back.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/figures.hpp"
#include "tests/unit/db/changed_database.hpp"
#include "tests/unit/db/support.hpp"

namespace test_damage {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::full_campaign;
using attune::test::record_figures;

namespace {

bool names(const CheckReport& report, const std::string& part) {
  return std::any_of(report.problems.begin(), report.problems.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a record whose fields were changed is skipped and counted, and the others are returned") {
  for (const char* change :
       {"UPDATE records SET outcome = 'crashed' WHERE id = 2", "UPDATE records SET verified = 0 WHERE id = 2",
        "UPDATE records SET detail_json = '{\"registers\":41}' WHERE id = 2", "UPDATE records SET device_key = 'device-2' WHERE id = 2",
        "UPDATE records SET key = 'no such key' WHERE id = 2", "UPDATE records SET checksum = '' WHERE id = 2",
        "UPDATE records SET configuration_key = (SELECT configuration_key FROM records WHERE id = 3) WHERE id = 2",
        "UPDATE metrics SET value = 0.5 WHERE record_key = (SELECT key FROM records WHERE id = 2)",
        "DELETE FROM metrics WHERE record_key = (SELECT key FROM records WHERE id = 2)",
        "UPDATE configurations SET text = '{}' WHERE key = (SELECT configuration_key FROM records WHERE id = 2)",
        "DELETE FROM configurations WHERE key = (SELECT configuration_key FROM records WHERE id = 2)"}) {
    CAPTURE(change);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_changed(path, change);
    Database database = Database::open(path, OpenMode::ReadOnly);
    const auto rows = database.records({});
    REQUIRE(rows.size() == 3);
    CHECK(same(rows[0], record(1)));
    CHECK(same(rows[1], record(3)));
    CHECK(database.bad_rows() == 1);
    CHECK(database.records({}).size() == 3);
    CHECK(database.bad_rows() == 1);  // the same row, met again
  }
}

TEST_CASE("a best row that was changed is never dispatched from") {
  for (const char* change : {"UPDATE best SET configuration_key = 'x' WHERE sizes_json = '{\"n\":1024}'",
                             "UPDATE best SET median_us = 2.4999999 WHERE sizes_json = '{\"n\":1024}'",
                             "UPDATE best SET tie = 0 WHERE sizes_json = '{\"n\":1024}'",
                             "UPDATE best SET sizes_json = '{\"n\":2048}' WHERE sizes_json = '{\"n\":1024}'"}) {
    CAPTURE(change);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_changed(path, change);
    Database database = Database::open(path, OpenMode::ReadOnly);
    const auto rows = database.candidates("hash-1", R"({"T":"f32","op":"sum"})", "cold/graph");
    REQUIRE(rows.size() == 1);
    CHECK(same(rows[0], best("4096")));
    CHECK(database.bad_rows() == 1);
  }
}

TEST_CASE("changed sessions, devices, templates, cubins and in-flight notes are skipped and counted") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_changed(path,
               "UPDATE sessions SET seed = 1; UPDATE devices SET info_json = '{}'; UPDATE templates SET name = 'x';"
               "UPDATE cubins SET cubin = x'00'; UPDATE in_flight SET configuration = '{}'");
  Database database = Database::open(path, OpenMode::ReadOnly);
  CHECK(database.sessions({}).empty());
  CHECK(database.devices().empty());
  CHECK(database.templates().empty());
  CHECK_FALSE(database.cubin("cubin-1").has_value());
  CHECK(database.in_flight().empty());
  CHECK(database.bad_rows() == 5);
}

TEST_CASE("a row that is put again after damage is good again") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_changed(path, "UPDATE records SET outcome = 'x'; UPDATE configurations SET text = 'x'; UPDATE problems SET text = 'x'");
  Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.notices().size() == 1);  // of the texts, which took every row with them
  CHECK(database.records({}).empty());
  database.put(record(2));
  const auto rows = database.records({});
  REQUIRE(rows.size() == 1);
  CHECK(same(rows[0], record(2)));
}

TEST_CASE("check finds nothing in a sound database and counts its rows") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_golden_rows(database);
  const CheckReport report = database.check();
  CHECK(report.ok);
  CHECK(report.problems.empty());
  CHECK(report.bad_rows == 0);
  // 1 device, 1 template and its 2 files, 2 problems, 5 configurations (4 of records, 1 of the best rows), 4 records,
  // 1 session, 1 in flight, 2 best, 1 cubin
  CHECK(report.rows_checked == 20);
}

TEST_CASE("check names every bad row by table and key") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_changed(path,
               "UPDATE records SET origin = 'x' WHERE id = 1; UPDATE cubins SET detail_json = 'x';"
               "INSERT INTO problems VALUES ('not-its-key', '{}')");
  const CheckReport report = Database::open(path, OpenMode::ReadOnly).check();
  CHECK_FALSE(report.ok);
  CHECK(report.bad_rows == 3);
  CHECK(report.rows_checked == 21);
  CHECK(names(report, "records "));
  CHECK(names(report, "cubins cubin-1"));
  CHECK(names(report, "problems not-its-key"));
}

TEST_CASE("check reports what SQLite finds in the pages, and goes on to the other tables") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  std::int64_t page = 0;
  {
    Database database = Database::open(path, OpenMode::ReadWrite);
    put_golden_rows(database);
  }
  page = SQLite::Database(path.string()).execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'cubins'").getInt64();
  std::string bytes = bytes_of(path);
  bytes.replace(static_cast<std::size_t>(page - 1) * 4096, 4096, std::string(4096, '\x5a'));
  write_bytes(path, bytes);
  Database database = Database::open(path, OpenMode::ReadOnly);
  const CheckReport report = database.check();
  CHECK_FALSE(report.ok);
  CHECK(names(report, "integrity_check: "));
  CHECK(names(report, "cubins: SQLite stopped"));
  CHECK(report.rows_checked == 19);
  CHECK(database.best({}).size() == 2);
  CHECK_THROWS_WITH_AS((void)database.cubin("cubin-1"), doctest::Contains("SQLITE_CORRUPT"), DatabaseError);
}

TEST_CASE("after any single bit flip a writer goes on with right rows, or refuses, and nothing is deleted") {
  const TemporaryFolder folder;
  const fs::path sound = folder / "sound.db";
  {
    Database database = Database::open(folder / "made.db", OpenMode::ReadWrite);
    put_golden_rows(database);
    database.export_to(sound);
  }
  const std::string bytes = bytes_of(sound);
  std::mt19937 random(4);
  std::size_t set_aside = 0, went_on = 0;
  // A campaign flips every bit of SQLite's header first.
  const int in_header = full_campaign() ? 800 : 0, flips = in_header + (full_campaign() ? 1000 : 100);
  for (int flip = 0; flip < flips; ++flip) {
    const TemporaryFolder place;
    const fs::path path = place / "a.db";
    // Half of the others in the header and the schema, where most of the consequences are.
    const std::size_t span = flip % 2 == 0 ? bytes.size() : 2 * 4096;
    const std::size_t bit =
        flip < in_header ? static_cast<std::size_t>(flip) : std::uniform_int_distribution<std::size_t>(0, span * 8 - 1)(random);
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(path, damaged);
    CAPTURE(bit);
    try {
      Database database = Database::open(path, OpenMode::ReadWrite);
      if (!database.notices().empty()) {
        ++set_aside;
      }
      for (const RecordRow& row : database.records({})) {
        const int number = std::stoi(row.configuration.substr(row.configuration.find(':') + 1));
        CHECK((row.outcome == "compile_failed" || same(row, record(number))));
      }
      database.put(record(77));
      CHECK(same(database.records({}).back(), record(77)));
      ++went_on;
    } catch (const DatabaseError& error) {
      // What refuses has left the file alone: another version or program by its header.
      CAPTURE(error.what());
      CHECK(bytes_of(path) == damaged);
    }
  }
  CHECK(set_aside > 0);
  CHECK(went_on * 20 >= static_cast<std::size_t>(flips) * 19);
  record_figures(4, "bit_flips_writer", {{"flips", flips}, {"set_aside", set_aside}, {"went_on", went_on}});
}

TEST_CASE("a table or index whose definition was damaged makes a writer set the file aside, and is refused by a reader") {
  for (const char* change : {"UPDATE sqlite_master SET sql = replace(sql, 'driver', 'drjver') WHERE name = 'records'",
                             "UPDATE sqlite_master SET tbl_name = 'best' WHERE name = 'records_by_problem'",
                             "DELETE FROM sqlite_master WHERE name = 'best_by_family'"}) {
    CAPTURE(change);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    make_changed(path, "PRAGMA writable_schema = 1; " + std::string(change));
    CHECK_THROWS_WITH_AS((void)Database::open(path, OpenMode::ReadOnly), doctest::Contains("the next tuning run"), DatabaseError);
    Database replaced = Database::open(path, OpenMode::ReadWrite);
    REQUIRE(replaced.notices().size() == 1);
    CHECK(replaced.notices()[0].find("was damaged") != std::string::npos);
  }
}

TEST_CASE("after any single bit flip a query returns rows as they were put or none, or says that the file is damaged") {
  const TemporaryFolder folder;
  const fs::path sound = folder / "sound.db", path = folder / "a.db";
  std::vector<RecordRow> records;
  std::vector<BestRow> bests;
  {
    Database database = Database::open(folder / "made.db", OpenMode::ReadWrite);
    for (int i = 0; i < 40; ++i) database.put(records.emplace_back(record(i)));
    for (int i = 1; i <= 10; ++i) database.put(bests.emplace_back(best(std::to_string(i))));
    database.export_to(sound);
  }
  const std::string bytes = bytes_of(sound);
  std::mt19937 random(20261120);
  std::uniform_int_distribution<std::size_t> any_bit(0, bytes.size() * 8 - 1);
  std::size_t skipped = 0, refused = 0, wrong = 0;
  const int flips = full_campaign() ? 10000 : 400;
  for (int flip = 0; flip < flips; ++flip) {
    const std::size_t bit = any_bit(random);
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(path, damaged);
    try {
      Database database = Database::open(path, OpenMode::ReadOnly);
      for (const RecordRow& row : database.records({.problem = record(0).problem})) {
        const bool known = std::any_of(records.begin(), records.end(), [&](const auto& other) { return same(row, other); });
        if (!known) ++wrong;
      }
      for (const BestRow& row : database.candidates("hash-1", R"({"T":"f32","op":"sum"})", "cold/graph")) {
        const bool known = std::any_of(bests.begin(), bests.end(), [&](const auto& other) { return same(row, other); });
        if (!known) ++wrong;
      }
      skipped += database.bad_rows();
    } catch (const DatabaseError&) {
      ++refused;
    }
  }
  CHECK(wrong == 0);
  CHECK(skipped > 0);
  CHECK(refused > 0);
  record_figures(4, "bit_flips_queries", {{"flips", flips}, {"wrong_rows", wrong}, {"rows_skipped", skipped}, {"refused", refused}});
}

}  // namespace test_damage
