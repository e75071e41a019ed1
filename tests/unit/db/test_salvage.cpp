// What is kept of damaged files whose pages lie: pages of other states, other sizes, other databases, and too many of one key.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>

#include "tests/unit/db/support.hpp"

namespace test_salvage {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

constexpr int kMany = 300;

BestRow best_of(int i) {
  BestRow row = best(std::to_string(1000 + i));
  row.configuration = record(i).configuration;
  return row;
}

RecordRow record_of(int i) {
  RecordRow row = record(i);
  row.problem = best_of(i).problem;
  return row;
}

RecordRow failed(RecordRow row) {
  row.outcome = "wrong_result";
  row.stage = "none";
  row.verified = false;
  row.median_us = row.low_us = row.high_us = 0;
  row.samples = 0;
  return row;
}

Query key_of(const RecordRow& row) { return {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; }

/// All that worked; then every third has failed, and its best row is gone. The file's bytes before and after.
std::pair<std::string, std::string> two_states(const fs::path& path) {
  std::string before;
  for (const bool later : {false, true}) {
    if (later) before = bytes_of(path);
    Database database = Database::open(path, OpenMode::ReadWrite);
    database.put(device());
    database.put(kernel_template());
    for (int i = 0; i < kMany; ++i) {
      if (later && i % 3 == 0) {
        database.put(failed(record_of(i)));
        database.forget_best(key_of(record_of(i)));
      } else if (!later) {
        database.put(record_of(i));
        database.put(best_of(i));
      }
    }
  }
  return {before, bytes_of(path)};
}

/// With the first pages that lead to rows gone, so that all has to be read off the others.
std::string damaged(std::string bytes, std::size_t page_bytes = 4096) {
  for (std::size_t page = 1; page < bytes.size() / page_bytes; ++page) {
    if (bytes[page * page_bytes] == '\x05') bytes.replace(page * page_bytes, page_bytes, std::string(page_bytes, '\0'));
  }
  return bytes;
}

}  // namespace

TEST_CASE("what is taken out is overwritten, however SQLite was built") {
  struct Extension {
    static int keep_deleted(sqlite3* handle, const char**, const void*) {
      return sqlite3_exec(handle, "PRAGMA secure_delete = OFF", nullptr, nullptr, nullptr);
    }
  };
  using Entry = void (*)();
  REQUIRE(sqlite3_auto_extension(reinterpret_cast<Entry>(&Extension::keep_deleted)) == SQLITE_OK);
  const TemporaryFolder folder;
  two_states(folder / "a.db");
  {
    SQLite::Database raw((folder / "a.db").string());
    CHECK(raw.execAndGet("PRAGMA secure_delete").getInt() == 0);  // what another program has, and ours would
  }
  const std::string bytes = bytes_of(folder / "a.db");
  sqlite3_cancel_auto_extension(reinterpret_cast<Entry>(&Extension::keep_deleted));
  // A best row tells its sizes, and nothing else has that text.
  int found = 0;
  for (int i = 0; i < kMany; i += 3) found += mentions(bytes, best_of(i).sizes_json) ? 1 : 0;
  CHECK(found == 0);
  CHECK(mentions(bytes, best_of(1).sizes_json));
}

TEST_CASE("pages of an earlier state bring back neither a time of what failed since nor a best row that was withdrawn for it") {
  const TemporaryFolder folder;
  const auto [before, after] = two_states(folder / "made.db");
  write_bytes(folder / "a.db", damaged(after) + before);
  const Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  REQUIRE(database.notices().size() == 1);
  int lost = 0, wrong = 0, back = 0;
  for (int i = 0; i < kMany; ++i) {
    const auto record = database.record(key_of(record_of(i)), record_of(i).configuration);
    lost += record ? 0 : 1;
    if (record && i % 3 == 0) wrong += record->outcome == "wrong_result" ? 0 : 1;
    if (i % 3 == 0)
      back += database.best_of(key_of(record_of(i))) ? 1 : 0;
    else
      lost += database.best_of(key_of(record_of(i))) ? 0 : 1;
  }
  CHECK(lost == 0);
  CHECK(wrong == 0);
  CHECK(back == 0);
}

TEST_CASE("a file that somebody has packed with pages of another size keeps every row") {
  for (const int page : {1024, 8192, 65536}) {
    CAPTURE(page);
    const TemporaryFolder folder;
    two_states(folder / "a.db");
    {
      SQLite::Database raw((folder / "a.db").string(), SQLite::OPEN_READWRITE);
      raw.exec("PRAGMA journal_mode = DELETE; PRAGMA page_size = " + std::to_string(page) + "; VACUUM");
    }
    write_bytes(folder / "a.db", damaged(bytes_of(folder / "a.db"), static_cast<std::size_t>(page)) + "x");
    std::string bytes = bytes_of(folder / "a.db");
    bytes.replace(28, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff");  // its number of pages; and the first unused one
    write_bytes(folder / "a.db", bytes);
    const Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    CHECK(database.records({}).size() == kMany);
    CHECK(database.best({}).size() == kMany - kMany / 3);
  }
}

TEST_CASE("a page whose kind is told wrongly keeps its rows") {
  const TemporaryFolder folder;
  const std::string sound = two_states(folder / "made.db").second;
  int kinds = 0;
  for (const char kind : {'\x02', '\x0a', '\x0d'}) {
    std::string bytes = damaged(sound);
    int pages = 0;
    for (std::size_t page = 1; page < bytes.size() / 4096; ++page) {
      if (bytes[page * 4096] != kind) continue;
      bytes[page * 4096] = '\0';
      ++pages;
    }
    if (pages == 0) continue;
    ++kinds;
    CAPTURE(static_cast<int>(kind));
    write_bytes(folder / "a.db", bytes);
    const Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    CHECK(database.records({}).size() == kMany);
    CHECK(database.best({}).size() == kMany - kMany / 3);
    fs::remove(folder / "a.db");
  }
  CHECK(kinds >= 2);
}

TEST_CASE("thousands of rows of one key, which each other table's rows would be joined with, are no work") {
  const TemporaryFolder folder;
  const std::string sound = two_states(folder / "made.db").second;
  // Pages of tables of as many columns, behind the end of the file: the same key again and again, of a record that is there.
  const fs::path forged = folder / "forged.db";
  {
    SQLite::Database raw(forged.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Database made((folder / "made.db").string());
    raw.exec("ATTACH '" + (folder / "made.db").string() + "' AS made");
    for (const char* table : {"records", "metrics"}) {
      raw.exec(std::string("CREATE TABLE ") + table + " AS SELECT * FROM made." + table + " WHERE " +
               (std::string(table) == "records" ? "key" : "record_key") + " = (SELECT record_key FROM made.metrics LIMIT 1)");
      for (int twice = 0; twice < 14; ++twice) raw.exec(std::string("INSERT INTO ") + table + " SELECT * FROM " + table);
    }
    CHECK(raw.execAndGet("SELECT count(*) FROM records").getInt() == 1 << 14);
  }
  write_bytes(folder / "a.db", damaged(sound) + bytes_of(forged));
  const Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  CHECK(database.records({}).size() == kMany);
}

}  // namespace test_salvage
