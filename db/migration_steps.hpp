#pragma once
#include <SQLiteCpp/Database.h>

namespace attune::db {

/// What a migration does besides its statements, within its transaction; nothing for most. Throws: SQLite::Exception.
void run_migration_step(SQLite::Database& sqlite, int version);

}  // namespace attune::db
