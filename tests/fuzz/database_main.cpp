// Database files with what lies beside them: WAL, rollback journal. Each is read in every way, then opened for writing and written to.
#include <SQLiteCpp/Database.h>
#include <time.h>

#include <limits>
#include <map>
#include <stdexcept>

#include "attune/error.hpp"
#include "db/exchange.hpp"
#include "tests/fuzz/database_input.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/unit/db/exchange_fixture.hpp"

// What is refused is looked at again for a tenth of a second, in case another process is making it. Here nobody is.
extern "C" int nanosleep(const timespec*, timespec*) { return 0; }

namespace {

using namespace attune;
using namespace attune::db::test;
using attune::test::DatabaseInput;
using db::Database;
using db::OpenMode;

/// A folder with one file outside and a folder in it, where the database lies and which is the working folder: a relative path in
/// a damaged file leads to what is outside.
struct World {
  TemporaryFolder root;
  fs::path inside = root / "inside", path = inside / "x.db", outside = root / "outside.txt";
};

class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

using Contents = std::map<std::string, std::string>;

Contents prepare(const World& world, const DatabaseInput& input) {
  fs::remove_all(world.inside);
  fs::create_directory(world.inside);
  write_bytes(world.outside, "outside");
  Contents given{{"x.db", input.file}, {"x.db-wal", input.wal}, {"x.db-journal", input.journal}};
  std::erase_if(given, [](const auto& file) { return file.first != "x.db" && file.second.empty(); });
  for (const auto& [name, bytes] : given) write_bytes(world.inside / name, bytes);
  return given;
}

void require_nothing_outside(const World& world) {
  if (names_in(world.root.path()) != std::set<std::string>{"inside", "outside.txt"} || bytes_of(world.outside) != "outside") {
    throw std::logic_error("something outside the database's folder has changed");
  }
  for (const std::string& name : names_in(world.inside)) {
    if (!name.starts_with("x.db")) throw std::logic_error("a file of another name was made: " + name);
  }
}

void require_untouched(const World& world, const Contents& given, const char* what) {
  // A journal is played back by whoever comes first; before that the file is a mixture of two states.
  if (given.contains("x.db-journal")) return;
  for (const auto& [name, bytes] : given) {
    if (bytes_of(world.inside / name) != bytes) throw std::logic_error(std::string(what) + " has changed " + name);
  }
}

/// Whether it came to its end. What a damaged file may throw is an error of the database.
template <class Work>
bool attempt(Work&& work) {
  try {
    work();
    return true;
  } catch (const DatabaseError& error) {
    if (error.exit_code() != ExitCode::Database) throw std::logic_error("another exit code than that of databases");
    return false;
  } catch (const Error& error) {
    throw std::logic_error(std::string("an error that is no DatabaseError: ") + error.what());
  }
}

void read_everything(const Database& database) {
  const db::BestRow wanted = best("1024");
  const db::Query problem{wanted.template_hash, std::nullopt, wanted.problem, wanted.device_key, wanted.policy};
  attempt([&] { (void)database.best_of(problem); });
  attempt([&] { (void)database.record(problem, wanted.configuration); });
  attempt([&] { (void)database.candidates(wanted.template_hash, wanted.family, wanted.policy); });
  attempt([&] { (void)database.best_counts(wanted.template_name, wanted.family); });
  attempt([&] { (void)database.best({}); });
  attempt([&] { (void)database.records({.template_name = "reduce"}); });
  attempt([&] { (void)database.sessions({}); });
  attempt([&] { (void)database.devices(); });
  attempt([&] { (void)database.templates(); });
  attempt([&] { (void)database.in_flight(); });
  attempt([&] { (void)database.cubin("cubin-1"); });
  attempt([&] { (void)database.info(); });
  attempt([&] { (void)database.check(); });
  NoRules rules;
  attempt([&] {
    (void)db::export_lines(
        database, [](const std::string&) {}, rules);
  });
}

bool store(Database& database) {
  const db::RecordRow row = record(777);
  const db::BestRow chosen = best("777");
  return attempt([&] {
    for (int times = 0; times < 2; ++times) {
      database.put(device());
      database.put(kernel_template());
      database.put(session());
      database.put(row);
      database.put(chosen);
      database.put_cubin("cubin-2", kCubin, "{}");
      database.set_in_flight("session-1", row.configuration);
      const auto found = database.record({row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}, row.configuration);
      const auto found_best = database.best_of({chosen.template_hash, std::nullopt, chosen.problem, chosen.device_key, chosen.policy});
      if (!found || !same(*found, row) || !found_best || !same(*found_best, chosen)) throw std::logic_error("what was stored is not there");
      database.clear_in_flight("session-1");
    }
    (void)database.check();
  });
}

void write_input(const World& world, const Contents& given) {
  bool stored = false;
  try {
    auto database = Database::open(world.path, OpenMode::ReadWrite);
    stored = store(database);
  } catch (const DatabaseError&) {
    require_untouched(world, given, "a refusal to write");
    throw;
  }
  // Damage that a run meets is mended by the next one, or the file set aside.
  try {
    auto database = Database::open(world.path, OpenMode::ReadWrite);
    if (!store(database)) throw std::logic_error(stored ? "what could be stored once cannot be stored again" : "the next run fails, too");
  } catch (const DatabaseError& error) {
    throw std::logic_error(std::string("the next run cannot open it: ") + error.what());
  }
}

void read_input(const World& world, const std::string& text) {
  const auto input = DatabaseInput::read(text);
  const WorkingFolder here(world.root.path());  // `inside` is made anew
  const Contents given = prepare(world, input);
  const WorkingFolder within(world.inside);
  const bool readable = attempt([&] {
    const auto database = Database::open(world.path, OpenMode::ReadOnly);
    read_everything(database);
  });
  require_untouched(world, given, "a reader");
  require_nothing_outside(world);
  try {
    write_input(world, given);
  } catch (const DatabaseError& error) {
    // A writer empties the WAL that it finds, so it refuses what is none; a reader leaves it.
    const bool foreign_wal = std::string(error.what()).find("is none of a database's files") != std::string::npos;
    if (readable && !foreign_wal && !given.contains("x.db-journal")) throw std::logic_error("what can be read is refused for writing");
    require_nothing_outside(world);
    throw;
  }
  require_nothing_outside(world);
}

std::string golden_bytes(int version) { return bytes_of(golden(version)); }

/// As a process leaves it that was killed: what it stored last is in the WAL alone.
DatabaseInput killed(const World& world) {
  (void)prepare(world, {golden_bytes(3), "", ""});
  auto database = Database::open(world.path, OpenMode::ReadWrite);
  database.put(record(5));
  database.put(best("2048"));
  return {bytes_of(world.path), bytes_of(world.path.string() + "-wal"), ""};
}

/// Rows of more than one page, and values that no run stores: another writer of this format might.
DatabaseInput odd_rows(const World& world) {
  (void)prepare(world, {golden_bytes(3), "", ""});
  {
    auto database = Database::open(world.path, OpenMode::ReadWrite);
    db::RecordRow row = record(8);
    row.detail_json = std::string(20000, '[');
    row.median_us = std::numeric_limits<double>::infinity();
    row.samples = -1;
    database.put(row);
    db::BestRow chosen = best("-1\x1b[2J\xff");
    chosen.default_us = -1e308;
    database.put(chosen);
  }
  return {bytes_of(world.path), "", ""};
}

/// A database of ours, and one more object.
DatabaseInput with_object(const World& world, const char* sql) {
  (void)prepare(world, {golden_bytes(3), "", ""});
  {
    SQLite::Database sqlite(world.path.string(), SQLite::OPEN_READWRITE);
    sqlite.exec(sql);
  }
  return {bytes_of(world.path), "", ""};
}

std::vector<std::string> make_corpus(const World& world) {
  std::vector<DatabaseInput> inputs{
      {golden_bytes(1), "", ""}, {golden_bytes(2), "", ""}, {golden_bytes(3), "", ""}, {"", "", ""}, killed(world), odd_rows(world)};
  for (const char* sql :
       {"CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END", "CREATE VIEW v AS SELECT 1",
        "DROP TABLE cubins; CREATE VIEW cubins AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
        "CREATE INDEX more ON records (outcome)", "DROP INDEX records_by_problem", "PRAGMA application_id = 7", "PRAGMA user_version = 4",
        "DELETE FROM schema_version"}) {
    inputs.push_back(with_object(world, sql));
  }
  const std::string file = golden_bytes(3);
  std::string torn = file;
  torn.replace(4096 * 4, 4096, std::string(4096, '\x7f'));
  inputs.push_back({torn, "", attune::test::journal_of(file, {5, 2})});
  inputs.push_back({torn, "", attune::test::journal_of(file, {5}, "../outside.txt")});
  inputs.push_back({"", "", "not a journal"});
  inputs.push_back({"", "not a WAL", ""});
  std::vector<std::string> corpus;
  for (const DatabaseInput& input : inputs) corpus.push_back(input.text());
  return corpus;
}

}  // namespace

int main(int argc, char** argv) {
  const World world;
  return attune::test::fuzz_main(
      argc, argv, "database", make_corpus(world),
      {std::string("SQLite format 3\0", 16), std::string(8, '\0'), "\xFF\xFF\xFF\xFF", "ATUN", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
       "\n@@ wal\n", "\n@@ journal\n", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", "\x37\x7f\x06\x82", "../outside.txt", "CREATE ", "trigger"},
      [&](const std::string& input) { read_input(world, input); }, {{attune::test::change_database, attune::test::seal_database}, 120});
}
