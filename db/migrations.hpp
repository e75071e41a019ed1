#pragma once
#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <string>

#include "db/schema_check.hpp"

namespace attune::db {

/// What a file says about itself before anything is trusted.
struct Identity {
  int application_id = 0;
  int user_version = 0;    ///< the header's, or the one that the tables are exactly of and name, where the header says no newer one
  int stated_version = 0;  ///< the header's
  int table_version = 0;   ///< newest row of schema_version; 0 unless the schema is exactly one of ours
  bool has_tables = false;
  bool has_our_tables = false;  ///< tables of the names of ours, whatever else there is
  std::string encoding_damage;  ///< what is wrong with the header's text encoding; empty: nothing
  SchemaFinding schema;         ///< of no meaning without our tables
};

/// Uses no object of the file's before its schema is known to be exactly one of ours.
/// Throws: SQLite::Exception when the header or the schema cannot be read.
[[nodiscard]] Identity read_identity(SQLite::Database& sqlite);

/// Throws: DatabaseError when the file belongs to another program, is newer than this build, holds objects that are not
/// ours, or contradicts itself. A damaged definition is left to the caller.
void require_ours(const std::filesystem::path& path, const Identity& identity);

/// Refuses a file that shows by its first bytes that it is no database of ours, damaged or not. SQLite itself says only
/// that it is none. Nothing is said of a file that is missing, empty or cannot be read. Throws: DatabaseError.
void refuse_what_is_no_database(const std::filesystem::path& path);
/// Whether the header of the file, perhaps damaged, says that it is one of ours. False for one that cannot be read.
[[nodiscard]] bool has_header_of_ours(const std::filesystem::path& path);
/// Refuses a file whose schema cannot be read, unless its header says that it is one of ours. Throws: DatabaseError.
void require_header_of_ours(const std::filesystem::path& path, const std::string& damage);

/// A damaged byte in the header of one of our files can make SQLite take it for the file of a later release, and refuse to read or to
/// write it. Returns what the header says then; empty when it says what SQLite writes into our files.
[[nodiscard]] std::string unknown_format(const std::filesystem::path& path);

/// Applies the migrations that the file lacks, up to schema version `last`, all in one transaction. Requires: the opening
/// lock. Throws: SQLite::Exception; the file is then as it was.
void migrate(SQLite::Database& sqlite, int last);

/// For a reader of an older version: the tables that later versions brought, empty and of this connection alone, so that
/// every query of this build can be asked; columns that a table lacks are left out of queries (row_sql.hpp).
/// Throws: SQLite::Exception.
void add_missing_tables(SQLite::Database& sqlite);

}  // namespace attune::db
