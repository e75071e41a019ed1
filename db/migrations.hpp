#pragma once
#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>

namespace attune::db {

/// What a file says about itself before anything is trusted.
struct Identity {
  int application_id = 0;
  int user_version = 0;
  int table_version = 0;  ///< newest row of schema_version; 0 without that table
  bool has_tables = false;
  bool has_our_tables = false;
};

/// Throws: SQLite::Exception when the header or the schema cannot be read.
[[nodiscard]] Identity read_identity(SQLite::Database& sqlite);

/// Throws: DatabaseError when the file belongs to another program, is newer than this build, or contradicts itself.
void require_ours(const std::filesystem::path& path, const Identity& identity);

/// Applies the migrations that the file lacks, up to schema version `last`, all in one transaction. Requires: the opening
/// lock. Throws: SQLite::Exception; the file is then as it was.
void migrate(SQLite::Database& sqlite, int last);

/// For a reader of an older version: the tables that later versions brought, empty and of this connection alone, so that
/// every query of this build can be asked. A migration that changes a table has to say here how readers see the old one.
/// Throws: SQLite::Exception.
void add_missing_tables(SQLite::Database& sqlite);

/// Names a table or index that is not as the migrations up to `version` made it; empty when all are. SQLite reads a
/// damaged CREATE statement without complaint as long as it still means something. Additions are no damage.
[[nodiscard]] std::string schema_damage(SQLite::Database& sqlite, int version);

}  // namespace attune::db
