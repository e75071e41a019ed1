#include "tests/unit/db/numbered_rows.hpp"

namespace attune::db::test {
namespace {

SessionRow numbered_session(int i) {
  SessionRow row = session();
  row.key = "session-" + std::to_string(i);
  row.problem = numbered_best(i % kSizes, "").problem;
  return row;
}

}  // namespace

RecordRow numbered_record(int i, const std::string& date) {
  RecordRow row = record(i);
  row.problem = best(std::to_string(1024 + i % kSizes)).problem;
  row.recorded_at = date;
  return row;
}

BestRow numbered_best(int i, const std::string& date) {
  BestRow row = best(std::to_string(1024 + i));
  row.recorded_at = date;
  return row;
}

void run_over(Database& database, const std::string& date) {
  database.put(device());
  database.put(kernel_template());
  for (int i = 0; i < kRecords; ++i) {
    const RecordRow row = numbered_record(i, date);
    const Query query{row.template_hash, std::nullopt, row.problem, row.device_key, row.policy};
    if (i < kSizes) {
      (void)database.records(query);
      (void)database.sessions(query);
      (void)database.best_of(query);
      database.put(numbered_session(i));
      database.set_in_flight(numbered_session(i).key, row.configuration);
    }
    (void)database.record(query, row.configuration);
    database.put(row);
  }
  for (int i = 0; i < kSizes; ++i) {
    database.put(numbered_best(i, date));
    database.clear_in_flight(numbered_session(i).key);
  }
  (void)database.candidates("hash-1", best("1").family, "cold/graph");
  (void)database.best_counts("reduce", best("1").family);
  database.put_cubin("cubin-1", kCubin, R"({"arch":"sm_90"})");
  (void)database.templates();
}

int wrong_rows(const Database& database, const std::string& date) {
  int wrong = 0;
  for (int i = 0; i < kRecords; ++i) {
    const RecordRow row = numbered_record(i, date);
    const auto found = database.record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}, row.configuration);
    wrong += found && same(*found, row) ? 0 : 1;
  }
  for (int i = 0; i < kSizes; ++i) {
    const BestRow row = numbered_best(i, date);
    const auto found = database.best_of({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy});
    wrong += found && same(*found, row) ? 0 : 1;
  }
  return wrong;
}

std::string sound_database() {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "made.db", OpenMode::ReadWrite);
  run_over(database, "2026-11-20T00:00:00Z");
  database.export_to(folder / "sound.db");
  return bytes_of(folder / "sound.db");
}

}  // namespace attune::db::test
