// Many processes write the same keys of one database at once.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/db/contention.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

namespace test_contention {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// Runs `test_db_process contend FILE WRITER OF COUNT` for every writer at once; returns how many rows they were told are
/// stored.
std::size_t contend(const fs::path& path, int writers, int count) {
  const TemporaryFolder outputs;
  std::vector<int> running;
  for (int writer = 0; writer < writers; ++writer) {
    const std::vector<std::string> words{ATTUNE_DB_PROCESS,    "contend", path.string(), std::to_string(writer), std::to_string(writers),
                                         std::to_string(count)};
    running.push_back(attune::test::start(words, {}, (outputs / writer_name(writer)).string()));
  }
  std::size_t acknowledged = 0;
  for (int writer = 0; writer < writers; ++writer) {
    CHECK(attune::test::wait_for(running[static_cast<std::size_t>(writer)]) == 0);
    const std::string told = bytes_of(outputs / writer_name(writer));
    acknowledged += static_cast<std::size_t>(std::count(told.begin(), told.end(), '\n'));
  }
  return acknowledged;
}

}  // namespace

TEST_CASE("32 processes on overlapping keys lose nothing, and the best is the same in whatever order they came") {
  constexpr int kWriters = 32;
  const int count = attune::test::full_campaign() ? 200 : 16, rounds = attune::test::full_campaign() ? 20 : 2;
  std::string first_export;
  std::size_t acknowledged = 0, lost = 0, wrong = 0, differing = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path path = folder / "new" / "a.db";
    acknowledged += contend(path, kWriters, count);
    const Database database = Database::open(path, OpenMode::ReadOnly);
    CHECK(database.check().ok);
    // Own records are there, every one; of a shared key there is one record and one best row, the known winner's.
    std::size_t own = 0;
    for (const RecordRow& row : database.records({})) {
      if (!is_shared(row))
        ++own;
      else if (row.driver != winner_of(shared_index(row), kWriters))
        ++wrong;
    }
    lost += static_cast<std::size_t>(kWriters * count) - own;
    CHECK(database.info().records == static_cast<std::uint64_t>(kWriters * count + kSharedKeys));
    CHECK(database.info().best == static_cast<std::uint64_t>(kSharedKeys));
    for (const BestRow& row : database.best({})) wrong += row.driver == winner_of(shared_index(row), kWriters) ? 0 : 1;
    const std::string text = export_text(database);
    if (round == 0) first_export = text;
    differing += text == first_export ? 0 : 1;
  }
  CHECK(lost == 0);
  CHECK(wrong == 0);
  CHECK(differing == 0);
  CHECK(acknowledged == static_cast<std::size_t>(rounds * kWriters * (count + 2 * kSharedKeys)));
  attune::test::record_figures(3, "concurrent_writers",
                               {{"writers", kWriters},
                                {"rounds", rounds},
                                {"rows_acknowledged", acknowledged},
                                {"lost", lost},
                                {"wrong_best", wrong},
                                {"rounds_that_differ", differing}});
}

}  // namespace test_contention
