#pragma once
// Databases with rows or objects that attune did not write.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/db/support.hpp"

namespace attune::db::test {

/// A closed golden database, then changed behind attune's back.
inline void make_changed(const fs::path& path, const std::string& sql) {
  {
    Database database = Database::open(path, OpenMode::ReadWrite);
    put_golden_rows(database);
  }
  SQLite::Database raw(path.string(), SQLite::OPEN_READWRITE);
  REQUIRE(raw.exec(sql) > 0);
}

}  // namespace attune::db::test
