// Merging is commutative, associative and idempotent, and takes no binaries.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/figures.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

namespace test_merge {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// What a new database exports that has taken these, in this order.
std::string merged(const std::vector<fs::path>& files) {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "merged.db", OpenMode::ReadWrite);
  for (const fs::path& file : files) {
    NoRules rules;
    (void)merge_files(database, {file}, rules);
  }
  CHECK(database.info().cubins == 0);
  return export_text(database);
}

/// Copies a database and merges others into the copy.
std::string merged_into_copy(const fs::path& target, const std::vector<fs::path>& files) {
  const TemporaryFolder folder;
  Database::open(target, OpenMode::ReadOnly).export_to(folder / "copy.db");
  Database database = Database::open(folder / "copy.db", OpenMode::ReadWrite);
  NoRules rules;
  (void)merge_files(database, files, rules);
  return export_text(database);
}

std::string imported(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder / "rows.jsonl", text);
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  NoRules rules;
  (void)import_file(database, folder / "rows.jsonl", rules);
  return export_text(database);
}

}  // namespace

TEST_CASE("merging random databases is commutative, associative and idempotent, and their exports import to the same bytes") {
  const int rounds = attune::test::full_campaign() ? 100 : 3;
  const int rows = attune::test::full_campaign() ? 100 : 30;
  int commutative = 0, associative = 0, idempotent = 0, round_trips = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path a = folder / "a.db", b = folder / "b.db", c = folder / "c.db";
    std::string alone;
    for (const fs::path& path : {a, b, c}) {
      Database database = Database::open(path, OpenMode::ReadWrite);
      put_random_rows(database, static_cast<unsigned>(3 * round) + static_cast<unsigned>(path.stem().string()[0]), rows);
      if (path == a) alone = export_text(database);
    }
    const std::string all = merged_into_copy(a, {b, c});
    commutative += merged_into_copy(a, {b}) == merged_into_copy(b, {a}) && merged({c, b, a}) == all ? 1 : 0;
    associative += merged_into_copy(b, {c, a}) == all && merged_into_copy(c, {a, b}) == all ? 1 : 0;
    idempotent += merged_into_copy(a, {b, c, a, b, a, c}) == all && merged({a, a}) == alone && merged_into_copy(a, {a}) == alone ? 1 : 0;
    round_trips += imported(all) == all && imported(alone) == alone ? 1 : 0;
    REQUIRE(merged_into_copy(a, {b}) != alone);  // there was something to merge
  }
  CHECK(commutative == rounds);
  CHECK(associative == rounds);
  CHECK(idempotent == rounds);
  CHECK(round_trips == rounds);
  attune::test::record_figures(15, "merge_algebra",
                               {{"databases", 3 * rounds}, {"rounds", rounds}, {"commutative", commutative},
                                {"associative", associative}, {"idempotent", idempotent}, {"round_trips_identical", round_trips}});
}

TEST_CASE("a merge carries no cubin, leaves the other file as it is, and counts its damaged rows") {
  const TemporaryFolder folder, source;
  const fs::path other = source / "other.db";
  {
    Database database = Database::open(other, OpenMode::ReadWrite);
    put_real_rows(database);
    SQLite::Database(other.string(), SQLite::OPEN_READWRITE).exec("UPDATE metrics SET value = 77 WHERE record_key = (SELECT key FROM records WHERE id = 1)");
  }
  const std::string bytes = bytes_of(other);
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  NoRules rules;
  const ImportReport report = merge_files(database, {other}, rules);
  CHECK(report.left_out.damaged == 1);
  CHECK(report.stored.records == 5);
  CHECK(report.stored.best == 2);
  CHECK(database.info().cubins == 0);
  CHECK(database.in_flight().empty());
  CHECK(database.sessions({}).size() == 1);
  for (const BestRow& row : database.best({})) CHECK(row.cubin_key.empty());
  CHECK(bytes_of(other) == bytes);
}

TEST_CASE("a merge heals a row that is damaged here and sound there") {
  const TemporaryFolder folder;
  const fs::path here = folder / "here.db", there = folder / "there.db";
  Database database = Database::open(here, OpenMode::ReadWrite);
  put_real_rows(database);
  const std::string text = export_text(database);
  database.export_to(there);
  SQLite::Database(here.string(), SQLite::OPEN_READWRITE).exec("UPDATE best SET median_us = 0.001; UPDATE metrics SET low = 0");
  CHECK(export_text(database) != text);
  NoRules rules;
  (void)merge_files(database, {there}, rules);
  CHECK(export_text(database) == text);
}

TEST_CASE("a merge of several files stores nothing when a row of the last is refused, and names that file and row") {
  const TemporaryFolder folder;
  const fs::path good = folder / "good.db", bad = folder / "bad.db";
  {
    Database database = Database::open(good, OpenMode::ReadWrite);
    put_real_rows(database);
  }
  {
    Database database = Database::open(bad, OpenMode::ReadWrite);
    database.put(real_device(0));
    database.put(real_template(0));
    BestRow row = real_best("1024");
    row.recorded_at = "yesterday";  // a sound row, as far as its checksum goes
    database.put(record_of(row));
    database.put(row);
  }
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  NoRules rules;
  const std::string expected = bad.string() + ": the best row for " + real_best("1024").problem;
  CHECK_THROWS_WITH_AS((void)merge_files(database, {good, bad}, rules), doctest::Contains(expected.c_str()), SpecError);
  CHECK(database.devices().empty());
  CHECK(database.best({}).empty());
}

TEST_CASE("a database is not merged into itself, nor from a file that is missing or damaged") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  fs::create_symlink(path, folder / "link.db");
  write_bytes(folder / "garbage.db", std::string(10000, 'x'));
  NoRules rules;
  CHECK_THROWS_WITH_AS((void)merge_files(database, {folder / "link.db"}, rules), doctest::Contains("the database itself"), UsageError);
  CHECK_THROWS_AS((void)merge_files(database, {folder / "none.db"}, rules), UsageError);
  CHECK_THROWS_AS((void)merge_files(database, {folder / "garbage.db"}, rules), DatabaseError);
  CHECK(bytes_of(folder / "garbage.db") == std::string(10000, 'x'));
}

}  // namespace test_merge
