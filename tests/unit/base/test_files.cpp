#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/files.hpp"

namespace test_files {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::test::TempFolder;
using attune::test::write_bytes;
using attune::testing::ScopedVariable;

TEST_CASE("files come back byte for byte: an empty one, one with zeros, one larger than one read") {
  const TempFolder folder;
  std::string bytes(1 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  for (const std::string& held : {std::string(), std::string("a\0b\n", 4), bytes}) {
    write_bytes(folder / "file", held);
    CHECK(read_file(folder / "file") == held);
  }
}

TEST_CASE("reading names the path and the reason") {
  CHECK_THROWS_WITH_AS((void)read_file("/nonexistent/file"),
                       "failed reading /nonexistent/file: open returned ENOENT (No such file or directory)", attune::EnvironmentError);
  CHECK_THROWS_WITH_AS((void)read_file("/"), "failed reading /: read returned EISDIR (Is a directory)", attune::EnvironmentError);
}

TEST_CASE("the XDG folders follow the variables and are private") {
  const TempFolder folder;
  const std::string root = folder.path().string();
  const ScopedVariable home("HOME", (root + "/home").c_str());
  SUBCASE("variables set") {
    const ScopedVariable data("XDG_DATA_HOME", (root + "/d/e").c_str());
    const ScopedVariable cache("XDG_CACHE_HOME", (root + "/c").c_str());
    CHECK(data_folder() == root + "/d/e/attune");
    CHECK(cache_folder() == root + "/c/attune");
    struct stat status {};
    for (const char* made : {"/d", "/d/e", "/d/e/attune", "/c/attune"}) {
      REQUIRE(::stat((root + made).c_str(), &status) == 0);
      CHECK((status.st_mode & 0777) == 0700);
    }
    CHECK(data_folder() == root + "/d/e/attune");  // which is there
  }
  SUBCASE("variables unset, empty or relative: below HOME") {
    const ScopedVariable data("XDG_DATA_HOME", nullptr);
    const ScopedVariable cache("XDG_CACHE_HOME", "relative");
    CHECK(data_folder() == root + "/home/.local/share/attune");
    CHECK(cache_folder() == root + "/home/.cache/attune");
    CHECK(fs::is_directory(root + "/home/.cache/attune"));
  }
  SUBCASE("no HOME either: none") {
    const ScopedVariable data("XDG_DATA_HOME", "");
    const ScopedVariable no_home("HOME", nullptr);
    CHECK(data_folder().empty());
  }
  SUBCASE("a folder that cannot be made is named all the same") {
    write_bytes(folder / "file", "");
    const ScopedVariable data("XDG_DATA_HOME", (root + "/file").c_str());
    CHECK(data_folder() == root + "/file/attune");
  }
}

TEST_CASE("the running executable is this test") { CHECK(own_executable().filename() == "test_unit_base"); }

TEST_CASE("an unknown errno is still a number") {
  CHECK(errno_text("open", 13) == "open returned EACCES (Permission denied)");
  CHECK(errno_text("open", 99999) == "open returned errno 99999");
}

}  // namespace test_files
