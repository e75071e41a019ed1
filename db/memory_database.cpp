#include "db/database_state.hpp"
#include "db/migrations.hpp"

namespace attune::db {

Database Database::open_in_memory() { return make_private(kInMemory, kInMemory); }

Database Database::open_temporary() { return make_private("a temporary file", ""); }

Database Database::make_private(const char* name, const char* file) {
  const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX;
  try {
    Connection connection;
    connection.sqlite = std::make_unique<SQLite::Database>(file, flags);
    connection.sqlite->exec("PRAGMA cache_size = -65536");  // KiB; more of a temporary file goes to disk
    connection.guard = std::make_unique<Guard>(*connection.sqlite, name, KeepGoing(), Guard::Limit::None);
    migrate(*connection.sqlite, kSchemaVersion);
    connection.schema_version = kSchemaVersion;
    return Database(std::make_unique<State>(name, std::move(connection)));
  } catch (const SQLite::Exception& error) {
    throw_sqlite_failure(name, "making a database of this process alone", error);
  }
}

}  // namespace attune::db
