// Outputs onto everything that a name can lead to.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/file_status.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/output_file.hpp"

namespace test_output_places {

using namespace attune::base;
using attune::EnvironmentError;
using attune::UsageError;
using attune::test::TempFolder;
using attune::testing::count_in;
using attune::testing::status_of;
namespace fs = std::filesystem;

namespace {

std::string all_of(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(fd, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<std::size_t>(got));
  return text;
}

struct PipeReader {
  explicit PipeReader(const fs::path& path)
      : thread([this, path] {
          const FileDescriptor file(::open(path.c_str(), O_RDONLY));
          text = all_of(file.get());
        }) {}
  std::string wait() {
    thread.join();
    return text;
  }
  std::string text;
  std::thread thread;
};

struct IgnoredPipeSignal {
  IgnoredPipeSignal() : was(::signal(SIGPIPE, SIG_IGN)) {}
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;
  ~IgnoredPipeSignal() { ::signal(SIGPIPE, was); }
  void (*was)(int);
};

}  // namespace

TEST_CASE("a link stays a link, and what it leads to is written: absolute, relative, over several, with nothing at its end") {
  const TempFolder folder;
  fs::create_directories(folder / "far/deep");
  write_output(folder / "far/file", "old");
  fs::create_symlink(folder / "far/file", folder / "absolute");
  fs::create_symlink("far/file", folder / "relative");
  fs::create_symlink("relative", folder / "chain");
  fs::create_directory_symlink("far", folder / "way");
  fs::create_symlink("../file", folder / "far/deep/up");
  for (const char* name : {"absolute", "relative", "chain", "way/file", "way/deep/up"}) {
    CAPTURE(name);
    write_output(folder / name, name);
    CHECK(read_file(folder / "far/file") == name);
    CHECK(output_place(folder / name) == fs::canonical(folder / "far/file"));
  }
  for (const char* name : {"absolute", "relative", "chain", "far/deep/up"}) CHECK(S_ISLNK(status_of(folder / name).st_mode));
  fs::create_symlink("far/later", folder / "dangling");
  write_output(folder / "dangling", "made");
  CHECK(read_file(folder / "far/later") == "made");
  CHECK(S_ISLNK(status_of(folder / "dangling").st_mode));
  CHECK(S_ISREG(status_of(folder / "far/later").st_mode));
}

TEST_CASE("links that lead nowhere are errors of the environment, and stay") {
  const TempFolder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK_THROWS_WITH_AS(write_output(folder / "a", "x"), doctest::Contains("ELOOP"), EnvironmentError);
  fs::create_symlink("none/file", folder / "nowhere");
  CHECK_THROWS_WITH_AS(write_output(folder / "nowhere", "x"), doctest::Contains("ENOENT"), EnvironmentError);
  CHECK(S_ISLNK(status_of(folder / "nowhere").st_mode));
  CHECK(count_in(folder.path()) == 3);
}

TEST_CASE("a folder, a socket, no name at all are wrong arguments, and stay as they are") {
  const TempFolder folder;
  fs::create_directory(folder / "place");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (folder / "socket").string();
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  for (const auto write : {+[](const fs::path& to) { write_output(to, "x"); }, +[](const fs::path& to) { check_output(to); }}) {
    CHECK_THROWS_WITH_AS(write(folder / "place"), doctest::Contains("it is a folder"), UsageError);
    CHECK_THROWS_WITH_AS(write(folder / "new" / ""), doctest::Contains("failed writing"), attune::Error);
    CHECK_THROWS_WITH_AS(write(folder / "socket"), doctest::Contains("it is a socket"), UsageError);
    CHECK_THROWS_AS(write(""), UsageError);
    CHECK_THROWS_WITH_AS(write(folder / "none" / "file"), doctest::Contains("ENOENT"), EnvironmentError);
  }
  CHECK(S_ISSOCK(status_of(folder / "socket").st_mode));
  CHECK(count_in(folder.path()) == 2);
}

TEST_CASE("a pipe and a device are written into and stay what they are, also behind links") {
  const TempFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("pipe", folder / "link");
  const std::string bytes(300000, 'x');  // more than a pipe takes at once
  for (const char* name : {"pipe", "link"}) {
    PipeReader reader(folder / name);
    write_output(folder / name, bytes);
    CHECK(reader.wait() == bytes);
  }
  CHECK(S_ISFIFO(status_of(folder / "pipe").st_mode));
  CHECK(S_ISLNK(status_of(folder / "link").st_mode));
  fs::create_symlink("/dev/null", folder / "null");
  fs::create_symlink("/dev/full", folder / "full");
  write_output(folder / "null", bytes);
  CHECK_THROWS_WITH_AS(write_output(folder / "full", bytes), doctest::Contains("write returned ENOSPC"), EnvironmentError);
  CHECK(count_in(folder.path()) == 4);
}

TEST_CASE("a pipe that nobody reads is waited for until the caller has enough; one whose reader leaves is an error") {
  const TempFolder folder;
  const IgnoredPipeSignal ignored;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  int asked = 0;
  const auto enough = [&] {
    if (++asked == 3) throw EnvironmentError("enough");
  };
  CHECK_THROWS_WITH_AS(write_output(folder / "pipe", "x", enough), "enough", EnvironmentError);
  // A reader that takes nothing, and a pipe that is full.
  asked = 0;
  FileDescriptor reader(::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
  const auto later = [&] {
    if (++asked == 100) throw EnvironmentError("enough");
  };
  CHECK_THROWS_WITH_AS(write_output(folder / "pipe", std::string(10 << 20, 'x'), later), "enough", EnvironmentError);
  OutputFile file(folder / "pipe");
  reader.close();
  CHECK_THROWS_WITH_AS(file.write("x"), doctest::Contains("write returned EPIPE"), EnvironmentError);
}

TEST_CASE("a descriptor that this program was given is written at its place, by each of its names; one of its own is refused") {
  const TempFolder folder;
  // Not close-on-exec: as one that was inherited.
  const FileDescriptor file(::open((folder / "log").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(::write(file.get(), "first ", 6) == 6);
  const std::string number = std::to_string(file.get());
  fs::create_symlink("/dev/fd/" + number, folder / "link");
  for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number, "/proc/" + std::to_string(::getpid()) + "/fd/" + number,
                                  (folder / "link").string()}) {
    CAPTURE(name);
    write_output(name, "x");
    CHECK(output_place(name).empty());
  }
  CHECK(read_file(folder / "log") == "first xxxx");
  const FileDescriptor own(::open((folder / "log").c_str(), O_WRONLY | O_CLOEXEC));
  CHECK_THROWS_WITH_AS(write_output("/dev/fd/" + std::to_string(own.get()), "x"), doctest::Contains("was not given to this program"),
                       UsageError);
  CHECK_THROWS_WITH_AS(write_output("/dev/fd/987", "x"), doctest::Contains("was not given to this program"), UsageError);
  const FileDescriptor read_only(::open((folder / "log").c_str(), O_RDONLY));
  CHECK_THROWS_WITH_AS(check_output("/dev/fd/" + std::to_string(read_only.get())), doctest::Contains("reading only"), EnvironmentError);
  CHECK(read_file(folder / "log") == "first xxxx");
}

}  // namespace test_output_places
