#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/private_folder.hpp"
#include "tuner/base/private_path.hpp"

namespace test_private_path {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::test::TempFolder;
using attune::test::write_bytes;

namespace {

/// <folder>/home/data/file, all of it this user's alone.
struct Place {
  TempFolder folder;
  fs::path home = folder / "home";
  fs::path data = home / "data";
  fs::path file = data / "file";

  Place() {
    REQUIRE(PrivateFolder::open(data, IfMissing::Create).is_open());
    write_bytes(file, "x");
    ::chmod(file.c_str(), 0644);
  }
};

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a file or folder that is the user's alone is private, in the sticky /tmp too") {
  const Place place;
  CHECK(why_not_private_database(place.file).empty());
  CHECK(why_not_private_database(place.data).empty());
}

TEST_CASE("what is root's is trusted as an installed program is; what others could have put there is not") {
  CHECK(why_not_trusted("/bin/sh").empty());
  const Place place;
  CHECK(why_not_trusted(place.file).empty());
  ::chmod(place.data.c_str(), 01777);
  CHECK(mentions(why_not_trusted(place.file), "the folder '" + place.data.string() + "' can be written by others"));
}

TEST_CASE("a file that its group or others can write is not private") {
  const Place place;
  for (const mode_t mode : {0664, 0646}) {
    ::chmod(place.file.c_str(), mode);
    CHECK(mentions(why_not_private_database(place.file), "the file '" + place.file.string() + "' can be written by others"));
  }
}

TEST_CASE("a file in a folder that others can write is not private: they could put a -wal beside it") {
  const Place place;
  for (const mode_t mode : {0770, 0707, 01777}) {
    ::chmod(place.data.c_str(), mode);
    CHECK(mentions(why_not_private_database(place.file), "the folder '" + place.data.string() + "' can be written by others"));
  }
  ::chmod(place.data.c_str(), 0755);
  CHECK(why_not_private_database(place.file).empty());
}

TEST_CASE("a folder further up that everybody can write makes all below not private, unless it is sticky") {
  const Place place;
  ::chmod(place.home.c_str(), 0777);
  CHECK(mentions(why_not_private_database(place.file), place.home.string() + "' can be written"));
  CHECK(mentions(why_not_private_database(place.data), place.home.string() + "' can be written"));
  ::chmod(place.home.c_str(), 01777);
  CHECK(why_not_private_database(place.file).empty());
}

TEST_CASE("a symbolic link of the user's is followed, and what it leads to is judged") {
  const Place place, other;
  fs::create_symlink(other.file, place.data / "link");
  fs::create_directory_symlink(other.data, place.home / "linked");
  fs::create_symlink("link", place.data / "link_to_link");
  CHECK(why_not_private_database(place.data / "link").empty());
  CHECK(why_not_private_database(place.data / "link_to_link").empty());
  CHECK(why_not_private_database(place.home / "linked" / "file").empty());
  CHECK(why_not_private_database(place.data / ".." / "linked" / "file").empty());
  ::chmod(other.data.c_str(), 0777);
  for (const fs::path& path : {place.data / "link", place.data / "link_to_link", place.home / "linked" / "file"}) {
    CHECK(mentions(why_not_private_database(path), other.data.string() + "' can be written"));
  }
}

TEST_CASE("what SQLite takes for a part of a database is judged with it") {
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    CAPTURE(suffix);
    const Place place;
    const fs::path beside = place.file.string() + suffix;
    CHECK(why_not_private_database(place.file).empty());
    write_bytes(beside, "frames");
    fs::permissions(beside, fs::perms(0644));
    CHECK(why_not_private_database(place.file).empty());
    for (const mode_t mode : {0664, 0646}) {
      ::chmod(beside.c_str(), mode);
      CHECK(mentions(why_not_private_database(place.file), "the file '" + beside.string() + "' can be written by others"));
      fs::create_symlink(place.file, place.home / "link");
      CHECK(mentions(why_not_private_database(place.home / "link"), beside.string()));
      fs::remove(place.home / "link");
    }
    fs::remove(beside);
    fs::create_symlink("/dev/null", beside);
    CHECK(mentions(why_not_private_database(place.file), beside.string() + "' is a symbolic link"));
  }
}

TEST_CASE("what is missing, and links in a circle, are not private") {
  const Place place;
  fs::create_symlink("b", place.data / "a");
  fs::create_symlink("a", place.data / "b");
  CHECK(mentions(why_not_private_database(place.data / "none"), "ENOENT"));
  CHECK(mentions(why_not_private_database(place.data / "a"), "too many symbolic links"));
}

}  // namespace test_private_path
