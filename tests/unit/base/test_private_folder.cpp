// The door to what is loaded as code: whatever others could have put on the way, in the folder or in the file's place is not read.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/private_folder.hpp"

namespace test_private_folder {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::test::TempFolder;
using attune::test::write_bytes;

namespace {

/// <folder>/home/data/sub/file, all of it this user's alone.
struct Tree {
  TempFolder folder;
  fs::path home = folder / "home";
  fs::path data = home / "data";
  fs::path sub = data / "sub";
  fs::path file = sub / "file";

  Tree() { PrivateFolder::open(sub, IfMissing::Create).write("file", "code"); }
  [[nodiscard]] PrivateFolder open() const { return PrivateFolder::open(data, IfMissing::Leave); }
  /// What a reader gets, and everything that it is told.
  [[nodiscard]] std::string read() const {
    const auto below = open().subfolder("sub", IfMissing::Leave);
    const PrivateFile opened = below.open_file("file", 1000);
    return opened.read().value_or("refused: " + below.refusal() + opened.refusal + below.missing());
  }
};

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("what is the user's alone is read, written with mode 0600, and removed") {
  const Tree tree;
  CHECK(tree.read() == "code");
  CHECK(mode_of(tree.file) == 0600);
  const auto folder = tree.open().subfolder("new", IfMissing::Create);
  REQUIRE(folder.is_open());
  CHECK(mode_of(tree.data / "new") == 0700);
  folder.write("a", "1");
  folder.write("a", "22");
  REQUIRE(folder.entries().size() == 1);
  CHECK(folder.entries()[0].name == "a");
  CHECK(folder.entries()[0].bytes == 2);
  CHECK(folder.remove("a"));
  CHECK_FALSE(folder.remove("a"));
}

TEST_CASE("a file that was made here with rights for others is closed to them, and what a link leads to is not") {
  const Tree tree, other;
  REQUIRE(::chmod(tree.file.c_str(), 0664) == 0);
  REQUIRE(::chmod(other.file.c_str(), 0664) == 0);
  fs::create_symlink(other.file, tree.sub / "link");
  const auto sub = tree.open().subfolder("sub", IfMissing::Leave);
  CHECK_FALSE(sub.open_file("file", 1000).fd.open());
  for (const char* name : {"file", "link", "none"}) sub.close_to_others(name);
  CHECK(sub.open_file("file", 1000).read() == "code");
  CHECK(mode_of(tree.file) == 0600);
  CHECK(mode_of(other.file) == 0664);
}

TEST_CASE("a folder or file that others may write is not read, and path and remedy are told") {
  for (const mode_t bits : {0020, 0002, 01002, 02020}) {
    for (const char* const which : {"", "home", "home/data", "home/data/sub", "home/data/sub/file"}) {
      const Tree tree;
      const fs::path path = *which == '\0' ? tree.folder.path() : tree.folder / which;
      const bool passed = (bits & S_ISVTX) != 0 && (path == tree.folder.path() || path == tree.home);  // as /tmp is
      CAPTURE(path);
      CAPTURE(bits);
      REQUIRE(::chmod(path.c_str(), 0700 | bits) == 0);
      const std::string read = tree.read();
      CHECK((read == "code") == passed);
      if (!passed) CHECK(mentions(read, "'" + path.string() + "' can be written by others"));
      if (!passed) CHECK(mentions(read, "chmod go-w '" + path.string() + "'"));
    }
  }
}

TEST_CASE("what was made unsafe after it was opened is refused at the next look") {
  const Tree tree;
  const auto data = tree.open();
  REQUIRE(data.subfolder("sub", IfMissing::Leave).is_open());
  REQUIRE(::chmod(tree.sub.c_str(), 0777) == 0);
  CHECK_FALSE(data.subfolder("sub", IfMissing::Leave).is_open());
}

TEST_CASE("an opened folder stays the one that was judged, whatever is put in its place") {
  const Tree tree;
  const auto sub = tree.open().subfolder("sub", IfMissing::Leave);
  fs::rename(tree.sub, tree.data / "moved");
  fs::create_directory(tree.sub);
  write_bytes(tree.file, "planted");
  CHECK(sub.open_file("file", 1000).read() == "code");
  sub.write("file", "mine");
  CHECK(read_file(tree.file) == "planted");
  CHECK(read_file(tree.data / "moved" / "file") == "mine");
}

TEST_CASE("no link is followed inside of a private folder, neither for reading nor for writing") {
  const Tree tree, other;
  fs::remove(tree.file);
  fs::create_symlink(other.file, tree.file);
  CHECK(mentions(tree.read(), tree.file.string() + "' is a symbolic link; remove it"));
  const auto sub = tree.open().subfolder("sub", IfMissing::Leave);
  sub.write("file", "mine");
  CHECK_FALSE(fs::is_symlink(tree.file));
  CHECK(read_file(other.file) == "code");
  fs::remove_all(tree.sub);
  fs::create_directory_symlink(other.sub, tree.sub);
  CHECK(mentions(tree.read(), tree.sub.string() + "' is a symbolic link; remove it"));
  CHECK_FALSE(tree.open().subfolder("sub", IfMissing::Create).is_open());
}

TEST_CASE("a file that is none, has another name or too many bytes is not read, and nobody waits for it") {
  const auto replaced = [](const std::function<void(const Tree&)>& replace) {
    const Tree tree;
    fs::remove(tree.file);
    replace(tree);
    return tree.read();
  };
  CHECK(mentions(replaced([](const Tree& tree) { REQUIRE(::mkfifo(tree.file.c_str(), 0600) == 0); }), "is no regular file"));
  CHECK(mentions(replaced([](const Tree& tree) { fs::create_directory(tree.file); }), "is no regular file"));
  CHECK(mentions(replaced([](const Tree& tree) {
                   write_bytes(tree.data / "elsewhere", "code");
                   fs::permissions(tree.data / "elsewhere", fs::perms(0600));
                   fs::create_hard_link(tree.data / "elsewhere", tree.file);
                 }),
                 "has 2 names"));
  const std::string large = replaced([](const Tree& tree) {
    PrivateFolder::open(tree.sub, IfMissing::Leave).write("file", "");
    fs::resize_file(tree.file, std::uint64_t{1} << 40);
  });
  CHECK(mentions(large, "has 1099511627776 bytes"));
  CHECK(replaced([](const Tree&) {}) == "refused: ");
}

TEST_CASE("what is asked for below a folder stays below it") {
  const Tree tree;
  const auto sub = tree.open().subfolder("sub", IfMissing::Leave);
  for (const char* const name : {"", ".", "..", "../sub/file", "/etc/passwd", "a/b"}) {
    CAPTURE(name);
    CHECK_FALSE(sub.open_file(name, 1000).fd.open());
    CHECK_FALSE(sub.subfolder(name, IfMissing::Create).is_open());
    CHECK_THROWS_AS(sub.write(name, "x"), attune::Error);
  }
}

TEST_CASE("nothing is made below a folder that is refused") {
  const Tree tree;
  REQUIRE(::chmod(tree.home.c_str(), 0777) == 0);
  const auto made = PrivateFolder::open(tree.data / "a" / "b", IfMissing::Create);
  CHECK_FALSE(made.is_open());
  CHECK(mentions(made.refusal(), tree.home.string()));
  CHECK_FALSE(fs::exists(tree.data / "a"));
}

TEST_CASE("missing folders are made for their owner alone; what is missing or in the way is no refusal") {
  const Tree tree;
  CHECK(PrivateFolder::open(tree.data / "a" / "b", IfMissing::Create).is_open());
  CHECK(mode_of(tree.data / "a") == 0700);
  CHECK(mode_of(tree.data / "a" / "b") == 0700);
  const auto absent = PrivateFolder::open(tree.data / "absent", IfMissing::Leave);
  CHECK_FALSE(absent.is_open());
  CHECK(absent.refusal().empty());
  CHECK(mentions(absent.missing(), "ENOENT"));
  const auto in_the_way = PrivateFolder::open(tree.file / "x", IfMissing::Create);
  CHECK(in_the_way.refusal().empty());
  CHECK(mentions(in_the_way.missing(), "ENOTDIR"));
}

TEST_CASE("a link of the user's on the way is followed where nobody else can put links, and not in a folder like /tmp") {
  const Tree tree;
  fs::create_directory_symlink(tree.data, tree.folder / "link");
  CHECK(PrivateFolder::open(tree.folder / "link", IfMissing::Leave).path() == fs::canonical(tree.data));
  CHECK(PrivateFolder::open(tree.folder / "link" / ".." / "data", IfMissing::Leave).path() == fs::canonical(tree.data));
  REQUIRE(::chmod(tree.folder.path().c_str(), 01777) == 0);
  CHECK(PrivateFolder::open(tree.data, IfMissing::Leave).is_open());
  CHECK(mentions(PrivateFolder::open(tree.folder / "link", IfMissing::Leave).refusal(),
                 "the symbolic link '" + (tree.folder / "link").string()));
}

TEST_CASE("while somebody swaps a folder for a link all the time, nothing but the user's own file is ever read") {
  const Tree tree, evil;
  PrivateFolder::open(evil.sub, IfMissing::Leave).write("file", "evil");
  std::atomic<bool> stop{false};
  std::thread swapper([&] {
    while (!stop) {
      fs::rename(tree.sub, tree.data / "kept");
      fs::create_directory_symlink(evil.sub, tree.sub);
      fs::remove(tree.sub);
      fs::rename(tree.data / "kept", tree.sub);
    }
  });
  std::size_t own = 0, others = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string read = tree.read();
    own += read == "code" ? 1 : 0;
    others += read != "code" && !mentions(read, "refused: ") ? 1 : 0;
  }
  stop = true;
  swapper.join();
  CHECK(own > 0);
  CHECK(others == 0);
}

}  // namespace test_private_folder
