// What can be read of a damaged file is kept: no damage costs more rows than its own.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "db/tables.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/db/numbered_rows.hpp"

namespace test_kept_rows {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::full_campaign;

namespace {

/// Where a text stands in a file, every time.
std::vector<std::size_t> places_of(const std::string& file, const std::string& text) {
  std::vector<std::size_t> places;
  for (std::size_t at = file.find(text); at != std::string::npos; at = file.find(text, at + 1)) places.push_back(at);
  return places;
}

/// Opens the damaged file for writing; how many of its records and best rows are then not as they were.
int lost_rows(const std::string& damaged) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.db", damaged);
  const Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
  CHECK(database.check().bad_rows <= 1);  // one that names, in its own bytes, what is not there
  return wrong_rows(database, "2026-11-20T00:00:00Z");
}

}  // namespace

TEST_CASE("a damaged key of a text or of metrics costs no row but its own, wherever in the tree it stands") {
  const std::string sound = sound_database();
  int tried = 0, own = 0;
  for (int i = 0; i < kRecords; i += full_campaign() ? 1 : 8) {
    const RecordRow row = numbered_record(i, "");
    for (const std::string& key : {base::content_key(row.problem), base::content_key(row.configuration), Table<RecordRow>::key(row)}) {
      const auto places = places_of(sound, key);
      for (std::size_t k = 0; k < places.size(); k += full_campaign() ? 1 : 3) {
        for (const std::size_t character : {std::size_t{0}, key.size() - 1}) {
          std::string damaged = sound;
          damaged[places[k] + character] = static_cast<char>(damaged[places[k] + character] ^ (character == 0 ? 0x10 : 0x02));
          CAPTURE(places[k] + character);
          const int lost = lost_rows(damaged);
          CHECK(lost <= 1);
          own += lost;
          ++tried;
        }
      }
    }
  }
  CHECK(tried > kRecords / 3);
  CHECK(own > 0);  // a key that stands in the row itself is covered by its checksum
}

TEST_CASE("a damaged row number costs no row at all, and none of what was stored behind it") {
  const std::string sound = sound_database();
  int tried = 0;
  for (int i = 0; i < kRecords; i += full_campaign() ? 1 : 8) {
    const std::string key = Table<RecordRow>::key(numbered_record(i, ""));
    for (const std::size_t at : places_of(sound, key)) {
      // A row of the table: its number stands before the header of its 16 values, the first of which is that number, as NULL.
      const std::size_t header = sound.rfind(std::string("\0M", 2), at);
      if (header == std::string::npos || at - header > 40) continue;
      std::string damaged = sound;
      damaged[header - 2] = static_cast<char>(damaged[header - 2] ^ (1 << (i % 7)));
      CAPTURE(header);
      CHECK(lost_rows(damaged) == 0);
      ++tried;
    }
  }
  CHECK(tried >= kRecords / 8);
}

TEST_CASE("a key that became a blob is no ghost beside the row that is stored in its place") {
  const std::string sound = sound_database();
  int tried = 0;
  for (int i = 0; i < kSizes; i += 3) {
    const BestRow row = numbered_best(i, "2026-11-20T00:00:00Z");
    for (const std::size_t at : places_of(sound, Table<BestRow>::key(row))) {
      const std::size_t type = sound.rfind('M', at);
      if (type == std::string::npos || at - type > 60) continue;
      std::string damaged = sound;
      damaged[type] = 'L';
      CAPTURE(type);
      const TemporaryFolder folder;
      write_bytes(folder / "a.db", damaged);
      Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
      database.replace(numbered_best(i, "2026-11-21T00:00:00Z"));
      CHECK(database.best({std::nullopt, std::nullopt, row.problem}).size() == 1);
      CHECK(database.check().ok);
      ++tried;
    }
  }
  CHECK(tried > 0);
}

namespace {

/// What a database holds.
struct Contents {
  std::vector<RecordRow> records;
  std::vector<BestRow> best;
  std::vector<SessionRow> sessions;
  std::size_t files = 0;

  explicit Contents(const Database& database) : records(database.records({})), best(database.best({})), sessions(database.sessions({})) {
    for (const TemplateRow& row : database.templates()) files += row.files.size();
  }
  [[nodiscard]] std::size_t rows() const { return records.size() + best.size() + sessions.size() + files; }
};

Contents contents_after(const fs::path& path) {
  const Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.check().ok);
  return Contents(database);
}

/// The pages of a file that lead to others and hold no row themselves: their first byte is 5.
std::vector<std::size_t> pages_that_lead(const std::string& file) {
  std::vector<std::size_t> pages;
  for (std::size_t page = 1; page < file.size() / 4096; ++page) {
    if (file[page * 4096] == '\x05') pages.push_back(page);
  }
  return pages;
}

}  // namespace

TEST_CASE("pages that only lead to rows cost no row, however many of them are gone; the rows stay in their order") {
  const std::string sound = sound_database();
  const TemporaryFolder before;
  write_bytes(before / "a.db", sound);
  const Contents was = contents_after(before / "a.db");
  const std::vector<std::size_t> leading = pages_that_lead(sound);
  REQUIRE(leading.size() >= 3);
  for (std::size_t damages = 1; damages <= leading.size(); ++damages) {
    CAPTURE(damages);
    std::string damaged = sound;
    for (std::size_t i = 0; i < damages; ++i) damaged.replace(leading[i] * 4096, 4096, std::string(4096, i % 2 == 0 ? '\0' : '\x5a'));
    const TemporaryFolder folder;
    write_bytes(folder / "a.db", damaged);
    const Contents is = contents_after(folder / "a.db");
    CHECK(is.rows() == was.rows());
    REQUIRE(is.records.size() == was.records.size());
    for (std::size_t i = 0; i < is.records.size(); ++i) CHECK(same(is.records[i], was.records[i]));
  }
}

TEST_CASE("of a table with several damaged pages only the rows on them are lost, and those of a text on them") {
  const std::string sound = sound_database();
  std::mt19937 random(16);
  for (int i = 0; i < (full_campaign() ? 200 : 20); ++i) {
    std::string damaged = sound;
    // Where a key or checksum stands on a damaged page, its row may be lost, and every row that has it as a key of a text.
    std::vector<std::string> gone;
    for (int k = 0; k < 4; ++k) {
      const std::size_t page = std::uniform_int_distribution<std::size_t>(2, sound.size() / 4096 - 1)(random);
      gone.push_back(sound.substr(page * 4096, 4096));
      damaged.replace(page * 4096, 4096, std::string(4096, '\x5a'));
    }
    const auto on_a_damaged_page = [&](const std::string& key) {
      return std::any_of(gone.begin(), gone.end(), [&](const std::string& page) { return mentions(page, key); });
    };
    const TemporaryFolder folder;
    write_bytes(folder / "a.db", damaged);
    const Database database = Database::open(folder / "a.db", OpenMode::ReadWrite);
    int lost = 0;
    for (int r = 0; r < kRecords; ++r) {
      const RecordRow row = numbered_record(r, "2026-11-20T00:00:00Z");
      const auto found = database.record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}, row.configuration);
      const bool may_be = on_a_damaged_page(Table<RecordRow>::key(row)) || on_a_damaged_page(base::content_key(row.problem)) ||
                          on_a_damaged_page(base::content_key(row.configuration));
      lost += !may_be && !(found && same(*found, row)) ? 1 : 0;
    }
    CHECK(lost == 0);
  }
}

TEST_CASE("what only the WAL has is kept as well, up to the last commit, and an older state of a page brings nothing back") {
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  const BestRow taken_out = numbered_best(3, "2026-11-20T00:00:00Z");
  {
    // Open while the files are copied: closing would empty the WAL.
    Database database = Database::open(folder / "made.db", OpenMode::ReadWrite);
    run_over(database, "2026-11-20T00:00:00Z");
    database.put_cubin("cubin-2", kCubin + std::string(200000, 'x'), "{}");
    database.forget_best({taken_out.template_hash, std::nullopt, taken_out.problem, taken_out.device_key, taken_out.policy});
    // Damage that is in the WAL alone: to SQLite a change like any other.
    SQLite::Database raw((folder / "made.db").string(), SQLite::OPEN_READWRITE);
    REQUIRE(raw.exec("UPDATE configurations SET key = 'x' || key") > 0);
    for (const char* suffix : {"", "-wal"})
      fs::copy_file(folder / (std::string("made.db") + suffix), folder / (std::string("a.db") + suffix));
  }
  const auto frames = (fs::file_size(path.string() + "-wal") - 32) / (24 + 4096);
  REQUIRE(frames > 10);
  const Database database = Database::open(path, OpenMode::ReadWrite);
  CHECK(database.notices().size() == 1);
  CHECK(database.records({}).size() == kRecords);
  CHECK(database.best({}).size() == kSizes - 1);
  CHECK(database.cubin("cubin-2") == kCubin + std::string(200000, 'x'));
}

TEST_CASE("what can be read of a damaged file is in the new one, with its order, files, cubins and sessions") {
  const std::string sound = sound_database();
  const std::size_t pages = sound.size() / 4096;
  std::size_t fewest = kRecords;
  for (std::size_t page = 1; page < pages; ++page) {
    CAPTURE(page);
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    std::string damaged = sound;
    damaged.replace(page * 4096, 4096, std::string(4096, '\x5a'));
    write_bytes(path, damaged);
    const Database database = Database::open(path, OpenMode::ReadWrite);
    const auto rows = database.records({});
    fewest = std::min(fewest, rows.size());
    int wrong = 0;
    for (const RecordRow& row : rows) {
      const int i = std::stoi(row.configuration.substr(row.configuration.find(':') + 1));
      wrong += same(row, numbered_record(i, "2026-11-20T00:00:00Z")) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(database.check().ok);
  }
  // A page of a table takes its own rows with it, and those that refer to it; some tables are one page.
  CHECK(fewest < kRecords);
}

}  // namespace test_kept_rows
