// A database as an older version of attune would have stored it.
#pragma once
#include <SQLiteCpp/Database.h>
#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/row_sql.hpp"
#include "db/statements.hpp"
#include "db/stored_row.hpp"

namespace attune::test {

/// Requires: a database of the newest schema that nobody has open; 1 <= version <= its version.
inline void make_older_schema(const std::filesystem::path& path, int version) {
  using namespace attune::db;
  SQLite::Database sqlite(path.string(), SQLite::OPEN_READWRITE);
  if (version < 3) {
    std::vector<BestRow> rows;
    {
      StatementCache statements(sqlite);
      Use use(statements.prepared(select_sql<BestRow>(Database::kSchemaVersion)));
      while (use.step()) rows.push_back(StoredRow<BestRow>(use).row);
    }
    for (BestRow& row : rows) {
      row.nvrtc.clear();
      const std::string key = Table<BestRow>::key(row);
      SQLite::Statement update(sqlite, "UPDATE best SET checksum = ? WHERE key = ?");
      update.bind(1, checksum(key, row));
      update.bind(2, key);
      update.exec();
    }
    sqlite.exec("ALTER TABLE best DROP COLUMN nvrtc");
  }
  if (version < 2) sqlite.exec("DROP TABLE template_files");
  sqlite.exec(fmt::format("DELETE FROM schema_version WHERE version > {0}; PRAGMA user_version = {0}", version));
}

}  // namespace attune::test
