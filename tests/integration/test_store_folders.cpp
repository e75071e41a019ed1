// Where attune makes its database and cache when nobody says where, and who may write them.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"

namespace test_store_folders {

using namespace attune;
using test::Cli;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(Cli, "the working directory is never a store: relative XDG folders and an empty HOME are not used") {
  const std::string work = (folder / "work").string();
  fs::create_directory(work);
  const auto in_work = [&](const std::string& home, const std::string& words) {
    return test::run({"sh", "-c", "cd '" + work + "' && exec '" ATTUNE_EXECUTABLE "' " + words},
                     {{"HOME", home},
                      {"XDG_DATA_HOME", "data"},
                      {"XDG_CACHE_HOME", "."},
                      {"ATTUNE_DB", ""},
                      {"ATTUNE_TEMPLATES", ""},
                      {"ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").string()}});
  };
  const std::string tune = "tune '" + kernel + "' --T f32 --size 1000 --replay '" + recording + "'";
  const std::string home = (folder / "home").string();
  const auto path = in_work(home, "db path");
  CHECK(path.out == home + "/.local/share/attune/attune.db\n");
  for (const std::string nowhere : {"", "relative"}) {
    CAPTURE(nowhere);
    CHECK(in_work(nowhere, "db path").exit_code == 5);
    (void)in_work(nowhere, tune);
    (void)in_work(nowhere, "explain '" + kernel + "' --T f32 --n 1000 --device sm_90");
    CHECK(fs::is_empty(work));
  }
  REQUIRE(in_work(home, tune).exit_code == 0);
  CHECK(fs::is_empty(work));
  CHECK(fs::exists(home + "/.local/share/attune/attune.db"));
}

TEST_CASE_FIXTURE(Cli, "folders are made for the user alone, and no file of the database for others to write, under any umask") {
  const std::string home = (folder / "home").string();
  const auto result = test::run(
      {"sh", "-c", "umask 000 && exec '" ATTUNE_EXECUTABLE "' tune '" + kernel + "' --T f32 --size 1000 --replay '" + recording + "'"},
      {{"HOME", home}, {"XDG_DATA_HOME", ""}, {"XDG_CACHE_HOME", ""}, {"ATTUNE_DB", ""}, {"ATTUNE_TEMPLATES", ""}});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  // Still open, so that the files beside it are there too.
  const auto writer = db::Database::open(home + "/.local/share/attune/attune.db", db::OpenMode::ReadWrite);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(home)) {
    CAPTURE(entry.path().string());
    if (entry.is_directory()) {
      CHECK(entry.status().permissions() == fs::perms::owner_all);
    } else {
      ++files;
      CHECK((entry.status().permissions() & (fs::perms::group_write | fs::perms::others_write)) == fs::perms::none);
    }
  }
  CHECK(files >= 2);
}

}  // namespace test_store_folders
