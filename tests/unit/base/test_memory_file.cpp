// Files in memory, and how much of it there is.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/memory_file.hpp"

namespace test_memory_file {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::test::TempFolder;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("available is what the kernel says, or what a control group leaves where that is less") {
  const TempFolder root;
  CHECK(available_memory_bytes(root.path()) == 0);
  put(root.path() / "proc/meminfo", "MemTotal:       16000 kB\nMemFree:         100 kB\nMemAvailable:    8000 kB\nBuffers: 5 kB\n");
  CHECK(available_memory_bytes(root.path()) == 8'192'000);
  SUBCASE("a group without a limit") {
    put(root.path() / "sys/fs/cgroup/memory.max", "max\n");
    put(root.path() / "sys/fs/cgroup/memory.current", "7000000\n");
    CHECK(available_memory_bytes(root.path()) == 8'192'000);
  }
  SUBCASE("a group that has most of its limit") {
    put(root.path() / "sys/fs/cgroup/memory.max", "7000000\n");
    put(root.path() / "sys/fs/cgroup/memory.current", "6000000\n");
    CHECK(available_memory_bytes(root.path()) == 1'000'000);
  }
  SUBCASE("a group of the first version that is beyond its limit") {
    put(root.path() / "sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
    put(root.path() / "sys/fs/cgroup/memory/memory.usage_in_bytes", "5000001\n");
    CHECK(available_memory_bytes(root.path()) == 0);
  }
  SUBCASE("a limit that is no limit") {
    put(root.path() / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(root.path() / "sys/fs/cgroup/memory/memory.usage_in_bytes", "5000001\n");
    CHECK(available_memory_bytes(root.path()) == 8'192'000);
  }
}

TEST_CASE("this machine has memory available") { CHECK(available_memory_bytes() > 0); }

TEST_CASE("a copy in memory is the whole file, and stays when the file is gone") {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += fmt::format("{} ", i);
  std::ofstream(path) << bytes;
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(::lseek(file.get(), 1000, SEEK_SET) == 1000);
  const FileDescriptor copy = copied_to_memory(file);
  REQUIRE(copy.open());
  fs::remove(path);
  file.close();
  CHECK(read_file(fmt::format("/proc/self/fd/{}", copy.get())) == bytes);
}

TEST_CASE("what is no regular file has no copy") {
  const FileDescriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  CHECK_FALSE(copied_to_memory(null).open());
  CHECK_FALSE(copied_to_memory(FileDescriptor()).open());
}

}  // namespace test_memory_file
