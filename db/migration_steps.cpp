// A migration that was released never changes: a file of any version has to become the same.
#include "db/migration_steps.hpp"

#include <string>
#include <vector>

#include "db/exchange_parts.hpp"
#include "db/row_sql.hpp"
#include "db/statements.hpp"
#include "db/stored_row.hpp"

namespace attune::db {
namespace {

/// The compiler of each best row's record, where that is of the same driver; other rows stay as they are.
void fill_compilers_of_best(SQLite::Database& sqlite) {
  struct Filled {
    std::string key, sum, nvrtc;
  };
  constexpr int kVersion = 3;
  StatementCache statements(sqlite);
  std::vector<Filled> filled;
  Use rows(statements.prepared(select_sql<BestRow>(kVersion)));
  while (rows.step()) {
    StoredRow<BestRow> best(rows);
    if (!best.good()) continue;
    const std::string key = record_key_of(best.row);
    Use record(statements.prepared(select_sql<RecordRow>(kVersion) + where_key<RecordRow>()));
    record.bind(key);
    if (!record.step()) continue;
    const StoredRow<RecordRow> found(record);
    if (!found.good() || found.key != key || found.row.driver != best.row.driver) continue;
    best.row.nvrtc = found.row.nvrtc;
    filled.push_back({best.key, checksum(best.key, best.row), best.row.nvrtc});
  }
  for (const Filled& row : filled) statements.run("UPDATE best SET nvrtc = ?, checksum = ? WHERE key = ?", row.nvrtc, row.sum, row.key);
}

}  // namespace

void run_migration_step(SQLite::Database& sqlite, int version) {
  if (version == 3) fill_compilers_of_best(sqlite);
}

}  // namespace attune::db
