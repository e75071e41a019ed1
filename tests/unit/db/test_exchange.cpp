// Rows between databases: export and import.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "db/exchange_lines.hpp"
#include "tests/unit/db/exchange_texts.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/zstd.hpp"

namespace test_exchange {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

TEST_CASE("export, import into an empty database and export again gives the same bytes") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_real_rows(database);
  const std::string text = export_text(database);
  Target target;
  const ImportReport report = target.import_text(text);
  CHECK(report.rows.devices == 2);
  CHECK(report.rows.templates == 1);
  CHECK(report.rows.sessions == 1);
  CHECK(report.rows.records == 6);
  CHECK(report.rows.best == 2);
  CHECK(report.stored.all() == report.rows.all());
  CHECK(export_text(target.database) == text);
  CHECK(same(target.database.templates().at(0), real_template(0)));
  CHECK(target.database.records({}).size() == 6);
  CHECK(target.database.check().ok);
  CHECK(target.import_text(text).stored.all() == 0);  // and once more changes nothing
}

TEST_CASE("an export is sorted, whatever order rows were stored in, and each line is checked by itself") {
  const TemporaryFolder folder;
  Database one = Database::open(folder / "one.db", OpenMode::ReadWrite);
  Database two = Database::open(folder / "two.db", OpenMode::ReadWrite);
  put_real_rows(one);
  two.put(real_best("1024"));
  two.put(real_best("4096"));
  for (int i = 1; i < 4; ++i) two.put(real_record(i));
  put_real_rows(two);
  CHECK(export_text(one) == export_text(two));
  for (const std::string& line : lines_of(export_text(one))) {
    CHECK(checksum_of(line) == base::content_key(body_of(line)));
  }
}

TEST_CASE("no cubin, no cubin's key, nothing in flight and no running session is exported") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_real_rows(database);
  const std::string text = export_text(database);
  CHECK_FALSE(mentions(text, "cubin"));
  CHECK_FALSE(mentions(text, "ELF"));
  CHECK_FALSE(mentions(text, "session-2"));
  CHECK_FALSE(mentions(text, R"("block_size\":5)"));
  CHECK_FALSE(mentions(text, folder.path().string()));
  Target target;
  (void)target.import_text(text);
  CHECK(target.database.info().cubins == 0);
  CHECK(target.database.in_flight().empty());
  for (const BestRow& row : target.database.best({})) CHECK(row.cubin_key.empty());
}

TEST_CASE("damaged rows, templates without all sources, and what refers to them are left out and counted") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  Database database = Database::open(path, OpenMode::ReadWrite);
  put_real_rows(database);
  database.put(real_template(1));
  RecordRow of_other = real_record(9);
  of_other.template_hash = real_template(1).hash;
  database.put(of_other);
  SQLite::Database raw(path.string(), SQLite::OPEN_READWRITE);
  raw.exec("UPDATE metrics SET value = 77 WHERE record_key = (SELECT key FROM records WHERE id = 1)");
  raw.exec("UPDATE template_files SET contents = x'00' WHERE name = 'a.cu' AND template_hash = '" + real_template(1).hash + "'");
  std::string text;
  NoRules rules;
  const ExportReport report = export_lines(
      database, [&](const std::string& line) { text += line + "\n"; }, rules);
  CHECK(report.left_out.damaged == 2);
  CHECK(report.left_out.unsourced == 1);
  CHECK(report.left_out.orphaned == 1);
  CHECK(report.rows.templates == 1);
  CHECK(report.rows.records == 5);
  Target target;
  (void)target.import_text(text);
  CHECK(export_text(target.database) == text);
}

TEST_CASE("a compressed file is read like a plain one, and a cut one is refused") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_real_rows(database);
  const std::string text = export_text(database);
  Target target;
  const std::string compressed = base::compress(text, 3);
  NoRules rules;
  write_bytes(target.folder / "cut.jsonl.zst", compressed.substr(0, compressed.size() - 5));
  CHECK_THROWS_WITH_AS((void)import_file(target.database, target.folder / "cut.jsonl.zst", rules), doctest::Contains("zstd"), Error);
  CHECK(target.database.info().records == 0);
  (void)target.import_text(compressed, "rows.jsonl.zst");
  CHECK(export_text(target.database) == text);
}

TEST_CASE("an older row that is imported does not replace a newer one, and the other way round it does") {
  Target target;
  BestRow newer = real_best("1024");
  newer.recorded_at = "2026-11-20T14:00:00Z";
  newer.median_us = 3;
  target.database.put(real_device(0));
  target.database.put(real_template(0));
  target.database.put(record_of(newer));  // the file itself holds none
  target.database.put(newer);
  CHECK(target.import_text(file_with(real_best("1024"))).stored.best == 0);
  CHECK(target.database.best({}).at(0).median_us == 3);
  newer.recorded_at = "2026-11-20T15:00:00Z";
  newer.median_us = 4;
  CHECK(target.import_text(file_with(newer)).stored.best == 1);
  CHECK(target.database.best({}).at(0).median_us == 4);
}

TEST_CASE("a file that was cut, edited, reordered or is no export is refused whole, with its line") {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  put_real_rows(database);
  const std::string text = export_text(database);
  const std::vector<std::string> lines = lines_of(text);
  const int last = static_cast<int>(lines.size());
  Target target;
  CHECK(mentions(target.refusal(joined({lines.begin(), lines.end() - 1}), last - 1), "was cut"));
  CHECK(mentions(target.refusal("", 0), "was cut"));
  CHECK(mentions(target.refusal("hello\n", 1), "attune db export"));
  CHECK(mentions(target.refusal(std::string("SQLite format 3\0 and so on\n", 27), 1), "attune db export"));
  const auto failed = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return mentions(line, "crashed"); });
  const int failed_line = static_cast<int>(failed - lines.begin()) + 1;
  CHECK(mentions(target.refusal(replaced(text, "crashed", "cursed!"), failed_line), "does not match its checksum"));
  CHECK(mentions(target.refusal(joined({lines.begin() + 1, lines.end()}), 1), "the header is the first line"));
  CHECK(mentions(target.refusal(text + lines[1] + "\n", last + 1), "behind the end"));
  std::vector<std::string> fewer = lines, moved = lines, twice = lines;
  fewer.erase(fewer.begin() + 6);
  std::swap(moved[1], moved[2]);
  twice.insert(twice.begin() + 6, lines[6]);
  CHECK(mentions(target.refusal(joined(fewer), last - 1), "removed, added or moved"));
  CHECK(mentions(target.refusal(joined(moved), last), "removed, added or moved"));
  CHECK(mentions(target.refusal(joined(twice), 8), "two rows of the file have one key"));
  NoRules rules;
  write_bytes(target.folder / "half.jsonl", text.substr(0, text.size() - 20));
  CHECK_THROWS_WITH_AS((void)import_file(target.database, target.folder / "half.jsonl", rules), doctest::Contains("does not end"), Error);
  CHECK_THROWS_AS((void)import_file(target.database, target.folder / "none.jsonl", rules), UsageError);
}

TEST_CASE("one bad row rolls the whole import back, and its line says what is wrong") {
  Target target;
  target.database.put(real_device(1));
  const auto record = [](auto&& change) { return file_changed(real_record(1), change); };
  const auto best_row = [](auto&& change) { return file_changed(real_best("1024"), change); };
  // Values.
  CHECK(mentions(target.refusal(record([](auto& row) { row.median_us = -1; }), 4), "'median_us' is -1"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.high_us = 1e300; }), 4), "'high_us'"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.median_us = 0; }), 4), "does not go with a median of 0"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.recorded_at = "yesterday"; }), 4), "a date"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.recorded_at = "9999-01-01"; }), 4), "a date"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.detail_json = R"({"revision":4294967297})"; }), 4), "the revision"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.origin = "recording:/home/me/r.json"; }), 4), "the origin"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.policy = ""; }), 4), "'policy' is empty"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.driver = std::string(5000, 'x'); }), 4), "at most 4096"));
  CHECK(mentions(target.refusal(best_row([](auto& row) { row.median_us = 0; }), 4), "'median_us' is 0"));
  // References and hashes.
  CHECK(mentions(target.refusal(record([](auto& row) { row.device_key = "another"; }), 4), "its device another"));
  CHECK(mentions(target.refusal(record([](auto& row) { row.template_hash = "another"; }), 4), "its template another"));
  CHECK(mentions(target.refusal(file_changed(real_template(1), [](auto& row) { row.files["a.cu"] += " "; }), 4), "hash to"));
  CHECK(mentions(target.refusal(file_changed(real_template(1), [](auto& row) { row.files.clear(); }), 4), "hash to"));
  CHECK(mentions(target.refusal(file_changed(real_device(1), [](auto& row) { row.hard_key = "mine"; }), 4), "content key"));
  // Fields and their types.
  CHECK(mentions(target.refusal(file_edited(R"("samples":31)", R"("samples":"31")"), 4), "'samples' must be a count"));
  CHECK(mentions(target.refusal(file_edited(R"("samples":31)", R"("samples":-31)"), 4), "'samples' must be a count"));
  CHECK(mentions(target.refusal(file_edited(R"("median_us":3.5)", R"("median_us":null)"), 4), "'median_us' must be"));
  CHECK(mentions(target.refusal(file_edited(R"("median_us":3.5)", R"("median_us":1e999)"), 4), "no JSON object"));
  CHECK(mentions(target.refusal(file_edited(R"("verified":true)", R"("verified":1)"), 4), "'verified' must be"));
  CHECK(mentions(target.refusal(file_edited(R"("stage":"measured",)", ""), 4), "'stage' is missing"));
  CHECK(mentions(target.refusal(file_edited(R"("verified":true)", R"("verified":true,"weight":1)"), 4), "does not know"));
  CHECK(mentions(target.refusal(file_edited(R"("kind":"record")", R"("kind":"cubin")"), 4), "no kind of row"));
  CHECK(mentions(target.refusal(file_edited(R"("verified":true)", R"("verified":true )"), 4), "canonical"));
  CHECK(mentions(target.refusal(file_edited(R"("samples":31)", R"("samples":31,"samples":31)"), 4), "canonical"));
  CHECK(mentions(target.refusal(file_edited(R"("detail_json":"{\"registers\":40}")", R"("detail_json":)" + std::string(100000, '[')), 4),
                 "nested"));
  // A newer attune.
  CHECK(mentions(target.refusal(sealed(R"({"attune_exchange":2,"kind":"header","schema":2})") + "\n", 1), "update attune"));
  CHECK(mentions(target.refusal(sealed(R"({"attune_exchange":1,"kind":"header","schema":99})") + "\n", 1), "update attune"));
  CHECK(mentions(target.refusal(sealed(R"({"attune_exchange":1,"kind":"header","schema":0})") + "\n", 1), "there is none below 1"));
}

TEST_CASE("a file of an older schema is taken without the fields that came later, and with none of them") {
  const std::string body = body_of(line_of(real_best("1024"))), field = R"(,"nvrtc":"13.0.88")";
  const auto file_of_schema = [](int schema, const std::string& best_body) {
    std::vector<std::string> rows = base_rows();
    RecordRow verified = real_record(1);
    verified.problem = real_best("1024").problem;
    verified.configuration = real_best("1024").configuration;
    rows.push_back(line_of(verified));
    rows.push_back(sealed(best_body));
    RowCounts counts;
    counts.records = 4;
    const std::string file = file_of(rows, counts);
    return sealed(fmt::format(R"({{"attune_exchange":1,"kind":"header","schema":{}}})", schema)) + file.substr(file.find('\n'));
  };
  Target target;
  CHECK(mentions(target.refusal(file_of_schema(2, body), 5), "does not know"));
  CHECK(mentions(target.refusal(file_of_schema(3, replaced(body, field, "")), 5), "'nvrtc' is missing"));
  CHECK(target.import_text(file_of_schema(2, replaced(body, field, ""))).stored.best == 1);
  CHECK(target.database.best({}).at(0).nvrtc.empty());
  Target newest;
  CHECK(newest.import_text(file_of_schema(3, body)).stored.best == 1);
  CHECK(newest.database.best({}).at(0).nvrtc == "13.0.88");
}

TEST_CASE("a template whose files have any name, and texts of any bytes, comes back as it was") {
  Target source, target;
  TemplateRow row = real_template(0);
  row.files = {{"caf\xe9.cu", "latin 1"},
               {"base16:636166e9", "named as a code"},
               {"base16:", "nothing"},
               {"base16:zz", "no code"},
               {"caf\xc3\xa9.cu", "utf-8"},
               {"new\nline.cu", "\n"},
               {std::string("nul\0.cu", 7), std::string("\0\xff", 2)},
               {std::string(1000, 'd') + "/a.cu", "deep"}};
  row.hash = content_hash(row);
  source.database.put(row);
  const std::string text = export_text(source.database);
  CHECK(target.import_text(text).stored.templates == 1);
  CHECK(same(target.database.templates().at(0), row));
  CHECK(export_text(target.database) == text);
  row.files = {{"caf\xe9", "latin 1"}};
  const std::string forged = replaced(body_of(line_of(row)), "base16:636166e9", "base16:6162");
  RowCounts counts;
  counts.templates = 1;
  CHECK(mentions(Target().refusal(file_of({sealed(forged)}, counts), 2), "stands for UTF-8"));
}

TEST_CASE("what the rules refuse is told with the line, and nothing is stored") {
  class Refusing : public NoRules {
   public:
    using NoRules::take;
    void take(const RecordRow&) override { throw UsageError("no such parameter"); }
  };
  Target target;
  write_bytes(target.folder / "rows.jsonl", file_with(real_record(1)));
  Refusing rules;
  CHECK_THROWS_WITH_AS((void)import_file(target.database, target.folder / "rows.jsonl", rules),
                       doctest::Contains("rows.jsonl:4:1: no such parameter"), SpecError);
  CHECK(target.database.devices().empty());
}

TEST_CASE("while a file is read and checked other processes write to the database that it is for") {
  Target target;
  Database other = Database::open(target.folder / "target.db", OpenMode::ReadWrite);
  write_bytes(target.folder / "rows.jsonl", file_with(real_record(1)));
  NoRules rules;
  std::uint64_t most = 0, written = 0;
  const auto write = [&](std::uint64_t rows) {
    if (rows <= most) return;  // the same number again: stored now, in one short transaction
    most = rows;
    other.put(record(100 + static_cast<int>(rows)));  // waits for whoever holds the lock, and fails after 30 s
    ++written;
  };
  CHECK(import_file(target.database, target.folder / "rows.jsonl", rules, write).stored.records == 1);
  CHECK(written == 3);
  CHECK(target.database.records({}).size() == 4);
}

TEST_CASE("an import that is interrupted stores nothing") {
  Target target;
  write_bytes(target.folder / "rows.jsonl", file_with(real_record(1)));
  NoRules rules;
  const auto stop = [](std::uint64_t rows) {
    if (rows == 3) throw Error("interrupted", ExitCode::Interrupted);
  };
  CHECK_THROWS_WITH_AS((void)import_file(target.database, target.folder / "rows.jsonl", rules, stop), "interrupted", Error);
  CHECK(target.database.devices().empty());
  CHECK(target.database.check().ok);
}

TEST_CASE("vacuum gives space back, keeps every row, and is refused while another process writes") {
  Target target;
  for (int i = 0; i < 2000; ++i) target.database.put_cubin("cubin-" + std::to_string(i), std::string(1000, 'c'), "{}");
  put_real_rows(target.database);
  const std::string before = export_text(target.database);
  const fs::path path = target.folder / "target.db";
  CHECK_THROWS_WITH_AS((void)target.database.vacuum([] { return false; }), doctest::Contains("the file is as it was"), Error);
  CHECK(target.database.check().ok);
  {
    SQLite::Database raw(path.string(), SQLite::OPEN_READWRITE);
    raw.exec("DELETE FROM cubins WHERE key <> 'cubin-1'");
  }
  {
    const Database other = Database::open(path, OpenMode::ReadWrite);
    CHECK_THROWS_WITH_AS((void)target.database.vacuum({}), doctest::Contains("another process is writing"), DatabaseError);
  }
  const Database reader = Database::open(path, OpenMode::ReadOnly);
  const VacuumReport report = target.database.vacuum([] { return true; });
  CHECK(report.bytes_after + 1000000 < report.bytes_before);
  CHECK(fs::file_size(path) == report.bytes_after);
  CHECK(export_text(target.database) == before);
  CHECK(reader.records({}).size() == 6);
  CHECK(target.database.cubin("cubin-1") == kCubin);
  CHECK(target.database.check().ok);
  const Database next_writer = Database::open(path, OpenMode::ReadWrite);  // others come back in
}

}  // namespace test_exchange
