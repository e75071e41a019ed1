#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include "db/page_check.hpp"
#include "tests/support/older_schema.hpp"
#include "tests/unit/db/support.hpp"
#include "tuner/base/embedded.hpp"

namespace attune::base {
EmbeddedFiles embedded_schema();
}

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;

namespace {

/// Rows of the golden database of a version, with what that version did not have left out.
TemplateRow kernel_template_of(int version) { return version == 1 ? kernel_template_v1() : kernel_template(); }

void check_golden_rows(const Database& database, int version) {
  REQUIRE(database.devices().size() == 1);
  CHECK(same(database.devices()[0], device()));
  REQUIRE(database.templates().size() == 1);
  CHECK(same(database.templates()[0], kernel_template_of(version)));
  const auto records = database.records({.template_name = "reduce"});
  REQUIRE(records.size() == 4);
  for (int i = 0; i < 3; ++i) CHECK(same(records[static_cast<std::size_t>(i)], record(i + 1)));
  CHECK(records[3].outcome == "compile_failed");
  CHECK(records[3].median_us == 0);
  REQUIRE(database.sessions({}).size() == 1);
  CHECK(same(database.sessions({})[0], session()));
  const auto bests = database.candidates("hash-1", R"({"T":"f32","op":"sum"})", "cold/graph");
  REQUIRE(bests.size() == 2);
  CHECK(same(bests[0], golden_best(version, "1024")));
  CHECK(same(bests[1], golden_best(version, "4096")));
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
  check_golden_rows(database, Database::kSchemaVersion);
  CHECK(database.notices().empty());
  CHECK(bytes_of(path) == before);
}

TEST_CASE("the golden database of any older version is read where it lies, with every row, and stays byte-identical") {
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    CAPTURE(version);
    const std::string before = bytes_of(golden(version));
    const Database database = Database::open(golden(version), OpenMode::ReadOnly);
    check_golden_rows(database, version);
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
      check_golden_rows(database, version);
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

TEST_CASE(
    "the migration to schema 3 takes the compiler of a best row from the record of its configuration, where that is of the same driver") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  {
    Database database = Database::open(path, OpenMode::ReadWrite);
    database.put(device());
    database.put(kernel_template());
    for (const char* size : {"1024", "2048", "4096"}) {
      RecordRow row = record(256);
      row.problem = best(size).problem;
      if (size == std::string("2048")) row.driver = "570.00";
      if (size != std::string("4096")) database.put(row);
      database.put(best(size));
    }
  }
  attune::test::make_older_schema(path, 2);
  const auto compilers = [&](const Database& database) {
    std::map<std::string, std::string> by_size;
    for (const BestRow& row : database.best({})) by_size[row.sizes_json] = row.nvrtc;
    CHECK(database.bad_rows() == 0);
    return by_size;
  };
  using BySize = std::map<std::string, std::string>;
  const Database reader = Database::open(path, OpenMode::ReadOnly);
  CHECK(compilers(reader) == BySize{{R"({"n":1024})", ""}, {R"({"n":2048})", ""}, {R"({"n":4096})", ""}});
  const BySize filled{{R"({"n":1024})", "13.0.88"}, {R"({"n":2048})", ""}, {R"({"n":4096})", ""}};
  const Database writer = Database::open(path, OpenMode::ReadWrite);
  CHECK(compilers(writer) == filled);
  CHECK(writer.check().ok);
  // One that had it open before goes on.
  CHECK(compilers(reader) == filled);
}

TEST_CASE("rows that older versions stored are kept when the file is damaged, before it is migrated and after") {
  for (int version = 1; version < Database::kSchemaVersion; ++version) {
    for (const bool migrated : {false, true}) {
      CAPTURE(version);
      CAPTURE(migrated);
      const TemporaryFolder folder;
      const fs::path path = folder / "a.db";
      fs::copy_file(golden(version), path);
      if (migrated) (void)Database::open(path, OpenMode::ReadWrite);
      std::string bytes = bytes_of(path);
      // The page of the schema leads to everything else.
      bytes.replace(100, 1000, std::string(1000, '\x5a'));
      write_bytes(path, bytes);
      const Database database = Database::open(path, OpenMode::ReadWrite);
      CHECK(database.notices().size() == 1);
      check_golden_rows(database, version);
    }
  }
}

TEST_CASE(
    "damage that a migration is the first to meet, in a file too large to be checked on opening, stops no run: every row that can be read is there") {
  const TemporaryFolder folder;
  const fs::path made = folder / "made.db";
  {
    Database database = Database::open(made, OpenMode::ReadWrite);
    put_golden_rows(database);
    for (int i = 5; i < 400; ++i) database.put(record(i));
    Database::Batch batch(database);
    for (int i = 1; i < 200; ++i) database.put(best(std::to_string(10'000 + i)));
    batch.commit();
  }
  attune::test::make_older_schema(made, 2);
  const std::string sound = bytes_of(made);
  const std::size_t pages = sound.size() / 4096;
  check_wholly_up_to(0);
  int set_aside = 0;
  for (std::size_t page = 1; page < pages; ++page) {
    CAPTURE(page);
    const fs::path path = folder / ("a" + std::to_string(page) + ".db");
    std::string bytes = sound;
    bytes.replace(page * 4096, 4096, std::string(4096, '\x5a'));
    write_bytes(path, bytes);
    // What a migration does not read may be met later, by the run itself: then the next one goes on.
    for (int run = 1; run <= 2; ++run) {
      const Database database = Database::open(path, OpenMode::ReadWrite);
      set_aside += database.notices().empty() ? 0 : 1;
      try {
        const int version = database.info().schema_version;
        CHECK(version == Database::kSchemaVersion);
        break;
      } catch (const DatabaseError& error) {
        CHECK_MESSAGE(run == 1, error.what());
      }
    }
  }
  check_wholly_up_to(kWholeCheckBytes);
  CHECK(set_aside > 0);
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
