#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include "tests/unit/db/support.hpp"
#include "tuner/base/embedded.hpp"

namespace attune::base {
EmbeddedFiles embedded_schema();
}

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

TemplateRow kernel_template_of(int version) { return version == 1 ? kernel_template_v1() : kernel_template(); }

void check_golden_rows(const Database& database, const TemplateRow& kernel) {
  REQUIRE(database.devices().size() == 1);
  CHECK(same(database.devices()[0], device()));
  REQUIRE(database.templates().size() == 1);
  CHECK(same(database.templates()[0], kernel));
  const auto records = database.records({.template_name = "reduce"});
  REQUIRE(records.size() == 4);
  for (int i = 0; i < 3; ++i) CHECK(same(records[static_cast<std::size_t>(i)], record(i + 1)));
  CHECK(records[3].outcome == "compile_failed");
  CHECK(records[3].median_us == 0);
  REQUIRE(database.sessions({}).size() == 1);
  CHECK(same(database.sessions({})[0], session()));
  const auto bests = database.candidates("hash-1", R"({"T":"f32","op":"sum"})", "cold/graph");
  REQUIRE(bests.size() == 2);
  CHECK(same(bests[0], best("1024")));
  CHECK(same(bests[1], best("4096")));
  CHECK(database.cubin("cubin-1") == kCubin);
  CHECK(database.in_flight().size() == 1);
  CHECK(database.bad_rows() == 0);
  CHECK(database.check().ok);
}

std::vector<std::string> schema_of(const fs::path& path) {
  SQLite::Database database(path.string());
  SQLite::Statement rows(database, "SELECT coalesce(sql, name) FROM sqlite_master ORDER BY type, name");
  std::vector<std::string> lines;
  while (rows.executeStep()) lines.push_back(rows.getColumn(0).getString());
  return lines;
}

}  // namespace

TEST_CASE("the golden database of this version is read where it lies, and is not changed by it") {
  const fs::path path = golden(Database::kSchemaVersion);
  const std::string before = bytes_of(path);
  Database database = Database::open(path, OpenMode::ReadOnly);
  check_golden_rows(database, kernel_template());
  CHECK(database.notices().empty());
  CHECK(bytes_of(path) == before);
}

TEST_CASE("the golden database of any older version is read where it lies, with every row, and stays byte-identical") {
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    CAPTURE(version);
    const std::string before = bytes_of(golden(version));
    const Database database = Database::open(golden(version), OpenMode::ReadOnly);
    check_golden_rows(database, kernel_template_of(version));
    CHECK(database.info().schema_version == version);
    CHECK(database.notices().empty());
    CHECK(bytes_of(golden(version)) == before);
  }
}

TEST_CASE("a copy of the golden database of any version opens for writing, migrated, with every row") {
  for (int version = 1; version <= Database::kSchemaVersion; ++version) {
    CAPTURE(version);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db", fresh = folder / "fresh.db";
    fs::copy_file(golden(version), path);
    {
      Database database = Database::open(path, OpenMode::ReadWrite);
      CHECK(database.info().schema_version == Database::kSchemaVersion);
      check_golden_rows(database, kernel_template_of(version));
      database.put(record(9));
      CHECK(database.records({}).size() == 5);
      database.put(kernel_template());
      CHECK(same(database.templates()[0], kernel_template()));
    }
    // A released migration that was edited would show here.
    (void)Database::open(fresh, OpenMode::ReadWrite);
    CHECK(schema_of(path) == schema_of(fresh));
  }
}

TEST_CASE("the embedded migrations are numbered from 1 to the schema version without a gap") {
  int expected = 1;
  for (const base::EmbeddedFile& file : base::embedded_schema()) {
    const std::string name(file.path.substr(file.path.rfind('/') + 1));
    CHECK(std::stoi(name.substr(0, 4)) == expected++);
    CHECK(name.ends_with(".sql"));
  }
  CHECK(expected == Database::kSchemaVersion + 1);
}
