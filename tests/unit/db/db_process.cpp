// A process of its own for the tests that need several, or one to kill. Usage:
//   db_process put FILE FIRST COUNT   stores records FIRST.., prints each number once it is acknowledged
//   db_process contend FILE WRITER OF COUNT   stores one writer's rows of contention.hpp, prints a line for each
//   db_process golden FILE            writes the golden database of this schema version
#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "tests/unit/db/contention.hpp"
#include "tests/unit/db/support.hpp"

int main(int argc, char** argv) {
  using namespace attune::db;
  try {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "put" && argc == 5) {
      Database database = Database::open(argv[2], OpenMode::ReadWrite);
      const int first = std::atoi(argv[3]), count = std::atoi(argv[4]);
      for (int i = first; i < first + count; ++i) {
        database.put(test::record(i));
        const std::string line = std::to_string(i) + "\n";
        if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return 3;
      }
      return 0;
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
