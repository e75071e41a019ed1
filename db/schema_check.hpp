#pragma once
#include <SQLiteCpp/Database.h>

#include <compare>
#include <string>
#include <vector>

namespace attune::db {

/// One row of sqlite_master, as the file has it.
struct SchemaObject {
  std::string type, name, table, sql;
  [[nodiscard]] auto operator<=>(const SchemaObject&) const = default;
};

/// What the file says it consists of, sorted; at most so many that a check of them is short. Uses none of the objects.
/// Throws: SQLite::Exception.
[[nodiscard]] std::vector<SchemaObject> schema_objects(SQLite::Database& sqlite);

/// How far a file's objects are those that the migrations make.
struct SchemaFinding {
  enum class Kind {
    Same,     ///< exactly those of `version`
    Damaged,  ///< only those, but one is missing or differs by a byte or two
    Foreign,  ///< others besides, or other things under their names: reading could run what its author wrote
  };
  Kind kind = Kind::Same;
  int version = 0;   ///< for which the objects were compared
  std::string what;  ///< in words; empty for Same
};

/// Compares with every version up to `last` and tells of `stated`, unless another one is exactly it.
[[nodiscard]] SchemaFinding compare_schema(const std::vector<SchemaObject>& objects, int stated, int last);

}  // namespace attune::db
