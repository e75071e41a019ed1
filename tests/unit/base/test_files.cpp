#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <string>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/files.hpp"

namespace test_files {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::Error;
using attune::test::TempFolder;
using attune::testing::ScopedVariable;

namespace {

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a written file reads back byte for byte and replaces the old one") {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  const std::string bytes("a\0b\n", 4);
  write_file_atomic(path, "old");
  write_file_atomic(path, bytes);
  CHECK(read_file(path) == bytes);
  write_file_atomic(path, "");
  CHECK(read_file(path).empty());
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a relative path without a folder is written to the current one") {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomic("plain", "x");
  fs::current_path(before);
  CHECK(read_file(folder.path() / "plain") == "x");
}

TEST_CASE("files larger than one read come back whole") {
  const TempFolder folder;
  std::string bytes(1 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  write_file_atomic(folder.path() / "large", bytes);
  CHECK(read_file(folder.path() / "large") == bytes);
}

TEST_CASE("reading names the path and the reason") {
  CHECK_THROWS_WITH_AS((void)read_file("/nonexistent/file"),
                       "failed reading /nonexistent/file: open returned ENOENT (No such file or directory)", attune::EnvironmentError);
  CHECK_THROWS_WITH_AS((void)read_file("/"), "failed reading /: read returned EISDIR (Is a directory)", attune::EnvironmentError);
}

TEST_CASE("a failed write leaves the old file and no other") {
  const TempFolder folder;
  SUBCASE("the folder does not exist") {
    CHECK_THROWS_WITH_AS(write_file_atomic(folder.path() / "no/file", "x"), doctest::Contains("open returned ENOENT"), Error);
    CHECK(entries(folder.path()) == 0);
  }
  SUBCASE("the target is a folder") {
    fs::create_directory(folder.path() / "target");
    CHECK_THROWS_WITH_AS(write_file_atomic(folder.path() / "target", "x"), doctest::Contains("rename returned EISDIR"), Error);
    CHECK(entries(folder.path()) == 1);
  }
  SUBCASE("the disk is full") {
    const fs::path path = folder.path() / "file";
    write_file_atomic(path, "old");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit limit{4096, before.rlim_max};
    auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_THROWS_WITH_AS(write_file_atomic(path, std::string(10000, 'x')), doctest::Contains("write returned EFBIG"), Error);
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    CHECK(read_file(path) == "old");
    CHECK(entries(folder.path()) == 1);
  }
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
    REQUIRE(::stat((root + "/d/e/attune").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
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
    write_file_atomic(folder.path() / "file", "");
    const ScopedVariable data("XDG_DATA_HOME", (root + "/file").c_str());
    CHECK(data_folder() == root + "/file/attune");
  }
}

TEST_CASE("a private folder is made with its parents, again without harm, and not below a file") {
  const TempFolder folder;
  const fs::path deep = folder.path() / "a/b/c";
  create_private_folder(deep);
  create_private_folder(deep);
  CHECK(fs::is_directory(deep));
  write_file_atomic(deep / "file", "x", Durability::Relaxed);
  CHECK(read_file(deep / "file") == "x");
  CHECK_THROWS_WITH_AS(create_private_folder(deep / "file/d"), doctest::Contains("mkdir returned ENOTDIR"), Error);
  CHECK_THROWS_WITH_AS(create_private_folder(deep / "file"), doctest::Contains("mkdir returned EEXIST"), Error);
}

TEST_CASE("the running executable is this test") { CHECK(own_executable().filename() == "test_unit_base"); }

TEST_CASE("an unknown errno is still a number") {
  CHECK(errno_text("open", 13) == "open returned EACCES (Permission denied)");
  CHECK(errno_text("open", 99999) == "open returned errno 99999");
}

}  // namespace test_files
