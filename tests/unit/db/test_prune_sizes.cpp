// Pruning small files to a size: what is left fits, and no more goes than has to.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/db/support.hpp"

namespace test_prune_sizes {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

RecordRow of_problem(RecordRow row, const std::string& size) {
  row.problem = best(size).problem;
  return row;
}

/// A result of a size with its record and session.
void put_result(Database& database, const std::string& size, const std::string& hash, const std::string& date) {
  RecordRow row = of_problem(record(256), size);
  BestRow result = best(size);
  SessionRow run = session();
  row.template_hash = result.template_hash = run.template_hash = hash;
  row.recorded_at = result.recorded_at = run.started_at = run.finished_at = date;
  run.problem = result.problem;
  run.key = "session-" + size;
  run.state = "finished";
  result.cubin_key.clear();
  database.put(row);
  database.put(result);
  database.put(run);
}

/// Two results, and 400 records that no result needs.
struct ManyRecords : TemporaryFolder {
  ManyRecords() {
    database.put(device());
    database.put(kernel_template());
    for (const std::string size : {"1024", "4096"}) put_result(database, size, "hash-1", "2026-11-20T13:00:00Z");
    Database::Batch batch(database);
    for (int i = 0; i < 400; ++i) database.put(of_problem(record(1000 + i), "4096"));
    batch.commit();
    least = database.would_prune({}).least_bytes;
  }
  [[nodiscard]] PruneReport would_prune_to(std::uint64_t bytes) const {
    PruneRequest request;
    request.to_bytes = bytes;
    return database.would_prune(request);
  }

  Database database = Database::open(*this / "a.db", OpenMode::ReadWrite);
  std::uint64_t least = 0;
};

}  // namespace

TEST_CASE("at 1.1, 1.5 and 2 times what a file without rows takes the vacuumed file has the size, and results stay in it") {
  for (const double times : {1.1, 1.5, 2.0}) {
    CAPTURE(times);
    ManyRecords made;
    REQUIRE(made.database.would_prune({}).bytes_of_rows > made.least * 5 / 2);
    PruneRequest request;
    request.to_bytes = static_cast<std::uint64_t>(times * static_cast<double>(made.least));
    const PruneReport report = made.database.prune(request);
    (void)made.database.vacuum({});
    CHECK_FALSE(report.goal_missed);
    CHECK(fs::file_size(made / "a.db") <= *request.to_bytes);
    CHECK(made.database.info().best == 2);
    if (times > 1.2) {
      CHECK(fs::file_size(made / "a.db") > *request.to_bytes * 3 / 4);
      CHECK(made.database.info().records > 20);
    }
  }
}

TEST_CASE_FIXTURE(ManyRecords, "a size below that of a file without rows is missed; at that size everything goes, and it is not") {
  CHECK(would_prune_to(least - 1).goal_missed);
  CHECK(would_prune_to(least / 2).goal_missed);
  const PruneReport all = would_prune_to(least);
  CHECK_FALSE(all.goal_missed);
  CHECK(all.total().best == 2);
  CHECK(all.templates == 1);
  PruneRequest request;
  request.to_bytes = least;
  (void)database.prune(request);
  (void)database.vacuum({});
  CHECK(fs::file_size(*this / "a.db") == least);
}

TEST_CASE_FIXTURE(ManyRecords, "a size that other conditions keep from being reached is missed") {
  PruneRequest request;
  request.to_bytes = least * 2;
  request.template_hashes = {{"hash-0"}};
  const PruneReport report = database.would_prune(request);
  CHECK(report.nothing());
  CHECK(report.goal_missed);
}

TEST_CASE("the last result of a template takes its sources along, and a newer result of another template stays for it") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  TemplateRow large = kernel_template();
  large.hash = "hash-0";
  large.name = "large";
  large.files = {{"large.cu", std::string(500000, '/')}};
  database.put(device());
  database.put(kernel_template());
  database.put(large);
  put_result(database, "1024", "hash-0", "2026-01-05T10:00:00Z");
  put_result(database, "4096", "hash-1", "2026-11-20T13:00:00Z");
  PruneRequest request;
  request.to_bytes = database.would_prune({}).least_bytes * 2;
  const PruneReport report = database.prune(request);
  CHECK_FALSE(report.goal_missed);
  CHECK(report.total().best == 1);
  CHECK(report.total().sessions == 1);
  CHECK(report.templates == 1);
  CHECK(report.template_bytes > 400000);
  (void)database.vacuum({});
  CHECK(fs::file_size(folder / "a.db") <= *request.to_bytes);
  REQUIRE(database.best({}).size() == 1);
  CHECK(database.best({})[0].template_hash == "hash-1");
}

}  // namespace test_prune_sizes
