#include <doctest/doctest.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "bench/support/generated_database.hpp"
#include "db/database.hpp"
#include "db/page_check.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/lookup.hpp"

using namespace attune;
using namespace attune::test;

namespace {

namespace fs = std::filesystem;

/// Enough for a file that is not checked wholly on opening.
constexpr std::uint64_t kLarge = 50'000;

spec::DeviceInfo here() { return spec::DeviceInfo::of_architecture("sm_90"); }

/// Bytes that this process has read through system calls so far.
std::uint64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "rchar:") return value;
  }
  return 0;
}

/// A large database, made once; every test has a copy.
const fs::path& large_original() {
  static const TempFolder folder;
  static const fs::path path = [] {
    const fs::path made = folder / "large.db";
    static_cast<void>(bench::generate_database(made, kLarge, here()));
    return made;
  }();
  return path;
}

struct Large {
  TempFolder folder;
  fs::path path = folder / "large.db";
  Large() {
    fs::copy_file(large_original(), path);
    REQUIRE(fs::file_size(path) > db::kWholeCheckBytes);
  }
  /// Overwrites the pages of the records' table from its middle on. Returns how many.
  int damage_records() const {
    std::vector<std::int64_t> pages;
    std::int64_t page_bytes = 0;
    {
      SQLite::Database raw(path.string(), SQLite::OPEN_READONLY);
      page_bytes = raw.execAndGet("PRAGMA page_size").getInt64();
      // Leaves of a table that is filled in one go lie one behind the other, behind its root.
      const std::int64_t count = raw.execAndGet("PRAGMA page_count").getInt64();
      for (std::int64_t page = count * 4 / 5; page < count * 4 / 5 + 200; ++page) pages.push_back(page);
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const std::string garbage(static_cast<std::size_t>(page_bytes), '\x5a');
    for (const std::int64_t page : pages) file.seekp((page - 1) * page_bytes).write(garbage.data(), page_bytes);
    return static_cast<int>(pages.size());
  }
  [[nodiscard]] std::vector<fs::path> aside() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      const std::string name = entry.path().filename().string();
      if (name.find(".corrupt-") != std::string::npos && !name.ends_with("-wal") && !name.ends_with("-shm")) {
        found.push_back(entry.path());
      }
    }
    return found;
  }
};

}  // namespace

TEST_CASE("a generated database is one of attune's: every row passes the check, dispatch finds each tuned size") {
  const TempFolder folder;
  const auto made = bench::generate_database(folder / "a.db", 5000, here());
  const auto database = db::Database::open(folder / "a.db", db::OpenMode::ReadOnly);
  const db::CheckReport report = database.check();
  CHECK(report.ok);
  CHECK(report.bad_rows == 0);
  CHECK(database.info().records == 5000);
  CHECK(database.info().best == made.best);
  REQUIRE(made.sizes.size() == made.best);
  const auto layers = runtime::open_layers({folder / "a.db"}).layers;
  spec::Problem problem = made.smallest;
  for (const std::int64_t n : made.sizes) {
    problem.sizes["n"] = n;
    CHECK(runtime::choose(made.kernel, problem, made.device, layers, {"cold/graph"}).decision.tier == Tier::ExactSize);
  }
}

TEST_CASE_FIXTURE(Large, "opening a large database, for reading or writing, reads a small part of it") {
  constexpr std::uint64_t kSmall = 2 << 20;
  for (const auto mode : {db::OpenMode::ReadOnly, db::OpenMode::ReadWrite}) {
    const std::uint64_t before = bytes_read();
    REQUIRE(before > 0);
    { const auto database = db::Database::open(path, mode); }
    CHECK(bytes_read() - before < kSmall);
  }
}

TEST_CASE_FIXTURE(
    Large,
    "damage within a large database is an error when it is met, and then the next writer sets the file aside and keeps what can be read of it") {
  const std::uint64_t records = db::Database::open(path, db::OpenMode::ReadOnly).info().records;
  damage_records();
  {
    const auto database = db::Database::open(path, db::OpenMode::ReadWrite);
    CHECK(database.notices().empty());
    CHECK_THROWS_AS(database.for_each_record({}, [](const db::RecordRow&) {}), DatabaseError);
  }
  CHECK(aside().empty());
  {
    const auto database = db::Database::open(path, db::OpenMode::ReadWrite);
    REQUIRE(database.notices().size() == 1);
    CHECK(database.info().records > records / 2);
    CHECK(database.info().records < records);
    CHECK(database.check().ok);
  }
  CHECK(aside().size() == 1);
  // The new file is not under the suspicion of the old one.
  CHECK_FALSE(fs::exists(path.string() + ".suspect"));
}

TEST_CASE_FIXTURE(Large, "a large database that is suspected but sound is checked wholly once, and stays") {
  db::mark_suspect(path);
  const std::uint64_t before = bytes_read();
  { const auto database = db::Database::open(path, db::OpenMode::ReadWrite); }
  CHECK(bytes_read() - before > fs::file_size(path) / 2);
  CHECK(aside().empty());
  CHECK_FALSE(fs::exists(path.string() + ".suspect"));
  CHECK(db::Database::open(path, db::OpenMode::ReadOnly).info().records == kLarge);
}

TEST_CASE_FIXTURE(Large, "a large database that was cut off is set aside at once") {
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  CHECK(database.notices().size() == 1);
  CHECK(aside().size() == 1);
}

TEST_CASE_FIXTURE(Large, "damage among the records of a large database does not reach dispatch") {
  damage_records();
  const auto layers = runtime::open_layers({path}).layers;
  const auto kernel = spec::TemplateLibrary().find("reduce");
  const spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", 1 << 20}}};
  const auto choice = runtime::choose(kernel, problem, here(), layers, {"cold/graph"});
  CHECK(choice.decision.tier == Tier::NearestSize);
}
