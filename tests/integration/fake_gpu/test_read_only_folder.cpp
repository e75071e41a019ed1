// What a program tunes on a miss when its user may not write the database: root writes wherever it wants, and cannot try.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/integration/fake_gpu/on_miss_fixture.hpp"
#include "tests/support/skip.hpp"

namespace test_read_only_folder {

namespace fs = std::filesystem;
using attune::test::check_kept_in_memory;
using attune::test::OnMissProgram;

TEST_CASE_FIXTURE(OnMissProgram, "a read-only folder and database: results stay in memory, told once, and what is in the file serves") {
  // Folders of /proc say no to root as well: test_on_miss_places.cpp.
  if (::geteuid() == 0) return attune::test::skip("the superuser may write read-only files");
  tune("1");
  fs::permissions(database, fs::perms::owner_read);
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const auto said = program("now", {"explain:1", "launch:1000", "launch:10000", "counters"});
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(said.last("explain")["tier"] == "exact size");
  check_kept_in_memory(said, "read_only_folder");
}

}  // namespace test_read_only_folder
