// Damage that a run meets while it writes: the next run goes on, and what was stored is still there.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "db/page_check.hpp"
#include "db/tables.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/db/numbered_rows.hpp"

namespace test_mending {

using namespace attune;
using namespace attune::db;
using namespace attune::db::test;
using attune::test::full_campaign;
using attune::test::record_figures;

namespace {

struct Tally {
  int damages = 0, unnoticed = 0, failed_once = 0, mended = 0, set_aside = 0, refused = 0, stuck = 0, wrong = 0;
};

/// Damages a file, runs over it, and runs over it again where the first run failed.
void try_damage(const std::string& damaged, const std::string& what, Tally& tally) {
  CAPTURE(what);
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  write_bytes(path, damaged);
  ++tally.damages;
  for (int run = 1; run <= 2; ++run) {
    const std::string date = "2026-11-2" + std::to_string(run) + "T00:00:00Z";
    try {
      {
        Database database = Database::open(path, OpenMode::ReadWrite);
        for (const std::string& notice : database.notices()) ++(mentions(notice, "made anew") ? tally.mended : tally.set_aside);
        run_over(database, date);
        tally.unnoticed += run == 1 && database.notices().empty() ? 1 : 0;
      }
      // What a damaged index still hides is in its table: with the indexes made anew every acknowledged row is there.
      mark_suspect(path);
      const Database database = Database::open(path, OpenMode::ReadWrite);
      const int wrong = wrong_rows(database, date);
      CHECK(wrong == 0);
      tally.wrong += wrong;
      return;
    } catch (const DatabaseError& error) {
      if (run == 1 && bytes_of(path) == damaged && !fs::exists(path.string() + ".suspect")) {
        ++tally.refused;
        return;
      }
      ++tally.failed_once;
      if (run == 2) {
        ++tally.stuck;
        FAIL_CHECK(std::string(error.what()));
      }
    }
  }
}

/// Bits of every page, any byte and bytes of its rows or keys, and every page zeroed; the first page behind its header.
Tally try_every_page(int each) {
  const std::string sound = sound_database();
  const std::size_t pages = sound.size() / 4096;
  REQUIRE(pages > 60);
  std::mt19937 random(14);
  Tally tally;
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t begin = page * 4096 + (page == 0 ? 100 : 0), end = page * 4096 + 4096;
    for (int i = 0; i < 2 * each; ++i) {
      std::string damaged = sound;
      const std::size_t at = std::uniform_int_distribution<std::size_t>(i % 2 == 0 ? begin : page * 4096 + 2500, end - 1)(random);
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
      try_damage(damaged, "a bit of byte " + std::to_string(at), tally);
    }
    if (page == 0) continue;
    std::string damaged = sound;
    damaged.replace(begin, 4096, std::string(4096, '\0'));
    try_damage(damaged, "page " + std::to_string(page + 1) + " zeroed", tally);
  }
  return tally;
}

nlohmann::json figures(const Tally& tally) {
  return {{"damages", tally.damages}, {"unnoticed", tally.unnoticed}, {"failed_once", tally.failed_once},
          {"mended", tally.mended},   {"set_aside", tally.set_aside}, {"refused", tally.refused},
          {"stuck", tally.stuck},     {"wrong", tally.wrong}};
}

}  // namespace

TEST_CASE("whatever byte of whatever table or index is damaged, the next run succeeds, and every row it wrote is there") {
  const Tally tally = try_every_page(full_campaign() ? 20 : 1);
  CHECK(tally.stuck == 0);
  CHECK(tally.wrong == 0);
  CHECK(tally.refused * 200 <= tally.damages);  // bits of the schema's pages
  CHECK(tally.mended > 0);
  CHECK(tally.set_aside > 0);
  record_figures(1, "damage_found_on_opening", figures(tally));
}

TEST_CASE("damage in a file too large to be checked on opening is met while writing, and the run after that succeeds") {
  check_wholly_up_to(0);
  const Tally tally = try_every_page(full_campaign() ? 20 : 1);
  check_wholly_up_to(kWholeCheckBytes);
  CHECK(tally.stuck == 0);
  CHECK(tally.wrong == 0);
  CHECK(tally.refused * 200 <= tally.damages);
  CHECK(tally.failed_once > 0);
  CHECK(tally.unnoticed > 0);
  record_figures(1, "damage_met_while_writing", figures(tally));
}

TEST_CASE("an index that leads to another row of the same table costs no row of what a run then writes") {
  const std::string sound = sound_database();
  check_wholly_up_to(0);
  Tally tally;
  for (int i = 0; i < kRecords; i += full_campaign() ? 1 : 6) {
    const std::string key = Table<RecordRow>::key(numbered_record(i, ""));
    // An entry of the index: the length of its header, the types of its two values, the key, and the row's number.
    for (const int bytes : {1, 2}) {
      const std::size_t entry = sound.find(std::string("\x03M") + static_cast<char>(bytes) + key);
      if (entry == std::string::npos) continue;
      for (int bit = 0; bit < 8; bit += full_campaign() ? 1 : 3) {
        std::string damaged = sound;
        const std::size_t at = entry + 3 + key.size() + static_cast<std::size_t>(bytes) - 1;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        try_damage(damaged, "record " + std::to_string(i) + ", bit " + std::to_string(bit) + " of its number", tally);
      }
    }
  }
  check_wholly_up_to(kWholeCheckBytes);
  CHECK(tally.damages >= kRecords / 6 * 2);
  CHECK(tally.failed_once == tally.damages);  // none is overlooked
  CHECK(tally.stuck == 0);
  CHECK(tally.wrong == 0);
}

TEST_CASE(
    "whatever bit of the file's header is flipped, the next run succeeds, unless the file then calls itself newer or another program's") {
  const std::string exported = sound_database();
  std::string wal = exported;
  wal[18] = wal[19] = 2;
  int tried = 0, set_aside = 0;
  for (const std::string& sound : {exported, wal}) {
    for (std::size_t at = 0; at < 100; ++at) {
      for (int bit = static_cast<int>(full_campaign() ? 0 : at % 4); bit < 8; bit += full_campaign() ? 1 : 4) {
        CAPTURE(at);
        CAPTURE(bit);
        const TemporaryFolder folder;
        const fs::path path = folder / "a.db";
        std::string damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        write_bytes(path, damaged);
        ++tried;
        try {
          Database database = Database::open(path, OpenMode::ReadWrite);
          set_aside += database.notices().empty() ? 0 : 1;
          database.put(numbered_record(1, "2026-11-21T00:00:00Z"));
          CHECK(database.records({}).size() == kRecords);
        } catch (const DatabaseError& error) {
          const bool version = at >= 60 && at < 64, application = at >= 68 && at < 72;
          CHECK_MESSAGE((version || application), std::string(error.what()));
          CHECK(bytes_of(path) == damaged);
        }
      }
    }
  }
  CHECK(tried == (full_campaign() ? 1600 : 400));
  CHECK(set_aside > 0);
}

TEST_CASE("a flipped bit in the definition of any table or index costs no row of another, and the next run goes on") {
  const std::string sound = sound_database();
  std::mt19937 random(15);
  const std::size_t first = sound.find("CREATE TABLE schema_version"), last = sound.find("template_files_by_template");
  REQUIRE(first != std::string::npos);
  REQUIRE(last != std::string::npos);
  const std::size_t begin = std::min(first, last) / 4096 * 4096, end = (std::max(first, last) / 4096 + 1) * 4096;
  int refused = 0, tried = 0, incomplete = 0;
  std::size_t most_rows = 0;
  for (int i = 0; i < (full_campaign() ? 2000 : 150); ++i) {
    std::string damaged = sound;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(begin + 100, end - 1)(random);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    const TemporaryFolder folder;
    const fs::path path = folder / "a.db";
    write_bytes(path, damaged);
    ++tried;
    try {
      const Database database = Database::open(path, OpenMode::ReadWrite);
      CHECK(database.check().ok);
      most_rows = std::max(most_rows, database.records({}).size());
      incomplete += database.records({}).size() == kRecords ? 0 : 1;
    } catch (const DatabaseError& error) {
      ++refused;
      CHECK(bytes_of(path) == damaged);
    }
  }
  CHECK(most_rows == kRecords);
  CHECK(refused * 50 <= tried);
  CHECK(incomplete == 0);
}

TEST_CASE("a run that is ended while it keeps what can be read leaves the damaged file where it was, and the next one does it again") {
  std::string damaged = sound_database();
  damaged.replace(30 * 4096, 4096, std::string(4096, '\x5a'));
  const TemporaryFolder folder;
  const fs::path path = folder / "a.db";
  write_bytes(path, damaged);
  int asked = 0;
  bool ended = false;
  for (int last = 1; last < 200 && !ended; last += 7) {
    asked = 0;
    try {
      const Database database = Database::open(path, OpenMode::ReadWrite, [&] { return ++asked < last; });
      ended = true;
      CHECK(database.records({}).size() > kRecords / 4);
    } catch (const Error& error) {
      CHECK(error.exit_code() == ExitCode::Interrupted);
      CHECK(bytes_of(path) == damaged);
    }
  }
  if (!ended) CHECK(Database::open(path, OpenMode::ReadWrite).records({}).size() > kRecords / 4);
  for (const std::string& name : names_in(folder.path())) CHECK_FALSE(mentions(name, ".salvaged"));
}

TEST_CASE("whatever else has the name of what takes a damaged file's place stays, and is named; a sound database is used beside it") {
  for (const std::string& name : {std::string("a.db.salvaged"), std::string("a.db.salvaged-wal"), std::string("a.db.salvaged.lock")}) {
    for (const std::string& kind :
         {std::string("text"), std::string("database"), std::string("link"), std::string("pipe"), std::string("folder")}) {
      CAPTURE(name);
      CAPTURE(kind);
      const TemporaryFolder folder;
      make_database(folder / "a.db");
      make_database(folder / "other.db");
      if (kind == "text") write_bytes(folder / name, "notes");
      if (kind == "database") fs::copy_file(folder / "other.db", folder / name);
      if (kind == "link") fs::create_symlink(folder / "nowhere", folder / name);
      if (kind == "pipe") REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
      if (kind == "folder") fs::create_directory(folder / name);
      const auto before = fs::symlink_status(folder / name).type();
      const std::string bytes = fs::is_regular_file(folder / name) ? bytes_of(folder / name) : "";
      Database(Database::open(folder / "a.db", OpenMode::ReadWrite)).put(record(1));
      std::string damaged = bytes_of(folder / "a.db");
      damaged.replace(4096, 4096, std::string(4096, '\x5a'));
      write_bytes(folder / "a.db", damaged);
      CHECK(mentions(error_of(folder / "a.db", OpenMode::ReadWrite), "in the way"));
      CHECK(bytes_of(folder / "a.db") == damaged);
      CHECK(fs::symlink_status(folder / name).type() == before);
      if (before == fs::file_type::regular) CHECK(bytes_of(folder / name) == bytes);
      CHECK_FALSE(fs::exists(folder / "nowhere"));
    }
  }
}

TEST_CASE("a file that is set aside takes no other file's name, whatever stands beside it") {
  const TemporaryFolder folder;
  for (int round = 0; round < 3; ++round) {
    make_database(folder / "a.db");
    std::string damaged = bytes_of(folder / "a.db");
    damaged.replace(4096, 4096, std::string(4096, '\x5a'));
    write_bytes(folder / "a.db", damaged);
    CHECK(Database::open(folder / "a.db", OpenMode::ReadWrite).notices().size() == 1);
    fs::remove(folder / "a.db");
  }
  int aside = 0;
  for (const std::string& name : names_in(folder.path()))
    aside += mentions(name, ".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm") ? 1 : 0;
  CHECK(aside == 3);
}

}  // namespace test_mending
