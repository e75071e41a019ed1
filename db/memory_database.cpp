#include "db/database_state.hpp"
#include "db/migrations.hpp"

namespace attune::db {

Database Database::open_in_memory() {
  const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX;
  try {
    Connection connection;
    connection.sqlite = std::make_unique<SQLite::Database>(kInMemory, flags);
    connection.guard = std::make_unique<Guard>(*connection.sqlite, kInMemory, KeepGoing());
    migrate(*connection.sqlite, kSchemaVersion);
    return Database(std::make_unique<State>(kInMemory, std::move(connection)));
  } catch (const SQLite::Exception& error) {
    throw sqlite_failure(kInMemory, "opening a database in memory", error);
  }
}

}  // namespace attune::db
