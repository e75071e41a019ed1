// Outputs that appear whole or not at all, with the mode that they had, also where a process is killed, a disk full or a file system poor.
#include "tuner/base/output_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <string>

#include "attune/error.hpp"
#include "tests/support/conditions.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/file_status.hpp"
#include "tuner/base/files.hpp"

namespace test_output_file {

/// What the file systems of these tests cannot do, as some do not know it and some sandboxes forbid it.
struct {
  bool nameless_files = false, links = false;
} g_missing;
bool g_killed_by_link = false;  ///< this process ends as soon as a file has been given a name

// Linked into the test program they take the C library's place.
extern "C" int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (g_missing.nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

extern "C" int linkat(int from, const char* old_name, int to, const char* name, int flags) noexcept {
  if (g_missing.links) {
    errno = EPERM;
    return -1;
  }
  const auto result = static_cast<int>(::syscall(SYS_linkat, from, old_name, to, name, flags));
  if (result == 0 && g_killed_by_link) ::_exit(0);
  return result;
}

using namespace attune::base;
using attune::EnvironmentError;
using attune::test::TempFolder;
using attune::testing::count_in;
using attune::testing::status_of;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& path) { return status_of(path).st_mode & 07777; }

}  // namespace

TEST_CASE("an output appears whole when it is committed, and without that nothing changes and nothing is left") {
  const TempFolder folder;
  write_output(folder / "a", "old");
  {
    OutputFile file(folder / "a");
    file.write(std::string(1 << 20, 'x'));
    CHECK(read_file(folder / "a") == "old");
    CHECK(count_in(folder.path()) == 1);  // not even a hidden one: a killed process leaves nothing
  }
  CHECK(read_file(folder / "a") == "old");
  OutputFile file(folder / "a");
  file.write("ne");
  file.write("w");
  file.commit();
  CHECK(read_file(folder / "a") == "new");
  CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("a process that is killed as its file gets a name leaves a new output whole and alone, and an old one as it was") {
  const TempFolder folder;
  const auto write_and_die = [&] {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      g_killed_by_link = true;
      write_output(folder / "a", "new");
      ::_exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  };
  SUBCASE("nothing had the name") {
    write_and_die();
    CHECK(read_file(folder / "a") == "new");
    CHECK(count_in(folder.path()) == 1);
  }
  SUBCASE("an older file has it") {
    write_output(folder / "a", "old");
    write_and_die();
    CHECK(read_file(folder / "a") == "old");
    REQUIRE(count_in(folder.path()) == 2);  // as the manual says
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().filename() == "a") continue;
      CHECK(entry.path().filename().string().starts_with(".attune-"));
      CHECK(entry.path().filename().string().ends_with(".new"));
      CHECK(read_file(entry.path()) == "new");
    }
  }
}

TEST_CASE("a replaced file keeps its mode, a new one follows the umask, and other hard links keep the old contents") {
  const TempFolder folder;
  const mode_t before = ::umask(027);
  write_output(folder / "new", "x");
  ::umask(before);
  CHECK(mode_of(folder / "new") == 0640);
  for (const mode_t mode : {0600, 0664, 0755}) {
    REQUIRE(::chmod((folder / "new").c_str(), mode) == 0);
    write_output(folder / "new", "y");
    CHECK(mode_of(folder / "new") == mode);
  }
  REQUIRE(::chmod((folder / "new").c_str(), 06755) == 0);
  write_output(folder / "new", "y");
  CHECK(mode_of(folder / "new") == 0755);  // as any write takes set-uid away
  fs::create_hard_link(folder / "new", folder / "other");
  write_output(folder / "new", "z");
  CHECK(read_file(folder / "new") == "z");
  CHECK(read_file(folder / "other") == "y");
}

TEST_CASE("a file or folder that the user may not write to stays, and the message says so") {
  const TempFolder folder;
  fs::create_directory(folder / "mine");
  write_output(folder / "mine/locked", "old");
  fs::create_directory(folder / "closed");
  write_output(folder / "closed/file", "old");
  fs::create_symlink("../closed/file", folder / "mine/link");
  fs::create_symlink("../closed/new", folder / "mine/dangling");
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(folder / "mine", fs::perms(0777));
  fs::permissions(folder / "mine/locked", fs::perms(0444));
  fs::permissions(folder / "closed/file", fs::perms(0666));
  fs::permissions(folder / "closed", fs::perms(0555));
  {
    const attune::test::Unprivileged user;
    for (const char* name : {"mine/locked", "mine/link", "mine/dangling", "closed/new", "closed/file"}) {
      CAPTURE(name);
      CHECK_THROWS_WITH_AS(check_output(folder / name), doctest::Contains("EACCES"), EnvironmentError);
      CHECK_THROWS_WITH_AS(write_output(folder / name, "x"), doctest::Contains("EACCES"), EnvironmentError);
    }
  }
  fs::permissions(folder / "closed", fs::perms(0755));
  CHECK(read_file(folder / "mine/locked") == "old");
  CHECK(read_file(folder / "closed/file") == "old");
  CHECK(count_in(folder / "mine") == 3);
  CHECK(count_in(folder / "closed") == 1);
}

TEST_CASE("a full disk leaves the old file and no other, and a name may be as long as names can be") {
  const TempFolder folder;
  const fs::path path = folder / std::string(255, 'n');
  write_output(path, "old");
  {
    const attune::test::FileSizeLimit limit(4096);
    CHECK_THROWS_WITH_AS(write_output(path, std::string(10000, 'x')), doctest::Contains("write returned EFBIG"), EnvironmentError);
  }
  CHECK(read_file(path) == "old");
  CHECK(count_in(folder.path()) == 1);
  write_output(path, "new");
  CHECK(read_file(path) == "new");
}

TEST_CASE("where files without a name or links are not known, an output is written all the same, and a failed one leaves nothing") {
  const TempFolder folder;
  struct Reset {
    ~Reset() { g_missing = {}; }
  } reset;
  g_missing.nameless_files = true;
  SUBCASE("no nameless files") {}
  SUBCASE("no links") { g_missing = {false, true}; }
  const std::string bytes(300000, 'x');
  write_output(folder / "a", bytes);
  CHECK(read_file(folder / "a") == bytes);
  REQUIRE(::chmod((folder / "a").c_str(), 0604) == 0);
  write_output(folder / "a", "new");
  CHECK(read_file(folder / "a") == "new");
  CHECK(mode_of(folder / "a") == 0604);
  CHECK(count_in(folder.path()) == 1);
  {
    const attune::test::FileSizeLimit limit(4096);
    CHECK_THROWS_AS(write_output(folder / "a", bytes), EnvironmentError);
  }
  { OutputFile unfinished(folder / "a"); }
  CHECK(read_file(folder / "a") == "new");
  CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("an output takes the place of no link, pipe or folder that got its name meanwhile, and nothing is left of it") {
  const TempFolder folder;
  write_output(folder / "target", "old");
  OutputFile link(folder / "link"), pipe(folder / "pipe"), entered(folder / "entered");
  for (OutputFile* file : {&link, &pipe, &entered}) file->write("x");
  fs::create_symlink("target", folder / "link");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_directory(folder / "entered");
  CHECK_THROWS_WITH_AS(link.commit(), doctest::Contains("no regular file"), EnvironmentError);
  CHECK_THROWS_WITH_AS(pipe.commit(), doctest::Contains("no regular file"), EnvironmentError);
  CHECK_THROWS_WITH_AS(entered.commit(), doctest::Contains("rename returned EISDIR"), EnvironmentError);
  CHECK(S_ISLNK(status_of(folder / "link").st_mode));
  CHECK(S_ISFIFO(status_of(folder / "pipe").st_mode));
  CHECK(read_file(folder / "target") == "old");
  CHECK(count_in(folder.path()) == 4);
}

TEST_CASE("an output without a folder is written to the current one, and one whose folder is not there says so") {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_output("plain", "x");
  fs::current_path(before);
  CHECK(read_file(folder / "plain") == "x");
  CHECK_THROWS_WITH_AS(write_output(folder / "no/file", "x"), doctest::Contains("ENOENT"), EnvironmentError);
  CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("memory file systems take outputs as well" * doctest::skip(::access("/dev/shm", W_OK) != 0)) {
  std::string name = "/dev/shm/attune-test-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  write_output(fs::path(name) / "a", "x");
  write_output(fs::path(name) / "a", "y");
  CHECK(read_file(fs::path(name) / "a") == "y");
  CHECK(count_in(name) == 1);
  fs::remove_all(name);
}

}  // namespace test_output_file
