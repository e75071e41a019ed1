// Batches: all of their rows are stored, or none.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <limits>
#include <utility>

#include "attune/error.hpp"
#include "tests/unit/db/support.hpp"

namespace test_batches {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

TEST_CASE("a batch that is not committed leaves nothing behind") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  {
    const Database::Batch batch(database);
    database.put(record(1));
    database.put(best("1024"));
    CHECK(database.records({}).size() == 1);
  }
  CHECK(database.records({}).empty());
  CHECK(database.best({}).empty());
  CHECK(database.info().problems == 0);
  database.put(record(2));
  CHECK(database.records({}).size() == 1);
}

TEST_CASE("a batch shows to others when it is committed, all at once") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  Database reader = Database::open(path, OpenMode::ReadOnly);
  Database::Batch batch(database);
  for (int i = 0; i < 100; ++i) database.put(record(i));
  CHECK(reader.records({}).empty());
  batch.commit();
  CHECK(reader.records({}).size() == 100);
  CHECK_THROWS_AS(batch.commit(), Error);
}

TEST_CASE("a batch in which a row failed stores none of its rows and says so") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  {
    Database::Batch batch(database);
    database.put(record(1));
    RecordRow impossible = record(2);
    impossible.low_us = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(database.put(impossible), DatabaseError);
    CHECK_THROWS_WITH_AS(database.put(record(3)), doctest::Contains("rolled back"), DatabaseError);
    CHECK_THROWS_WITH_AS(batch.commit(), doctest::Contains("all were rolled back"), DatabaseError);
  }
  CHECK(database.records({}).empty());
  Database::Batch next(database);
  database.put(record(4));
  next.commit();
  CHECK(database.records({}).size() == 1);
}

TEST_CASE("a second batch on one database is refused") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  const Database::Batch batch(database);
  CHECK_THROWS_WITH_AS(Database::Batch{database}, doctest::Contains("one is open"), DatabaseError);
}

TEST_CASE("a database can be moved, and its batch with it") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  Database::Batch batch(database);
  database.put(record(1));
  Database moved = std::move(database);
  batch.commit();
  CHECK(moved.records({}).size() == 1);
  moved = Database::open(folder / "b.db", OpenMode::ReadWrite);
  CHECK(moved.records({}).empty());
}

TEST_CASE("texts that a batch has stored are stored again by the next one where they are gone or damaged") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  const auto store = [&](int number) {
    Database::Batch batch(database);
    database.put(record(number));
    database.put(record(number + 1));
    batch.commit();
  };
  store(1);
  REQUIRE(SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE problems SET text = 'other'") == 1);
  store(3);
  CHECK(database.records({}).size() == 4);
  REQUIRE(SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("DELETE FROM problems") == 1);
  CHECK(database.records({}).empty());
  store(5);
  CHECK(database.records({}).size() == 6);
}

TEST_CASE("texts that a batch stored and rolled back are stored by the next one") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  {
    const Database::Batch batch(database);
    database.put(record(1));
  }
  Database::Batch next(database);
  database.put(record(1));
  next.commit();
  CHECK(database.records({}).size() == 1);
}

TEST_CASE("a record that is stored behind a pruning in the same batch has its texts") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  Database::Batch batch(database);
  database.put(record(1));
  PruneRequest all;
  all.recorded_before = row_time("2100-01-01T00:00:00Z");
  (void)database.prune(all);
  REQUIRE(database.records({}).empty());
  database.put(record(1));
  batch.commit();
  CHECK(database.records({}).size() == 1);
}

}  // namespace test_batches
