// What pruning removes, what it keeps, and what is left when it ends early.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "db/exchange.hpp"
#include "tests/support/older_schema.hpp"
#include "tests/unit/db/process.hpp"
#include "tests/unit/db/support.hpp"

namespace test_prune {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

constexpr const char* kOld = "2026-01-05T10:00:00Z";
constexpr const char* kNew = "2026-11-20T13:00:00.123456Z";

PruneRequest older_than(const std::string& date) { return {row_time(date)}; }
PruneRequest before_summer() { return older_than("2026-06-01T00:00:00Z"); }

/// A configuration of a size, as it was measured at that date.
RecordRow record_at(const std::string& size, int block_size, const std::string& date) {
  RecordRow row = record(block_size);
  row.problem = best(size).problem;
  row.recorded_at = date;
  return row;
}

/// The result of a size; its configuration is that of record_at(size, 256, ...).
BestRow best_at(const std::string& size, const std::string& date, const std::string& cubin = "") {
  BestRow row = best(size);
  row.recorded_at = date;
  row.cubin_key = cubin;
  return row;
}

SessionRow session_at(const std::string& key, const std::string& size, const std::string& date, const std::string& state = "finished") {
  SessionRow row = session();
  row.key = key;
  row.problem = best(size).problem;
  row.started_at = date;
  row.finished_at = state == "running" ? "" : date;
  row.state = state;
  return row;
}

/// A size that was tuned at that date: three configurations, of which 256 won, a session, and the code.
void put_tuned(Database& database, const std::string& size, const std::string& date) {
  for (const int block_size : {64, 128, 256}) database.put(record_at(size, block_size, date));
  database.put_cubin("cubin-" + size, kCubin, "{}");
  database.put(best_at(size, date, "cubin-" + size));
  database.put(session_at("session-" + size, size, date));
}

/// One size of January and one of November.
struct TwoSizes : TemporaryFolder {
  TwoSizes() {
    database.put(device());
    database.put(kernel_template());
    put_tuned(database, "1024", kOld);
    put_tuned(database, "4096", kNew);
  }
  [[nodiscard]] std::set<std::string> sizes_of_best() const {
    std::set<std::string> sizes;
    for (const auto& row : database.best({})) sizes.insert(row.sizes_json);
    return sizes;
  }
  /// Every best row has the record that lets it stand, every text a row that names it, and the file is sound.
  void check_consistent() const {
    std::set<std::string> problems;
    for (const auto& row : database.best({})) {
      const auto found = database.record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}, row.configuration);
      CHECK((found && supports(*found, row)));
      problems.insert(row.problem);
    }
    for (const auto& row : database.records({})) problems.insert(row.problem);
    for (const auto& row : database.sessions({})) problems.insert(row.problem);
    CHECK(database.info().problems == problems.size());
    CHECK(database.check().ok);
  }

  Database database = Database::open(*this / "a.db", OpenMode::ReadWrite);
};

}  // namespace

TEST_CASE("dates of rows are read with a fraction and without; what is none is no date") {
  CHECK(row_time("1970-01-01T00:00:01Z")->time_since_epoch().count() == 1000000);
  CHECK(row_time("1970-01-02T00:00:00.000007Z")->time_since_epoch().count() == 86400000007);
  CHECK(row_time("1970-01-01T00:00:00.5Z")->time_since_epoch().count() == 500000);
  CHECK(*row_time(kOld) < *row_time(kNew));
  for (const char* none : {"", "yesterday", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
                           "2026-01-01T00:00:00.12x456Z", "2026-01-01T00:00:00ZZ", "-026-01-01T00:00:00Z"}) {
    CAPTURE(none);
    CHECK_FALSE(row_time(none));
  }
}

TEST_CASE_FIXTURE(TwoSizes,
                  "what is older goes with its result, code, session and texts; what would go is told before, and changes nothing") {
  const std::string before = bytes_of(*this / "a.db") + bytes_of(*this / "a.db-wal");
  const PruneReport told = Database::open(*this / "a.db", OpenMode::ReadOnly).would_prune(before_summer());
  CHECK(bytes_of(*this / "a.db") + bytes_of(*this / "a.db-wal") == before);
  const PruneReport done = database.prune(before_summer());
  for (const auto& report : {told, done}) {
    REQUIRE(report.groups.size() == 1);
    CHECK(report.groups[0].template_hash == "hash-1");
    CHECK(report.groups[0].device_key == "device-1");
    CHECK(report.groups[0].problems == 1);
    CHECK(report.groups[0].records == 3);
    CHECK(report.groups[0].best == 1);
    CHECK(report.groups[0].sessions == 1);
    CHECK(report.groups[0].cubins == 1);
    CHECK(report.loose_cubins == 0);
    CHECK(report.templates == 0);
    CHECK(report.devices == 0);
  }
  CHECK(told.bytes_removed == done.bytes_removed);
  CHECK(sizes_of_best() == std::set<std::string>{R"({"n":4096})"});
  const Info info = database.info();
  CHECK(info.records == 3);
  CHECK(info.sessions == 1);
  CHECK(info.cubins == 1);
  CHECK(info.problems == 1);
  CHECK_FALSE(database.cubin("cubin-1024"));
  CHECK(database.cubin("cubin-4096") == kCubin);
  check_consistent();
  CHECK(database.prune(before_summer()).nothing());
}

TEST_CASE_FIXTURE(TwoSizes, "a result and the record of its configuration go together: the newer of the two says how old they are") {
  database.put(record_at("1024", 256, kNew));  // measured again
  const PruneReport report = database.prune(before_summer());
  CHECK(report.total().records == 2);
  CHECK(report.total().best == 0);
  CHECK(report.total().sessions == 0);  // the problem's newest
  CHECK(report.total().problems == 0);
  CHECK(sizes_of_best().size() == 2);
  check_consistent();
  // The other way round: an old record of a new result.
  put_tuned(database, "8192", kOld);
  database.put(best_at("8192", kNew, "cubin-8192"));
  CHECK(database.prune(before_summer()).total().records == 2);
  CHECK(sizes_of_best().size() == 3);
  CHECK(database.cubin("cubin-8192"));
  check_consistent();
}

TEST_CASE_FIXTURE(TwoSizes, "a running session keeps everything of its problem; one whose process is gone keeps nothing") {
  database.put(session_at("now", "1024", kNew, "running"));
  database.set_in_flight("now", "{}");
  PruneRequest request = before_summer();
  const PruneReport kept = database.prune(request);
  CHECK(kept.nothing());
  CHECK(kept.problems_in_use == 1);
  CHECK(database.info().records == 6);
  request = older_than("2030-01-01T00:00:00Z");
  request.dead_sessions = {"now"};
  CHECK(database.prune(request).total().sessions == 3);
  CHECK(database.info().sessions == 0);
  CHECK(database.in_flight().empty());
}

TEST_CASE_FIXTURE(TwoSizes, "conditions combine, and what nothing names any more goes: templates, sources, devices") {
  RecordRow elsewhere = record_at("1024", 64, kOld);
  elsewhere.device_key = "device-2";
  DeviceRow other = device();
  other.hard_key = "device-2";
  database.put(other);
  database.put(elsewhere);
  PruneRequest request = before_summer();
  request.device_keys = {{"device-2"}};
  request.template_hashes = {{"hash-2"}};
  CHECK(database.prune(request).nothing());
  request.template_hashes = {{"hash-1"}};
  const PruneReport report = database.prune(request);
  CHECK(report.total().records == 1);
  CHECK(report.devices == 1);
  CHECK(report.templates == 0);
  CHECK(database.devices().size() == 1);
  PruneRequest all;
  all.template_hashes = {{"hash-1"}};
  CHECK(database.prune(all).templates == 1);
  const Info info = database.info();
  CHECK(info.templates + info.devices + info.records + info.best + info.cubins + info.sessions + info.problems == 0);
  CHECK(database.templates().empty());
  check_consistent();
}

TEST_CASE_FIXTURE(TwoSizes,
                  "while another process has the file open for writing, templates and devices stay: its run may have just begun") {
  const Database other = Database::open(*this / "a.db", OpenMode::ReadWrite);
  const PruneReport report = database.prune(older_than("2030-01-01T00:00:00Z"));
  CHECK(report.others_write);
  CHECK(report.total().records == 6);
  CHECK(report.templates == 0);
  CHECK(other.templates().size() == 1);
  CHECK(other.devices().size() == 1);
  CHECK(other.best({}).empty());
}

TEST_CASE_FIXTURE(TwoSizes, "code that several results name stays until the last of them goes; code that none names goes at once") {
  database.put(best_at("1024", "2026-01-05T10:00:01Z", "cubin-4096"));
  const PruneReport report = database.prune(older_than("2020-01-01T00:00:00Z"));
  CHECK(report.loose_cubins == 1);
  CHECK(report.total().cubins == 0);
  CHECK_FALSE(database.cubin("cubin-1024"));
  CHECK(database.prune(before_summer()).total().cubins == 0);
  CHECK(database.cubin("cubin-4096") == kCubin);
  CHECK(database.prune(older_than("2030-01-01T00:00:00Z")).total().cubins == 1);
  CHECK_FALSE(database.cubin("cubin-4096"));
}

TEST_CASE_FIXTURE(TwoSizes, "up to a size, records that are no result go first, then superseded results, then others, oldest first") {
  // Enough that pages of rows, not those that each table has, are what the file takes.
  for (int i = 0; i < 400; ++i) database.put(record_at("4096", 1000 + i, kNew));
  BestRow version = best_at("4096", kOld);
  version.template_hash = "hash-0";  // superseded, and older than the other of its size
  RecordRow its_record = record_at("4096", 256, kOld);
  its_record.template_hash = "hash-0";
  database.put(its_record);
  database.put(version);
  PruneRequest request;
  request.to_bytes = std::uint64_t{1} << 40;
  CHECK(database.would_prune(request).nothing());
  const std::uint64_t all = database.would_prune(request).bytes_of_rows;
  request.to_bytes = all * 3 / 4;
  const PruneReport some = database.would_prune(request);
  CHECK(some.total().best == 0);
  CHECK(some.total().records > 2);
  CHECK(some.total().records < 400);
  std::uint64_t least = all;  // of which only the superseded result goes
  PruneReport one;
  while (one.total().best == 0 && least > 1024) {
    request.to_bytes = least -= 512;
    one = database.would_prune(request);
  }
  REQUIRE(one.total().best == 1);
  const auto group = std::find_if(one.groups.begin(), one.groups.end(), [](const auto& each) { return each.best == 1; });
  CHECK(group->template_hash == "hash-0");
  (void)database.prune(request);
  CHECK(sizes_of_best() == std::set<std::string>{R"({"n":1024})", R"({"n":4096})"});
  request.to_bytes = 0;
  CHECK(database.prune(request).total().best == 2);
  check_consistent();
}

TEST_CASE_FIXTURE(TwoSizes, "after pruning to a size and vacuuming the file has that size") {
  for (int i = 0; i < 4000; ++i) database.put(record_at(std::to_string(4096 + i % 7), 1000 + i, kNew));
  PruneRequest request;
  request.to_bytes = database.would_prune({}).bytes_of_rows / 2;
  (void)database.prune(request);
  (void)database.vacuum({});
  CHECK(fs::file_size(*this / "a.db") <= *request.to_bytes);
  CHECK(fs::file_size(*this / "a.db") > *request.to_bytes * 3 / 4);
}

TEST_CASE_FIXTURE(TwoSizes, "rows whose date cannot be read are never older than a date") {
  database.put(record_at("1024", 512, "once upon a time"));
  CHECK(database.prune(older_than("2030-01-01T00:00:00Z")).total().records == 6);
  REQUIRE(database.records({}).size() == 1);
  CHECK(database.records({})[0].recorded_at == "once upon a time");
  PruneRequest all;
  all.device_keys = {{"device-1"}};
  CHECK(database.prune(all).total().records == 1);
}

TEST_CASE_FIXTURE(TwoSizes, "whoever stops it before its end finds everything as it was; a reader cannot begin") {
  bool going = true;
  Database stoppable = Database::open(*this / "a.db", OpenMode::ReadWrite, [&] { return going; });
  going = false;
  CHECK_THROWS_AS((void)stoppable.prune(before_summer()), Error);
  going = true;
  CHECK(stoppable.info().records == 6);
  CHECK_THROWS_AS((void)Database::open(*this / "a.db", OpenMode::ReadOnly).prune(before_summer()), DatabaseError);
  CHECK(database.info().best == 2);
}

TEST_CASE("files of older schemas tell what would go, and are migrated when it goes") {
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    CAPTURE(version);
    const TemporaryFolder folder;
    write_bytes(folder / "a.db", bytes_of(golden(version)));
    PruneRequest request = older_than("2030-01-01T00:00:00Z");
    request.dead_sessions = {"session-1"};
    const std::string before = bytes_of(folder / "a.db");
    CHECK(Database::open(folder / "a.db", OpenMode::ReadOnly).would_prune(request).total().records == 4);
    CHECK(bytes_of(folder / "a.db") == before);
    Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    CHECK(database.prune(request).total().best == 2);
    CHECK(database.info().records == 0);
    CHECK(database.check().ok);
  }
}

TEST_CASE("a process that is killed at any statement or change of the file while it prunes leaves all rows, or none that were to go") {
  std::string file;
  {
    const TwoSizes made;
    made.database.export_to(made / "copy.db");
    file = bytes_of(made / "copy.db");
  }
  int all = 0, pruned = 0;
  for (const std::string what : {"statement", "change"}) {
    for (int point = 1;; point += 3) {
      CAPTURE(what);
      CAPTURE(point);
      const TemporaryFolder folder;
      write_bytes(folder / "a.db", file);
      Process process({"prune-killed", (folder / "a.db").string(), what, std::to_string(point)});
      process.read_all();
      const int status = process.wait();
      const Database left = Database::open(folder / "a.db", OpenMode::ReadWrite);
      CHECK(left.notices().empty());
      CHECK(left.check().ok);
      const Info info = left.info();
      const bool untouched = info.records == 6 && info.best == 2 && info.cubins == 2 && info.sessions == 2 && info.problems == 2;
      const bool done = info.records == 3 && info.best == 1 && info.cubins == 1 && info.sessions == 1 && info.problems == 1;
      CHECK((untouched || done));
      CHECK((process.acknowledged() == 0 || done));
      ++(untouched ? all : pruned);
      if (was_killed(status)) continue;
      REQUIRE(status == 0);  // the points are used up
      break;
    }
  }
  CHECK(all > 10);
  CHECK(pruned > 2);
}

}  // namespace test_prune
