#pragma once
#include <string>

#include "db/tables.hpp"

namespace attune::db {

/// "SELECT <key>, <checksum>, <every column> FROM <table> t <joins>" of a file of this schema version, which may lack columns: those read
/// as their Value{}. No WHERE, no ORDER BY. Requires: 1 <= version <= Database::kSchemaVersion.
template <class Row>
[[nodiscard]] const std::string& select_sql(int version);

/// " WHERE t.<key column> = ?"
template <class Row>
[[nodiscard]] std::string where_key() {
  return std::string(" WHERE t.") + Table<Row>::kKey + " = ?";
}

/// Stores a row of the newest schema whatever is stored under its key. Parameters: the key, the checksum, then the columns that the table
/// itself has, other than its key, in their order; for texts elsewhere their keys.
template <class Row>
[[nodiscard]] const std::string& insert_sql();
/// The same, but a row that is stored under the key stays as it is. Requires: Table<Row>::kKeepsPlace.
template <class Row>
[[nodiscard]] const std::string& insert_new_sql();

}  // namespace attune::db
