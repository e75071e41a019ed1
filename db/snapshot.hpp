#pragma once
#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

namespace attune::db {

/// All reads within see one state of the file, whatever other processes write meanwhile.
class Snapshot {
 public:
  explicit Snapshot(SQLite::Database& sqlite) : sqlite_(&sqlite), mine_(sqlite3_get_autocommit(sqlite.getHandle()) != 0) {
    if (mine_) sqlite.exec("BEGIN");
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() {
    if (mine_) (void)sqlite_->tryExec("ROLLBACK");
  }

 private:
  SQLite::Database* sqlite_;
  bool mine_;  ///< false within a batch, which is a transaction already
};

}  // namespace attune::db
