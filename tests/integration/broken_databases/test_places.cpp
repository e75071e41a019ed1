// Places that cannot be written, files of other versions, and what others left beside a file: dispatch reads what can be
// read, says so once, and changes nothing.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <functional>

#include "db/database.hpp"
#include "tests/integration/broken_databases/dispatch.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/older_schema.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/json.hpp"

namespace test_places {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

/// What a place is like, and what dispatch makes of it.
struct Place {
  const char* name;
  std::function<void(const World&)> make;
  bool tuned;           ///< the exact row is found; else the default is used
  std::size_t notices;  ///< that name the database
  bool read_only_folder = false;
  bool unchanged = true;  ///< not one byte of the folder changes, no file appears
};

fs::path beside(const World& world, const char* suffix) { return world.database.string() + suffix; }

void run_sql(const fs::path& path, const std::string& sql) { SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec(sql); }

/// As version 1 of the schema stored it.
void make_version_1(const World& world) {
  world.tune(world.database);
  make_older_schema(world.database, 1);
}

void make_newer(const World& world) {
  world.tune(world.database);
  run_sql(world.database, "PRAGMA user_version = 99; INSERT INTO schema_version VALUES (99, '0099_later.sql', '2030')");
}

void make_newer_in_wal(const World& world) {
  const TempFolder made;
  { auto closed = db::Database::open(made / "a.db", db::OpenMode::ReadWrite); }
  SQLite::Database open((made / "a.db").string(), SQLite::OPEN_READWRITE);
  open.exec("PRAGMA user_version = 99");
  for (const char* suffix : {"", "-wal", "-shm"}) fs::copy_file((made / "a.db").string() + suffix, beside(world, suffix));
}

void close_in_wal_mode(const World& world) {
  world.tune_and_die(world.database);
  { auto closed = db::Database::open(world.database, db::OpenMode::ReadWrite); }
  fs::remove(beside(world, ".lock"));
  REQUIRE_FALSE(fs::exists(beside(world, "-wal")));
}

const std::vector<Place>& places() {
  static const std::vector<Place> all = {
      {"no database", [](const World&) {}, false, 1},
      {"an empty file", [](const World& w) { write_bytes(w.database, ""); }, false, 1},
      {"a folder in its place", [](const World& w) { fs::create_directory(w.database); }, false, 1, false, false},
      {"garbage", [](const World& w) { write_bytes(w.database, std::string(9000, 'g')); }, false, 1},
      {"the database of another program",
       [](const World& w) {
         SQLite::Database(w.database.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
             .exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (text)");
       },
       false, 1},
      {"a rollback-mode file in a read-only folder", [](const World& w) { w.tune(w.database); }, true, 0, true},
      {"a closed WAL file in a read-only folder", close_in_wal_mode, true, 1, true},
      {"a WAL with rows in a read-only folder", [](const World& w) { w.tune_and_die(w.database); }, true, 1, true},
      {"an empty WAL in a read-only folder", [](const World& w) { close_in_wal_mode(w), write_bytes(beside(w, "-wal"), ""); }, true, 1,
       true},
      {"a WAL of garbage in a read-only folder",
       [](const World& w) { close_in_wal_mode(w), write_bytes(beside(w, "-wal"), std::string(70000, 'g')); }, true, 1, true},
      {"a WAL with rows", [](const World& w) { w.tune_and_die(w.database); }, true, 0, false, false},
      {"a WAL of garbage", [](const World& w) { close_in_wal_mode(w), write_bytes(beside(w, "-wal"), std::string(70000, 'g')); }, true, 0,
       false, false},
      {"an unreadable file", [](const World& w) { w.tune(w.database), fs::permissions(w.database, fs::perms(0)); }, false, 1},
      {"schema version 1", make_version_1, true, 0},
      {"schema version 1 in a read-only folder", make_version_1, true, 0, true},
      {"a newer schema", make_newer, false, 1},
      {"a newer schema in a read-only folder", make_newer, false, 1, true},
      {"a newer schema that stands in the WAL", make_newer_in_wal, false, 1},
  };
  return all;
}

/// Names and contents; of what is not a file the name alone.
std::map<std::string, std::string> state_of(const fs::path& folder) {
  std::map<std::string, std::string> state;
  for (const auto& entry : fs::directory_iterator(folder)) {
    state[entry.path().filename().string()] = entry.is_regular_file() ? read_bytes(entry.path()) : "";
  }
  return state;
}

}  // namespace

TEST_CASE("wherever the database is and whatever is beside it, dispatch is right, says at most one thing, and changes nothing") {
  std::size_t tuned = 0, unwritable = 0, right = 0;
  for (const Place& place : places()) {
    CAPTURE(place.name);
    const World world;
    place.make(world);
    world.give_to_user();
    if (place.read_only_folder) {
      for (const auto& entry : fs::directory_iterator(world.data)) fs::permissions(entry.path(), fs::perms(0444));
      fs::permissions(world.data, fs::perms(0555));
      ++unwritable;
    }
    const auto before = state_of(world.data);
    const Dispatched result = world.dispatch(4000);
    CHECK(result.right_result);
    right += result.right_result ? 1 : 0;
    CHECK(world.is_honest(result.decision, 4000));
    CHECK(result.decision.tier == (place.tuned ? Tier::ExactSize : Tier::Default));
    CAPTURE(base::dump_json(nlohmann::json(result.notices)));
    CHECK(about(result.notices, world.database) == place.notices);
    CHECK(result.notices.size() == place.notices);
    if (place.unchanged) CHECK(state_of(world.data) == before);
    fs::permissions(world.data, fs::perms(0755));
    tuned += place.tuned ? 1 : 0;
  }
  record_figures(5, "places", {{"places", places().size()}, {"unwritable", unwritable}, {"rows_read", tuned}, {"right", right}});
}

TEST_CASE("without a home, dispatch uses the shipped database and says what is missing") {
  const World world;
  const fs::path shipped = world.folder / "tuned_shipped.db";
  world.tune(shipped);
  ::setenv("ATTUNE_SHIPPED_DB", shipped.c_str(), 1);
  std::map<std::string, std::string> before;
  for (const char* name : {"HOME", "XDG_DATA_HOME", "ATTUNE_DB"}) {
    if (const char* value = std::getenv(name)) before[name] = value;
    ::unsetenv(name);
  }
  const Dispatched result = world.dispatch(4000);
  for (const auto& [name, value] : before) ::setenv(name.c_str(), value.c_str(), 1);
  CHECK(result.right_result);
  CHECK(world.is_exact(result.decision, 4000));
  REQUIRE(result.notices.size() == 1);
  CHECK(result.notices[0].find("HOME") != std::string::npos);
}

TEST_CASE("the command line opens no newer database either, and leaves its folder as it is") {
  const FakeGpu gpu;
  const fs::path folder = gpu.folder / "newer";
  fs::create_directory(folder);
  const fs::path path = folder / "a.db";
  {
    auto database = db::Database::open(gpu.folder / "made.db", db::OpenMode::ReadWrite);
    database.export_to(path);
  }
  run_sql(path, "PRAGMA user_version = 99; INSERT INTO schema_version VALUES (99, '0099_later.sql', '2030')");
  const auto before = state_of(folder);
  int refused = 0, commands_that_changed = 0;
  for (const auto& words : std::vector<std::vector<std::string>>{gpu.tune_words("none", {"--db", path.string()}),
                                                                 {"db", "info", "--db", path.string()},
                                                                 {"db", "check", "--db", path.string()},
                                                                 {"show", "--db", path.string()}}) {
    CAPTURE(words[0]);
    const CommandResult result = gpu.attune(words);
    CHECK(result.exit_code == 5);
    CHECK(result.err.find("schema version 99 is newer than version") != std::string::npos);
    refused += result.exit_code == 5 ? 1 : 0;
    const bool changed = state_of(folder) != before;
    CHECK_FALSE(changed);
    commands_that_changed += changed ? 1 : 0;
  }
  record_figures(8, "newer_schema", {{"commands_refused", refused}, {"commands_that_changed_it", commands_that_changed}});
}

}  // namespace test_places
