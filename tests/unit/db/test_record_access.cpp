// Records one by one, and one record alone.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include "tests/unit/db/support.hpp"

namespace test_record_access {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

Query of_record(const RecordRow& row) { return {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; }

/// Five records of one problem, one of another, one of another policy, put in no order of content.
void put_records(Database& database) {
  database.put(kernel_template());
  for (const int i : {3, 1, 5, 2, 4}) database.put(record(i));
  RecordRow other = record(1);
  other.problem = R"({"T":"f32","n":4096,"op":"sum"})";
  other.median_us = 77;
  database.put(other);
  RecordRow hot = record(1);
  hot.policy = "hot/graph";
  hot.median_us = 88;
  database.put(hot);
}

std::vector<RecordRow> visited(const Database& database, const Query& query) {
  std::vector<RecordRow> rows;
  database.for_each_record(query, [&](const RecordRow& row) { rows.push_back(row); });
  return rows;
}

void change(const fs::path& path, const std::string& sql) {
  SQLite::Database raw(path.string(), SQLite::OPEN_READWRITE);
  REQUIRE(raw.exec(sql) > 0);
}

// Changes of the third record, {"block_size":5}, of its time and of the text of its configuration.
const char* const kDamages[] = {
    "UPDATE records SET outcome = 'crashed' WHERE id = 3",
    "UPDATE records SET checksum = '' WHERE id = 3",
    "UPDATE metrics SET value = 0.5 WHERE record_key = (SELECT key FROM records WHERE id = 3)",
    "DELETE FROM metrics WHERE record_key = (SELECT key FROM records WHERE id = 3)",
    "UPDATE configurations SET text = '{}' WHERE text = '{\"block_size\":5}'",
    "DELETE FROM configurations WHERE text = '{\"block_size\":5}'",
};

}  // namespace

TEST_CASE("visiting records one by one gives what they are together, in the same order, whatever is asked for") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_records(database);
  Query problem;
  problem.problem = record(1).problem;
  Query policy;
  policy.policy = "hot/graph";
  Query by_name;
  by_name.template_name = "reduce";
  Query nobody;
  nobody.device_key = "device-7";
  for (const auto& [query, count] :
       {std::pair{Query{}, 7}, {of_record(record(1)), 5}, {problem, 6}, {policy, 1}, {by_name, 7}, {nobody, 0}}) {
    const auto together = database.records(query);
    const auto one_by_one = visited(database, query);
    CHECK(together.size() == static_cast<std::size_t>(count));
    REQUIRE(one_by_one.size() == together.size());
    for (std::size_t i = 0; i < together.size(); ++i) CHECK(same(one_by_one[i], together[i]));
  }
  const auto rows = visited(database, of_record(record(1)));
  CHECK(same(rows.front(), record(3)));  // the order in which they were stored
}

TEST_CASE("visiting passes over a damaged record and counts it once") {
  for (const auto& damage : kDamages) {
    CAPTURE(damage);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    {
      Database database = Database::open(path, OpenMode::ReadWrite);
      put_records(database);
    }
    change(path, damage);
    const Database database = Database::open(path, OpenMode::ReadOnly);
    const auto rows = visited(database, of_record(record(1)));
    REQUIRE(rows.size() == 4);
    for (const auto& row : rows) CHECK_FALSE(row.configuration == record(5).configuration);
    CHECK(database.bad_rows() == 1);
    CHECK(visited(database, of_record(record(1))).size() == 4);
    CHECK(database.bad_rows() == 1);
  }
}

TEST_CASE("what a visitor throws ends the visit, and the database goes on") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_records(database);
  int seen = 0;
  CHECK_THROWS_AS(database.for_each_record({},
                                           [&](const RecordRow&) {
                                             if (++seen == 2) throw UsageError("enough");
                                           }),
                  UsageError);
  CHECK(seen == 2);
  database.put(record(9));
  CHECK(database.records({}).size() == 8);
}

TEST_CASE("one record is found by all that names it") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_records(database);
  for (int i = 1; i <= 5; ++i) {
    const auto found = database.record(of_record(record(i)), record(i).configuration);
    REQUIRE(found.has_value());
    CHECK(same(*found, record(i)));
  }
  Query hot = of_record(record(1));
  hot.policy = "hot/graph";
  CHECK(database.record(hot, record(1).configuration).value().median_us == 88);
  CHECK_FALSE(database.record(hot, record(2).configuration).has_value());
  CHECK_FALSE(database.record(of_record(record(1)), R"({"block_size":6})").has_value());
}

TEST_CASE("the record that was put last is the one that is found") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_records(database);
  RecordRow again = record(2);
  again.stage = "run_off";
  database.put(again);
  CHECK(same(database.record(of_record(again), again.configuration).value(), again));
}

TEST_CASE("a damaged record is not found and is counted, and the others are") {
  for (const auto& damage : kDamages) {
    CAPTURE(damage);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    {
      Database database = Database::open(path, OpenMode::ReadWrite);
      put_records(database);
    }
    change(path, damage);
    Database database = Database::open(path, OpenMode::ReadWrite);
    CHECK_FALSE(database.record(of_record(record(5)), record(5).configuration).has_value());
    CHECK(database.bad_rows() + database.notices().size() == 1);  // a damaged text is found on opening
    CHECK(same(database.record(of_record(record(4)), record(4).configuration).value(), record(4)));
    database.put(record(5));
    CHECK(same(database.record(of_record(record(5)), record(5).configuration).value(), record(5)));
  }
}

TEST_CASE("the best of one problem is found by all that names it; a damaged one is not, and is counted") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  const BestRow small = best("1024"), large = best("4096");
  const auto of = [](const BestRow& row) { return Query{row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; };
  {
    Database database = Database::open(path, OpenMode::ReadWrite);
    for (const auto& row : {small, large}) database.put(row);
    CHECK(database.best_of(of(small)).value().problem == small.problem);
    CHECK(database.best_of(of(large)).value().problem == large.problem);
    for (auto change_one : {&Query::template_hash, &Query::problem, &Query::device_key, &Query::policy}) {
      Query other = of(small);
      other.*change_one = "another";
      CHECK_FALSE(database.best_of(other).has_value());
    }
  }
  change(path, R"(UPDATE best SET median_us = 0.5 WHERE sizes_json = '{"n":1024}')");
  const Database database = Database::open(path, OpenMode::ReadOnly);
  CHECK_FALSE(database.best_of(of(small)).has_value());
  CHECK(database.bad_rows() == 1);
  CHECK(database.best_of(of(large)).has_value());
}

}  // namespace test_record_access
