// Rows read off the pages of a database file without SQLite: SQLite itself says what they are.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "db/cells.hpp"
#include "tests/unit/db/support.hpp"

namespace test_cells {

using namespace attune::db;
using namespace attune::db::test;

namespace {

std::string shown(const StoredValue& value) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* const real = std::get_if<double>(&value)) return "real " + std::to_string(*real);
  if (const auto* const text = std::get_if<std::string_view>(&value)) return "text " + std::string(*text);
  if (const auto* const blob = std::get_if<Blob>(&value)) return "blob " + std::string(blob->bytes);
  return "null";
}

/// Every cell of four values, as text.
std::multiset<std::string> cells_of(const fs::path& path) {
  std::multiset<std::string> cells;
  for_each_cell(
      path, [] {},
      [&](const Cell& cell) {
        if (cell.values.size() != 4) return;
        std::string row = cell.row_number ? std::to_string(*cell.row_number) : "-";
        for (const StoredValue& value : cell.values) row += "|" + shown(value);
        cells.insert(row);
      });
  return cells;
}

/// The same as SQLite reads it: of the table `numbered` and of `keyed`, which has no row numbers.
std::multiset<std::string> rows_of(SQLite::Database& sqlite) {
  std::multiset<std::string> rows;
  for (const bool numbered : {true, false}) {
    SQLite::Statement row(sqlite, numbered ? "SELECT id, k, v, n FROM numbered" : "SELECT 0, k, v, n FROM keyed");
    while (row.executeStep()) {
      const SQLite::Column number = row.getColumn(3);
      const std::string last = number.isNull()    ? "null"
                               : number.isFloat() ? "real " + std::to_string(number.getDouble())
                                                  : std::to_string(number.getInt64());
      const std::string id = numbered ? row.getColumn(0).getString() + "|null" : "-";
      const std::string value = (row.getColumn(2).isBlob() ? "blob " : "text ") + row.getColumn(2).getString();
      rows.insert(id + "|text " + row.getColumn(1).getString() + "|" + value + "|" + last + (numbered ? "" : "|1"));
    }
  }
  return rows;
}

/// Values of every length around what fits into a page and into an entry of a tree by key, and of every kind of number.
void fill(SQLite::Database& sqlite) {
  sqlite.exec(
      "PRAGMA page_size = 4096; CREATE TABLE numbered (id INTEGER PRIMARY KEY, k, v, n); CREATE TABLE keyed (k PRIMARY KEY, v, n, one) WITHOUT ROWID");
  const std::vector<std::string> numbers{
      "NULL", "0", "1", "-1", "127", "-32768", "8388607", "-2147483648", "140737488355327", "-9223372036854775808", "1.5", "-2.25e300"};
  int i = 0;
  for (const int length : {0, 1, 400, 480, 489, 490, 980, 1000, 1002, 1003, 1100, 4050, 4061, 4062, 4090, 4093, 8180, 50000}) {
    for (int more = 0; more < 12; ++more, ++i) {
      const std::string value = (i % 3 == 0 ? "zeroblob(" : "printf('%.") + std::to_string(length + more) + (i % 3 == 0 ? ")" : "c', 'v')");
      const std::string& number = numbers[static_cast<std::size_t>(i) % numbers.size()];
      sqlite.exec("INSERT INTO numbered VALUES (" + std::to_string(i % 5 == 0 ? -i * 1000003LL : i) + ", 'k" + std::to_string(i) + "', " +
                  value + ", " + number + ")");
      sqlite.exec("INSERT INTO keyed VALUES ('k" + std::to_string(i) + "', " + value + ", " + number + ", 1)");
    }
  }
}

std::string big_endian_of(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

/// Makes a WAL of one frame. The frame commits `page` as the page `number`, and says that the file then has `pages` pages.
/// Source: https://www.sqlite.org/fileformat.html, "The WAL".
std::string wal_of(std::uint32_t number, const std::string& page, std::uint32_t pages) {
  std::uint32_t a = 0, b = 0;
  const auto sum = [&](const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      const auto word = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
        return value;
      };
      a += word(i) + b;
      b += word(i + 4) + a;
    }
    return big_endian_of(a) + big_endian_of(b);
  };
  std::string wal = big_endian_of(0x377f0683) + big_endian_of(3007000) + big_endian_of(4096) + big_endian_of(0) + "saltSALT";
  wal += sum(wal);
  const std::string frame = big_endian_of(number) + big_endian_of(pages);
  (void)sum(frame);
  return wal + frame + "saltSALT" + sum(page) + page;
}

}  // namespace

TEST_CASE("every row of a sound file is read as SQLite reads it, whatever the length and kind of its values") {
  const TemporaryFolder folder;
  SQLite::Database sqlite((folder / "a.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  fill(sqlite);
  const auto rows = rows_of(sqlite), cells = cells_of(folder / "a.db");
  REQUIRE(rows.size() == 2 * 18 * 12);
  CHECK(cells == rows);
}

TEST_CASE("a WAL counts up to its last commit, and a number of pages that it only claims is not gone through") {
  const TemporaryFolder folder;
  {
    SQLite::Database sqlite((folder / "a.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    fill(sqlite);
  }
  const auto before = cells_of(folder / "a.db");
  const std::string bytes = bytes_of(folder / "a.db");
  // The header of a file that ends behind its first page.
  std::string first = bytes.substr(0, 4096);
  first.replace(28, 4, big_endian_of(1));
  write_bytes(folder / "a.db-wal", wal_of(1, first, 1));
  CHECK(cells_of(folder / "a.db").empty());
  // A page that is unused, in a file that ends behind it, by a commit that wrote no header as ours do: of another database. Or that
  // has four billion pages.
  write_bytes(folder / "a.db-wal", wal_of(7, std::string(4096, '\0'), 7));
  const auto of_another = cells_of(folder / "a.db");
  CHECK(of_another.size() < before.size());
  CHECK(of_another.size() > before.size() / 2);
  write_bytes(folder / "a.db-wal", wal_of(7, std::string(4096, '\0'), 0xfffffff0));
  const auto after = cells_of(folder / "a.db");
  CHECK(after.size() < before.size());
  CHECK(after.size() > before.size() / 2);
  // Not committed, or with a checksum that does not hold: as if it were not there.
  std::string torn = wal_of(2, std::string(4096, '\0'), 2);
  torn.back() ^= 1;
  for (const std::string& wal : {wal_of(2, std::string(4096, '\0'), 0), torn, std::string("no WAL")}) {
    write_bytes(folder / "a.db-wal", wal);
    CHECK(cells_of(folder / "a.db") == before);
  }
  CHECK(bytes_of(folder / "a.db") == bytes);
}

TEST_CASE("pages of every size that SQLite takes are read, also where the header does not tell it") {
  for (const int page : {512, 1024, 8192, 65536}) {
    CAPTURE(page);
    const TemporaryFolder folder;
    SQLite::Database sqlite((folder / "a.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    fill(sqlite);
    sqlite.exec("PRAGMA page_size = " + std::to_string(page) + "; VACUUM");
    const auto rows = rows_of(sqlite);
    // Read with 4096 as well, since nothing says that the header is right: what comes of that is seldom a row, and no row is missing.
    const auto cells = cells_of(folder / "a.db");
    CHECK(std::includes(cells.begin(), cells.end(), rows.begin(), rows.end()));
  }
}

TEST_CASE("a chain of pages that leads into itself or into another one ends, and costs no value but its own") {
  const TemporaryFolder folder;
  {
    SQLite::Database sqlite((folder / "a.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    fill(sqlite);
  }
  const auto before = cells_of(folder / "a.db");
  const std::string sound = bytes_of(folder / "a.db");
  int tried = 0;
  for (std::size_t page = 2; page < sound.size() / 4096; page += 7) {
    if (sound[page * 4096] != '\0') continue;  // no page of a long value
    for (const std::size_t next : {page + 1, page + 5}) {
      std::string damaged = sound;
      damaged.replace(page * 4096, 4, big_endian_of(static_cast<std::uint32_t>(next)));
      write_bytes(folder / "a.db", damaged);
      const auto after = cells_of(folder / "a.db");
      std::vector<std::string> lost;
      std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(lost));
      CHECK(lost.size() <= 1);
      ++tried;
    }
  }
  CHECK(tried > 20);
}

}  // namespace test_cells
