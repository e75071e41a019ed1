// What is stored under one key does not depend on the order of arrival.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "db/row_order.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

namespace test_row_order {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// Stores the rows, which have one key, in every order there is, with `store`; each time the first one must remain.
template <class Row, class Store, class Read>
void check_first_remains(const std::vector<Row>& rows, const Store& store, const Read& read) {
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), 0u);
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  do {
    const Database::Batch rolled_back(database);
    for (const std::size_t place : places) store(database, rows[place]);
    const std::vector<Row> stored = read(database);
    REQUIRE(stored.size() == 1);
    REQUIRE(order(stored[0], rows[0]) == 0);
  } while (std::next_permutation(places.begin(), places.end()));
}

/// From the one that is kept to the one that gives way to all others.
std::vector<BestRow> best_rows() {
  BestRow replayed = best("1024");
  replayed.recorded_at = "2026-11-30T00:00:00Z";
  replayed.median_us = 1;
  replayed.detail_json = R"({"origin":"recording:r.json"})";
  BestRow older = best("1024");
  older.recorded_at = "2026-11-20T13:00:01Z";
  older.median_us = 2;
  older.detail_json = R"({"origin":"measured"})";
  BestRow slower = older;
  slower.recorded_at = "2026-11-20T13:00:01.25Z";  // a quarter of a second later
  slower.median_us = 4;
  BestRow narrower = slower;
  narrower.median_us = 1;
  narrower.detail_json = R"({"asked":["a"],"origin":"measured"})";
  slower.detail_json = R"({"asked":["a","b"],"origin":"measured"})";
  BestRow tied = slower;
  tied.median_us = 3;
  BestRow kept = tied;
  kept.configuration = R"({"block_size":512})";  // content decides, only so that something does
  return {kept, tied, slower, narrower, older, replayed};
}

std::vector<RecordRow> record_rows() {
  RecordRow replayed = record(1);
  replayed.recorded_at = "2026-11-30T00:00:00Z";
  replayed.origin = "recording:r.json";
  RecordRow older = record(1);
  RecordRow screened = record(1);
  screened.recorded_at = "2026-11-20T13:00:00.000001Z";
  screened.stage = "screened";
  screened.median_us = 1;
  RecordRow run_off = screened;
  run_off.stage = "run_off";
  run_off.median_us = 9;
  RecordRow failed = run_off;
  failed.outcome = "wrong_result";
  failed.stage = "none";
  failed.verified = false;
  failed.median_us = failed.low_us = failed.high_us = 0;
  failed.samples = 0;
  return {failed, run_off, screened, older, replayed};
}

}  // namespace

TEST_CASE("the best row of a key is the measured, the newer, the one of more finalists, the faster, whatever order rows come in") {
  const auto read = [](const Database& database) { return database.best({}); };
  check_first_remains(
      best_rows(), [](Database& database, const BestRow& row) { database.put(row); }, read);
  check_first_remains(
      best_rows(), [](Database& database, const BestRow& row) { (void)database.offer(row); }, read);
}

TEST_CASE("the record of a key is the measured, the newer, the failed, the further, whatever order rows come in") {
  const auto read = [](const Database& database) { return database.records({}); };
  check_first_remains(
      record_rows(), [](Database& database, const RecordRow& row) { database.put(row); }, read);
  check_first_remains(
      record_rows(), [](Database& database, const RecordRow& row) { (void)database.offer(row); }, read);
}

TEST_CASE("an offered session is the finished, the one that ended later, whatever order they come in") {
  SessionRow running = session();
  running.finished_at = "2026-11-22T00:00:00Z";
  SessionRow interrupted = session();
  interrupted.state = "interrupted";
  SessionRow earlier = session();
  earlier.state = "finished";
  SessionRow later = earlier;
  later.finished_at = "2026-11-20T13:01:00.5Z";
  check_first_remains(
      std::vector{later, earlier, interrupted, running}, [](Database& database, const SessionRow& row) { (void)database.offer(row); },
      [](const Database& database) { return database.sessions({}); });
}

TEST_CASE("an offered device is the one of the newer driver, by its numbers, whatever order they come in") {
  DeviceRow named = real_device(0, "580.10");
  named.info_json = R"({"driver":"580.10","name":"Z, which decides nothing but the tie"})";
  DeviceRow newer = real_device(0, "580.10");
  newer.info_json = R"({"driver":"580.10","name":"A name"})";
  check_first_remains(
      std::vector{named, newer, real_device(0, "580.9"), real_device(0, "")},
      [](Database& database, const DeviceRow& row) { (void)database.offer(row); },
      [](const Database& database) { return database.devices(); });
}

TEST_CASE("a damaged row gives way to any other") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  const auto rows = best_rows();
  database.put(rows.front());
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE best SET median_us = 0.5");
  database.put(rows.back());
  REQUIRE(database.best({}).size() == 1);
  CHECK(same(database.best({})[0], rows.back()));
  CHECK(database.bad_rows() == 0);
}

TEST_CASE("a best row that says the same is stored for its cubin when it is put, and not when it is offered") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  BestRow bare = best("1024"), compiled = best("1024");
  bare.cubin_key.clear();
  compiled.cubin_key = "cubin-7";
  database.put(bare);
  database.put(compiled);
  CHECK(database.best({}).at(0).cubin_key == "cubin-7");
  CHECK_FALSE(database.offer(bare));
  CHECK(database.best({}).at(0).cubin_key == "cubin-7");
  BestRow newer = compiled;
  newer.recorded_at = "2026-11-21T00:00:00Z";
  CHECK(database.offer(newer));
  CHECK(database.best({}).at(0).cubin_key.empty());
}

}  // namespace test_row_order
