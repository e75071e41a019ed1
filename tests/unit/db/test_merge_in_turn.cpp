// Databases that are merged one after the other come to the same as all at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "db/merge_in_turn.hpp"
#include "tests/support/exchange_files.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

namespace test_merge_in_turn {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// What a database has after it has taken these, in this order, one open at a time.
std::string merged_in_turn(const fs::path& path, const std::vector<fs::path>& files) {
  Database database = Database::open(path, OpenMode::ReadWrite);
  NoRules rules;
  MergeInTurn merge(database, rules);
  for (const fs::path& file : files) {
    const auto other = Database::open(file, OpenMode::ReadOnly);
    merge.take_rows(other, check_rows(other, rules));
  }
  for (const fs::path& file : files) merge.take_best(Database::open(file, OpenMode::ReadOnly));
  merge.finish();
  return export_text(database);
}

std::vector<fs::path> random_databases(const TemporaryFolder& folder, unsigned seed, int count) {
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i) {
    files.push_back(folder / ("part-" + std::to_string(i) + ".db"));
    Database database = Database::open(files.back(), OpenMode::ReadWrite);
    put_random_rows(database, 100 * seed + static_cast<unsigned>(i), 40);
  }
  return files;
}

}  // namespace

TEST_CASE("merging one after the other, in any order, gives what merging all at once gives, contradicted best rows included") {
  std::mt19937 random(7);
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const TemporaryFolder folder;
    auto files = random_databases(folder, seed, 5);
    Database at_once = Database::open(folder / "at-once.db", OpenMode::ReadWrite);
    NoRules rules;
    (void)merge_files(at_once, files, rules);
    const std::string wanted = export_text(at_once);
    for (int order = 0; order < 4; ++order) {
      std::shuffle(files.begin(), files.end(), random);
      CHECK(merged_in_turn(folder / ("in-turn-" + std::to_string(order) + ".db"), files) == wanted);
    }
  }
}

TEST_CASE("merging again, and merging first some and then all, changes nothing") {
  const TemporaryFolder folder;
  const auto files = random_databases(folder, 11, 4);
  const std::string all = merged_in_turn(folder / "all.db", files);
  CHECK(merged_in_turn(folder / "all.db", files) == all);
}

TEST_CASE("checking a database refuses what merging refuses, naming file and row, and stores nothing") {
  struct Refusing : NoRules {
    using NoRules::take;
    void take(const RecordRow& row) override {
      if (row.configuration == real_record(3).configuration) throw Error("no such configuration");
    }
  };
  const TemporaryFolder folder;
  {
    Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    put_real_rows(database);
  }
  Refusing rules;
  const auto other = Database::open(folder / "a.db", OpenMode::ReadOnly);
  CHECK_THROWS_WITH_AS((void)check_rows(other, rules), doctest::Contains("a.db: the record of"), SpecError);
}

TEST_CASE("rows that are read again are checked again: a file may be changed in place meanwhile") {
  struct Refusing : NoRules {
    using NoRules::take;
    void take(const RecordRow&) override { throw Error("no such record"); }
    void take(const BestRow&) override { throw Error("no such best"); }
  };
  const TemporaryFolder folder;
  NoRules taking;
  Refusing refusing;
  Database database = Database::open(folder / "all.db", OpenMode::ReadWrite);
  MergeInTurn merge(database, refusing);
  SUBCASE("best rows") {
    {
      Database part = Database::open(folder / "part.db", OpenMode::ReadWrite);
      put_real_rows(part);
    }
    const auto other = Database::open(folder / "part.db", OpenMode::ReadOnly);
    const CheckedRows checked = check_rows(other, taking);
    CHECK(checked.all_kept());
    CHECK_NOTHROW(merge.take_rows(other, checked));
    CHECK_THROWS_WITH_AS(merge.take_best(other), doctest::Contains("part.db: the best"), SpecError);
    CHECK(database.best({}).empty());
  }
  SUBCASE("all rows of a database that is too long to be kept") {
    constexpr std::size_t kDetail = std::size_t{15} << 20;
    {
      Database part = Database::open(folder / "part.db", OpenMode::ReadWrite);
      put_real_rows(part);
      for (int i = 0; kDetail * static_cast<std::size_t>(i) <= CheckedRows::kMostBytes; ++i) {
        RecordRow row = real_record(i);
        row.problem = R"({"T":"f32","n":)" + std::to_string(i + 1) + R"(,"op":"sum"})";
        row.detail_json = "{\"text\":\"" + std::string(kDetail, 'x') + "\"}";
        part.put(row);
      }
    }
    const auto other = Database::open(folder / "part.db", OpenMode::ReadOnly);
    const CheckedRows checked = check_rows(other, taking);
    CHECK_FALSE(checked.all_kept());
    CHECK(checked.bytes() == 0);
    CHECK_THROWS_WITH_AS(merge.take_rows(other, checked), doctest::Contains("part.db: the record of"), SpecError);
    CHECK(database.records({}).empty());
  }
}

TEST_CASE("others may write where a merge has finished what it had, and it goes on behind them") {
  const TemporaryFolder folder;
  const auto files = random_databases(folder, 31, 2);
  Database database = Database::open(folder / "all.db", OpenMode::ReadWrite);
  NoRules rules;
  MergeInTurn merge(database, rules);
  CHECK(merge.left().count() == 0);
  const auto take = [&](const fs::path& file) {
    const auto other = Database::open(file, OpenMode::ReadOnly);
    merge.take_rows(other, check_rows(other, rules));
  };
  take(files[0]);
  CHECK(merge.left().count() > 0);
  merge.finish();
  CHECK(merge.left().count() == 0);
  Database::open(folder / "all.db", OpenMode::ReadWrite).put(real_record(5));
  take(files[1]);
  for (const fs::path& file : files) merge.take_best(Database::open(file, OpenMode::ReadOnly));
  merge.finish();
  const auto records = database.records({});
  const std::string others = real_record(5).configuration;
  CHECK(std::count_if(records.begin(), records.end(), [&](const auto& row) { return row.configuration == others; }) == 1);
}

TEST_CASE("what a merge that ends early has stored is completed by the same merge again") {
  const TemporaryFolder folder;
  const auto files = random_databases(folder, 21, 3);
  const std::string wanted = merged_in_turn(folder / "whole.db", files);
  {
    Database database = Database::open(folder / "cut.db", OpenMode::ReadWrite);
    NoRules rules;
    MergeInTurn merge(database, rules);
    const auto first = Database::open(files[0], OpenMode::ReadOnly), second = Database::open(files[1], OpenMode::ReadOnly);
    merge.take_rows(first, check_rows(first, rules));
    merge.finish();
    const auto stop = [](std::uint64_t rows) {
      if (rows > 30) throw Error("stopped", ExitCode::Interrupted);
    };
    CHECK_THROWS_AS(merge.take_rows(second, check_rows(second, rules), stop), Error);
  }
  CHECK(merged_in_turn(folder / "cut.db", files) == wanted);
}

}  // namespace test_merge_in_turn
