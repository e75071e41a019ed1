#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/report/writers.hpp"

namespace test_database_report {

using namespace attune;
using namespace attune::test;

namespace {

void fill(const std::filesystem::path& path, const report::Rows& rows) {
  auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  for (const auto& row : rows.templates) database.put(row);
  for (const auto& row : rows.devices) database.put(row);
  for (const auto& row : rows.records) database.put(row);
  for (const auto& row : rows.sessions) database.put(row);
  for (const auto& row : rows.best) database.put(row);
}

}  // namespace

TEST_CASE("a report from a database equals the report from its rows") {
  const TempFolder folder;
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", R"({"measured": 5, "convergence": [[1, 0.5, 4.0]]})"));
  fill(folder / "toy.db", rows);
  const auto database = db::Database::open(folder / "toy.db", db::OpenMode::ReadOnly);
  auto from_database = report::build(database, {}), from_rows = report::build(rows, {});
  from_database.generated_at = from_rows.generated_at;
  CHECK(report::write_json(from_database) == report::write_json(from_rows));
}

TEST_CASE("an empty database has nothing to report and says what to do") {
  const TempFolder folder;
  fill(folder / "empty.db", {});
  const auto database = db::Database::open(folder / "empty.db", db::OpenMode::ReadOnly);
  CHECK_THROWS_WITH_AS((void)report::build(database, {}), doctest::Contains("attune tune"), UsageError);
}

}  // namespace test_database_report
