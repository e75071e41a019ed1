// What may take how long, and who may stop it.
#include <doctest/doctest.h>

#include <ctime>

#include "tests/unit/db/exchange_fixture.hpp"

namespace test_guard {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

TEST_CASE("a database of this process alone takes as many rows in one batch as there are") {
  // More processor time than a file without bytes may take.
  auto database = Database::open_temporary();
  const auto begun = std::clock();
  std::uint64_t rows = 0;
  {
    Database::Batch batch(database);
    while (static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC < 7) {
      for (int i = 0; i < 100; ++i) database.put(record(static_cast<int>(rows++)));
    }
    batch.commit();
  }
  CHECK(database.info().records == rows);
}

TEST_CASE("whoever wants to stop ends opening, waiting for a lock, writing and reading, with 130 and nothing half-made") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  make_database(path);
  bool going = true;
  const auto keep_going = [&] { return going; };
  const auto interrupted = [](auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.exit_code() == ExitCode::Interrupted;
    }
    return false;
  };
  Database database = Database::open(path, OpenMode::ReadWrite, keep_going);
  Database other = Database::open(path, OpenMode::ReadWrite);
  going = false;
  CHECK(interrupted([&] { (void)database.records({}); }));
  CHECK(interrupted([&] { database.put(record(9)); }));
  CHECK(interrupted([&] { (void)Database::open(path, OpenMode::ReadOnly, keep_going); }));
  CHECK(interrupted([&] { (void)Database::open(path, OpenMode::ReadWrite, keep_going); }));
  {
    Database::Batch batch(other);  // holds the lock
    CHECK(interrupted([&] { database.put(record(9)); }));
    CHECK(interrupted([&] { Database::Batch waiting(database); }));
  }
  going = true;
  CHECK(database.records({}).size() == 4);
  database.put(record(9));
  CHECK(database.check().ok);
}

}  // namespace test_guard
