// What becomes of best rows when databases are exchanged: each needs a verified record, and gives way to one that contradicts it.
#include <doctest/doctest.h>

#include "db/exchange_lines.hpp"
#include "tests/unit/db/exchange_texts.hpp"

namespace test_exchange_best {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

TEST_CASE("a best row of a result that was not verified is refused") {
  Target target;
  RecordRow unverified = record_of(real_best("1024"));
  unverified.verified = false;
  std::vector<std::string> rows = base_rows();
  rows.push_back(line_of(unverified));
  rows.push_back(line_of(real_best("1024")));
  RowCounts counts;
  counts.records = 4;
  CHECK(mentions(target.refusal(file_of(rows, counts), 5), "not verified"));
}

TEST_CASE("a second row of one key is refused, be it the same, earlier or later, of every kind") {
  const auto check_refused = [](const auto& first, const auto& second, const auto& before, int line) {
    std::vector<std::string> rows = before;
    rows.push_back(line_of(first));
    rows.push_back(line_of(second));
    RowCounts counts;
    counts.records = rows.size();
    Target target;
    CHECK(mentions(target.refusal(file_of(rows, counts), line), "two rows of the file have one key"));
  };
  const auto check_kind = [&](const auto& earlier, const auto& later, const std::vector<std::string>& before) {
    const int line = static_cast<int>(before.size()) + 3;
    check_refused(earlier, earlier, before, line);
    check_refused(later, earlier, before, line);
    check_refused(earlier, later, before, line + 1);  // found when all rows are counted, at the end
  };
  check_kind(real_device(1, "580.9"), real_device(1, "580.10"), {});
  SessionRow later_session = real_session();
  later_session.finished_at = "2026-11-22T00:00:00Z";
  SessionRow earlier_session = later_session;
  earlier_session.finished_at = "2026-11-21T00:00:00Z";
  check_kind(earlier_session, later_session, base_rows());
  RecordRow later_record = real_record(1);
  later_record.recorded_at = "2026-11-22T00:00:00Z";
  check_kind(real_record(1), later_record, base_rows());
  std::vector<std::string> with_proof = base_rows();
  with_proof.push_back(line_of(record_of(real_best("1024"))));
  BestRow later_best = real_best("1024");
  later_best.recorded_at = "2026-11-22T00:00:00Z";
  check_kind(real_best("1024"), later_best, with_proof);
  check_refused(real_template(1), real_template(1), std::vector<std::string>{}, 3);
}

TEST_CASE("a best row may come before its record: what the whole file says of its configuration counts") {
  std::vector<std::string> rows = base_rows();
  rows.push_back(line_of(real_best("1024")));
  rows.push_back(line_of(record_of(real_best("1024"))));
  RowCounts counts;
  counts.records = 4;
  Target target;
  CHECK(target.import_text(file_of(rows, counts)).stored.best == 1);
  rows.back() = line_of(failed_record_of(real_best("1024"), "2026-11-21T00:00:00Z"));
  CHECK(mentions(Target().refusal(file_of(rows, counts), 4), "its configuration says wrong_result"));
}

TEST_CASE("a best row whose record is neither in the file nor in the database is refused") {
  Target target;
  CHECK(mentions(target.refusal(file_with(real_best("1024")), 4), "neither in the file nor in the database"));
  target.database.put(real_device(0));
  target.database.put(real_template(0));
  target.database.put(record_of(real_best("1024")));
  CHECK(target.import_text(file_with(real_best("1024"))).stored.best == 1);
}

TEST_CASE("a best row gives way to a later record that its configuration fails, whichever side has it") {
  const RecordRow failed = failed_record_of(real_best("1024"), "2026-11-21T00:00:00Z");
  const auto fill = [](Database& database, const RecordRow& record) {
    database.put(real_device(0));
    database.put(real_template(0));
    database.put(record);
    if (is_verified(record)) database.put(real_best("1024"));
  };
  for (const bool comes_from_file : {false, true}) {
    CAPTURE(comes_from_file);
    const RecordRow sound = record_of(real_best("1024"));
    Target source, target;
    fill(source.database, comes_from_file ? failed : sound);
    fill(target.database, comes_from_file ? sound : failed);
    const ImportReport report = target.import_text(export_text(source.database));
    CHECK(report.left_out.contradicted == 1);
    CHECK(target.database.best({}).empty());
    REQUIRE(target.database.records({}).size() == 1);
    CHECK(target.database.records({}).at(0).outcome == "wrong_result");
  }
}

TEST_CASE("a best row without a verified record is not exported, and counted") {
  Target target;
  put_real_rows(target.database);
  target.database.put(real_best("8192"));  // without a record
  std::string text;
  NoRules rules;
  const ExportReport report = export_lines(
      target.database, [&](const std::string& line) { text += line + "\n"; }, rules);
  CHECK(report.left_out.unverified == 1);
  CHECK(report.rows.best == 2);
  CHECK(Target().import_text(text).stored.all() == report.rows.all());
}

TEST_CASE("what no import takes is not exported, nor what refers to it, and counted with the first of the reasons") {
  class Refusing : public NoRules {
   public:
    using NoRules::take;
    void take(const TemplateRow& row) override {
      if (row.name == real_template(1).name) throw SpecError("template.json", 3, 5, "no such option");
    }
    void take(const RecordRow& row) override {
      if (row.configuration == real_record(2).configuration) throw UsageError("no such parameter");
    }
  };
  Target source, target;
  put_real_rows(source.database);
  source.database.put(real_template(1));
  RecordRow of_refused = real_record(1);
  of_refused.template_hash = real_template(1).hash;
  source.database.put(of_refused);
  BestRow of_left_out = real_best("2048");  // its record is what is refused
  of_left_out.configuration = real_record(2).configuration;
  source.database.put(record_of(of_left_out));
  source.database.put(of_left_out);
  RecordRow undated = real_record(7);
  undated.recorded_at = "yesterday";
  source.database.put(undated);
  Refusing rules;
  std::string text;
  const ExportReport report = export_lines(
      source.database, [&](const std::string& line) { text += line + "\n"; }, rules);
  CHECK(report.left_out.refused == 4);  // the template, two records of one configuration, one without a date
  CHECK(report.left_out.orphaned == 1);
  CHECK(report.left_out.unverified == 1);
  CHECK(report.first_refusal == "the template 'kernel_1' " + real_template(1).hash + ": template.json:3:5: no such option");
  CHECK_FALSE(mentions(text, "kernel_1"));
  write_bytes(target.folder / "rows.jsonl", text);
  CHECK(import_file(target.database, target.folder / "rows.jsonl", rules).stored.all() == report.rows.all());
  Target nothing_left_out;
  put_real_rows(nothing_left_out.database);
  NoRules any;
  CHECK(export_lines(
            nothing_left_out.database, [](const std::string&) {}, any)
            .first_refusal.empty());
}

TEST_CASE("a row dated in the future is imported, and the next one that is measured replaces it") {
  Target target;
  BestRow future = real_best("1024");
  future.recorded_at = "2099-01-01T00:00:00Z";
  RecordRow record = record_of(future);
  record.recorded_at = future.recorded_at;
  target.database.put(real_device(0));
  target.database.put(real_template(0));
  CHECK(target.import_text(file_with(record)).stored.records == 1);
  CHECK(target.import_text(file_with(future)).stored.best == 1);
  for (const char* date : {"2026-11-21T00:00:00Z", "2001-01-01T00:00:00Z"}) {  // a right clock, and one that was set back
    BestRow now = real_best("1024");
    now.recorded_at = date;
    now.median_us = 7;
    target.database.replace(now);
    RecordRow measured = record_of(now);
    measured.recorded_at = date;
    measured.median_us = 7;
    target.database.replace(measured);
    CHECK(target.database.best({}).at(0).recorded_at == date);
    CHECK(target.database.records({}).at(0).recorded_at == date);
  }
  CHECK(target.import_text(file_with(future)).stored.best == 0);  // does not come back
}

}  // namespace test_exchange_best
