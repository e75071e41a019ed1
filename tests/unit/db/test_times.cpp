// What a search asks of former measurements.
#include <doctest/doctest.h>

#include <set>

#include "tests/unit/db/support.hpp"

namespace test_times {

using namespace attune::db;
using namespace attune::db::test;

namespace {

/// Ten configurations of one problem, the slower the higher their number; every third fails.
void put_ten(Database& database) {
  for (int i = 0; i < 10; ++i) {
    RecordRow row = record(i);
    row.median_us = row.low_us = row.high_us = 10 + i;
    if (i % 3 == 0) {
      row.outcome = "crashed";
      row.median_us = row.low_us = row.high_us = 0;
      row.samples = 0;
    }
    database.put(row);
  }
}

Query query_of(const RecordRow& row) {
  return {.template_hash = row.template_hash, .problem = row.problem, .device_key = row.device_key, .policy = row.policy};
}

}  // namespace

TEST_CASE("the fastest come first, in their order, without those that failed; the others are of all") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_ten(database);
  const auto fastest = database.times(query_of(record(0)), 4, 0);
  REQUIRE(fastest.size() == 4);
  const int expected[] = {1, 2, 4, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(fastest[i].configuration == record(expected[i]).configuration);
    CHECK(fastest[i].median_us == 10 + expected[i]);
  }
  const auto all = database.times(query_of(record(0)), 0, 100);
  std::set<std::string> configurations;
  int failed = 0;
  for (const auto& row : all) {
    configurations.insert(row.configuration);
    failed += row.median_us ? 0 : 1;
  }
  CHECK(configurations.size() == 10);
  CHECK(failed == 4);
  CHECK(database.times(query_of(record(0)), 100, 3).size() == 6 + 3);
}

TEST_CASE("times are those of one problem, template, device and policy") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(record(1));
  for (auto change : {&RecordRow::template_hash, &RecordRow::problem, &RecordRow::device_key, &RecordRow::policy}) {
    RecordRow other = record(2);
    other.*change = "another";
    database.put(other);
  }
  CHECK(database.times(query_of(record(1)), 10, 0).size() == 1);
}

TEST_CASE("measured problems are those of a template's name, whatever its version, under one policy") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_ten(database);
  RecordRow older = record(3), elsewhere = record(4), hot = record(5), of_another = record(6);
  older.template_hash = "older";
  elsewhere.device_key = "elsewhere";
  hot.policy = "hot/graph";
  of_another.template_hash = "of another";
  for (const auto& row : {older, elsewhere, hot, of_another}) database.put(row);
  const std::string name = kernel_template().name;
  for (const auto& [hash, its_name] :
       {std::pair(record(0).template_hash, name), {older.template_hash, name}, {of_another.template_hash, std::string("another")}}) {
    TemplateRow row = kernel_template();
    row.hash = hash;
    row.name = its_name;
    database.put(row);
  }
  std::set<std::string> found;
  for (const auto& one : database.measured_problems(name, record(0).policy))
    found.insert(one.template_hash + " " + one.device_key + " " + std::to_string(one.records) +
                 (one.problem == record(0).problem ? "" : " ?"));
  CHECK(found == std::set<std::string>{record(0).template_hash + " " + record(0).device_key + " 10",
                                       record(0).template_hash + " elsewhere 1", "older " + record(0).device_key + " 1"});
}

}  // namespace test_times
