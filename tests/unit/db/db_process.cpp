// A process of its own for the tests that need several, or one to kill. Usage:
//   db_process put FILE FIRST COUNT            stores records FIRST.., prints each number once it is acknowledged
//   db_process put-together FILE FIRST COUNT   prints "ready", waits for the end of standard input, then as put
//   db_process put-killed FILE WHAT N          stores record 100, but is killed at a point (kill_points.hpp)
//   db_process prune-killed FILE WHAT N        removes what is older than June 2026, but is killed at a point; prints a line once it is
//   done db_process contend FILE WRITER OF COUNT    stores one writer's rows of contention.hpp, prints a line for each db_process golden
//   FILE                     writes the golden database of this schema version
#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "tests/unit/db/contention.hpp"
#include "tests/unit/db/kill_points.hpp"
#include "tests/unit/db/support.hpp"

namespace {

using namespace attune::db;

bool say(const std::string& line) { return ::write(STDOUT_FILENO, line.data(), line.size()) >= 0; }

int put(const std::string& file, int first, int count) {
  Database database = Database::open(file, OpenMode::ReadWrite);
  for (int i = first; i < first + count; ++i) {
    database.put(test::record(i));
    if (!say(std::to_string(i) + "\n")) return 3;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "put" && argc == 5) return put(argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
    if (what == "put-together" && argc == 5) {
      char byte = 0;
      if (!say("ready\n") || ::read(STDIN_FILENO, &byte, 1) != 0) return 3;
      return put(argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
    }
    if (what == "put-killed" && argc == 5) {
      test::kill_at(argv[3], std::atoi(argv[4]));
      return put(argv[2], 100, 1);
    }
    if (what == "prune-killed" && argc == 5) {
      test::kill_at(argv[3], std::atoi(argv[4]));
      (void)Database::open(argv[2], OpenMode::ReadWrite).prune({row_time("2026-06-01T00:00:00Z")});
      return say("pruned\n") ? 0 : 3;
    }
    if (what == "contend" && argc == 6) {
      Database database = Database::open(argv[2], OpenMode::ReadWrite);
      const auto store = [&](const auto& row) {
        database.put(row);
        if (::write(STDOUT_FILENO, "stored\n", 7) < 0) throw std::runtime_error("nobody reads");
      };
      database.put(test::real_device(0));
      database.put(test::real_template(0));
      test::write_contended(std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]), store, store);
      return 0;
    }
    if (what == "golden" && argc == 3) {
      const test::TemporaryFolder folder;
      Database database = Database::open(folder / "golden.db", OpenMode::ReadWrite);
      test::put_golden_rows(database);
      database.export_to(argv[2]);
      return 0;
    }
    fmt::print(stderr, "wrong arguments\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
