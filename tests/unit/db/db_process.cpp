// A process of its own for the tests that need several, or one to kill. Usage:
//   db_process put FILE FIRST COUNT   stores records FIRST.., prints each number once it is acknowledged
//   db_process golden FILE            writes the golden database of this schema version
#include <fmt/core.h>

#include <cstdlib>
#include <string>

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
