// Merging is commutative, associative and idempotent, and takes no binaries.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/exchange_files.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

namespace test_merge {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// What a new database exports that has taken these, in this order, at once.
std::string merged(const std::vector<fs::path>& files) {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "merged.db", OpenMode::ReadWrite);
  NoRules rules;
  (void)merge_files(database, files, rules);
  CHECK(database.info().cubins == 0);
  return export_text(database);
}

/// The same one after another.
std::string merged_singly(const std::vector<fs::path>& files) {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "merged.db", OpenMode::ReadWrite);
  for (const fs::path& file : files) {
    NoRules rules;
    (void)merge_files(database, {file}, rules);
  }
  return export_text(database);
}

/// The lines of an export that are no best rows, without the end, which counts them.
std::vector<std::string> all_but_best(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  lines.pop_back();
  std::erase_if(lines, [](const std::string& line) { return line.find(R"("kind":"best")") != std::string::npos; });
  return lines;
}

/// What dispatch would use for the one problem of the databases below.
std::string best_configuration(const Database& database) {
  const auto rows = database.best({});
  REQUIRE(rows.size() <= 1);
  return rows.empty() ? std::string("none") : rows.front().configuration;
}

/// A best row of the one problem, chosen on this day of November.
BestRow chosen_on(int day, const std::string& configuration) {
  BestRow row = real_best("1024");
  row.configuration = configuration;
  row.recorded_at = "2026-11-" + std::to_string(day) + "T00:00:00Z";
  return row;
}

RecordRow proof_of(const BestRow& best) {
  RecordRow row = record_of(best);
  row.recorded_at = best.recorded_at;
  return row;
}

void put_problem(const fs::path& path, const std::vector<RecordRow>& records, const std::vector<BestRow>& best) {
  Database database = Database::open(path, OpenMode::ReadWrite);
  database.put(real_device(0));
  database.put(real_template(0));
  for (const RecordRow& row : records) database.put(row);
  for (const BestRow& row : best) database.put(row);
}

/// Copies a database and merges others into the copy.
std::string merged_into_copy(const fs::path& target, const std::vector<fs::path>& files) {
  const TemporaryFolder folder;
  Database::open(target, OpenMode::ReadOnly).export_to(folder / "copy.db");
  Database database = Database::open(folder / "copy.db", OpenMode::ReadWrite);
  NoRules rules;
  (void)merge_files(database, files, rules);
  return export_text(database);
}

std::string imported(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder / "rows.jsonl", text);
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  NoRules rules;
  (void)import_file(database, folder / "rows.jsonl", rules);
  return export_text(database);
}

}  // namespace

TEST_CASE("merging random databases is commutative, associative and idempotent, and their exports import to the same bytes") {
  const int rounds = attune::test::full_campaign() ? 100 : 3;
  const int rows = attune::test::full_campaign() ? 100 : 30;
  int commutative = 0, associative = 0, idempotent = 0, round_trips = 0, contradicted = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    const fs::path a = folder / "a.db", b = folder / "b.db", c = folder / "c.db";
    std::string alone;
    for (const fs::path& path : {a, b, c}) {
      Database database = Database::open(path, OpenMode::ReadWrite);
      put_random_rows(database, static_cast<unsigned>(3 * round) + static_cast<unsigned>(path.stem().string()[0]), rows);
      if (path == a) alone = export_text(database);
    }
    const std::string all = merged_into_copy(a, {b, c});
    commutative += merged_into_copy(a, {b}) == merged_into_copy(b, {a}) && merged({c, b, a}) == all ? 1 : 0;
    associative += merged_into_copy(b, {c, a}) == all && merged_into_copy(c, {a, b}) == all ? 1 : 0;
    idempotent += merged_into_copy(a, {b, c, a, b, a, c}) == all && merged({a, a}) == alone && merged_into_copy(a, {a}) == alone ? 1 : 0;
    round_trips += imported(all) == all && imported(alone) == alone ? 1 : 0;
    // Files one after another come to the same but for best rows that were displaced by one that a later file contradicts.
    CHECK(all_but_best(merged_singly({a, b, c})) == all_but_best(all));
    CHECK(all_but_best(merged_singly({c, b, a})) == all_but_best(all));
    contradicted += merged_singly({a, b, c}) != merged_singly({c, b, a}) ? 1 : 0;
    REQUIRE(merged_into_copy(a, {b}) != alone);  // there was something to merge
  }
  CHECK(commutative == rounds);
  CHECK(associative == rounds);
  CHECK(idempotent == rounds);
  CHECK(round_trips == rounds);
  CHECK(contradicted > 0);  // the random rows do contradict each other
  attune::test::record_figures(15, "merge_algebra",
                               {{"databases", 3 * rounds},
                                {"rounds", rounds},
                                {"commutative", commutative},
                                {"associative", associative},
                                {"idempotent", idempotent},
                                {"round_trips_identical", round_trips}});
}

TEST_CASE("a best row that another file contradicts displaces no best row that holds, whatever the order of the files") {
  const std::string one = R"({"block_size":64})", two = R"({"block_size":128})";
  const TemporaryFolder folder;
  const fs::path target = folder / "target.db", faster = folder / "faster.db", failing = folder / "failing.db";
  put_problem(target, {proof_of(chosen_on(10, one))}, {chosen_on(10, one)});
  put_problem(faster, {proof_of(chosen_on(11, two))}, {chosen_on(11, two)});
  put_problem(failing, {failed_record_of(chosen_on(12, two), "2026-11-12T00:00:00Z")}, {});
  const std::vector<std::vector<fs::path>> orders{{faster, failing}, {failing, faster}};
  for (const auto& files : orders) {
    const fs::path copy = folder / ("copy_" + files.front().filename().string());
    Database::open(target, OpenMode::ReadOnly).export_to(copy);
    Database database = Database::open(copy, OpenMode::ReadWrite);
    NoRules rules;
    const ImportReport report = merge_files(database, files, rules);
    CHECK(report.left_out.contradicted == 1);
    CHECK(report.stored.best == 0);
    CHECK(best_configuration(database) == one);
  }
  const std::string all = merged_into_copy(target, {faster, failing});
  CHECK(merged({failing, target, faster}) == all);
  CHECK(merged_into_copy(faster, {target, failing}) == all);
  CHECK(merged_into_copy(failing, {faster, target}) == all);
}

TEST_CASE("a record that one file contradicts and a later one of a third restores leaves the best row where it was") {
  const std::string one = R"({"block_size":64})";
  const TemporaryFolder folder;
  const fs::path target = folder / "target.db", failing = folder / "failing.db", again = folder / "again.db";
  put_problem(target, {proof_of(chosen_on(10, one))}, {chosen_on(10, one)});
  put_problem(failing, {failed_record_of(chosen_on(11, one), "2026-11-11T00:00:00Z")}, {});
  put_problem(again, {proof_of(chosen_on(12, one))}, {});
  for (const auto& files : std::vector<std::vector<fs::path>>{{failing, again}, {again, failing}}) {
    const fs::path copy = folder / ("copy_" + files.front().filename().string());
    Database::open(target, OpenMode::ReadOnly).export_to(copy);
    Database database = Database::open(copy, OpenMode::ReadWrite);
    NoRules rules;
    CHECK(merge_files(database, files, rules).left_out.contradicted == 0);
    CHECK(best_configuration(database) == one);
  }
}

TEST_CASE("a best row that nothing vouches for goes when a record of another file says that its configuration fails") {
  const std::string one = R"({"block_size":64})";
  const TemporaryFolder folder;
  const fs::path target = folder / "target.db", unverified = folder / "unverified.db", failing = folder / "failing.db";
  BestRow best = chosen_on(10, one);
  best.objective = kUnverifiedTime;
  RecordRow record = proof_of(best);
  record.verified = false;
  put_problem(target, {record}, {best});
  record.recorded_at = "2026-11-11T00:00:00.000000Z";
  put_problem(unverified, {record}, {});
  put_problem(failing, {failed_record_of(best, "2026-11-12T00:00:00Z")}, {});
  Database database = Database::open(target, OpenMode::ReadWrite);
  NoRules rules;
  (void)merge_files(database, {unverified}, rules);
  CHECK(database.best({}).size() == 1);
  CHECK(merge_files(database, {failing}, rules).left_out.contradicted == 1);
  CHECK(database.best({}).empty());
}

TEST_CASE("a best row that its own database contradicts gives way to an older one of another file that holds, on either side") {
  const std::string one = R"({"block_size":64})", two = R"({"block_size":128})";
  const TemporaryFolder folder;
  const fs::path doubtful = folder / "doubtful.db", sound = folder / "sound.db", healing = folder / "healing.db";
  put_problem(doubtful, {failed_record_of(chosen_on(11, two), "2026-11-12T00:00:00Z")}, {chosen_on(11, two)});
  put_problem(sound, {proof_of(chosen_on(10, one))}, {chosen_on(10, one)});
  put_problem(healing, {proof_of(chosen_on(13, two))}, {});
  NoRules rules;
  const std::string rest = merged({doubtful, sound});
  CHECK(rest.find(R"("best":1)") != std::string::npos);
  CHECK(merged_into_copy(doubtful, {sound}) == rest);
  CHECK(merged_into_copy(sound, {doubtful}) == rest);
  Database taken = Database::open(folder / "taken.db", OpenMode::ReadWrite);
  const ImportReport report = merge_files(taken, {doubtful, sound}, rules);
  CHECK(report.left_out.unverified == 1);
  CHECK(best_configuration(taken) == one);
  // A record of a third, later still, says that it works after all.
  const std::string healed = merged({doubtful, sound, healing});
  CHECK(merged_into_copy(doubtful, {healing, sound}) == healed);
  CHECK(merged_into_copy(healing, {sound, doubtful}) == healed);
  Database all = Database::open(folder / "all.db", OpenMode::ReadWrite);
  (void)merge_files(all, {healing, doubtful, sound}, rules);
  CHECK(best_configuration(all) == two);
}

TEST_CASE("a merge carries no cubin, leaves the other file as it is, and counts its damaged rows") {
  const TemporaryFolder folder, source;
  const fs::path other = source / "other.db";
  {
    Database database = Database::open(other, OpenMode::ReadWrite);
    put_real_rows(database);
    SQLite::Database(other.string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE metrics SET value = 77 WHERE record_key = (SELECT key FROM records WHERE id = 1)");
  }
  const std::string bytes = bytes_of(other);
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  NoRules rules;
  const ImportReport report = merge_files(database, {other}, rules);
  CHECK(report.left_out.damaged == 1);
  CHECK(report.stored.records == 5);
  CHECK(report.stored.best == 2);
  CHECK(database.info().cubins == 0);
  CHECK(database.in_flight().empty());
  CHECK(database.sessions({}).size() == 1);
  for (const BestRow& row : database.best({})) CHECK(row.cubin_key.empty());
  CHECK(bytes_of(other) == bytes);
}

TEST_CASE("a merge heals a row that is damaged here and sound there") {
  const TemporaryFolder folder;
  const fs::path here = folder / "here.db", there = folder / "there.db";
  Database database = Database::open(here, OpenMode::ReadWrite);
  put_real_rows(database);
  const std::string text = export_text(database);
  database.export_to(there);
  SQLite::Database(here.string(), SQLite::OPEN_READWRITE).exec("UPDATE best SET median_us = 0.001; UPDATE metrics SET low = 0");
  CHECK(export_text(database) != text);
  NoRules rules;
  (void)merge_files(database, {there}, rules);
  CHECK(export_text(database) == text);
}

TEST_CASE("a record that was lost leaves no time to the failed one that a merge brings in its place") {
  const TemporaryFolder folder;
  const fs::path here = folder / "here.db";
  Database database = Database::open(here, OpenMode::ReadWrite);
  put_real_rows(database);
  const RecordRow measured = database.records({}).front();
  REQUIRE(measured.median_us > 0);
  REQUIRE(SQLite::Database(here.string(), SQLite::OPEN_READWRITE).exec("DELETE FROM records") > 0);
  RecordRow failed = measured;
  failed.outcome = "crash";
  failed.median_us = failed.low_us = failed.high_us = 0;
  failed.samples = 0;
  CHECK(database.offer(failed));
  const auto stored = database.records({});
  REQUIRE(stored.size() == 1);
  CHECK(stored.front().median_us == 0);
  CHECK(database.bad_rows() == 0);
}

TEST_CASE("a merge of several files stores nothing when a row of the last is refused, and names that file and row") {
  const TemporaryFolder folder;
  const fs::path good = folder / "good.db", bad = folder / "bad.db";
  {
    Database database = Database::open(good, OpenMode::ReadWrite);
    put_real_rows(database);
  }
  {
    Database database = Database::open(bad, OpenMode::ReadWrite);
    database.put(real_device(0));
    database.put(real_template(0));
    BestRow row = real_best("1024");
    row.recorded_at = "yesterday";  // a sound row, as far as its checksum goes
    database.put(record_of(row));
    database.put(row);
  }
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  NoRules rules;
  const std::string expected = bad.string() + ": the best row for " + real_best("1024").problem;
  CHECK_THROWS_WITH_AS((void)merge_files(database, {good, bad}, rules), doctest::Contains(expected.c_str()), SpecError);
  CHECK(database.devices().empty());
  CHECK(database.best({}).empty());
}

TEST_CASE("a database is not merged into itself, nor from a file that is missing or damaged") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  fs::create_symlink(path, folder / "link.db");
  write_bytes(folder / "garbage.db", std::string(10000, 'x'));
  NoRules rules;
  CHECK_THROWS_WITH_AS((void)merge_files(database, {folder / "link.db"}, rules), doctest::Contains("the database itself"), UsageError);
  CHECK_THROWS_AS((void)merge_files(database, {folder / "none.db"}, rules), UsageError);
  CHECK_THROWS_AS((void)merge_files(database, {folder / "garbage.db"}, rules), DatabaseError);
  CHECK(bytes_of(folder / "garbage.db") == std::string(10000, 'x'));
}

}  // namespace test_merge
