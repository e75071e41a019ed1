// Rows of every table come back as they were put, replaced, filtered and counted.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <limits>
#include <utility>

#include "tests/unit/db/support.hpp"

namespace test_rows {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

TEST_CASE("a device comes back as it was put, and the newest soft fields win") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(device());
  DeviceRow renamed = device();
  renamed.info_json = R"({"name":"Another name"})";
  database.put(renamed);
  const auto devices = database.devices();
  REQUIRE(devices.size() == 1);
  CHECK(same(devices[0], renamed));
}

TEST_CASE("a template comes back as it was put, and one hash is one row") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(kernel_template());
  database.put(kernel_template());
  const auto templates = database.templates();
  REQUIRE(templates.size() == 1);
  CHECK(same(templates[0], kernel_template()));
}

TEST_CASE("a record comes back with every field as it was put, from another connection too") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  RecordRow row = record(7);
  row.median_us = 1.0 / 3.0;  // not exact in decimal
  row.detail_json = std::string("{\"zero\":\"\0\",\"text\":\"\xc3\xa4'\"}", 25);
  Database writer = Database::open(path, OpenMode::ReadWrite);
  writer.put(row);
  Database reader = Database::open(path, OpenMode::ReadOnly);
  const auto rows = reader.records({});
  REQUIRE(rows.size() == 1);
  CHECK(same(rows[0], row));
  CHECK(reader.bad_rows() == 0);
}

TEST_CASE("a record of a configuration that failed has no time") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  RecordRow row = record(1);
  row.outcome = "crashed";
  row.median_us = row.low_us = row.high_us = 0;
  row.samples = 0;
  database.put(row);
  const auto rows = database.records({});
  REQUIRE(rows.size() == 1);
  CHECK(same(rows[0], row));
}

TEST_CASE("a record of the same key is replaced and keeps its place; another policy is another record") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(record(2));
  database.put(record(1));
  RecordRow again = record(2);
  again.stage = "run_off";
  again.median_us = 99;
  database.put(again);
  RecordRow hot = record(2);
  hot.policy = "hot/graph";
  database.put(hot);
  const auto rows = database.records({});
  REQUIRE(rows.size() == 3);
  CHECK(same(rows[0], again));
  CHECK(same(rows[1], record(1)));
  CHECK(same(rows[2], hot));
}

TEST_CASE("a time that is replaced by a failure is gone") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(record(1));
  RecordRow failed = record(1);
  failed.outcome = "timed_out";
  failed.median_us = failed.low_us = failed.high_us = 0;
  failed.samples = 0;
  database.put(failed);
  CHECK(same(database.records({}).at(0), failed));
  CHECK(database.info().records == 1);
}

TEST_CASE("a negative zero is stored as zero and stays a good row") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  RecordRow row = record(1);
  row.low_us = -0.0;
  database.put(row);
  CHECK(database.records({}).size() == 1);
  CHECK(database.bad_rows() == 0);
}

TEST_CASE("a number that is none is refused, and nothing of its row is stored") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  RecordRow row = record(1);
  row.median_us = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(database.put(row), doctest::Contains("SQLITE_CONSTRAINT"), DatabaseError);
  const Info info = database.info();
  CHECK(info.records == 0);
  CHECK(info.problems == 0);
  database.put(record(1));
  CHECK(database.records({}).size() == 1);
}

TEST_CASE("a template's files come back byte for byte, stay when it is stored again without, and are repaired") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  database.put(kernel_template());
  database.put(TemplateRow{"hash-2", "other", "{}", {{"reduce.cu", "another file of the same name"}}});
  database.put(kernel_template_v1());
  REQUIRE(database.templates().size() == 2);
  CHECK(database.templates()[0].files.at("reduce.cu") == "another file of the same name");
  CHECK(same(database.templates()[1], kernel_template()));
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("UPDATE template_files SET contents = x'00' WHERE name = 'values.cu'");
  CHECK(database.templates()[1].files == std::map<std::string, std::string>{{"reduce.cu", "// reduce\n"}});
  CHECK(database.bad_rows() == 1);
  CHECK_FALSE(database.check().ok);
  database.put(kernel_template());
  CHECK(same(database.templates()[1], kernel_template()));
  CHECK(database.check().ok);
}

TEST_CASE("records are filtered by each field of the query and by several at once") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(kernel_template());
  TemplateRow other_template{"hash-2", "saxpy", "{}"};
  database.put(other_template);
  RecordRow plain = record(1), other = record(1);
  other.template_hash = "hash-2";
  other.problem = R"({"n":2})";
  other.device_key = "device-2";
  other.policy = "hot/graph";
  database.put(plain);
  database.put(other);
  const auto only = [&](const Query& query, const RecordRow& row) {
    const auto rows = database.records(query);
    return rows.size() == 1 && same(rows[0], row);
  };
  CHECK(only({.template_hash = "hash-2"}, other));
  CHECK(only({.template_name = "reduce"}, plain));
  CHECK(only({.problem = R"({"n":2})"}, other));
  CHECK(only({.device_key = "device-1"}, plain));
  CHECK(only({.policy = "hot/graph"}, other));
  CHECK(only(
      {.template_hash = "hash-1", .template_name = "reduce", .problem = plain.problem, .device_key = "device-1", .policy = "cold/graph"},
      plain));
  CHECK(database.records({.template_hash = "hash-1", .policy = "hot/graph"}).empty());
  CHECK(database.records({.template_name = "histogram"}).empty());
  CHECK(database.bad_rows() == 0);
}

TEST_CASE("a session comes back as it was put, with a seed above 2^63, and is updated by its key") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(session());
  REQUIRE(database.sessions({}).size() == 1);
  CHECK(same(database.sessions({})[0], session()));
  SessionRow finished = session();
  finished.state = "finished";
  database.put(finished);
  SessionRow earlier = session();
  earlier.key = "session-0";
  earlier.device_key = "device-2";
  earlier.started_at = "2025-01-01T00:00:00Z";
  database.put(earlier);
  const auto all = database.sessions({});
  REQUIRE(all.size() == 2);
  CHECK(same(all[0], earlier));
  CHECK(same(all[1], finished));
  CHECK(database.sessions({.device_key = "device-2"}).size() == 1);
  CHECK(database.sessions({.template_name = "reduce"}).empty());  // no template of that name is stored
}

TEST_CASE("the best of a problem is replaced by a newer one of the same objective only, even a slower one") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put(best("1024"));
  REQUIRE(database.best({}).size() == 1);
  CHECK(same(database.best({})[0], best("1024")));
  BestRow slower = best("1024");
  slower.configuration = R"({"block_size":64})";
  slower.median_us = 1e9;
  slower.recorded_at = "2026-11-20T13:00:02Z";
  database.put(slower);
  BestRow late = best("1024");  // of a process that began before and ends after
  late.median_us = 1;
  database.put(late);
  BestRow frugal = best("1024");
  frugal.objective = "energy";
  database.put(frugal);
  const auto rows = database.best({.template_name = "reduce"});
  REQUIRE(rows.size() == 2);
  CHECK(same(rows[0], frugal));
  CHECK(same(rows[1], slower));
  CHECK(database.best({.template_name = "saxpy"}).empty());
  CHECK(database.best({.problem = best("1024").problem, .policy = "cold/graph"}).size() == 2);
}

TEST_CASE("counts tell how many best rows a family has under each policy and in each version of its template") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  CHECK(database.best_counts("reduce", best("1").family).empty());
  const auto put = [&](const std::string& name, const std::string& hash, const std::string& size, const std::string& policy) {
    BestRow row = best(size);
    row.template_name = name;
    row.template_hash = hash;
    row.policy = policy;
    database.put(row);
  };
  put("reduce", "hash-1", "1", "cold/graph");
  put("reduce", "hash-1", "1", "hot/graph");
  put("reduce", "hash-2", "1", "cold/graph");
  put("reduce", "hash-2", "2", "cold/graph");
  put("scan", "hash-3", "1", "cold/graph");
  BestRow other_family = best("3");
  other_family.family = "another family";
  database.put(other_family);
  std::vector<std::string> lines;
  for (const BestCount& count : database.best_counts("reduce", best("1").family)) {
    lines.push_back(count.template_hash + " " + count.policy + " " + std::to_string(count.rows));
  }
  CHECK(lines == std::vector<std::string>{"hash-1 cold/graph 1", "hash-1 hot/graph 1", "hash-2 cold/graph 2"});
}

TEST_CASE("candidates are every size and device of one template, family and policy, in a fixed order") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  BestRow sibling = best("1024");
  sibling.device_key = "device-0";
  BestRow other_family = best("2048"), other_template = best("2048"), other_policy = best("2048");
  other_family.family = R"({"T":"f64","op":"sum"})";
  other_family.problem = R"({"T":"f64","n":2048,"op":"sum"})";
  other_template.template_hash = "hash-2";
  other_policy.policy = "hot/graph";
  for (const BestRow& row : {best("4096"), best("1024"), sibling, other_family, other_template, other_policy}) {
    database.put(row);
  }
  const auto rows = database.candidates("hash-1", R"({"T":"f32","op":"sum"})", "cold/graph");
  REQUIRE(rows.size() == 3);
  CHECK(same(rows[0], sibling));
  CHECK(same(rows[1], best("1024")));
  CHECK(same(rows[2], best("4096")));
}

TEST_CASE("rows come in the same order whatever order they were put in") {
  const TemporaryFolder folder;
  Database one = Database::open(folder / "one.db", OpenMode::ReadWrite);
  Database two = Database::open(folder / "two.db", OpenMode::ReadWrite);
  const std::vector<std::string> sizes = {"1", "2", "3", "4", "5"};
  for (auto size = sizes.begin(); size != sizes.end(); ++size) one.put(best(*size));
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) two.put(best(*size));
  const auto first = one.best({}), second = two.best({});
  REQUIRE(first.size() == 5);
  REQUIRE(second.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(same(first[i], second[i]));
    CHECK(same(first[i], best(sizes[i])));
  }
}

TEST_CASE("a cubin comes back byte for byte, empty or not; an unknown key is absent") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  database.put_cubin("cubin-1", kCubin, "{}");
  database.put_cubin("empty", "", "{}");
  CHECK(database.cubin("cubin-1") == kCubin);
  CHECK(database.cubin("empty") == std::string());
  CHECK_FALSE(database.cubin("cubin-2").has_value());
  database.put_cubin("cubin-1", "other bytes", "{}");
  CHECK(database.cubin("cubin-1") == std::string("other bytes"));
}

TEST_CASE("what is in flight is one configuration a session until it is cleared") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  database.set_in_flight("session-b", "{\"a\":1}");
  database.set_in_flight("session-a", "{\"a\":2}");
  database.set_in_flight("session-b", "{\"a\":3}");
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(Database::open(path, OpenMode::ReadOnly).in_flight() == Pairs{{"session-a", "{\"a\":2}"}, {"session-b", "{\"a\":3}"}});
  database.clear_in_flight("session-a");
  database.clear_in_flight("session-c");
  CHECK(database.in_flight() == Pairs{{"session-b", "{\"a\":3}"}});
}

TEST_CASE("info counts the rows of each table") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  put_golden_rows(database);
  const Info info = database.info();
  CHECK(info.path == fs::canonical(path).string());
  CHECK(info.schema_version == Database::kSchemaVersion);
  CHECK(info.devices == 1);
  CHECK(info.templates == 1);
  CHECK(info.problems == 2);
  CHECK(info.records == 4);
  CHECK(info.best == 2);
  CHECK(info.cubins == 1);
  CHECK(info.sessions == 1);
  CHECK(info.bytes > 0);
  CHECK(info.journal_mode == "wal");
  CHECK_FALSE(info.read_only);
  CHECK(Database::open(path, OpenMode::ReadOnly).info().read_only);
}

}  // namespace test_rows
