#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>

#include "db/sqlite_error.hpp"

namespace test_errors {

using namespace attune;
using namespace attune::db;

namespace {

std::string message(int code) { return sqlite_failure("/x/a.db", "storing a record", SQLite::Exception("why", code)).what(); }

bool mentions(int code, const std::string& part) { return message(code).find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a failure of SQLite reads as what was done, where, what SQLite said and what to do") {
  CHECK(message(SQLITE_FULL) ==
        "failed storing a record in database '/x/a.db': SQLite returned SQLITE_FULL (why); nothing of this transaction "
        "was stored: free disk space or name another file with ATTUNE_DB or --db");
  const auto opening = [](const char* doing) {
    return std::string(sqlite_failure("/x/a.db", doing, SQLite::Exception("why", SQLITE_ERROR)).what());
  };
  CHECK(opening("opening it for reading") == "failed opening database '/x/a.db' for reading: SQLite returned SQLITE_ERROR (why)");
  CHECK(opening("vacuuming it") == "failed vacuuming database '/x/a.db': SQLite returned SQLITE_ERROR (why)");
  const DatabaseError error = sqlite_failure("/x/a.db", "reading", SQLite::Exception("why", SQLITE_ERROR));
  CHECK(error.path() == "/x/a.db");
  CHECK(error.exit_code() == ExitCode::Database);
  CHECK(std::string(error.what()).ends_with("SQLITE_ERROR (why)"));
}

TEST_CASE("failures are named by their primary code, with the remedy of their kind") {
  CHECK(mentions(SQLITE_BUSY, "SQLITE_BUSY"));
  CHECK(mentions(SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY (why); another process"));
  CHECK(mentions(SQLITE_LOCKED, "SQLITE_LOCKED (why); another process"));
  CHECK(mentions(SQLITE_PROTOCOL, "SQLITE_PROTOCOL (why); another process"));
  CHECK(mentions(SQLITE_IOERR_WRITE, "SQLITE_IOERR (why); nothing of this transaction was stored"));
  CHECK(mentions(SQLITE_CANTOPEN, "SQLITE_CANTOPEN (why); name a writable file"));
  CHECK(mentions(SQLITE_READONLY, "SQLITE_READONLY (why); name a writable file"));
  CHECK(mentions(SQLITE_PERM, "SQLITE_PERM (why); name a writable file"));
  CHECK(mentions(SQLITE_CORRUPT, "SQLITE_CORRUPT (why); the next tuning run mends the file"));
  CHECK(mentions(SQLITE_NOTADB, "SQLITE_NOTADB (why); name another file"));
  CHECK(mentions(SQLITE_NOMEM, "SQLITE_NOMEM (why)"));
  CHECK(mentions(SQLITE_TOOBIG, "SQLITE_TOOBIG (why)"));
  CHECK(mentions(SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT (why)"));
  CHECK(mentions(SQLITE_MISUSE, "code 21 (why)"));
}

TEST_CASE("damage and a busy file are told apart from other failures") {
  CHECK(is_damage(SQLite::Exception("", SQLITE_CORRUPT_VTAB)));
  CHECK(is_damage(SQLite::Exception("", SQLITE_NOTADB)));
  CHECK_FALSE(is_damage(SQLite::Exception("", SQLITE_FULL)));
  CHECK(is_busy(SQLite::Exception("", SQLITE_BUSY_RECOVERY)));
  CHECK_FALSE(is_busy(SQLite::Exception("", SQLITE_CORRUPT)));
}

}  // namespace test_errors
